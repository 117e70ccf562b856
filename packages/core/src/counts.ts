// Counts the pods that evictions concern: in all, and for each policy, taint rule and pause.
import type { AttemptState } from './attempt/attempt.ts';
import type { Setback } from './attempt/outcome.ts';
import type { NodeDrainState } from './drain/node-drain-state.ts';
import type { NodeDrains } from './drain/node-drains.ts';
import { type Decision, endOfTime } from './eviction/decide.ts';
import type { EvictionMachine } from './eviction/machine.ts';
import type { Reason } from './eviction/reason.ts';
import type { Instant, Millis } from './kernel/time.ts';
import type { RuleStatus } from './lifecycle/condition-rules.ts';
import type { LifecycleMachine } from './lifecycle/machine.ts';
import type { Node } from './model/node.ts';
import { type Pod, type PodRef, podRef } from './model/pod.ts';
import type { OwnReplicas } from './own-replicas.ts';
import { actionRights, type PodRight } from './policy/eviction-policy.ts';
import { coversNamespace, coversNode, coversTaint } from './policy/scope.ts';
import type { EvictionPause, PolicyAction } from './policy/values.ts';
import type { StoreView } from './store.ts';

/** Numbers of nodes and pods. Each pod is counted once among those of evictions. */
export interface Counts extends EvictionProgress {
  /** Nodes that are known. */
  readonly nodes: number;
  /** Nodes with NoExecute taints. */
  readonly tainted: number;
  /** Pods that are known: all, or those of the nodes whose pods are read. */
  readonly pods: number;
}

/** A replica of taintmgr that stays, and why. */
export interface LastReplica {
  readonly pod: PodRef;
  readonly because: readonly Reason[];
}

/** The progress of evictions. */
interface EvictionProgress {
  /** Pods that wait for their time, their turn or their next try. */
  readonly pending: number;
  /** Pods that a limit or a pause holds, or that stay as taintmgr's last replica. */
  readonly held: number;
  /** Pods whose eviction a budget or a webhook refuses. */
  readonly blocked: number;
}

/**
 * The counts of policies, taint rules, pauses and drains, by their names. Null: this engine
 * counts none of them.
 */
export interface PolicyCounts {
  /** EvictionPolicies. */
  readonly policies: ReadonlyMap<string, EvictionPolicyCounts> | null;
  /** NodeTaintRules. */
  readonly taintRules: ReadonlyMap<string, RuleStatus> | null;
  /** EvictionPauses. */
  readonly pauses: ReadonlyMap<string, PauseCounts> | null;
  /** NodeDrains. */
  readonly drains: ReadonlyMap<string, NodeDrainState> | null;
}

/** Pods that go by the policy count as pending, held or blocked; so do others that its limits hold. */
interface EvictionPolicyCounts extends EvictionProgress {
  /** Pods of tainted nodes for which it counts. */
  readonly pods: number;
  /** Its limits that have tripped, as they are resumed. */
  readonly tripped: readonly string[];
  /** The rights for lack of which the API server refuses that its pods go. */
  readonly lacks: readonly PodRight[];
}

interface PauseCounts {
  /** Since when it holds. */
  readonly since: Instant;
  /** Its time is over, though it is still there. */
  readonly isOver: boolean;
  /** Pods whose evictions for NoExecute taints it holds; a drain counts its own. */
  readonly pods: number;
  /** For how long deadlines have stood still by it; null: it lets them run. */
  readonly held: Millis | null;
}

/** The sources of counts. */
interface CountSource {
  readonly store: StoreView;
  readonly machine: EvictionMachine;
  readonly lifecycle: LifecycleMachine | null;
  readonly drains: NodeDrains | null;
  /** True when this engine evicts; false: another program does, which applies no policies. */
  readonly evicts: boolean;
}

