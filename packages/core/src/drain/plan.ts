// Plans a drain: the fate of each pod, and what would block it, before anything begins.
import { type BlockerVerdict, budgetVerdict, policyDenial } from '../attempt/blocker.ts';
import type { Event } from '../event.ts';
import { lastReplicaText, type Reason } from '../eviction/reason.ts';
import type { Instant } from '../kernel/time.ts';
import {
  type Budget,
  budgetRefusal,
  budgetsOver,
  isHeldUnready,
  isUnderBudgets,
  type OperatorSign,
  operatorOf,
  operatorSignOf,
  sparesUnready,
} from '../model/budget.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';
import { decidingToleration, type MatchOptions } from '../model/toleration.ts';
import type { OtherEvictors } from '../model/working-drain.ts';
import { type OwnPod, replicasName, workingReplicas } from '../own-replicas.ts';
import { choosePolicy } from '../policy/choice.ts';
import { type DrainConfig, drainTaint } from '../policy/node-drain.ts';
import type { EvictionPolicy } from '../policy/values.ts';
import { Store } from '../store.ts';
import { DrainDecider, DrainTimes, type Fate, fateOf, finishBy } from './pod-filters.ts';
import { compareRanks, type PodOrder, rankOf } from './pod-turns.ts';

/** A pod of a target node, and what decides how well it can go. */
export interface PlanPod {
  /** The pod. */
  readonly pod: Pod;
  /** metadata.finalizers, which delay the end of a deletion. */
  readonly finalizers: readonly string[];
}

/** The cluster that a plan is made for. */
export interface PlanInput {
  /** The drain, as `resolveDrainConfig` returns it. */
  readonly config: DrainConfig;
  /** The nodes to drain, in their order. */
  readonly nodes: readonly Node[];
  /** The pods of these nodes. */
  readonly pods: readonly PlanPod[];
  /** Policies and pauses, as events; left out: none. */
  readonly policies?: readonly Event[];
  /** Null: they could not be read. */
  readonly budgets: readonly Budget[] | null;
  /** True if the kubelet of a node answers; null: not known. */
  readonly nodeAnswers: (nodeName: string) => boolean | null;
  /** Since when the drain is at work on a node; null, or left out: from now on. */
  readonly begunAt?: (nodeName: string) => Instant | null;
  /** Keeps the last ready replica of taintmgr; left out: no replica is kept. */
  readonly own?: OwnReplicasKnown;
  /** The uids of pods whose Deployment starts another one first, and stops them then; left out: none. */
  readonly restarted?: ReadonlySet<string>;
}

/** The pod of taintmgr-controller, its replicas, and their nodes. */
interface OwnReplicasKnown {
  readonly pod: OwnPod;
  readonly replicas: readonly Pod[];
  readonly nodes: readonly Node[];
}

/** The planned fate of one pod. */
export interface PlannedPod {
  /** The pod. */
  readonly pod: Pod;
  /** Leaves and when, stays, or refuses the drain. */
  readonly fate: Fate;
  /** The reasons. */
  readonly because: readonly Reason[];
  /** The blockers of the pod as things are now. */
  readonly blockers: readonly PredictedBlocker[];
}

/** The plan of a drain: node by node, and on each node the next pod to go first. */
export interface DrainPlan {
  /** The taint of the drain. */
  readonly taint: Taint;
  /** The pods of all nodes. */
  readonly pods: readonly PlannedPod[];
}

/** Plans a drain that puts its taint on the nodes at `now`. */
export function planDrain(now: Instant, input: PlanInput): DrainPlan {
  const { config, nodes, pods } = input;
  const store = new Store();
  const known = (event: Event): void => {
    store.apply(now, event);
  };
  for (const event of input.policies ?? []) known(event);
  for (const node of nodes) known({ kind: 'nodeUpsert', node });
  for (const { pod } of pods) known({ kind: 'podUpsert', pod });
  store.endPauses(now);
  const decider = new DrainDecider(config, new DrainTimes(store));
  const order = new Map(nodes.map(({ name }, index) => [name, index] as const));
  const planned = pods
    .map((each) => planPod(now, each, decider, input))
    .sort((a, b) => byTurn(a, b, order, config.spec.pods));
  const queued = withRestarts(withQueues(planned, input), input);
  return { taint: drainTaint(config.spec), pods: withLastReplica(queued, input) };
}

function planPod(
  now: Instant,
  { pod, finalizers }: PlanPod,
  decider: DrainDecider,
  { config, budgets, nodeAnswers, begunAt }: PlanInput,
): PlannedPod {
  const { because, fate: found } = fateOf(now, pod, decider, config);
  const finish = finishBy(pod, config.spec.pods.waitCompleted, begunAt?.(pod.nodeName) ?? now);
  const isGivenTime = found.kind === 'evict' && finish !== null && finish > found.at;
  const fate: Fate = isGivenTime ? { kind: 'evict', at: finish } : found;
  const goes = fate.kind === 'evict' || fate.kind === 'leaving';
  const asked = config.spec.budgets.policy === 'Ignore' ? [] : budgets;
  const site: PredictionSite = {
    budgets: asked,
    finalizers,
    nodeAnswers: nodeAnswers(pod.nodeName),
  };
  return { pod, fate, because, blockers: goes ? predictBlockers(pod, site) : [] };
}

