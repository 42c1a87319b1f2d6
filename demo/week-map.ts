/** The whole world with every event of the feed: what the desk shows when there is nothing to rate. */
import { APPROVAL_MAGNITUDE, type EarthquakeFacts } from "./earthquake.js";
import { byId, setText } from "./element.js";
import { formatCount, formatDay } from "./event-text.js";
import { circle, svg } from "./svg.js";

export function drawWeek(landPath: string, feed: readonly EarthquakeFacts[]): void {
  const world = svg("svg", {
    viewBox: "-180 -80 360 140",
    role: "img",
    "aria-label": `World map with ${feed.length} events`,
  });
  world.append(svg("path", { class: "land", d: landPath }));
  // The strongest last, so that they lie on top.
  for (const { longitude, latitude, magnitude } of [...feed].sort((a, b) => a.magnitude - b.magnitude)) {
    const strong = magnitude >= APPROVAL_MAGNITUDE;
    world.append(circle(longitude, -latitude, strong ? magnitude / 2.6 : 0.7, strong ? "strong" : "neighbour"));
  }
  byId("week-map", HTMLElement).replaceChildren(world);
  const times = feed.map(({ time }) => time);
  const strong = feed.filter(({ magnitude }) => magnitude >= APPROVAL_MAGNITUDE).length;
  const days = `${formatDay(Math.min(...times))} to ${formatDay(Math.max(...times))}`;
  setText(
    "week-caption",
    `${formatCount(feed.length)} events from ${days}; ${strong} of magnitude ${APPROVAL_MAGNITUDE} or more, in colour. Source: USGS.`,
  );
}
