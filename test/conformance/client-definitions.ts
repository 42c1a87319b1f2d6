/** States that another version of their definition wrote (stores 30, 31). */
import { expect } from "vitest";
import { defineStore, type StoreDefinition } from "../../src/define-store.js";
import { DefinitionOutdatedError, MigrationFailedError } from "../../src/protocol/errors.js";
import { expectRefused, head, openClient, schemaOf, eventually } from "./client.js";
import type { ConformanceCase } from "./conformance-case.js";
import { errorOf, ROOT } from "./requests.js";

interface Titled {
  readonly title: string;
}

const titledSchema = schemaOf<Titled>((value) => {
  const { title } = value as Partial<Titled>;
  return typeof title === "string" ? { value: { title } } : { issues: [{ message: "No title.", path: ["title"] }] };
});

function titled(version: number, migrate?: StoreDefinition<Titled>["migrate"]): StoreDefinition<Titled> {
  const initial = (): Titled => ({ title: "new" });
  return defineStore(
    "titled",
    titledSchema,
    migrate === undefined ? { initial, version } : { initial, version, migrate },
  );
}

const Named = defineStore(
  "titled",
  schemaOf<{ name: string }>((value) => ({ value: value as { name: string } })),
  {
    initial: () => ({ name: "old" }),
  },
);

export const definitionCases: readonly ConformanceCase[] = [
  {
    name: "stores 30: an older state is migrated when read, and written with the next commit, whose path is the root",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.updateStore({ definition: Named, id: "a", updater: (draft) => void (draft.name = "first") });
      const froms: number[] = [];
      const definition = titled(3, (state, from) => {
        froms.push(from);
        return { title: (state as { name: string }).name };
      });
      const before = await head(connector);
      expect(await client.getStore({ definition, id: "a" })).toMatchObject({ state: { title: "first" }, version: 1 });
      expect(await head(connector)).toBe(before);
      expect(new Set(froms)).toEqual(new Set([1]));
      await client.updateStore({ definition, id: "a", updater: (draft) => void (draft.title += "!") });
      const { snapshot } = await connector.readStore({ storeName: "titled", storeId: "a" });
      expect(snapshot).toMatchObject({ state: '{"title":"first!"}', definitionVersion: 3, version: 2 });
      expect(await connector.readChanges({ after: before, limit: 1 })).toMatchObject({
        changes: [{ changedPaths: ROOT }],
      });
    },
  },
  {
    name: "stores 30: without `migrate`, or with one whose result is refused, there is a typed error and the row stays",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.updateStore({ definition: Named, id: "a", updater: (draft) => void (draft.name = "kept") });
      const throwing = (): never => {
        throw new RangeError("no");
      };
      for (const migrate of [undefined, () => ({ name: "no title" }), throwing, async () => ({ title: "late" })]) {
        const definition = titled(2, migrate);
        for (const call of [
          () => client.getStore({ definition, id: "a" }),
          () => client.updateStore({ definition, id: "a", updater: (draft) => void (draft.title = "lost") }),
          () => client.store(definition, "a").when((state) => state.title),
        ]) {
          const error = await expectRefused(connector, MigrationFailedError, call);
          expect(error.message).toContain("titled");
        }
      }
      const { snapshot } = await connector.readStore({ storeName: "titled", storeId: "a" });
      expect(snapshot).toMatchObject({ state: '{"name":"kept"}', definitionVersion: 1 });
    },
  },
  {
    name: "stores 31: a state of a newer definition is not read, overwritten or deleted by older code",
    needs: ["peers"],
    run: async (database) => {
      const [newer, older] = await Promise.all([openClient(database), openClient(database)]);
      const current = titled(5);
      await newer.client.updateStore({
        definition: current,
        id: "a",
        updater: (draft) => void (draft.title = "newer"),
      });
      const snapshot = await newer.client.getStore({ definition: current, id: "a" });
      const stale = { definition: titled(4, (state) => state), id: "a" };
      const retitle = (draft: { title: string }): void => void (draft.title = "stale");
      for (const call of [
        () => older.client.getStore(stale),
        () => older.client.updateStore({ ...stale, updater: retitle }),
        () => older.client.updateStoreFrom({ ...stale, snapshot, updater: retitle }),
        () => older.client.takeFromStore({ ...stale, selector: (state) => state.title, claim: retitle }),
        () => older.client.transactStores({ stores: { s: stale }, updater: ({ s }) => retitle(s) }),
        () => older.client.deleteStoreFrom({ ...stale, snapshot }),
        () => older.client.deleteStore(stale),
        () => older.client.store(stale.definition, "a").when((state) => state.title),
      ]) {
        await expectRefused(older.connector, DefinitionOutdatedError, call);
      }
      const errors: unknown[] = [];
      const stop = older.client.store(stale.definition, "a").watch(
        (state) => state.title,
        () => undefined,
        { onError: (error) => errors.push(error) },
      );
      await eventually(() => expect(errors).toMatchObject([{ code: "definition-outdated" }]));
      stop();
      expect(await newer.client.getStore({ definition: current, id: "a" })).toEqual(snapshot);
      expect(await errorOf(older.client.getStore(stale))).toMatchObject({ code: "definition-outdated" });
    },
  },
];