/** Looks at all nodes, and at the pods of those with NoExecute taints. */
export function countsOf(
  store: StoreView,
  machine: EvictionMachine,
  replicas: OwnReplicas,
): Counts {
  const nodes = Array.from(store.nodes());
  const tainted = nodes.filter(isTainted);
  const states = tainted.flatMap(({ name }) =>
    Array.from(store.podsOn(name), (pod) => countedAs(machine.attemptOn(pod))),
  );
  const count = (counted: CountedAs): number => states.filter((one) => one === counted).length;
  return {
    nodes: nodes.length,
    tainted: tainted.length,
    pods: store.podCount,
    pending: count('pending'),
    held: count('held') + (lastReplicaOf(replicas, machine) ? 1 : 0),
    blocked: count('blocked'),
  };
}

/**
 * The replica of taintmgr that would leave, and stays as the last one that is ready; null: there is
 * none.
 */
export function lastReplicaOf(replicas: OwnReplicas, machine: EvictionMachine): LastReplica | null {
  for (const pod of replicas.list()) {
    const { because } = machine.decisionOn(pod);
    if (because[0]?.code === 'LastReplica') return { pod: podRef(pod), because };
  }
  return null;
}

/** The same by policy, rule and pause. */
export function policyCountsOf(now: Instant, counted: CountSource): PolicyCounts {
  const { store, lifecycle, evicts, drains } = counted;
  const wall = store.clock.wall(now);
  const pods = once(() => (evicts ? [...podsOf(counted)] : []));
  const policies = once(() => (evicts ? eachPolicy(now, counted, pods()) : null));
  const rules = once(() => {
    const all = lifecycle?.taintRules?.() ?? null;
    return all && new Map(all.map((rule) => [rule.name, rule]));
  });
  const pauses = once(() => {
    const all = Array.from(store.pauses(), ({ pause, isOver }) => {
      return [pause.name, pauseCounts(wall, pause, isOver, pods())] as const;
    });
    return evicts || lifecycle ? new Map(all) : null;
  });
  const states = once(() => drains?.states(now) ?? null);
  // Reading one of the counts computes only that one.
  return {
    get policies() {
      return policies();
    },
    get taintRules() {
      return rules();
    },
    get pauses() {
      return pauses();
    },
    get drains() {
      return states();
    },
  };
}

/** Made when it is first asked for, and kept. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A pod of a tainted node, and its fate. */
interface CountedPod {
  readonly pod: Pod;
  readonly node: Node;
  readonly decision: Decision;
  readonly attempt: AttemptState | null;
}

function* podsOf({ store, machine }: CountSource): Iterable<CountedPod> {
  for (const node of store.nodes()) {
    if (!isTainted(node)) continue;
    for (const pod of store.podsOn(node.name)) {
      yield { pod, node, decision: machine.decisionOn(pod), attempt: machine.attemptOn(pod) };
    }
  }
}

function eachPolicy(
  now: Instant,
  { store, machine }: CountSource,
  pods: readonly CountedPod[],
): ReadonlyMap<string, EvictionPolicyCounts> {
  const tripped = machine.limits(now).filter((limit) => limit.tripped);
  const found = new Map(
    store.policies().map(({ name }) => {
      const ids = tripped.flatMap(({ policy, id }) => (policy === name ? [id] : []));
      const lacked: PodRight[] = [];
      return [name, { pods: 0, pending: 0, held: 0, blocked: 0, tripped: ids, lacks: lacked }];
    }),
  );
  const actions = new Map(store.policies().map(({ name, action }) => [name, action]));
  for (const { pod, decision, attempt } of pods) {
    for (const name of policiesIn(decision.because)) {
      const counts = found.get(name);
      if (counts) counts.pods += 1;
    }
    // An accepted request shows that the right is there by now.
    const setback = attempt?.kind === 'accepted' ? null : machine.lastSetbackOn(pod);
    const right = setback && lackedRight(setback);
    if (right) addLack(found, actions, decisivePolicy(decision.because), right);
    const as = countedAs(attempt);
    if (as === null) continue;
    for (const name of concernedBy(decision.because, attempt)) {
      const counts = found.get(name);
      if (counts) counts[as] += 1;
    }
  }
  return found;
}

