// Decides which NoExecute taint a node should have, at once or in its zone's turn.
import type { Instant } from '../kernel/time.ts';
import { type Node, readyOf } from '../model/node.ts';
import { hasTaint, notReadyKey, type TaintName, unreachableKey } from '../model/taint.ts';
import type { StoreView } from '../store.ts';
import type { LifecycleConfig } from './config.ts';
import type { NodeHeartbeats } from './health.ts';
import { taintPause } from './readiness.ts';
import { type LifecycleReason, reasonAtWallTime } from './reason.ts';

const notReady: TaintName = { key: notReadyKey, effect: 'NoExecute' };
const unreachable: TaintName = { key: unreachableKey, effect: 'NoExecute' };
const both: readonly TaintName[] = [notReady, unreachable];

/** The change of the NoExecute taints of a node. */
export interface NoExecuteDecision {
  /**
   * `keep`: nothing; `change`: at once, since no node is tainted that was not before; `taint`: when
   * its turn comes.
   */
  readonly kind: 'keep' | 'change' | 'taint';
  readonly add: readonly TaintName[];
  readonly remove: readonly TaintName[];
  /** When to decide again, if nothing happens before; null: never. */
  readonly until: Instant | null;
  readonly because: readonly LifecycleReason[];
}

/** The facts on which the decision depends besides the node. */
interface Circumstances {
  readonly record: NodeHeartbeats;
  readonly recovery: Recovery;
  /** True when all zones are down; then no node carries these taints. */
  readonly isAllDown: boolean;
}

/**
 * Decides by the condition Ready as the API has it: a node that was found unreachable gets its taint
 * once that is written down.
 */
export function decideNoExecute(node: Node, circumstances: Circumstances): NoExecuteDecision {
  const { recovery, isAllDown } = circumstances;
  const because = readinessReasons(node, circumstances);
  if (isAllDown) return change(node, [], both, [...because, { code: 'AllZonesDown' }]);
  const status = readyOf(node.conditions)?.status;
  switch (status) {
    case 'True': {
      const isTainted = both.some((taint) => hasTaint(node.taints, taint));
      if (!isTainted || recovery.until === null) return change(node, [], both, because);
      return { kind: 'keep', add: [], remove: [], until: recovery.until, because };
    }
    case 'False':
      return change(node, [notReady], [unreachable], because);
    case 'Unknown':
      return change(node, [unreachable], [notReady], because);
    default:
      return change(node, [], [], because);
  }
}

function change(
  node: Node,
  wanted: readonly TaintName[],
  unwanted: readonly TaintName[],
  because: readonly LifecycleReason[],
): NoExecuteDecision {
  const add = wanted.filter((taint) => !hasTaint(node.taints, taint));
  const remove = unwanted.filter((taint) => hasTaint(node.taints, taint));
  const isNew = add.length > 0 && remove.length === 0;
  const isRight = add.length === 0 && remove.length === 0;
  return { kind: isRight ? 'keep' : isNew ? 'taint' : 'change', add, remove, until: null, because };
}

/** Why a node is as ready as it is. */
function readinessReasons(
  node: Node,
  { record, recovery: { until, flaps } }: Circumstances,
): readonly LifecycleReason[] {
  const ready = readyOf(node.conditions);
  if (record.unreachableAt !== null) return [{ code: 'Unreachable', heardAt: record.heardAt }];
  switch (ready?.status) {
    case 'True':
      return until === null ? [{ code: 'Ready' }] : [{ code: 'Recovering', until, flaps }];
    case 'False':
      return [{ code: 'KubeletNotReady' }];
    case undefined:
      return [{ code: 'NotReported' }];
    default:
      return [{ code: 'Unknown' }];
  }
}

/** The recovery of a node: it may have to be well for longer. */
interface Recovery {
  readonly flaps: number;
  /** Null: it is not ready, or it has been for long enough. */
  readonly until: Instant | null;
}

/** Tells whether a node that is ready again has been so for long enough to lose its taint. */
export function recoveryOf(
  now: Instant,
  record: NodeHeartbeats,
  config: LifecycleConfig,
): Recovery {
  const { flapping, healthyMs } = config;
  const { readySince } = record;
  const recent = record.flaps.filter((at) => flapping && now - at <= flapping.withinMs);
  const isFlapping = flapping !== null && recent.length >= flapping.times;
  const wait = isFlapping ? Math.max(healthyMs, flapping.healthyMs) : healthyMs;
  const until = readySince === null || readySince + wait <= now ? null : readySince + wait;
  return { flaps: recent.length, until };
}

/** The decision, with reasons by the clock of the cluster; a taint that a pause holds back is not put on. */
export function decideUnlessPaused(
  store: StoreView,
  node: Node,
  circumstances: Circumstances,
): NoExecuteDecision {
  const { because, ...decision } = decideNoExecute(node, circumstances);
  const atWall = because.map((reason) => reasonAtWallTime(reason, store.clock));
  const key = decision.kind === 'taint' ? decision.add[0]?.key : undefined;
  const pause = key === undefined ? null : taintPause(store, node, key);
  if (!pause) return { ...decision, because: atWall };
  const paused = { code: 'ReadinessPaused', pause: pause.name, until: pause.until } as const;
  return { ...decision, kind: 'keep', add: [], because: [...atWall, paused] };
}
