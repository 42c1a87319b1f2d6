/** What the demo's tabs said they did, kept outside the browser: the other side of every comparison with the stores. */
export class DemoJournal {
  #taken = new Map(); // event → the turns in which it was taken
  #handedBack = new Set(); // turns whose event went back to the queue
  #rated = new Map(); // event → turns with their rating
  #declined = new Map(); // event → how often
  #resumed = 0;
  #problems = [];
  #waiting = new Set();
  importedBy = 0;

  record(activity) {
    const { type, eventId, reviewer } = activity;
    const turn = `${reviewer} ${activity.turn}`;
    if (type === "imported") this.importedBy += 1;
    else if (type === "taken") entry(this.#taken, eventId, () => new Set()).add(turn);
    else if (type === "resumed") {
      this.#resumed += 1;
      entry(this.#taken, eventId, () => new Set()).add(turn); // Taken before the reload, and reported by then or not.
    } else if (type === "handed-back") this.#handedBack.add(`${eventId} ${turn}`);
    else if (type === "rated") entry(this.#rated, eventId, () => new Map()).set(turn, activity);
    else if (type === "decided" && !activity.approved)
      this.#declined.set(eventId, (this.#declined.get(eventId) ?? 0) + 1);
    else if (type === "problem") this.#problems.push(activity.text);
    for (const look of this.#waiting) look();
  }

  facts() {
    const returns = (eventId) =>
      [...this.#handedBack].filter((key) => key.startsWith(`${eventId} `)).length + (this.#declined.get(eventId) ?? 0);
    return {
      importedBy: this.importedBy,
      taken: this.#taken.size,
      takenTwice: [...this.#taken].filter(([id, turns]) => turns.size - returns(id) > 1).map(([id]) => id),
      rated: this.#rated.size,
      handedBack: this.#handedBack.size,
      resumed: this.#resumed,
      problems: this.#problems,
    };
  }

  /** How many events a reviewer of this name has rated. */
  ratedBy(name) {
    const all = [...this.#rated.values()].flatMap((turns) => [...turns.values()]);
    return all.filter(({ reviewer }) => reviewer.startsWith(`${name}-`)).length;
  }

  wasTaken(eventId) {
    return this.#taken.has(eventId);
  }

  /** Whether a tab said something else about an event than its store. A closed tab may not have come to say it at all. */
  contradicts(eventId, review) {
    const turns = [...(this.#rated.get(eventId)?.values() ?? [])];
    if (turns.length === 0) return false;
    return turns.length > 1 || turns[0].reviewer !== review.reviewer || turns[0].rating !== review.rating;
  }

  /** Resolves when the facts are as wanted; rejects after `patience` milliseconds without a word from any tab. */
  until(wanted, patience) {
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        settle(value);
      };
      const look = () => {
        timer.refresh();
        if (wanted(this.facts())) end(resolve);
      };
      const timer = setTimeout(
        () => end(reject, new Error(`No progress any more; so far: ${JSON.stringify(this.facts())}`)),
        patience,
      );
      this.#waiting.add(look);
      look();
    });
  }
}

function entry(map, key, make) {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
