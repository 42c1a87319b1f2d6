/** The document that is read, changed and written: an earthquake of the USGS feed, as a reviewer left it; about 1 KB. */
import { z } from "zod";

const nullableNumber = z.number().nullable();

export const documentSchema = z.object({
  event: z.object({
    type: z.literal("Feature"),
    id: z.string(),
    properties: z.object({
      mag: z.number(),
      place: z.string(),
      time: z.number(),
      updated: z.number(),
      tz: z.number(),
      url: z.string(),
      detail: z.string(),
      felt: nullableNumber,
      cdi: nullableNumber,
      mmi: nullableNumber,
      alert: z.string().nullable(),
      status: z.string(),
      tsunami: z.number(),
      sig: z.number(),
      net: z.string(),
      code: z.string(),
      ids: z.string(),
      sources: z.string(),
      types: z.string(),
      nst: nullableNumber,
      dmin: nullableNumber,
      rms: nullableNumber,
      gap: nullableNumber,
      magType: z.string(),
      type: z.string(),
      title: z.string(),
    }),
    geometry: z.object({ type: z.literal("Point"), coordinates: z.array(z.number()) }),
  }),
  review: z.object({ reviewer: z.string(), note: z.string(), revision: z.number() }),
});

export type BenchDocument = z.infer<typeof documentSchema>;

/** Documents of these events, as nobody has revised them yet. */
export function makeDocuments(events: readonly BenchDocument["event"][]): BenchDocument[] {
  return events.map((event) => ({
    event,
    review: {
      reviewer: "desk of the night shift",
      note: "Depth was held fixed by the network. Magnitude agrees with the two nearest stations; the waveform of the third is clipped and was left out. No felt reports so far, none expected in a place this thinly populated.",
      revision: 0,
    },
  }));
}
