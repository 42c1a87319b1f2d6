/** A list of notes that survives reloads and is the same in every tab. */
import { defineStore, openStores } from "wakeful";
import { z } from "zod";
import { options } from "./options.js";

const Notes = defineStore("notes", z.object({ texts: z.array(z.string()) }), {
  initial: () => ({ texts: [] }),
});

const list = document.querySelector("#notes") as HTMLUListElement;
const form = document.querySelector("form") as HTMLFormElement;
const input = document.querySelector("input") as HTMLInputElement;

const stores = await openStores(options);
const notes = stores.store(Notes, "mine");

notes.watch(
  (state) => state.texts,
  (texts) => {
    list.replaceChildren(
      ...texts.map((text) => {
        const item = document.createElement("li");
        item.textContent = text;
        return item;
      }),
    );
  },
);

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await notes.update((draft) => {
    draft.texts.push(input.value);
  });
  form.reset();
});

document.documentElement.dataset["storage"] = (await stores.storage()).kind;
