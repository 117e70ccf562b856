import type { AttemptState } from './attempt/attempt.ts';
import { type Blocker, blockerOf } from './attempt/blocker.ts';
import type { BudgetPolicy } from './attempt/delete-or-evict.ts';
import type { Comparison, SimulatedUpstream } from './differences/simulated-upstream.ts';
import type { Decision, Eviction } from './eviction/decide.ts';
import type { EvictionMachine } from './eviction/machine.ts';
import type { ObservedTaint } from './eviction/taint-clock.ts';
import type { ClusterTime, Instant, Millis } from './kernel/time.ts';
import type { LifecycleMachine } from './lifecycle/machine.ts';
import type { NodeHealth, ZoneStatus } from './lifecycle/reason.ts';
import { plainPod } from './model/kept-pod.ts';
import type { Node } from './model/node.ts';
import type { Pod, PodView } from './model/pod.ts';
import type { StoreView } from './store.ts';

/** The subject of an explanation. */
export type Subject =
  | { readonly kind: 'node'; readonly name: string }
  | {
      readonly kind: 'pod';
      readonly namespace: string;
      readonly name: string;
      /** Left out: any pod with the name. */
      readonly uid?: string;
    };

/** Why and when one pod goes or stays. */
export interface PodExplanation {
  readonly kind: 'pod';
  /** The pod as the engine knows it. */
  readonly pod: Pod;
  /** The decision of the engine, with its reasons. */
  readonly decision: Decision;
  /** The treatment of its budgets when it goes. */
  readonly budgets: BudgetPolicy;
  /** When it is deleted if they hold it back until then; null: never, or they are not asked. */
  readonly deletedAt: Instant | null;
  /** The stage that the eviction has reached; null where none is pending. */
  readonly attempt: AttemptState | null;
  /** Time left to the deadline, negative when overdue; null for a pod that stays. Paused: as left. */
  readonly remaining: Millis | null;
  /** The thing that holds back an eviction that is due; null: nothing we know of. */
  readonly blocker: Blocker | null;
  /** The decision of kube-controller-manager; null unless the engine was told to compare. */
  readonly upstream: Comparison | null;
}

/**
 * Why and when the pods of one node go or stay: next to go first, those that stay last, then by
 * name.
 */
export interface NodeExplanation {
  readonly kind: 'node';
  /** The node as the engine knows it. */
  readonly node: Node;
  /** Its NoExecute taints. */
  readonly taints: readonly ObservedTaint[];
  /** Its pods. */
  readonly pods: readonly PodExplanation[];
  /** The view of its pods. */
  readonly podView: PodView;
  /** Its health, and its zone; null without the node lifecycle machine. */
  readonly health: NodeHealth | null;
  /** The state of its zone; null without the node lifecycle machine. */
  readonly zone: ZoneStatus | null;
}

/** The answer about a subject; null where the subject is not known. */
export type Explanation = NodeExplanation | PodExplanation | null;

/** The sources of answers. */
interface Explained {
  readonly store: StoreView;
  readonly machine: EvictionMachine;
  readonly lifecycle: LifecycleMachine | null;
  readonly simulated: SimulatedUpstream | null;
}

/** Explains a node or a pod with the values that the machines act on. */
export function explain(now: Instant, subject: Subject, explained: Explained): Explanation {
  const { store, machine, lifecycle } = explained;
  if (subject.kind === 'pod') {
    const { namespace, name, uid } = subject;
    const pod = uid === undefined ? store.podNamed(namespace, name) : store.pod(uid);
    return pod && explainPod(now, pod, explained);
  }
  const node = store.node(subject.name);
  if (!node) return null;
  const pods = Array.from(store.podsOn(node.name), (pod) => explainPod(now, pod, explained));
  const health = lifecycle?.healthOf(now, node) ?? null;
  const zone = lifecycle?.zoneOf(now, node) ?? null;
  const taints = machine.taintsOf(node.name);
  const podView = store.podView(node.name);
  return { kind: 'node', node, taints, pods: pods.sort(byDeadline), podView, health, zone };
}

function explainPod(now: Instant, pod: Pod, explained: Explained): PodExplanation {
  const { store, machine, simulated } = explained;
  const { clock } = store;
  const decision = decisionOn(pod, explained);
  const state = machine.attemptOn(pod);
  const attempt = state && byWallClock(state, clock);
  const blocker = attempt && 'setback' in attempt ? blockerOf(attempt.setback) : null;
  const upstream = simulated?.compare(pod, decision) ?? null;
  const remaining = remainingAt(clock.wall(now), decision);
  const budgets = machine.budgetsOf(pod, decision);
  const deletedAt = decision.kind === 'evict' ? deletionOf(now, pod, decision, machine) : null;
  const said = { attempt, remaining, blocker, upstream };
  return { kind: 'pod', pod: plainPod(pod), decision, budgets, deletedAt, ...said };
}

/** Budgets are asked once, however late it is. */
function deletionOf(
  now: Instant,
  pod: Pod,
  decision: Eviction,
  machine: EvictionMachine,
): Instant | null {
  const at = machine.deletedAt(now, pod, decision);
  return at === null ? null : Math.max(at, decision.deadline);
}

/** In the legacy mode of kube-controller-manager pods go without a taint. */
function decisionOn(pod: Pod, { machine, lifecycle }: Explained): Decision {
  const decision = machine.decisionOn(pod);
  const reason = decision.kind === 'keep' ? (lifecycle?.deletionOf?.(pod) ?? null) : null;
  return reason ? { kind: 'evict', deadline: reason.deadline, because: [reason] } : decision;
}

/** The state with its instants as people read them. */
function byWallClock(state: AttemptState, clock: ClusterTime): AttemptState {
  switch (state.kind) {
    case 'waiting':
      return { ...state, since: clock.wall(state.since), until: clock.wall(state.until) };
    case 'queued':
      if (state.hit === null || state.roomAt === null) return state;
      return { ...state, roomAt: clock.wall(state.roomAt) };
    case 'asked':
    case 'blocked':
    case 'failed':
    case 'accepted':
      return { ...state, until: clock.wall(state.until) };
    default:
      return state;
  }
}

function remainingAt(now: Instant, decision: Decision): Millis | null {
  switch (decision.kind) {
    case 'evict':
      return decision.deadline - now;
    case 'pause':
      return decision.remaining;
    case 'keep':
      return null;
  }
}

function byDeadline(a: PodExplanation, b: PodExplanation): number {
  const left = a.remaining ?? Number.POSITIVE_INFINITY;
  const right = b.remaining ?? Number.POSITIVE_INFINITY;
  if (left !== right) return left < right ? -1 : 1;
  return explainedName(a) < explainedName(b) ? -1 : 1;
}

function explainedName({ pod }: PodExplanation): string {
  return `${pod.namespace}/${pod.name}`;
}
