/** Draws where an event was: land and the week's other events around it, and the whole world in a corner. */
import type { EarthquakeFacts } from "./earthquake.js";
import { type MapFrame, placesInside, stretch } from "./map-frame.js";
import { circle, setAttributes, svg } from "./svg.js";

/** The frame shows this many degrees of latitude from top to bottom. */
const DEGREES_HIGH = 16;
const WIDTH = 640;
const HEIGHT = 320;

/** Sizes of dots, as classes of the style sheet: one path holds all events of a size, and moves with the land. */
const sizes = [
  { below: 1.5, name: "size-1" },
  { below: 2.5, name: "size-2" },
  { below: 4, name: "size-3" },
  { below: Number.POSITIVE_INFINITY, name: "size-4" },
];

export class EventMap {
  readonly #host: HTMLElement;
  readonly #land: SVGGElement = svg("g");
  readonly #ring: SVGCircleElement = circle(0, 0, 1, "ring");
  readonly #epicentre: SVGCircleElement = circle(0, 0, 1, "epicentre");
  readonly #inset: SVGRectElement = svg("rect");
  readonly #picture: SVGSVGElement;
  readonly #neighbours: readonly EarthquakeFacts[];

  /** `landPath` is in degrees (world.ts); `neighbours` are the events that may be shown around one. */
  constructor(host: HTMLElement, landPath: string, neighbours: readonly EarthquakeFacts[]) {
    this.#host = host;
    this.#neighbours = neighbours;
    const world = [svg("path", { class: "land", d: landPath }), ...dotPaths(neighbours)];
    // Three worlds side by side, so that the date line is a place like any other.
    for (const offset of [-360, 0, 360]) {
      const copy = svg("g", { transform: `translate(${offset} 0)` });
      copy.append(...world.map((part) => part.cloneNode()));
      this.#land.append(copy);
    }
    this.#picture = svg("svg", { viewBox: `${-WIDTH / 2} ${-HEIGHT / 2} ${WIDTH} ${HEIGHT}`, role: "img" });
    this.#picture.setAttribute("preserveAspectRatio", "xMidYMid slice");
    this.#picture.append(this.#land, this.#ring, this.#epicentre);
    const inset = svg("svg", { class: "inset", viewBox: "-180 -84 360 144", "aria-hidden": "true" });
    inset.append(svg("path", { class: "land", d: landPath }), this.#inset);
    host.replaceChildren(this.#picture, inset);
  }

  show(event: EarthquakeFacts): void {
    const frame: MapFrame = { center: event, width: WIDTH, height: HEIGHT, scale: HEIGHT / DEGREES_HIGH };
    const { longitude, latitude } = event;
    const wide = stretch(latitude);
    this.#land.setAttribute(
      "transform",
      `scale(${frame.scale * wide} ${frame.scale}) translate(${-longitude} ${latitude})`,
    );
    const radius = Math.max(5, 2 + 1.5 * event.magnitude);
    this.#epicentre.setAttribute("r", radius.toFixed(1));
    this.#ring.setAttribute("r", (radius * 3).toFixed(1));
    for (const animation of this.#ring.getAnimations()) animation.play();
    const degreesWide = WIDTH / frame.scale / wide;
    setAttributes(this.#inset, {
      x: (longitude - degreesWide / 2).toFixed(1),
      y: (-latitude - DEGREES_HIGH / 2).toFixed(1),
      width: degreesWide.toFixed(1),
      height: String(DEGREES_HIGH),
    });
    const around = placesInside(frame, this.#neighbours).filter(({ id }) => id !== event.id).length;
    const others = around === 1 ? "1 other event" : `${around} other events`;
    this.#picture.setAttribute("aria-label", `Map: ${event.place}, with ${others} of the week around it`);
    this.#host.title = `${others} nearby`;
  }
}

// A line of no length with round ends is a dot, and keeps its size however the land is scaled.
function dotPaths(events: readonly EarthquakeFacts[]): SVGPathElement[] {
  const sizeOf = ({ magnitude }: EarthquakeFacts) => sizes.find(({ below }) => magnitude < below)?.name;
  return sizes.map(({ name }) => {
    const dots = events.filter((event) => sizeOf(event) === name);
    const d = dots.map(({ longitude, latitude }) => `M${longitude.toFixed(3)} ${(-latitude).toFixed(3)}h0`).join("");
    return svg("path", { class: `dots ${name}`, d });
  });
}
