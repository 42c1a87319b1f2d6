/**
 * Drafts: writable stand-ins for the containers of one or more states while one callback runs.
 *
 * Owns the drafts of one run and the copies that they write to. Does not own the states, which it never changes, nor the
 * values that the callback assigns, which it never changes either, since the callback may run again with them. What
 * changed is not recorded but found afterwards by comparing (diff.ts), so that no move and no alias can hide it.
 *
 * D1 A state is copied only along the way to what was written; everything else of it is shared with the result.
 * D2 The result holds neither drafts nor objects of the callback's: what it assigned is copied when the run settles, so
 *    edits that it makes itself after assigning count, and edits after the run do not.
 * D3 Once the run is closed every use of its drafts throws, nested ones and mere reads included.
 */
import { copyContainers, copyProperties, emptyLike } from "./copy-containers.js";
import { type Container, isContainer, isObject, MAX_DEPTH, setOwn } from "./protocol/durable-value.js";
import { DraftMisuseError } from "./protocol/errors.js";

export class DraftRun {
  isOpen = true;
  /** Whether anything was written through a draft. */
  hasWritten = false;
  /** By proxy, and those of assigned objects by the object too, so that one object has one draft wherever it stands. */
  readonly nodes: Map<object, DraftNode> = new Map();

  /** What the run settled so far of the objects that the callback assigned and that have no draft. */
  readonly #copies = new Map<object, object>();

  /** What the callback gets for a state: a draft of its root, or the state itself if that is a primitive. */
  draftOf<State>(state: State): State {
    // The cast: a draft answers as the container that it stands for.
    return isContainer(state) ? (new DraftNode(this, state, false).proxy as State) : state;
  }

  /** The plain value that `value` has come to, with the drafts in it resolved and the callback's own objects copied. */
  settle(value: unknown, depth = 0): unknown {
    const settleDraft = (object: object, below: number): object | undefined =>
      this.nodes.get(object)?.settle(depth + below);
    return copyContainers(value, settleDraft, this.#copies);
  }
}

/** Targets only tell the engine array from object; every trap answers from the latest content. */
const ARRAY: readonly unknown[] = [];
const OBJECT: object = {};

/** One container and its draft. */
class DraftNode implements ProxyHandler<object> {
  readonly proxy: object;
  readonly source: Container;
  readonly #run: DraftRun;
  /** Whether the source comes from the callback and not from a state. */
  readonly #isForeign: boolean;
  #copy: Container | undefined;
  /** Where the latest content may need settling: the draft handed out for it, or `undefined` for an assigned object. */
  readonly #touched = new Map<PropertyKey, DraftNode | undefined>();
  #settled: "no" | "in progress" | "yes" = "no";

  constructor(run: DraftRun, source: Container, isForeign: boolean) {
    this.#run = run;
    this.source = source;
    this.#isForeign = isForeign;
    this.proxy = new Proxy(Array.isArray(source) ? ARRAY : OBJECT, this);
    run.nodes.set(this.proxy, this);
    if (isForeign) run.nodes.set(source, this);
  }

  get(target: object, key: PropertyKey): unknown {
    const latest = this.#latest();
    // `__proto__` is a key like any other, so it must not lead to a prototype when it is absent.
    if (!Object.hasOwn(latest, key)) return key === "__proto__" ? undefined : Reflect.get(target, key);
    const value = latest[key];
    if (!isObject(value)) return value;
    const node = this.#run.nodes.get(value) ?? this.#childAt(key, value);
    return node ? node.proxy : value;
  }

