/** What Vite makes of an import with `?worker&url`: the address of the bundled worker script. */
declare module "*?worker&url" {
  const url: string;
  export default url;
}
