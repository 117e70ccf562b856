import type { Activity } from './activity.ts';
import type { ClockNote } from './clock-note.ts';
import type { Running } from './controller.ts';
import type { Leadership } from './leadership.ts';
import type { Pulse } from './pulse.ts';

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
