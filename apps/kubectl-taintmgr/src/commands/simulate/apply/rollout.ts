// Settles a cluster under manifests before any event of a script happens.
import type { Instant, Millis } from '@taintmgr/core/time';
import { countBy } from '@taintmgr/k8s-adapter/command-line';
import type { AppliedObject, Rollout as RolloutDocument } from '@taintmgr/page';
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';
import { unplacedMessage } from '../result/recorder.ts';
import type { RolloutStep } from '../stage/run.ts';
import { isReady } from '../stage/stage.ts';
import { workloadKeyOf } from '../times/pod-times.ts';
import type { Overlay } from './apply.ts';

/** Before the manifests arrive, the controllers of workloads have seen them unchanged. */
const leadMs: Millis = 1_000;
const lookMs: Millis = 1_000;
const pieceMs: Millis = 10_000;
/** A rollout is stuck after this time without progress, which is the default of Deployments. */
const stuckMs: Millis = 600_000;
const restMsMax: Millis = 7_200_000;

/** The resources that have pods or count pods, by kind. */
const watched: Readonly<Record<string, string>> = {
  Deployment: 'deployments',
  ReplicaSet: 'replicasets',
  StatefulSet: 'statefulsets',
  DaemonSet: 'daemonsets',
  Job: 'jobs',
  Pod: 'pods',
  PodDisruptionBudget: 'poddisruptionbudgets',
};

/** One rollout, and an equally long wait in the cluster without it, so that events find both at one age. */
export class Rollout {
  readonly #overlay: Pick<Overlay, 'objects' | 'applied'>;
  #lasted: Millis = 0;

  constructor(overlay: Pick<Overlay, 'objects' | 'applied'>) {
    this.#overlay = overlay;
  }

  /** The way of the cluster with the manifests, which goes first: it says how long the other one waits. */
  *after(...[cluster, runUntil]: Parameters<RolloutStep>): ReturnType<RolloutStep> {
    const { objects, applied } = this.#overlay;
    const begun = cluster.api.clock.now();
    const moved = applied.filter(({ kind, change }) => change !== 'unchanged' && watched[kind]);
    if (moved.length > 0) runUntil(begun + leadMs);
    for (const object of objects) cluster.api.apply(object);
    const unfinished = moved.length > 0 ? yield* settle(cluster, runUntil, moved) : [];
    this.#lasted = cluster.api.clock.now() - begun;
    return rolloutOf(cluster, this.#lasted, unfinished);
  }

  /** The way of the cluster as it is. */
  *before(...[cluster, runUntil]: Parameters<RolloutStep>): ReturnType<RolloutStep> {
    const begun = cluster.api.clock.now();
    for (let waited = 0; waited < this.#lasted; ) {
      waited = Math.min(this.#lasted, waited + pieceMs);
      runUntil(begun + waited);
      yield null;
    }
    return rolloutOf(cluster, this.#lasted, []);
  }
}

/** Runs until every workload is complete, or none makes progress; returns the incomplete ones. */
function* settle(
  cluster: Cluster,
  runUntil: (instant: Instant) => void,
  moved: readonly AppliedObject[],
): Generator<null, readonly AppliedObject[]> {
  const { clock } = cluster.api;
  const latest = clock.now() + restMsMax;
  const patienceMs = stuckMs + Math.max(...moved.map((one) => minReadyMs(cluster, one)));
  let [left, seen, seenAt] = [moved, '', clock.now()];
  do {
    runUntil(clock.now() + lookMs);
    yield null;
    left = moved.filter(({ kind, namespace, name }) => {
      return !cluster.isSettled(watched[kind] ?? '', namespace, name);
    });
    const state = JSON.stringify(left.map((one) => statusOf(cluster, one)));
    if (state !== seen) [seen, seenAt] = [state, clock.now()];
  } while (left.length > 0 && clock.now() < Math.min(latest, seenAt + patienceMs));
  // Budgets hear of the last pods.
  runUntil(clock.now() + lookMs);
  return left;
}

/** Nothing changes while a pod is ready and not yet taken for available. */
function minReadyMs({ api }: Cluster, { kind, namespace, name }: AppliedObject): Millis {
  return 1000 * (api.get(watched[kind] ?? '', namespace, name)?.spec.minReadySeconds ?? 0);
}

function statusOf({ api }: Cluster, { kind, namespace, name }: AppliedObject): unknown {
  return api.get(watched[kind] ?? '', namespace, name)?.status;
}

function rolloutOf(
  cluster: Cluster,
  lasted: Millis,
  unfinished: readonly AppliedObject[],
): RolloutDocument {
  return {
    seconds: lasted / 1000,
    unfinished: unfinished.map((one) => {
      const { kind, namespace, name } = one;
      return { workload: `${kind} ${namespace}/${name}`, text: unfinishedText(cluster, one) };
    }),
    closedBudgets: closedBudgets(cluster),
  };
}

/** The progress of an unfinished rollout, and the reason for the delay. */
function unfinishedText({ api }: Cluster, { kind, namespace, name }: AppliedObject): string {
  const { spec = {}, status = {} }: Partial<KubeObject> =
    api.get(watched[kind] ?? '', namespace, name) ?? {};
  const wanted = spec.replicas ?? status.desiredNumberScheduled ?? spec.parallelism ?? 1;
  const updated = status.updatedReplicas ?? status.updatedNumberScheduled ?? 0;
  const far = kind === 'Job' || kind === 'Pod' ? '' : `${updated} of ${wanted} pods updated; `;
  const pods = api.list('pods', namespace).filter((pod) => {
    return workloadKeyOf(pod) === `${namespace}/${name}`;
  });
  const { priorityClassName: priority } = spec.template?.spec ?? {};
  if (priority && !api.get('priorityclasses', '', priority)) {
    return `${far}its pods are refused: there is no PriorityClass ${priority}`;
  }
  return `${far}${reasonText(pods, wanted)}`;
}

/** The reason that most of the pods have that wait. */
function reasonText(pods: readonly KubeObject[], wanted: number): string {
  const reasons = pods.flatMap((pod) => {
    const message = unplacedMessage(pod);
    return message === null ? [] : [message];
  });
  const counts = [...countBy(reasons)].sort(([, one], [, other]) => other - one);
  const [[message = '', number = 0] = []] = counts;
  if (number > 0)
    return `${number} of its pods ${number === 1 ? 'fits' : 'fit'} on no node: ${message}`;
  const ending = pods.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const waiting = ending ?? pods.find((pod) => !isReady(pod));
  if (waiting) {
    const where = `pod ${waiting.metadata.name} on ${waiting.spec.nodeName ?? 'no node'}`;
    return `${where} does not ${ending ? 'end' : 'get ready'}`;
  }
  return pods.length < wanted ? 'no controller creates its pods' : 'the rollout continues';
}

/** The budgets that ask for all present pods: no pod may ever be evicted. */
function closedBudgets({ api }: Cluster): RolloutDocument['closedBudgets'] {
  return api.list('poddisruptionbudgets').flatMap(({ metadata, status }) => {
    const { expectedPods = 0, desiredHealthy = 0 } = status ?? {};
    if (expectedPods === 0 || desiredHealthy < expectedPods) return [];
    return [{ namespace: metadata.namespace ?? '', name: metadata.name, pods: expectedPods }];
  });
}