  has(target: object, key: PropertyKey): boolean {
    return Object.hasOwn(this.#latest(), key) || (key !== "__proto__" && Reflect.has(target, key));
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.#latest());
  }

  getOwnPropertyDescriptor(target: object, key: PropertyKey): PropertyDescriptor | undefined {
    const latest = this.#latest();
    const property = Reflect.getOwnPropertyDescriptor(latest, key);
    if (!property) return undefined;
    // As the property will be in the result, even if the source is frozen. Only an array's length cannot be configured.
    property.configurable = !(Array.isArray(latest) && key === "length");
    if ("value" in property) {
      property.value = this.get(target, key);
      property.writable = true;
    }
    return property;
  }

  set(target: object, key: PropertyKey, value: unknown): boolean {
    if (Object.is(this.get(target, key), value) && Object.hasOwn(this.#latest(), key)) return true;
    this.#run.hasWritten = true;
    if (typeof value === "object") this.#touched.set(key, undefined);
    setOwn(this.#ownCopy(), key, value);
    return true;
  }

  defineProperty(target: object, key: PropertyKey, property: PropertyDescriptor): boolean {
    const { enumerable, writable, configurable } = property;
    if ("get" in property || "set" in property || [enumerable, writable, configurable].includes(false)) {
      throw new DraftMisuseError(
        `A draft holds plain data: ${JSON.stringify(String(key))} cannot be defined as accessor, hidden or read-only. Assign a value.`,
      );
    }
    return "value" in property || !Object.hasOwn(this.#latest(), key) ? this.set(target, key, property.value) : true;
  }

  deleteProperty(_target: object, key: PropertyKey): boolean {
    if (!Object.hasOwn(this.#latest(), key)) return true;
    this.#run.hasWritten = true;
    return Reflect.deleteProperty(this.#ownCopy(), key);
  }

  preventExtensions(): never {
    throw new DraftMisuseError("A draft cannot be frozen or sealed: it only lasts as long as its updater runs.");
  }

  setPrototypeOf(): never {
    throw new DraftMisuseError("A draft holds plain data: its prototype cannot be changed.");
  }

  /** The content after the run: the source if nothing in it changed, else a copy. */
  settle(depth: number): object {
    // Met again inside itself. Only a change can have closed a cycle, and a change below is a change here.
    if (this.#settled === "in progress") return this.#ownCopy();
    // Too deep to be durable, and on its way to being too deep for the stack.
    if (this.#settled === "yes" || depth > MAX_DEPTH) return this.#copy ?? this.source;
    this.#settled = "in progress";
    if (this.#isForeign) {
      const copy = this.#ownCopy();
      copyProperties(copy, copy, (value) => this.#run.settle(value, depth + 1));
    } else {
      for (const [key, child] of this.#touched) this.#settleAt(key, child, depth + 1);
    }
    this.#settled = "yes";
    return this.#copy ?? this.source;
  }

  #settleAt(key: PropertyKey, child: DraftNode | undefined, depth: number): void {
    const property = Object.getOwnPropertyDescriptor(this.#copy ?? this.source, key);
    if (!property) return;
    const settled =
      child && child.source === property.value ? child.settle(depth) : this.#run.settle(property.value, depth);
    if (settled !== property.value) setOwn(this.#ownCopy(), key, settled);
  }

  #latest(): Container {
    if (this.#run.isOpen) return this.#copy ?? this.source;
    throw new DraftMisuseError(
      "A draft was used after its updater had returned: nothing written to it then could be stored.",
    );
  }

  #childAt(key: PropertyKey, value: object): DraftNode | undefined {
    const known = this.#touched.get(key);
    if (known?.source === value) return known;
    if (!isContainer(value)) return undefined;
    // What a state holds has a draft for each place where it stands, since equal parts of a state may be one object.
    const isForeign = this.#isForeign || this.#touched.has(key);
    const child = new DraftNode(this.#run, value, isForeign);
    if (!isForeign) this.#touched.set(key, child);
    return child;
  }

  #ownCopy(): Container {
    if (this.#copy) return this.#copy;
    const { source } = this;
    if (this.#isForeign) copyProperties(source, (this.#copy = emptyLike(source)), (value) => value);
    else this.#copy = (Array.isArray(source) ? source.slice() : { ...source }) as Container; // Of the same kind.
    return this.#copy;
  }
}
