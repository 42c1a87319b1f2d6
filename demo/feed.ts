/** Reads the feed of the USGS: GeoJSON, a week of earthquakes. */
import { z } from "zod";
import type { EarthquakeFacts } from "./earthquake.js";

const feedSchema = z.object({
  features: z.array(
    z.object({
      id: z.string(),
      properties: z.object({
        mag: z.number(),
        magType: z.string(),
        place: z.string(),
        time: z.number(),
        type: z.string(),
      }),
      geometry: z.object({ coordinates: z.tuple([z.number(), z.number(), z.number()]) }),
    }),
  ),
});

/** The facts of every feature, in the feed's order: newest first. Throws where the feed is not what it should be. */
export function parseFeed(json: unknown): EarthquakeFacts[] {
  return feedSchema.parse(json).features.map(({ id, properties, geometry }) => {
    const [longitude, latitude, depth] = geometry.coordinates;
    const { place, type: kind, mag: magnitude, magType: scale, time } = properties;
    return { id, place, kind, magnitude, scale, depth, time, longitude, latitude };
  });
}
