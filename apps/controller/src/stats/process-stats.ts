import type { Leadership } from '../leadership/leadership.ts';
import type { ClockChange } from './clock-change.ts';
import type { LoopLag } from './loop-lag.ts';
import type { PendingEvictions } from './pending-evictions.ts';
import type { RunningController } from './running-controller.ts';
import type { TakeoverScore } from './takeover-score.ts';

/** How this process is doing, for its health checks, metrics and pages. */
export interface ProcessStats {
  readonly startedAt: Date;
  readonly loopLag: Pick<LoopLag, 'lag'>;
  readonly pending: PendingEvictions;
  readonly clock: ClockChange;
  readonly leadership: Leadership;
  /** Null: there is no takeover. */
  readonly takeover: TakeoverScore | null;
  /** Null: it has not begun. */
  running: RunningController | null;
  /** There is no pod of the name that it was given as its own: its last replica is not spared. Left out: there is. */
  ownPodIsMissing?: true;
  /** Told to stop. */
  stopping: boolean;
}
