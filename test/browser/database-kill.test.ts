/** What a kill in mid-commit leaves on real OPFS, and opening against an owner that is dying or alive. */
import { afterEach, expect, test } from "vitest";
import { faultsOf, newName, spawn, terminateAll } from "./database-client.js";

afterEach(terminateAll);

test("a worker killed in mid-commit loses no acknowledged commit and leaves no damage", async () => {
  const name = newName();
  const acknowledged = new Set<string>();
  const handOvers: number[] = [];
  for (let kill = 1; kill <= 3; kill++) {
    const victim = spawn();
    await victim.open(name);
    await victim.commitPast(20 * kill, { stateBytes: 3000 * kill, busy: true });
    victim.terminate();
    const killed = performance.now();

    const heir = spawn();
    await heir.open(name);
    handOvers.push(Math.round(performance.now() - killed));
    for (const { storeId } of victim.acknowledged) acknowledged.add(storeId);
    expect(await faultsOf(heir, acknowledged)).toEqual([]);
    heir.terminate();
  }
  console.info(`hand-over from a killed busy worker, ms: ${handOvers.join(", ")}`);
}, 60_000);

test("20 races of opening against a dying owner never wipe the database", async () => {
  const name = newName();
  const acknowledged = new Set<string>();
  let owner = spawn();
  const { databaseId } = await owner.open(name, { lock: false });
  const openings: number[] = [];
  for (let race = 1; race <= 20; race++) {
    const next = spawn();
    await next.run({ type: "load" });
    await owner.commitPast(3, { stateBytes: 500, busy: false });
    // No lock: the next one opens while the files are still held, as a lock that is freed too early would have it.
    const opening = next.open(name, { lock: false });
    owner.terminate();
    const opened = await opening;
    expect(opened).toMatchObject({ databaseId, epoch: race + 1 });
    openings.push(Math.round(opened.openedIn));
    for (const { storeId } of owner.acknowledged) acknowledged.add(storeId);
    expect(await faultsOf(next, acknowledged)).toEqual([]);
    owner = next;
  }
  console.info(`opening against a dying owner, ms: ${openings.join(", ")}`);
}, 60_000);

test("a database that another worker holds is busy, and is left as it is", async () => {
  const name = newName();
  const holder = spawn();
  const { databaseId } = await holder.open(name);
  await holder.run({ type: "measure", count: 3, stateBytes: 100 });
  await expect(spawn().open(name, { lock: false })).rejects.toMatchObject({
    code: "storage-unavailable",
    reason: "busy",
  });
  await holder.run({ type: "measure", count: 3, stateBytes: 100 });
  holder.terminate();
  expect(await spawn().open(name)).toMatchObject({ databaseId, epoch: 2, head: 6 });
});
