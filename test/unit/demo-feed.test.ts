import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { APPROVAL_MAGNITUDE } from "../../demo/earthquake.js";
import { parseFeed } from "../../demo/feed.js";
import { longitudeDifference, placesInside, project, ringsPath } from "../../demo/map-frame.js";
import { decodeRings, type Topology } from "../../demo/topology.js";

const read = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../../node_modules/vega-datasets/data", name), "utf8"));

describe("the feed in vega-datasets", () => {
  const events = parseFeed(read("earthquakes.json"));

  test("has 1,707 events with ids of their own, newest first, 39 of which need approval", () => {
    expect(events).toHaveLength(1707);
    expect(new Set(events.map(({ id }) => id)).size).toBe(1707);
    expect(events.filter(({ magnitude }) => magnitude >= APPROVAL_MAGNITUDE)).toHaveLength(39);
    expect(events.map(({ time }) => time)).toEqual(events.map(({ time }) => time).sort((a, b) => b - a));
  });

  test("gives an event's facts as they are in the file", () => {
    expect(events[0]).toEqual({
      id: "ci37868143",
      place: "4km W of Castaic, CA",
      kind: "earthquake",
      magnitude: 2,
      scale: "ml",
      depth: 26.49,
      time: 1517966773840,
      longitude: -118.6671667,
      latitude: 34.4945,
    });
  });

  test("is refused when it is not of the expected shape", () => {
    expect(() => parseFeed({ features: [{ id: "x" }] })).toThrow("properties");
  });
});

describe("the map", () => {
  test("decodes quantized arcs, joins them at their common end and walks negative ones backwards", () => {
    const topology: Topology = {
      transform: { scale: [2, 2], translate: [10, 20] },
      arcs: [
        [
          [0, 0],
          [1, 0],
          [0, 1],
        ],
        [
          [0, 0],
          [0, 1],
          [1, 0],
        ],
      ],
      objects: { land: { type: "MultiPolygon", arcs: [[[0, ~1]]] } },
    };
    expect(decodeRings(topology, "land")).toEqual([
      [
        [10, 20],
        [12, 20],
        [12, 22],
        [10, 22],
        [10, 20],
      ],
    ]);
    expect(() => decodeRings(topology, "sea")).toThrow("sea");
  });

  test("decodes the world: every ring is closed and on the globe", () => {
    // The file's shape is what this test is about.
    const rings = decodeRings(read("world-110m.json") as Topology, "land");
    expect(rings.length).toBeGreaterThan(100);
    for (const ring of rings) {
      expect(ring.at(-1)?.map((degrees) => degrees.toFixed(6))).toEqual(ring[0]?.map((degrees) => degrees.toFixed(6)));
      for (const [longitude, latitude] of ring) {
        expect(Math.abs(longitude)).toBeLessThanOrEqual(180.0001);
        expect(Math.abs(latitude)).toBeLessThanOrEqual(90);
      }
    }
  });

  test("measures longitude the shorter way, across the date line too", () => {
    expect(longitudeDifference(179, -179)).toBe(2);
    expect(longitudeDifference(-179, 179)).toBe(-2);
    expect(longitudeDifference(-118, -120)).toBe(-2);
  });

  test("puts the centre in the middle, north above it, and only what is inside in the frame", () => {
    const frame = { center: { longitude: 179.5, latitude: 0 }, width: 100, height: 50, scale: 10 };
    expect(project(frame, frame.center)).toEqual({ x: 0, y: 0 });
    expect(project(frame, { longitude: 179.5, latitude: 1 }).y).toBe(-10);
    const inside = { longitude: -179.5, latitude: 1 };
    const outside = { longitude: 179.5, latitude: 3 };
    expect(placesInside(frame, [inside, outside])).toEqual([inside]);
  });

  test("writes rings as closed SVG paths with the north upwards", () => {
    expect(
      ringsPath([
        [
          [1, 2],
          [3, 4],
        ],
      ]),
    ).toBe("M1.00,-2.00L3.00,-4.00Z");
  });
});
