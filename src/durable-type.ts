/**
 * Durable values as types: whether a schema's output can be stored, and how states look to those who may not and who
 * may change them. The values themselves are judged by protocol/durable-value.ts.
 */

type Primitive = null | boolean | number | string;

/** Matches every function. `never[]` because parameters are contravariant. */
type AnyFunction = (...args: never[]) => unknown;

type TypedArray =
  | ArrayBuffer
  | DataView
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** What stands in the way of storing a `T`, in words; `never` if nothing on this level does. */
type Objection<T> = T extends undefined
  ? "undefined: make the key optional, or use null"
  : T extends bigint
    ? "a bigint: use a string"
    : T extends symbol
      ? "a symbol: use a string"
      : T extends AnyFunction
        ? "a function: keep it in code"
        : T extends Date
          ? "a Date: use an ISO string, or milliseconds"
          : T extends ReadonlyMap<unknown, unknown>
            ? "a Map: use an object"
            : T extends ReadonlySet<unknown>
              ? "a Set: use an array"
              : T extends WeakMap<WeakKey, unknown> | WeakSet<WeakKey>
                ? "a weak collection: use an object"
                : T extends TypedArray
                  ? "binary data: use an array of numbers, or base64"
                  : T extends RegExp
                    ? "a RegExp: use its source"
                    : T extends Error
                      ? "an Error: use its message"
                      : T extends Promise<unknown>
                        ? "a promise: store what it resolves to"
                        : never;

/** `true` for `any` alone. */
type IsAny<T> = 0 extends 1 & T ? true : false;

/** Levels to search; a recursive type would never end. What lies deeper is checked when it is written. */
type Depth = [never, 0, 1, 2, 3, 4, 5, 6, 7, 8];

/**
 * The first places where a `T` is not durable, as text such as `"items.0.at is a Date: …"`; `never` if it is durable.
 * `any` passes, since nothing is known about it: values are checked when they are written, too.
 */
export type NotDurable<T, Path extends string = "", Left extends number = 8> =
  IsAny<T> extends true
    ? never
    : unknown extends T
      ? `${At<Path>} is unknown: say what it is`
      : Left extends 0
        ? never
        : NotDurableMember<T, Path, Left>;

type NotDurableMember<T, Path extends string, Left extends number> = T extends Primitive
  ? never
  : [Objection<T>] extends [never]
    ? T extends readonly unknown[]
      ? number extends T["length"]
        ? NotDurable<T[number], Join<Path, "[number]">, Depth[Left] & number>
        : { [Index in keyof T]: NotDurable<T[Index], Join<Path, Index & string>, Depth[Left] & number> }[number]
      : T extends object
        ? NotDurableProperty<T, Path, Left>
        : never
    : `${At<Path>} is ${Objection<T>}`;

/** Symbol keys are left out: schemas brand their outputs with them, and no value carries a brand. */
type NotDurableProperty<T extends object, Path extends string, Left extends number> = {
  [Key in Exclude<keyof T, symbol>]-?: NotDurable<
    // An optional key may be absent, and is then not stored.
    T extends { readonly [Required in Key]: unknown } ? T[Key] : Exclude<T[Key], undefined>,
    Join<Path, `${Key}`>,
    Depth[Left] & number
  >;
}[Exclude<keyof T, symbol>];

type At<Path extends string> = Path extends "" ? "The state" : Path;
type Join<Path extends string, Key extends string> = Path extends "" ? Key : `${Path}.${Key}`;

/** The state as it is handed out: nothing in it can be assigned to. */
export type DeepReadonly<T> =
  IsAny<T> extends true
    ? T
    : T extends Primitive | undefined | AnyFunction
      ? T
      : T extends readonly unknown[]
        ? number extends T["length"]
          ? // Written out, since a mapped array type is resolved at once, and a recursive one (JSON) would not end.
            readonly DeepReadonly<T[number]>[]
          : { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
        : T extends object
          ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
          : T;

/** The state as an updater edits it: writable all through, also where the schema's output is read-only. */
export type Draft<T> =
  IsAny<T> extends true
    ? T
    : T extends Primitive | undefined | AnyFunction
      ? T
      : T extends readonly unknown[]
        ? number extends T["length"]
          ? Draft<T[number]>[]
          : { -readonly [Key in keyof T]: Draft<T[Key]> }
        : T extends object
          ? { -readonly [Key in keyof T]: Draft<T[Key]> }
          : T;

/** What is left of a selector's result once it matched: `0`, `""` and `[]` match. */
export type Matched<R> = Exclude<R, undefined | null | false>;