/** Unless the policy has another action by now, which does not take it. */
function addLack(
  found: ReadonlyMap<string, { readonly lacks: PodRight[] }>,
  actions: ReadonlyMap<string, PolicyAction | null>,
  policy: string | null,
  right: PodRight,
): void {
  const action = policy === null ? null : actions.get(policy);
  const lacks = policy === null ? null : found.get(policy)?.lacks;
  if (!action || !lacks || lacks.includes(right) || !actionRights[action].includes(right)) return;
  lacks.push(right);
  lacks.sort();
}

/** The policies that count for a pod, for one of the taints of its node or for several. */
function policiesIn(because: readonly Reason[]): ReadonlySet<string> {
  return new Set(because.flatMap((reason) => policyOf(reason) ?? []));
}

/** The policy by which a pod goes, and the one whose limit holds it. */
function concernedBy(
  because: readonly Reason[],
  attempt: AttemptState | null,
): ReadonlySet<string> {
  const hit = attempt?.kind === 'queued' ? attempt.hit : null;
  const names = [decisivePolicy(because), hit?.policy];
  return new Set(names.filter((name) => name != null));
}

/** The policy whose deadline acts; null: none's. */
function decisivePolicy(because: readonly Reason[]): string | null {
  const decisive = because.find((reason) => 'deadline' in reason);
  return decisive ? policyOf(decisive) : null;
}

/** Null as well for a policy of which it is unknown whether it counts. */
function policyOf(reason: Reason): string | null {
  if (reason.code === 'PolicyUndecided' || !('policy' in reason)) return null;
  return reason.policy?.name ?? null;
}

function pauseCounts(
  wall: Instant,
  pause: EvictionPause,
  isOver: boolean,
  pods: readonly CountedPod[],
): PauseCounts {
  const { since, until, deadlines } = pause;
  const end = isOver && until !== null ? until : wall;
  return {
    since,
    isOver,
    pods: isOver || !deadlines ? 0 : pods.filter((one) => isHeldBy(pause, one)).length,
    held: deadlines ? Math.max(0, end - since) : null,
  };
}

/** Several pauses may hold a pod, for one of the taints of its node or for several. */
function isHeldBy({ scope }: EvictionPause, { pod, node, decision }: CountedPod): boolean {
  if (decision.kind !== 'pause') return false;
  const hasTaint = decision.because.some(
    (reason) =>
      'deadline' in reason &&
      'taint' in reason &&
      reason.deadline < endOfTime &&
      coversTaint(scope, reason.taint.key),
  );
  return hasTaint && coversNode(scope, node) && coversNamespace(scope, pod.namespace);
}

function isTainted({ taints }: Node): boolean {
  return taints.some(({ effect }) => effect === 'NoExecute');
}

type CountedAs = 'pending' | 'held' | 'blocked' | null;

/** Null: the pod stays, or is on its way. */
function countedAs(state: AttemptState | null): CountedAs {
  switch (state?.kind) {
    case 'waiting':
    case 'asked':
    case 'failed':
      return 'pending';
    case 'queued':
      return state.hit === null ? 'pending' : 'held';
    case 'paused':
      return 'held';
    case 'blocked':
      return 'blocked';
    default:
      return null;
  }
}

const denial = / cannot (delete resource "pods"|create resource "pods\/eviction") in API group ""/;

/** The right for lack of which the API server refused a pod's removal; null: it did not, or for another reason. */
function lackedRight(setback: Setback): PodRight | null {
  if (setback.kind !== 'failed' || setback.status !== 403) return null;
  const [, asked] = denial.exec(setback.message) ?? [];
  if (asked === undefined) return null;
  return asked.startsWith('delete') ? 'delete pods' : 'create pods/eviction';
}
