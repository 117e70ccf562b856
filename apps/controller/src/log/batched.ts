// Log lines of one turn of the event loop, written at once: each write is a call of the system that
// waits until it is done, and a mass eviction logs two lines for each pod.

/** Takes what is to be written, sooner or later. */
export interface Batch {
  readonly write: (text: string) => void;
  /** Writes what waits now; for when there is no later. */
  readonly flush: () => void;
}

/** So much is not held back for the end of the turn. */
const lengthMax = 65_536;

/** Collects texts until the end of the turn, or until there are many. */
export function batched(write: (text: string) => void): Batch {
  let waiting = '';
  let next: NodeJS.Immediate | null = null;
  const flush = (): void => {
    if (next) clearImmediate(next);
    next = null;
    const text = waiting;
    waiting = '';
    if (text !== '') write(text);
  };
  return {
    flush,
    write: (text) => {
      waiting += text;
      if (waiting.length >= lengthMax) flush();
      else next ??= setImmediate(flush);
    },
  };
}
