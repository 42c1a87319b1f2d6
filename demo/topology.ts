/** Reads TopoJSON: polygons as rings of longitude and latitude. */

export type Position = readonly [longitude: number, latitude: number];
export type Ring = readonly Position[];

/** The part of a TopoJSON file that is read here: quantized arcs and one object of polygons. */
export interface Topology {
  readonly transform: { readonly scale: Position; readonly translate: Position };
  /** Each position but the first is the difference from the one before it. */
  readonly arcs: readonly (readonly Position[])[];
  readonly objects: Readonly<Record<string, { readonly type: string; readonly arcs?: readonly unknown[] }>>;
}

/** The outer and inner rings of every polygon of a MultiPolygon object. */
export function decodeRings(topology: Topology, objectName: string): Ring[] {
  const object = topology.objects[objectName];
  if (object?.type !== "MultiPolygon" || object.arcs === undefined) {
    throw new Error(`The topology has no MultiPolygon called ${objectName}`);
  }
  const arcs = topology.arcs.map((arc) => decodeArc(arc, topology.transform));
  // A MultiPolygon's arcs: polygons of rings of arc indexes.
  const polygons = object.arcs as readonly (readonly (readonly number[])[])[];
  return polygons.flat().map((ring) => joinArcs(ring, arcs));
}

function decodeArc(arc: readonly Position[], { scale, translate }: Topology["transform"]): Position[] {
  let x = 0;
  let y = 0;
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
}

// An index i below 0 means arc ~i backwards. Neighbouring arcs share their end, which is kept once.
function joinArcs(indexes: readonly number[], arcs: readonly Position[][]): Ring {
  const ring: Position[] = [];
  for (const index of indexes) {
    const arc = index < 0 ? reversed(arcs[~index]) : arcs[index];
    if (arc === undefined) throw new Error(`The topology has no arc ${index}`);
    ring.push(...(ring.length === 0 ? arc : arc.slice(1)));
  }
  return ring;
}

function reversed(arc: readonly Position[] | undefined): Position[] | undefined {
  return arc?.reduceRight<Position[]>((turned, position) => {
    turned.push(position);
    return turned;
  }, []);
}
