/** The part of the world around an event: what is in it, and where on the drawing. */
import type { Ring } from "./topology.js";

export interface Place {
  readonly longitude: number;
  readonly latitude: number;
}

/** A view of the world, centred on a place, in which one degree of latitude is `scale` units of the drawing. */
export interface MapFrame {
  readonly center: Place;
  readonly width: number;
  readonly height: number;
  readonly scale: number;
}

/** How much wider a degree of latitude is than one of longitude there; bounded, since it grows without end at a pole. */
export function stretch(latitude: number): number {
  return Math.max(0.2, Math.cos((latitude * Math.PI) / 180));
}

/** Degrees from one longitude to another, the shorter way round the globe: -180 up to 180. */
export function longitudeDifference(from: number, to: number): number {
  return ((((to - from + 180) % 360) + 360) % 360) - 180;
}

/** Where a place is in the drawing, whose origin is the middle of the frame; y grows downwards. */
export function project({ center, scale }: MapFrame, { longitude, latitude }: Place): { x: number; y: number } {
  return {
    x: longitudeDifference(center.longitude, longitude) * scale * stretch(center.latitude),
    y: (center.latitude - latitude) * scale,
  };
}

/** The places that the frame shows, the centre itself included if it is among them. */
export function placesInside<P extends Place>(frame: MapFrame, places: readonly P[]): P[] {
  return places.filter((place) => {
    const { x, y } = project(frame, place);
    return Math.abs(x) <= frame.width / 2 && Math.abs(y) <= frame.height / 2;
  });
}

/** An SVG path of the rings, in degrees: x is the longitude, y the latitude downwards. */
export function ringsPath(rings: readonly Ring[]): string {
  return rings.map((ring) => `M${ring.map(([x, y]) => `${x.toFixed(2)},${(-y).toFixed(2)}`).join("L")}Z`).join("");
}
