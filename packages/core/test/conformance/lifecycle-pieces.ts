import { isDeepStrictEqual } from 'node:util';
import type { Labels, Node, NodeCondition, Taint } from '@taintmgr/core';
import { missingLabels, noScheduleChange } from '../../src/lifecycle/node-needs.ts';
import {
  type LimiterKind,
  type QueuedNode,
  swapLimiter,
  UpstreamLimiter,
  ZoneQueue,
} from '../../src/lifecycle/upstream/zone-store.ts';
import { zoneRate, zoneState } from '../../src/lifecycle/zone-rates.ts';
import { applyTaints, formatTaintName } from './node-objects.ts';
import { taintFrom, type VectorTaint } from './objects.ts';

// The rooms of the node lifecycle that stand alone, against recordings of the real functions.

type Limiter = { readonly kind: LimiterKind; readonly qps?: number; readonly burst?: number };

interface ZoneCase {
  readonly nodeReadyConditions: string;
  readonly unhealthyZoneThreshold: number;
  readonly largeClusterSizeThreshold: number;
  readonly evictionLimiterQPS: number;
  readonly secondaryEvictionLimiterQPS: number;
}

/** One zone: its state, and what its limiter becomes. */
export function checkZoneState(
  vector: ZoneCase & Readonly<Record<string, unknown>>,
): string | null {
  const { nodeReadyConditions, unhealthyZoneThreshold, evictionLimiterQPS } = vector;
  const size = nodeReadyConditions.length;
  const ready = [...nodeReadyConditions].filter((letter) => letter === 'T').length;
  const rates = {
    nodeEvictionRate: evictionLimiterQPS,
    secondaryNodeEvictionRate: vector.secondaryEvictionLimiterQPS,
    largeClusterSizeThreshold: vector.largeClusterSizeThreshold,
    unhealthyZoneThreshold,
  };
  const state = zoneState({ ready, notReady: size - ready }, unhealthyZoneThreshold);
  const start = new UpstreamLimiter('tokenBucket', 0, evictionLimiterQPS);
  const limiter = swapLimiter(start, 0, zoneRate(state, size, rates));
  return difference(vector, {
    notReadyNodes: size - ready,
    zoneState: state,
    reducedQPS: zoneRate('PartialDisruption', size, rates),
    healthyQPS: zoneRate('Normal', size, rates),
    limiterAfterSetLimiterInZone: limiterOf(limiter),
  });
}

/** Labels to be set on one node. */
export function checkLabels(vector: {
  readonly labels: Labels;
  readonly labelsSet: Labels;
  readonly apiWrites: number;
}): string | null {
  const missing = missingLabels(vector.labels);
  return difference(vector, { labelsSet: missing ?? {}, apiWrites: missing ? 1 : 0 });
}

/** The NoSchedule taints of one node. */
export function checkConditionTaints(vector: {
  readonly conditions: readonly (readonly [type: string, status: string])[];
  readonly unschedulable: boolean;
  readonly taintsBefore: readonly VectorTaint[];
}): string | null {
  const times = { reason: '', message: '', heartbeatAt: null, transitionAt: null };
  const conditions = vector.conditions.map(
    ([type, status]): NodeCondition => ({ type, status, ...times }),
  );
  const taints = vector.taintsBefore.map(taintFrom);
  const { unschedulable } = vector;
  const node: Node = { name: 'n', uid: 'u', taints, conditions, unschedulable };
  const { add, remove } = noScheduleChange(node);
  const added = add.map((taint): Taint => ({ ...taint, value: '', timeAdded: 1 }));
  const after = applyTaints(taints, added, remove);
  return difference(vector, {
    taintsAfter: after.map(({ key, value, effect }) => ({ key, ...(value && { value }), effect })),
    taintsWithTimeAdded: after.filter(({ timeAdded }) => timeAdded !== null).map(formatTaintName),
    apiWrites: Number(add.length > 0) + Number(remove.length > 0),
  });
}

type QueueOp = { readonly atMs: number } & (
  | { readonly op: 'advance' | 'clear' }
  | { readonly op: 'add'; readonly value: string; readonly uid: string; readonly result: boolean }
  | { readonly op: 'remove'; readonly value: string; readonly result: boolean }
  | { readonly op: 'swapLimiter'; readonly qps: number; readonly limiter: Limiter }
  | {
      readonly op: 'try';
      readonly responses?: readonly { readonly done: boolean; readonly waitMs?: number }[];
      readonly processed: readonly object[];
    }
);

/** One history of the queue of a zone. */
export function checkQueue(vector: {
  readonly initialLimiter: Limiter;
  readonly ops: readonly QueueOp[];
}): string | null {
  const { kind, qps, burst } = vector.initialLimiter;
  const queue = new ZoneQueue(new UpstreamLimiter(kind, 0, qps, burst));
  for (const [index, op] of vector.ops.entries()) {
    const found = { ...applyOp(queue, op), ...(op.op !== 'advance' && stateOf(queue)) };
    const differs = difference(op, found);
    if (differs) return `op ${index}: ${differs}`;
  }
  return null;
}

function applyOp(queue: ZoneQueue, op: QueueOp): object {
  const stamp = { at: op.atMs, nanos: 0 };
  switch (op.op) {
    case 'advance':
      return {};
    case 'clear':
      queue.clear();
      return {};
    case 'add':
      return { result: queue.add(op.value, op.uid, stamp) };
    case 'remove':
      return { result: queue.remove(op.value) };
    case 'swapLimiter':
      queue.swapLimiter(op.atMs, op.qps);
      return { limiter: limiterOf(queue.limiter) };
    case 'try': {
      const processed: object[] = [];
      for (let item = queue.next(stamp); item; item = queue.next(stamp)) {
        const { done, waitMs = 0 } = op.responses?.[processed.length] ?? { done: true };
        queue.settle(stamp, item, done ? { done } : { done, wait: waitMs });
        const { value, uid } = item;
        const stamps = { addedAtNs: nanosOf(item.addedAt), processAtNs: nanosOf(item.processAt) };
        processed.push({ value, uid, ...stamps, done, ...(waitMs > 0 && { waitMs }) });
      }
      return { processed };
    }
  }
}

function stateOf({ queued, known }: ZoneQueue): object {
  const items = queued
    .map(({ value, uid, processAt }) => ({ value, uid, processAtNs: nanosOf(processAt) }))
    .sort((a, b) => a.processAtNs - b.processAtNs || (a.value < b.value ? -1 : 1));
  const [head] = queued;
  return { queue: items, ...(head && { head: head.value }), known: [...known].sort() };
}

function nanosOf({ at, nanos }: QueuedNode['processAt']): number {
  return at * 1_000_000 + nanos;
}

function limiterOf({ kind, qps }: UpstreamLimiter): object {
  return kind === 'tokenBucket' ? { kind, qps: shortest(qps) } : { kind };
}

/** The shortest decimal that is this 32-bit float. */
function shortest(qps: number): number {
  for (let digits = 1; digits < 10; digits++) {
    const short = Number(qps.toPrecision(digits));
    if (Math.fround(short) === qps) return short;
  }
  return qps;
}

/** The first field in which what was found is not what was recorded. */
export function difference(recorded: object, found: object): string | null {
  const expected: Readonly<Record<string, unknown>> = { ...recorded };
  for (const [field, value] of Object.entries(found)) {
    if (isDeepStrictEqual(value, expected[field])) continue;
    return `${field}: got ${JSON.stringify(value)}, want ${JSON.stringify(expected[field])}`;
  }
  return null;
}
