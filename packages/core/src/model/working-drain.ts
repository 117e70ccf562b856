// A drain at work on a node, as its mark there shows it.
import type { Millis } from '../kernel/time.ts';
import { formatTaint, type Taint } from './taint.ts';

/** The name under which a drain sets marks on a node. */
export interface DrainMarkName {
  /** The same on all its nodes. */
  readonly id: string;
  /** As `key=value:effect`. */
  readonly taint: string;
  /** The program that runs it; '': unknown. */
  readonly by: string;
}

/** The program that carries out NodeDrains, as marks name it. */
export const nodeDrainer = 'taintmgr-controller';

/** Names a drain for people: `NodeDrain kernel`, `drain drain-20261122-041830-a4d8 by alice`. */
export function drainText({ id, by }: Pick<DrainMarkName, 'id' | 'by'>): string {
  if (by === nodeDrainer) return `NodeDrain ${id}`;
  return `drain ${id}${by === '' ? '' : ` by ${by}`}`;
}

/** A drain that evicts the pods of one of its nodes, as it is known. */
export interface WorkingDrain extends DrainMarkName {
  /** Another text with each sign of life; when it was is not read from it. */
  readonly heartbeat: string;
}

/** The interval of a drain's signs of life. */
export const drainHeartbeatMs: Millis = 10_000;

/** A drain that has given no sign of life for this time (milliseconds) is over. */
export const drainStaleMs: Millis = 60_000;

/** Another program that evicts, or may evict, for NoExecute taints in the cluster, where budgets may not be asked. */
export interface OtherEvictors {
  /** `acts`: it evicts; `nobody`: there is none. */
  readonly kind: 'nobody' | 'acts' | 'unknown';
  /** Who evicts, or why that is not known, as a clause. */
  readonly text: string;
  /** The remedy, as a clause; '': there is none. */
  readonly advice: string;
  /** True when the API server refuses it the pods of namespaces that are taken over; left out: it does not. */
  readonly isRefused?: boolean;
}

/**
 * taintmgr-controller with --mode=delete as another evictor: it leaves pods to a drain only for as
 * long as that is at work.
 */
export const ownDeletions: Pick<OtherEvictors, 'text' | 'advice'> = {
  text:
    'taintmgr-controller deletes the pods that the drain leaves, without asking PDBs, as its --mode ' +
    'is delete',
  advice: 'start it with --mode=evict',
};

/** Describes why a drain must not put a NoExecute taint on nodes, and what helps. */
export function noExecuteFault(
  taint: Taint,
  { text, advice }: Pick<OtherEvictors, 'text' | 'advice'>,
): string {
  const other = formatTaint({ ...taint, effect: 'NoSchedule' });
  const known = advice === '' ? '' : `, or ${advice}`;
  return `${text}; use ${other}, for which no other controller evicts${known}`;
}
