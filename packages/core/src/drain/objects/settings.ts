// What a NodeDrain comes to as the settings of the drain machine.
import type { BudgetPolicy } from '../../attempt/delete-or-evict.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import { selects } from '../../model/selector.ts';
import type { KnownDrainNode, NodeDrain, NodeDrainSpec } from '../../policy/node-drain.ts';
import type { StoreView } from '../../store.ts';
import { type DrainConfig, type DrainTarget, resolveDrainConfig } from '../config.ts';
import { carriesTaint } from '../decide.ts';
import type { DrainFailure, DrainNodePhase } from '../state.ts';
import { isPlannedByOthers } from './conditions.ts';
import { inWaves, waveOf } from './waves.ts';

/** Our name in metadata.managedFields. */
const fieldManager = 'taintmgr-controller';
/** As many as spec.nodes and status.nodeStates may have: the next leader knows no others. */
export const nodesMax = 1000;

/** The settings for a drain whose targets are given one by one. */
export function drainConfigOf({ spec }: NodeDrain, leaving: ReadonlySet<string>): DrainConfig {
  const { pods, limits, timeouts } = spec;
  return resolveDrainConfig({
    taint: { ...spec.taint, timeAdded: null },
    targets: [],
    leaving,
    respect: respects[spec.tolerations],
    budgets: budgetPolicyOf(spec),
    filters: {
      force: pods.withoutController,
      ignoreDaemonSets: true,
      deleteEmptyDirData: pods.withEmptyDir,
    },
    skipTerminatingMs: timeouts.terminatingPods ?? null,
    gracePeriodSeconds: pods.gracePeriodSeconds ?? null,
    nodesAtOnceMax: limits.nodesAtOnce,
    heldUpNodesMax: limits.heldUpNodes,
    podsAtOnceMax: limits.podsAtOnce,
    waitCompleted: pods.waitCompleted ?? null,
    heeds: spec.heeds.podAnnotations ?? [],
    podOrder: { byPriority: pods.order === 'ByPriority', last: pods.last ?? [] },
    // 0: as long as it takes, as with `--timeout`.
    nodeTimeoutMs: timeouts.node || null,
    marksNodes: true,
    partners: [fieldManager],
    fieldManager,
  });
}

/** The settings for these nodes, wave after wave; `own` are those of the program that runs it. */
export function soloDrainConfig(
  drain: NodeDrain,
  nodes: readonly Node[],
  own: Partial<Omit<DrainConfig, 'targets'>>,
): DrainConfig {
  const targets = inWaves(drain, nodes).map((node) => {
    return { name: node.name, zone: node.zone ?? '', wave: waveOf(drain, node) };
  });
  return resolveDrainConfig({ ...drainConfigOf(drain, new Set()), ...own, targets });
}

/** Whether pods of other nodes matter too: what a workload has elsewhere. */
export function looksAtAllPods({ spec: { limits, pods } }: NodeDrain): boolean {
  return limits.maxUnavailable !== undefined || pods.singleReplicas === 'RolloutRestart';
}

const respects = { Respect: 'tolerations', NoWait: 'limitless', Ignore: 'nothing' } as const;

/** The same as the eviction of a pod takes it. */
export function budgetPolicyOf({ budgets }: Pick<NodeDrainSpec, 'budgets'>): BudgetPolicy {
  const { policy, deleteAfter = 0 } = budgets;
  if (policy === 'DeleteAfter') return { kind: 'deleteAfter', afterMs: deleteAfter };
  return { kind: policy === 'Ignore' ? 'ignore' : 'respect' };
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
  const { spec, knowsAll } = drain;
  const { nodes, laterNodes } = spec;
  if (nodes)
    return inWaves(
      drain,
      nodes.flatMap((name) => store.node(name) ?? []),
    );
  const takesOthers = laterNodes === 'Drain' || begunWith.size === 0 || !knowsAll;
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
export function isMeant({ spec }: NodeDrain, node: Node): boolean {
  const { nodeSelector, maintenancePlanned } = spec;
  if (!nodeSelector || !selects(nodeSelector, node.labels ?? {})) return false;
  return maintenancePlanned === 'Ignore' || isPlannedByOthers(node);
}

/** The nodes of a selector that a drain began with, as its status has them; none: it has not begun. */
export function begunWith(drain: NodeDrain): ReadonlySet<string> {
  const { startedAt, generation, observedGeneration, observedSelector, known } = drain;
  // Statuses of earlier versions do not say the selector.
  const isSame =
    observedSelector === null
      ? observedGeneration === generation
      : observedSelector === selectorText(drain);
  return new Set(startedAt !== null && isSame ? known.map(({ name }) => name) : []);
}

/** Its selector as its status says it; null: it names its nodes. */
export function selectorText({ spec: { nodeSelector } }: NodeDrain): string | null {
  return nodeSelector ? JSON.stringify(nodeSelector) : null;
}

/** Nodes that it names and that are not there: either they are gone, or there never were any. */
export function missingTargets(
  now: Instant,
  drain: NodeDrain,
  begunWith: ReadonlySet<string>,
  store: StoreView,
): readonly DrainTarget[] {
  return [...new Set(drain.spec.nodes ?? begunWith)].flatMap((name): readonly DrainTarget[] => {
    if (store.node(name)) return [];
    const known = knownOf(drain, name);
    const wasThere = known !== null && known.reason !== 'NotFound';
    const phase: DrainNodePhase = wasThere
      ? { kind: 'vanished', at: known.endedAt === null ? now : store.clock.when(known.endedAt) }
      : { kind: 'failed', why: 'NotFound', at: now, message: 'there is no such node' };
    return [{ name, zone: '', phase }];
  });
}

/** How far an earlier run came with the node; null: nobody knows. */
export function knownOf({ known }: NodeDrain, nodeName: string): KnownDrainNode | null {
  return known.find(({ name }) => name === nodeName) ?? null;
}

/** A node as a target, from where an earlier run came with it; null: it begins anew. */
export function targetOf(
  now: Instant,
  drain: NodeDrain,
  node: Node,
  known: KnownDrainNode | null,
  when: (wall: Instant) => Instant,
): DrainTarget {
  const phase = known && nodePhase(now, drain, node, known, when);
  const { name, zone = '' } = node;
  return { name, zone, wave: waveOf(drain, node), ...(phase && { phase }) };
}

/**
 * How far it is by what is known and what it shows. What an earlier generation of the drain did not
 * manage is tried again.
 */
function nodePhase(
  now: Instant,
  drain: NodeDrain,
  node: Node,
  known: KnownDrainNode,
  when: (wall: Instant) => Instant,
): DrainNodePhase | null {
  const isTainted = carriesTaint(node, drain.spec.taint);
  if (isAnother(node, known)) {
    if (drain.spec.laterNodes === 'Drain' && isMeant(drain, node)) return null;
    if (known.endedAt === null && !isTainted) return { kind: 'vanished', at: now };
  }
  if (known.phase === 'Draining' && !isTainted) {
    // A roll back takes taint and mark at once.
    const isMarked = node.drainMarks?.some(({ id }) => id === drain.name) === true;
    if (drain.spec.whileClosed === 'RollBack' && !isMarked) return null;
    return { kind: 'failed', why: 'TaintRemoved', at: now, message: null };
  }
  return phaseOf(known, drain.observedGeneration === drain.generation, when);
}

/** Whether it has only the name of the node that is known: that one is gone. */
function isAnother({ createdAt }: Node, { phase, startedAt, endedAt }: KnownDrainNode): boolean {
  const since = endedAt ?? startedAt;
  return phase === 'Gone' || (createdAt != null && since !== null && createdAt > since);
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