/** A budget that lets some go lets them go in turn: the others wait until those are replaced. */
function withQueues(
  planned: readonly PlannedPod[],
  { budgets, config }: PlanInput,
): readonly PlannedPod[] {
  const used = new Map<Budget, number>();
  return planned.map((one) => {
    const { pod, fate, blockers } = one;
    if (fate.kind !== 'evict' || config.spec.budgets.policy === 'Ignore') return one;
    const [budget, ...more] = isUnderBudgets(pod) ? budgetsOver(pod, budgets ?? []) : [];
    if (!budget || more.length > 0 || blockers.some(({ code }) => code === 'Budget')) return one;
    if (sparesUnready(budget, pod)) return one;
    const before = used.get(budget) ?? 0;
    used.set(budget, before + 1);
    if (before < budget.allowed) return one;
    return { ...one, blockers: [queueBlocker(budget), ...blockers] };
  });
}

/** In the end the Deployment of a restarted pod stops it, and asks no budget. */
function withRestarts(
  planned: readonly PlannedPod[],
  { restarted }: PlanInput,
): readonly PlannedPod[] {
  return planned.map((one) => {
    if (one.fate.kind !== 'evict' || !restarted?.has(one.pod.uid)) return one;
    const blockers = one.blockers.map((blocker): PredictedBlocker => {
      if (blocker.code !== 'Budget' && blocker.code !== 'TwoBudgets') return blocker;
      const message = `${blocker.message}; its Deployment starts another pod first, and then stops this one`;
      return { code: blocker.code, verdict: 'resolves', message, budgets: blocker.budgets };
    });
    return { ...one, blockers };
  });
}

/**
 * Where all working replicas of ours have to leave, the last of them waits until another is ready.
 */
function withLastReplica(
  planned: readonly PlannedPod[],
  { own }: PlanInput,
): readonly PlannedPod[] {
  if (!own) return planned;
  const nodes = new Map(own.nodes.map((node) => [node.name, node]));
  const working = workingReplicas(own.pod, own.replicas, {
    node: (name) => nodes.get(name) ?? null,
  });
  const going = planned.filter(({ pod, fate }) => {
    return goingFates.includes(fate.kind) && working.some(({ uid }) => uid === pod.uid);
  });
  const last = going.at(-1);
  if (!last || going.length < working.length) return planned;
  const workload = replicasName(last.pod);
  const why = { code: 'LastReplica', workload } as const;
  const message = lastReplicaText(workload);
  const blocker = { code: 'LastReplica', verdict: 'needsTime', message, budgets: [] } as const;
  return planned.map((one) => {
    if (one !== last) return one;
    return { ...one, because: [why, ...one.because], blockers: [blocker, ...one.blockers] };
  });
}

const goingFates: readonly Fate['kind'][] = ['evict', 'hold'];

function queueBlocker(budget: Budget): PredictedBlocker {
  const message =
    `The disruption budget ${budget.name} allows ${budget.allowed} disruption` +
    `${budget.allowed === 1 ? '' : 's'} now, and other pods go first`;
  return { code: 'Budget', verdict: 'needsTime', message, budgets: [budget] };
}

function byTurn(
  a: PlannedPod,
  b: PlannedPod,
  order: ReadonlyMap<string, number>,
  pods: PodOrder,
): number {
  const place = ({ pod }: PlannedPod): number => order.get(pod.nodeName) ?? 0;
  const [left, right] = [a, b].map(dueOf);
  return (
    place(a) - place(b) ||
    compareRanks(rankOf(a.pod, pods), rankOf(b.pod, pods)) ||
    compare(left ?? 0, right ?? 0) ||
    compare(`${a.pod.namespace}/${a.pod.name}`, `${b.pod.namespace}/${b.pod.name}`)
  );
}

function compare<T extends string | number>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function dueOf({ fate }: PlannedPod): number {
  return fate.kind === 'evict' ? fate.at : Number.POSITIVE_INFINITY;
}

/** A blocker that is known before the first try. */
export interface PredictedBlocker {
  /** The blocker as a word, for programs. */
  readonly code:
    | 'Budget'
    | 'TwoBudgets'
    | 'Intercepted'
    /** A ValidatingAdmissionPolicy refuses. */
    | 'Denied'
    | 'Finalizers'
    | 'NodeLost'
    /** Of the replicas of taintmgr-controller no other is ready, or stays. */
    | 'LastReplica';
  /** Says if waiting helps. */
  readonly verdict: BlockerVerdict;
  /** As the API server would say it, where it would. */
  readonly message: string;
  /** The budgets it is about; empty where it is about none. */
  readonly budgets: readonly Budget[];
  /**
   * `AlwaysAllow`: the pod is not ready, and would go if its budget had that unhealthyPodEvictionPolicy.
   */
  readonly remedy?: 'AlwaysAllow';
  /** The sign of an operator behind a budget that has no owner; left out: there is none. */
  readonly operatorSign?: OperatorSign;
}

