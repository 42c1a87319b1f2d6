/** Draws at most every so often: an import commits faster than anyone reads. */

/** A function that draws what it was last called with, `every` milliseconds after the first call since the last drawing. */
export function paced<T>(every: number, draw: (latest: T) => void): (latest: T) => void {
  let waiting: { latest: T } | null = null;
  return (latest) => {
    if (waiting !== null) {
      waiting.latest = latest;
      return;
    }
    const drawing = { latest };
    waiting = drawing;
    setTimeout(() => {
      waiting = null;
      draw(drawing.latest);
    }, every);
  };
}
