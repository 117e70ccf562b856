// What a NodeDrain comes to as the settings of the drain machine.
import type { BudgetPolicy } from '../../attempt/budget-policy.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import { selects } from '../../model/selector.ts';
import type { KnownDrainNode, NodeDrain } from '../../policy/values.ts';
import type { StoreView } from '../../store.ts';
import { type DrainConfig, type DrainTarget, resolveDrainConfig } from '../config.ts';
import type { DrainFailure, DrainNodePhase } from '../state.ts';
import { isPlannedByOthers } from './conditions.ts';
import { inWaves, waveOf } from './waves.ts';

/** Our name in metadata.managedFields. */
const fieldManager = 'taintmgr-controller';

/** The settings for a drain whose targets are given one by one. */
export function drainConfigOf(drain: NodeDrain, leaving: ReadonlySet<string>): DrainConfig {
  return resolveDrainConfig({
    taint: drain.taint,
    targets: [],
    leaving,
    respect: respects[drain.tolerations],
    budgets: budgetsOf(drain),
    filters: {
      force: drain.takesUnmanaged,
      ignoreDaemonSets: true,
      deleteEmptyDirData: drain.takesEmptyDir,
    },
    skipTerminatingMs: drain.skipTerminatingMs,
    gracePeriodSeconds: drain.gracePeriodSeconds,
    nodesAtOnceMax: drain.nodesAtOnceMax,
    heldUpNodesMax: drain.heldUpNodesMax,
    podsAtOnceMax: drain.podsAtOnceMax,
    waitCompleted: drain.waitCompleted,
    heeds: drain.heeds,
    podOrder: { byPriority: drain.isByPriority, last: drain.lastPods },
    nodeTimeoutMs: drain.nodeTimeoutMs,
    marksNodes: true,
    partners: [fieldManager],
    fieldManager,
  });
}

const respects = { respect: 'tolerations', noWait: 'limitless', ignore: 'nothing' } as const;

function budgetsOf({ budgets: kind, deleteAfterMs }: NodeDrain): BudgetPolicy {
  return kind === 'deleteAfter' ? { kind, afterMs: deleteAfterMs ?? 0 } : { kind };
}

/**
 * The nodes that a drain is for, as they are known: in their order, those of a selector by name. One
 * that has begun is for those that it began with, whatever their labels are by now.
 */
export function nodesOf(
  drain: NodeDrain,
  begunWith: ReadonlySet<string>,
  store: StoreView,
): readonly Node[] {
  const { nodes, takesLaterNodes } = drain;
  if (nodes)
    return inWaves(
      drain,
      nodes.flatMap((name) => store.node(name) ?? []),
    );
  const takesOthers = takesLaterNodes || begunWith.size === 0;
  const meant = Array.from(store.nodes()).filter((node) => {
    if (begunWith.has(node.name)) return true;
    return takesOthers && isMeant(drain, node);
  });
  return inWaves(
    drain,
    meant.sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
}

/** Whether the selector is for the node, and somebody has planned its maintenance where that is asked for. */
export function isMeant({ selector, takesPlannedNodesOnly }: NodeDrain, node: Node): boolean {
  if (selector === null || !selects(selector, node.labels ?? {})) return false;
  return !takesPlannedNodesOnly || isPlannedByOthers(node);
}

/** The nodes of a selector that a drain began with, as its status has them; none: it has not begun. */
export function begunWith(drain: NodeDrain): ReadonlySet<string> {
  const { startedAt, generation, observedGeneration, known } = drain;
  const hasBegun = startedAt !== null && observedGeneration === generation;
  return new Set(hasBegun ? known.map(({ name }) => name) : []);
}

/** Nodes that it names and that are not there: either they are gone, or there never were any. */
export function missingTargets(
  now: Instant,
  drain: NodeDrain,
  begunWith: ReadonlySet<string>,
  store: StoreView,
): readonly DrainTarget[] {
  return [...new Set(drain.nodes ?? begunWith)].flatMap((name): readonly DrainTarget[] => {
    if (store.node(name)) return [];
    const known = drain.known.find((one) => one.name === name);
    const wasThere = known !== undefined && known.reason !== 'NotFound';
    const phase: DrainNodePhase = wasThere
      ? { kind: 'vanished', at: known.endedAt === null ? now : store.clock.when(known.endedAt) }
      : { kind: 'failed', why: 'NotFound', at: now, message: 'there is no such node' };
    return [{ name, zone: '', phase }];
  });
}

/**
 * A node as a target, from where an earlier run came with it. What an earlier generation of the drain
 * did not manage is tried again.
 */
export function targetOf(
  drain: NodeDrain,
  node: Pick<Node, 'name' | 'zone' | 'labels'>,
  known: KnownDrainNode | null,
  isSameSpec: boolean,
  when: (wall: Instant) => Instant,
): DrainTarget {
  const phase = known && phaseOf(known, isSameSpec, when);
  const { name, zone = '' } = node;
  return { name, zone, wave: waveOf(drain, node), ...(phase && { phase }) };
}

function phaseOf(
  { phase, reason, message, startedAt, endedAt }: KnownDrainNode,
  isSameSpec: boolean,
  when: (wall: Instant) => Instant,
): DrainNodePhase | null {
  const since = startedAt === null ? null : when(startedAt);
  const at = endedAt === null ? null : when(endedAt);
  if ((phase === 'Draining' || phase === 'Tainting') && since !== null) {
    return { kind: 'tainting', since };
  }
  if (phase === 'Drained' && at !== null) return { kind: 'drained', since: since ?? at, at };
  if (phase === 'Gone' && at !== null) return { kind: 'vanished', at };
  const why = failures.find((one) => one === reason);
  if (phase === 'Failed' && isSameSpec && at !== null && why) {
    return { kind: 'failed', why, at, message: message || null };
  }
  return null;
}

const failures: readonly DrainFailure[] = [
  'AnotherDrain',
  'Blocked',
  'Denied',
  'ForeignEviction',
  'NotBegun',
  'NotFound',
  'PodsRefused',
  'StepTimedOut',
  'TaintRemoved',
  'TimedOut',
];
