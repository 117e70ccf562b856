import type { Leadership } from '../leadership/leadership.ts';
import type { ClockNote } from './clock-change.ts';
import type { Pulse } from './loop-lag.ts';
import type { Activity } from './pending-evictions.ts';
import type { Running } from './run-controller.ts';

/** How this process is doing, for its health checks, metrics and pages. */
export interface Vitals {
  readonly startedAt: Date;
  readonly pulse: Pick<Pulse, 'lag'>;
  readonly activity: Activity;
  readonly clock: ClockNote;
  readonly leadership: Leadership;
  /** Null: it has not begun. */
  running: Running | null;
  /** Told to stop. */
  stopping: boolean;
}
