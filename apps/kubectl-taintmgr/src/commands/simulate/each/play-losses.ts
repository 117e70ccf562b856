// Plays losses in as many threads as there is room for, and keeps what is done where that is stopped.
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { Loss } from '@taintmgr/page';
import type { LiveBlock } from '../../../cli/output.ts';
import type { PlannedLoss } from './plan.ts';

interface LossesOptions {
  readonly planned: readonly PlannedLoss[];
  /** Plays one in this thread. */
  readonly play: (planned: PlannedLoss) => Promise<Loss>;
  /** Null: nobody watches. */
  readonly live: LiveBlock | null;
  readonly interrupt: AbortSignal;
}

/** Each in its place; null: it was not played, as somebody stopped it. */
export async function playLosses(options: LossesOptions): Promise<readonly (Loss | null)[]> {
  const { planned, play, live, interrupt } = options;
  const losses = planned.map((): Loss | null => null);
  const progress = new Progress(planned.length, live);
  try {
    for (const [index, one] of planned.entries()) {
      if (interrupt.aborted) break;
      losses[index] = await play(one);
      progress.add(losses[index]);
    }
  } catch (error) {
    if (!interrupt.aborted || error !== interrupt.reason) throw error;
  } finally {
    live?.clear();
  }
  return losses;
}

/** Says how far it is: `12 of 60 losses, 1 failed, about 40s left`. */
class Progress {
  readonly #all: number;
  readonly #live: LiveBlock | null;
  readonly #beganAt = performance.now();
  #done = 0;
  #failed = 0;

  constructor(all: number, live: LiveBlock | null) {
    [this.#all, this.#live] = [all, live];
    this.#show();
  }

  add({ failed }: Loss): void {
    this.#done++;
    if (failed !== null) this.#failed++;
    this.#show();
  }

  #show(): void {
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : '';
    const left = this.#done > 0 ? `, about ${formatDuration(this.#leftMs())} left` : '';
    this.#live?.show(`${this.#done} of ${this.#all} losses${failed}${left}`);
  }

  /** In whole seconds, as if the others took as long. */
  #leftMs(): Millis {
    const each = (performance.now() - this.#beganAt) / this.#done;
    return Math.ceil((each * (this.#all - this.#done)) / 1000) * 1000;
  }
}
