/** Builds SVG elements. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(made, attributes);
  return made;
}

export function setAttributes(target: SVGElement, attributes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, value);
}

export function circle(x: number, y: number, r: number, name: string): SVGCircleElement {
  return svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1), class: name });
}
