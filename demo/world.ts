/** The outlines of the land, as one SVG path in degrees. */
import worldUrl from "@vega-data/world-110m.json?url";
import { ringsPath } from "./map-frame.js";
import { decodeRings, type Topology } from "./topology.js";

export async function loadLandPath(): Promise<string> {
  const response = await fetch(worldUrl);
  if (!response.ok) throw new Error(`The map could not be loaded (${response.status}).`);
  // The file is part of the build and of the shape that topology.ts describes.
  return ringsPath(decodeRings((await response.json()) as Topology, "land"));
}
