import type { LifecycleReport } from '@taintmgr/core';
import { describeHold, type ZoneStatus } from '@taintmgr/core/lifecycle';
import type { Instant } from '@taintmgr/core/time';
import { relativeText } from './texts.ts';
import type { Timeline } from './timelines.ts';

/** How a zone is doing, as the controller sees it. */
export interface RecordedZone {
  readonly state: string;
  readonly ready: number;
  readonly notReady: number;
  /** Nodes tainted a second, at most. */
  readonly rate: number;
  /** Why none is tainted for the time being; null: nothing holds them. */
  readonly held: string | null;
}

/** A zone, `region/zone` or '' for nodes that name neither, and what became of it. */
export type ZoneTrack = Timeline<{ readonly name: string }, RecordedZone>;

/** Whether a report says that zones have changed. */
export function isOfZones(report: { readonly kind: string }): boolean {
  return zoneReports.some((kind) => kind === report.kind);
}

const zoneReports: readonly LifecycleReport['kind'][] = ['zone', 'zoneHold', 'nodeUnreachable'];

/** What of a zone is recorded. */
export function recordedZone(
  { state, ready, notReady, rate, hold }: ZoneStatus,
  startsAt: Instant,
): RecordedZone {
  const held = hold && relativeText(describeHold(hold), startsAt);
  // Upstream counts in 32-bit floats.
  return { state: state ?? 'Unknown', ready, notReady, rate: Number(rate.toFixed(6)), held };
}
