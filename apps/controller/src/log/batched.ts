// Log lines that come close together, written at once: each write is a blocking system call, and a mass
// eviction logs two lines for each pod.

/** Takes lines that are written later. */
export interface Batch {
  readonly write: (text: string) => void;
  /** Writes what waits now; for when there is no later. */
  readonly flush: () => void;
}

/** The longest text that is held back. */
const lengthMax = 65_536;
/** Lines that come sooner than this after the last write wait until then. */
const pauseMs = 50;

/**
 * Collects texts until the end of the turn of the event loop, where nothing was written lately, for a
 * moment where something was, or until there are many.
 */
export function batched(write: (text: string) => void): Batch {
  let waiting = '';
  let isScheduled = false;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text === '') return;
    writtenAt = performance.now();
    write(text);
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    const go = (): void => {
      isScheduled = false;
      flush();
    };
    const wait = writtenAt + pauseMs - performance.now();
    // A process that has nothing else to do ends, and writes what waits then.
    if (wait > 0) setTimeout(go, wait).unref();
    else setImmediate(go);
  };
  return {
    flush,
    write: (text) => {
      waiting += text;
      if (waiting.length >= lengthMax) flush();
      else schedule();
    },
  };
}
