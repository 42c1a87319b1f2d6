declare module "*/README.md?raw" {
  const text: string;
  export default text;
}
