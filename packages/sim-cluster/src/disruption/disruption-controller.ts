import { Controller } from '../controllers/controller.ts';
import { controllerOf, keyOf } from '../controllers/pods.ts';
import { entry, equal } from '../objects/json.ts';
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';
import { labelSelectorRequirements, matchesLabels, type Requirement } from '../selectors/labels.ts';
import type { Change } from '../store/cluster-api.ts';
import { BudgetPods } from './budget-pods.ts';
import { budgetStatus, deletionTimeoutMs, type Scale, SyncError } from './budget-status.ts';

const budgetsPlural = 'poddisruptionbudgets';

/** The kinds that have a scale, with their resource. */
const scaledResources: Readonly<Record<string, string>> = {
  Deployment: 'deployments',
  ReplicaSet: 'replicasets',
  ReplicationController: 'replicationcontrollers',
  StatefulSet: 'statefulsets',
};
const scaledPlurals = new Set(Object.values(scaledResources));
const followed = new Set([budgetsPlural, 'pods', ...scaledPlurals]);
/** Known kinds that have none, as the error names them. */
const unscaledResources: Readonly<Record<string, string>> = {
  DaemonSet: 'daemonsets.apps',
  Job: 'jobs.batch',
};

/** A budget and the pods that its selector matches. */
interface Tracked {
  readonly selector: unknown;
  /** Null matches nothing. */
  readonly requirements: readonly Requirement[] | null;
  readonly pods: BudgetPods;
}

type Status = ReturnType<typeof budgetStatus>;

interface Found {
  readonly namespace: string;
  readonly round: number;
  readonly keys: readonly string[];
}

const noLabels: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Keeps the status of every PodDisruptionBudget up to date, which is what the eviction
 * subresource decides by. Work is keyed by budget.
 */
export class DisruptionController extends Controller {
  /** By namespace, then by key. */
  readonly #budgets = new Map<string, Map<string, Tracked>>();
  /** The status known when an eviction was charged: it is written before its consequences. */
  readonly #charged = new Map<string, Status>();
  /** The budgets of pods with these labels, valid for the current round. */
  readonly #found = new WeakMap<object, Found>();
  /** Another one begins when a budget comes, goes, or selects other pods. */
  #round = 0;

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    for (const budget of this.api.list(budgetsPlural)) this.#begin(budget);
    for (const pod of this.api.list('pods')) {
      for (const key of this.#keysFor(pod)) this.#of(pod).get(key)?.pods.set(keyOf(pod), pod);
    }
  }

  override stop(): void {
    super.stop();
    this.#budgets.clear();
    this.#charged.clear();
    this.#round++;
  }

  protected override notice({ type, resource, key, object, previous }: Change): void {
    if (resource === budgetsPlural) {
      if (type === 'DELETED') this.#forgetBudget(object);
      else {
        this.#track(object);
        if (isCharged(object, previous)) this.#noteCharge(key, object);
      }
    } else if (resource === 'pods') {
      if (type === 'DELETED') this.#forgetPod(key, object);
      else this.#noticePod(key, object, previous);
    } else if (scaledPlurals.has(resource)) {
      if (type === 'MODIFIED' && object.spec.replicas === previous?.spec.replicas) return;
      for (const key of this.#of(object).keys()) this.queue.add(key);
    }
  }

  #of({ metadata: { namespace = '' } }: KubeObject): Map<string, Tracked> {
    let budgets = this.#budgets.get(namespace);
    if (!budgets) {
      budgets = new Map();
      this.#budgets.set(namespace, budgets);
    }
    return budgets;
  }

