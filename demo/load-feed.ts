/** The week's earthquakes as the USGS published them: a GeoJSON file that ships in vega-datasets. */
import feedUrl from "@vega-data/earthquakes.json?url";
import type { EarthquakeFacts } from "./earthquake.js";
import { parseFeed } from "./feed.js";

export async function loadFeed(): Promise<EarthquakeFacts[]> {
  const response = await fetch(feedUrl);
  if (!response.ok) throw new Error(`The feed could not be loaded (${response.status}).`);
  return parseFeed(await response.json());
}
