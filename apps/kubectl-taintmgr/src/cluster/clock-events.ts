import { type Instant, parseTime } from '@taintmgr/core/time';
import { clockReasons } from '@taintmgr/k8s-adapter/client';

/** What controllers have reported about clocks, from their Events. */
export interface ClockEvent {
  /** Null: the Event does not say when. */
  readonly at: Instant | null;
  readonly message: string;
}

interface EventObject {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
}

/** Those of the Events about leases that are about clocks, the latest last. */
export function clockEventsIn(events: readonly unknown[]): readonly ClockEvent[] {
  return (events as readonly EventObject[])
    .filter(({ reason = '' }) => clockReasons.includes(reason))
    .map(({ message = '', lastTimestamp }) => ({ at: parseTime(lastTimestamp ?? ''), message }))
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
}
