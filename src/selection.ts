/**
 * Runs a selector on a state and finds out what its result depends on.
 *
 * Owns the views: read-only proxies that stand for the containers of one state during one run, and note what is looked
 * at. Does not own the state, which it only reads, nor what becomes of the paths.
 *
 * S1 If the result would differ on another state, then the paths read intersect the paths in which that state differs.
 * S2 A container that was only walked through is no read: what was read below it is, and tells all that was seen of it.
 *    If nothing was read below it, its mere presence may have counted, and it is a read as a whole.
 * S3 Neither a view nor a reference into the state leaves this file inside arrays and plain objects; a view that got out
 *    in another way, such as a closure or a Map, throws when it is used.
 */
import { copyContainers } from "./copy-containers.js";
import type { DeepReadonly } from "./durable-type.js";
import { cloneDurable, type Container, isObject } from "./protocol/durable-value.js";
import { DraftMisuseError } from "./protocol/errors.js";
import { foldPathTree, type PathTree, type Segment, type StorePath } from "./protocol/path.js";
import { refuseThenable } from "./refuse-thenable.js";

/** Whether a selector's result counts as found: all but `undefined`, `null` and `false`, so `0`, `""` and `[]` do. */
export function matches(result: unknown): boolean {
  return result !== undefined && result !== null && result !== false;
}

/**
 * The result of `selector`, detached from the state, and the paths that it depends on, at most 256.
 *
 * @throws DraftMisuseError when the selector writes to the state, or returns a promise
 */
export function runSelector<State, Result>(
  state: State,
  selector: (state: DeepReadonly<State>) => Result,
): { result: Result; readPaths: StorePath[] } {
  return observeSelector(state, selector, cloneDurable);
}

/** As `runSelector`; `standIn` gives what takes the place of a part of the state in the result. */
export function observeSelector<State, Result>(
  state: State,
  selector: (state: DeepReadonly<State>) => Result,
  standIn: (part: object, path: StorePath) => object,
): { result: Result; readPaths: StorePath[] } {
  const run: Run = { open: true, views: new Map() };
  const root = isObject(state) ? new View(run, state) : undefined;
  try {
    // The cast: a view answers as the state that it stands for.
    const returned = selector((root?.proxy ?? state) as DeepReadonly<State>);
    const result = copyContainers(returned, (object) => {
      const view = run.views.get(object);
      return view && standIn(view.readWhole(), view.path());
    });
    refuseThenable(result, "selector");
    return { result: result as Result, readPaths: root ? readPathsOf(root, run) : [[]] };
  } finally {
    run.open = false;
  }
}

function readPathsOf(root: View, run: Run): StorePath[] {
  for (const view of run.views.values()) {
    if (view.isReadWhole) view.children = null;
  }
  return foldPathTree(root);
}

interface Run {
  open: boolean;
  /** By proxy. */
  readonly views: Map<object, View>;
}

/** Targets only tell the engine array from object; every trap answers from the source. */
const ARRAY: readonly unknown[] = [];
const OBJECT: object = {};

/** One container of the state as the selector sees it, and a branch in the tree of what it read. */
class View implements ProxyHandler<object>, PathTree {
  readonly proxy: object;
  children: Map<Segment, View | null> | null = null;
  isReadWhole = false;
  readonly #run: Run;
  readonly #source: Container;
  readonly #parent: View | undefined;
  readonly #segment: Segment | undefined;

  constructor(run: Run, source: object, parent?: View, segment?: Segment) {
    this.#run = run;
    this.#source = source as Container; // A durable container, read by its own keys.
    this.#parent = parent;
    this.#segment = segment;
    this.proxy = new Proxy(Array.isArray(source) ? ARRAY : OBJECT, this);
    run.views.set(this.proxy, this);
  }

  path(): StorePath {
    return this.#parent ? [...this.#parent.path(), this.#segment as Segment] : []; // Only the root has no segment.
  }

  readWhole(): Container {
    this.isReadWhole = true;
    return this.#source;
  }

  get(target: object, key: PropertyKey): unknown {
    const segment = this.#segmentOf(key);
    const seen = segment === undefined ? undefined : this.#read(segment);
    if (Object.hasOwn(this.#source, key) || key === "__proto__") return seen;
    return Reflect.get(target, key);
  }

  has(target: object, key: PropertyKey): boolean {
    const segment = this.#segmentOf(key);
    // Arrays are dense: which indices there are depends on the length alone.
    if (segment !== undefined) this.#read(typeof segment === "number" ? "length" : segment);
    return Object.hasOwn(this.#source, key) || (key !== "__proto__" && Reflect.has(target, key));
  }

  getOwnPropertyDescriptor(_target: object, key: PropertyKey): PropertyDescriptor | undefined {
    const segment = this.#segmentOf(key);
    if (segment === undefined) return undefined;
    const value = this.#read(segment);
    if (!Object.hasOwn(this.#source, key)) return undefined;
    const isElement = !(Array.isArray(this.#source) && key === "length");
    return { value, writable: true, enumerable: isElement, configurable: isElement };
  }

  ownKeys(): (string | symbol)[] {
    this.#assertOpen();
    if (Array.isArray(this.#source)) this.#read("length");
    else this.isReadWhole = true;
    return Reflect.ownKeys(this.#source);
  }

  set(): never {
    return this.#refuseWrite();
  }

  defineProperty(): never {
    return this.#refuseWrite();
  }

  deleteProperty(): never {
    return this.#refuseWrite();
  }

  preventExtensions(): never {
    return this.#refuseWrite();
  }

  setPrototypeOf(): never {
    return this.#refuseWrite();
  }

  /** The segment that `key` is in a path, or `undefined` if no state can have such a key here. */
  #segmentOf(key: PropertyKey): Segment | undefined {
    this.#assertOpen();
    if (typeof key === "symbol") return undefined;
    if (key === "length" || !Array.isArray(this.#source)) return key;
    const index = Number(key) >>> 0;
    return String(index) === key ? index : undefined;
  }

  /** Notes that the selector looked at `segment`, and gives what it sees there. */
  #read(segment: Segment): unknown {
    const value = Object.hasOwn(this.#source, segment) ? this.#source[segment] : undefined;
    this.children ??= new Map();
    let child = this.children.get(segment);
    if (child === undefined) {
      child = isObject(value) ? new View(this.#run, value, this, segment) : null;
      this.children.set(segment, child);
    }
    return child ? child.proxy : value;
  }

  #assertOpen(): void {
    if (this.#run.open) return;
    throw new DraftMisuseError(
      "The state given to a selector was used after the selector had returned: return what you need from it, in plain arrays and objects.",
    );
  }

  #refuseWrite(): never {
    throw new DraftMisuseError(
      "A selector wrote to the state, but it may only read: copy first, as in `[...state.items].sort()`, or change the state in an updater or a claim.",
    );
  }
}
