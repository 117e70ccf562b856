// Plays a run for a user who watches: shows its progress, and ends at Ctrl-C.
import { setImmediate as turn } from 'node:timers/promises';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { LiveBlock } from '../../cli/output.ts';
import { played, type Run, type RunOptions } from './stage/run.ts';
import { holdNewSpace } from './tuning.ts';

/** The longest wait for an answer to Ctrl-C, except for one piece of a run. */
const restEveryMs: Millis = 100;

export interface Audience {
  /** Null: no progress is shown. */
  readonly live: LiveBlock | null;
  readonly interrupt: AbortSignal;
}

/** `what` stands before how far it is. Throws FaultyFile, and the reason of `interrupt`. */
export async function watched(
  options: RunOptions,
  what: string,
  { live, interrupt }: Audience,
): Promise<Run> {
  const work = played(options);
  const until = formatDuration(options.until);
  let restedAt = performance.now();
  try {
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      holdNewSpace();
      if (performance.now() - restedAt < restEveryMs) continue;
      const { value: after } = step;
      live?.show(
        `simulating ${what}${after === null ? 'the cluster comes to rest' : `${formatDuration(after)} of ${until}`}`,
      );
      await turn();
      interrupt.throwIfAborted();
      restedAt = performance.now();
    }
  } finally {
    live?.clear();
  }
}