/** The surroundings that decide how well a pod can go. */
export interface PredictionSite {
  /** Null: they could not be read. */
  readonly budgets: readonly Budget[] | null;
  /** metadata.finalizers of the pod. */
  readonly finalizers: readonly string[];
  /** True if its kubelet answers; null: not known. */
  readonly nodeAnswers: boolean | null;
  /** True where the kubelet has been silent for longer than a reboot takes; left out: no, or not known. */
  readonly nodeIsDead?: boolean;
  /** The words of the API server when a webhook or a policy kept the pod's last eviction; left out: none has. */
  readonly intercepted?: string | undefined;
}

/** Every pod of a Job has it. The Job controller removes it once the pod has ended, so that it holds nothing up. */
const jobFinalizer = 'batch.kubernetes.io/job-tracking';

/**
 * The blockers that an eviction of this pod would meet now: what the Eviction API would answer, and what would
 * keep the pod from ending once it is accepted.
 */
export function predictBlockers(pod: Pod, site: PredictionSite): readonly PredictedBlocker[] {
  const blockers: PredictedBlocker[] = [];
  const budget = site.budgets && isUnderBudgets(pod) ? budgetBlocker(pod, site.budgets) : null;
  if (budget) blockers.push(budget);
  if (site.intercepted !== undefined) {
    const message = site.intercepted;
    const isDenied = policyDenial(message) !== null;
    blockers.push({
      code: isDenied ? 'Denied' : 'Intercepted',
      verdict: isDenied ? 'never' : 'othersAct',
      ...{ message, budgets: [] },
    });
  }
  const finalizers = site.finalizers.filter((name) => name !== jobFinalizer);
  if (finalizers.length > 0) {
    const message = `the pod stays until ${finalizers.join(', ')} is removed from its finalizers`;
    blockers.push({ code: 'Finalizers', verdict: 'needsTime', message, budgets: [] });
  }
  if (site.nodeAnswers === false) {
    const message =
      'the kubelet does not answer: the pod cannot terminate until the node is back or deleted';
    const verdict = site.nodeIsDead ? 'never' : 'needsTime';
    blockers.push({ code: 'NodeLost', verdict, message, budgets: [] });
  }
  return blockers;
}

function budgetBlocker(pod: Pod, known: readonly Budget[]): PredictedBlocker | null {
  const budgets = budgetsOver(pod, known);
  const [budget] = budgets;
  if (!budget) return null;
  if (budgets.length > 1) {
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    return { code: 'TwoBudgets', verdict: 'never', message, budgets };
  }
  const operatorSign = operatorSignOf(budget, [pod]);
  const message = sparesUnready(budget, pod) ? null : budgetRefusal(budget);
  if (message === null) return null;
  const isOperators = operatorSign !== null || operatorOf(budget) !== null;
  const isCurable = !isOperators && isHeldUnready(budget, pod);
  return {
    code: 'Budget',
    verdict: budgetVerdict(budget, operatorSign),
    message,
    budgets,
    ...(isCurable && ({ remedy: 'AlwaysAllow' } as const)),
    ...(operatorSign && { operatorSign }),
  };
}

/** A node of the drain, its pods, and what decides about them. */
export interface DeletionSite {
  /** The node. */
  readonly node: Node;
  /** Its pods. */
  readonly pods: Iterable<Pod>;
  /** The EvictionPolicies that may decide how pods leave. */
  readonly policies: readonly EvictionPolicy[];
  /** Null: not known. */
  readonly namespaceLabels: (namespace: string) => Labels | null;
}

/**
 * Names the first of these pods that a policy deletes without asking budgets, and the policy; null:
 * none is deleted.
 */
export function deletedByPolicy(
  { node, pods, policies, namespaceLabels }: DeletionSite,
  taint: Taint,
  options: MatchOptions,
): Pick<OtherEvictors, 'text' | 'advice'> | null {
  const acting = policies.filter(({ action }) => action !== null);
  if (!acting.some(isDeleting)) return null;
  for (const pod of pods) {
    if (!hasToGo(pod, taint, options)) continue;
    const labels = namespaceLabels(pod.namespace);
    const { counts } = choosePolicy(acting, taint, { pod, node, namespaceLabels: labels });
    if (counts && isDeleting(counts)) return deletions(counts.name, pod);
  }
  return null;
}

/** True where the taint makes the pod go, now or later. */
export function hasToGo({ tolerations }: Pod, taint: Taint, options: MatchOptions): boolean {
  const toleration = decidingToleration(tolerations, taint, options);
  return toleration === null || toleration.tolerationSeconds !== null;
}

function deletions(
  policy: string,
  { namespace, name }: Pod,
): Pick<OtherEvictors, 'text' | 'advice'> {
  const text =
    `taintmgr-controller deletes the pods that the drain leaves, without asking PDBs, as EvictionPolicy ${policy} ` +
    `says of pod ${namespace}/${name}`;
  return { text, advice: 'have the policy not match the taint' };
}

function isDeleting({ action }: EvictionPolicy): boolean {
  return action === 'Delete' || action === 'KubeControllerManager';
}