  #noteCharge(key: string, budget: KubeObject): void {
    const tracked = this.#of(budget).get(key);
    if (tracked) this.#charged.set(key, this.#statusOf(budget, tracked));
  }

  #statusOf(budget: KubeObject, { pods }: Tracked): Status {
    const findScale = (owner: OwnerReference, ns: string): Scale | null => this.#scale(owner, ns);
    return budgetStatus(budget, pods, findScale, this.api.clock.now());
  }

  #forgetBudget(budget: KubeObject): void {
    this.#of(budget).delete(keyOf(budget));
    this.#round++;
  }

  #track(budget: KubeObject): void {
    const tracked = this.#of(budget).get(keyOf(budget));
    if (tracked && equal(tracked.selector, budget.spec.selector)) {
      this.queue.add(keyOf(budget));
      return;
    }
    const { requirements, pods } = this.#begin(budget);
    for (const pod of this.api.list('pods', budget.metadata.namespace ?? '')) {
      if (isMatched(requirements, pod)) pods.set(keyOf(pod), pod);
    }
  }

  /** Begins with a budget of which no pod is known yet. */
  #begin(budget: KubeObject): Tracked {
    const key = keyOf(budget);
    const { selector } = budget.spec;
    const requirements = labelSelectorRequirements(selector);
    const tracked = { selector, requirements, pods: new BudgetPods() };
    this.#of(budget).set(key, tracked);
    this.#round++;
    this.queue.add(key);
    return tracked;
  }

  #forgetPod(podKey: string, pod: KubeObject): void {
    for (const key of this.#keysFor(pod)) {
      this.#of(pod).get(key)?.pods.delete(podKey);
      this.queue.add(key);
    }
  }

  #noticePod(podKey: string, pod: KubeObject, previous: KubeObject | null): void {
    const keys = this.#keysFor(pod);
    const before = previous ? this.#keysFor(previous) : keys;
    for (const key of before) {
      if (keys.includes(key)) continue;
      this.#of(pod).get(key)?.pods.delete(podKey);
      this.queue.add(key);
    }
    for (const key of keys) {
      this.#of(pod).get(key)?.pods.set(podKey, pod);
      this.queue.add(key);
    }
  }

  /** The budgets that a pod is of, found once for labels that many pods share. */
  #keysFor(pod: KubeObject): readonly string[] {
    const { labels = noLabels, namespace = '' } = pod.metadata;
    const known = this.#found.get(labels);
    if (known?.namespace === namespace && known.round === this.#round) return known.keys;
    const keys: string[] = [];
    for (const [key, { requirements }] of this.#of(pod)) {
      if (requirements !== null && matchesLabels(requirements, labels)) keys.push(key);
    }
    if (Object.isFrozen(labels)) this.#found.set(labels, { namespace, round: this.#round, keys });
    return keys;
  }

  protected override sync(key: string): void {
    const { api } = this;
    const charged = this.#charged.get(key);
    this.#charged.delete(key);
    const found = api.find(budgetsPlural, key);
    const tracked = found && this.#of(found).get(key);
    if (!found || !tracked) return;
    const budget = charged ? this.#write(found, charged) : found;
    const status = this.#statusOf(budget, tracked);
    this.#write(budget, status);
    if (status.disruptedPods) this.queue.addAfter(key, deletionTimeoutMs);
  }

  #write(budget: KubeObject, status: Status): KubeObject {
    if (equal(status, budget.status)) return budget;
    return this.api.update(budgetsPlural, { ...budget, status }, 'status');
  }

  /** A ReplicaSet of a Deployment is scaled by the Deployment. */
  #scale(owner: OwnerReference, namespace: string): Scale | null {
    const unscaled = entry(unscaledResources, owner.kind);
    if (unscaled) throw new SyncError(`${unscaled} does not implement the scale subresource`);
    const resource = entry(scaledResources, owner.kind);
    const object = resource ? this.api.get(resource, namespace, owner.name) : null;
    if (object?.metadata.uid !== owner.uid) return null;
    const above = controllerOf(object);
    if (above?.kind === 'Deployment') return this.#scale(above, namespace);
    return { uid: owner.uid, replicas: object.spec.replicas ?? 1 };
  }
}

/** True if an eviction has put a pod on the list of the budget. */
function isCharged({ status }: KubeObject, previous: KubeObject | null): boolean {
  const count = (pods: object | undefined): number => Object.keys(pods ?? {}).length;
  return count(status?.disruptedPods) > count(previous?.status?.disruptedPods);
}

function isMatched(requirements: readonly Requirement[] | null, pod: KubeObject): boolean {
  return requirements !== null && matchesLabels(requirements, pod.metadata.labels ?? {});
}
