// Records what happens in a simulation.
import { type Config, type Explanation, type Outcome, type Subject, selects } from '@taintmgr/core';
import type { ZoneStatus } from '@taintmgr/core/lifecycle';
import type { Instant } from '@taintmgr/core/time';
import type { Notice, PressureNotice, UpstreamDeviceNotice } from '@taintmgr/k8s-adapter';
import type { Condition } from '@taintmgr/k8s-adapter/survey';
import type { BudgetTrack, Recording, UnplacedTrack, ZoneTrack } from '@taintmgr/page';
import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { PodTimes } from '../times/pod-times.ts';
import { EvictionLog, type Open } from './evictions.ts';
import {
  isOfZones,
  JobTimelines,
  Machines,
  NodeTimelines,
  PodLog,
  recordedZone,
  type StateOf,
  Timelines,
} from './timelines.ts';
import { WorkloadTimelines } from './workloads.ts';

/** Answers the questions of the recorder about facts that no report contains. */
interface Controller {
  readonly hasPauses: boolean;
  explain(subject: Subject): Explanation;
  zones(): readonly ZoneStatus[];
}

/** The part of a cluster that is recorded: objects that change. */
type RecordedCluster = Pick<ClusterApi, 'clock' | 'get' | 'list' | 'subscribe'>;

interface RecorderOptions {
  readonly api: RecordedCluster;
  readonly controller: Controller;
  readonly semantics: Config['semantics'];
  /** The time that pods take to start again when their machine is back. */
  readonly times: PodTimes;
}

/** Between two looks at facts that no report contains. */
const lookPeriodMs = 1_000;

/** Records everything that changes during a run. */
export class RunRecorder {
  readonly #api: RecordedCluster;
  readonly #controller: Controller;
  readonly #startsAt: Instant;
  readonly #nodes = new NodeTimelines();
  readonly #zones = new Timelines<Pick<ZoneTrack, 'name'>, StateOf<ZoneTrack>>();
  readonly #workloads: WorkloadTimelines;
  readonly #machines: Machines;
  readonly #pods = new PodLog();
  readonly #budgets = new Timelines<Omit<BudgetTrack, 'states'>, StateOf<BudgetTrack>>();
  readonly #jobs: JobTimelines;
  readonly #log: EvictionLog;
  readonly #workloadNames = new Map<string, string | null>();
  /** When pods came to their nodes, by uid. */
  readonly #arrivals = new Map<string, number>();
  /** Pods that are on their way out at the beginning, by uid. */
  readonly #leaving: ReadonlySet<string>;
  readonly #unplaced: Open<UnplacedTrack>[] = [];
  readonly #openUnplaced = new Map<string, Open<UnplacedTrack>>();

  readonly #reportsDeadlines: boolean;
  /** Nodes with NoExecute taints, where deadlines have to be asked for. */
  readonly #tainted = new Set<string>();

  /**
   * Begins with the cluster as it is now. An engine under `upstream-1.36` does not report deadlines:
   * it is asked once a second.
   */
  constructor({ api, controller, semantics, times }: RecorderOptions) {
    this.#api = api;
    this.#controller = controller;
    this.#reportsDeadlines = semantics === 'precise';
    this.#startsAt = api.clock.now();
    const leaving = api.list('pods').filter(({ metadata }) => metadata.deletionTimestamp);
    this.#leaving = new Set(leaving.map(uidOf));
    this.#log = new EvictionLog(
      (uid) => ({
        workload: this.#workloadNames.get(uid) ?? null,
        arrivedAt: this.#arrivals.get(uid) ?? 0,
        wasLeaving: this.#leaving.has(uid),
      }),
      this.#startsAt,
    );
    this.#workloads = new WorkloadTimelines(api);
    this.#jobs = new JobTimelines(api);
    this.#machines = new Machines(
      (at, pod, change) => {
        this.#workloads.countServing(at, pod, change);
        this.#pods.serves(at, pod, change > 0);
      },
      // Half of the time that it may take, so that nothing has to be drawn.
      (pod, then) => {
        const [least, most] = times.of(pod).podStartMs;
        api.clock.after((least + most) / 2, () => then(this.#now));
      },
    );
    for (const node of api.list('nodes')) this.#noteNode(0, node);
    for (const pod of api.list('pods')) this.#notePod(0, pod, null);
    for (const budget of api.list('poddisruptionbudgets')) this.#noteBudget(0, budget);
    this.#workloads.begin();
    api.subscribe((change) => this.#change(change));
    this.#lookAround();
  }

  /** Records a report of the controller. */
  notice(notice: Notice | PressureNotice | UpstreamDeviceNotice): void {
    const at = this.#now;
    this.#log.notice(at, notice);
    if (notice.kind === 'report' && isOfZones(notice.report)) this.#noteZones();
  }

  #noteZones(): void {
    for (const zone of this.#controller.zones()) {
      this.#zones.add(zone.name, { name: zone.name });
      this.#zones.push(this.#now, zone.name, recordedZone(zone, this.#startsAt));
    }
  }

  /** Not everything about zones is reported: upstream semantics report nothing. */
  #lookAround(): void {
    this.#noteZones();
    // When the last pause is over, its pods are released.
    const arePaused = this.#controller.hasPauses || this.#log.hasPaused;
    if (!this.#reportsDeadlines || arePaused) this.#followPods();
    this.#api.clock.after(lookPeriodMs, () => this.#lookAround());
  }

  #followPods(): void {
    for (const name of this.#tainted) {
      const answer = this.#controller.explain({ kind: 'node', name });
      if (answer?.kind !== 'node') continue;
      for (const pod of answer.pods) {
        if (this.#reportsDeadlines) this.#log.followPause(this.#now, pod);
        else this.#log.follow(this.#now, pod);
      }
      const isOver = answer.pods.every(({ decision }) => decision.kind === 'keep');
      if (isOver && !answer.node.taints.some(isNoExecute)) this.#tainted.delete(name);
    }
  }

  #noteNode(at: number, node: KubeObject): void {
    const taints: readonly { readonly effect: string }[] = node.spec?.taints ?? [];
    if (taints.some(isNoExecute)) this.#tainted.add(node.metadata.name);
    this.#nodes.record(at, node);
  }

  /** A machine has died, or is back. */
  noteMachine(node: string, runs: boolean): void {
    this.#machines.noteMachine(this.#now, node, runs);
  }

  /** A drain has asked for a pod to be evicted. */
  noteDrainAttempt({ metadata, spec }: KubeObject, outcome: Outcome): void {
    const { namespace = '', name, uid = '' } = metadata;
    const pod = { namespace, name, uid, nodeName: spec.nodeName };
    this.#log.drainAttempted(this.#now, pod, outcome);
  }

  recording(): Recording {
    const { evictions, deadlines, holds, refusals, failures } = this.#log;
    return {
      zones: this.#zones.inOrder(),
      nodes: this.#nodes.tracks(),
      workloads: this.#workloads.tracks(),
      budgets: this.#budgets.all(),
      jobs: this.#jobs.tracks(),
      pods: this.#pods.pods,
      deadlines,
      evictions,
      holds,
      refusals,
      failures,
      unplaced: this.#unplaced,
    };
  }

  get #now(): number {
    return this.#secondsOf(this.#api.clock.now());
  }

  #secondsOf(instant: Instant): number {
    return (instant - this.#startsAt) / 1000;
  }

  #change(change: Change): void {
    const { resource, object, previous, type } = change;
    const at = this.#now;
    if (resource === 'pods') {
      if (type === 'ADDED') this.#jobs.made(at, object);
      if (type === 'DELETED') this.#notePod(at, null, previous ?? object);
      else this.#notePod(at, object, previous);
    } else if (resource === 'nodes') {
      if (type === 'DELETED') this.#nodes.gone(at, object.metadata.name);
      else if (!previous || !isHeartbeat(object, previous)) this.#noteNode(at, object);
    } else if (resource === 'poddisruptionbudgets') {
      if (type !== 'DELETED') this.#noteBudget(at, object);
    } else if (resource === 'jobs') {
      if (type !== 'DELETED') this.#jobs.record(at, object);
    } else if (this.#workloads.takes(resource)) this.#workloads.record(at, change);
  }

  /** A pod as it is (null: it is gone) and as it was (null: as far as we know it was not). */
  #notePod(at: number, pod: KubeObject | null, previous: KubeObject | null): void {
    const any = pod ?? previous;
    if (!any) return;
    const before = pod && previous && pod.metadata.uid !== previous.metadata.uid ? null : previous;
    if (pod && !before) this.#workloadNames.set(uidOf(pod), this.#workloads.nameOf(pod));
    const [now, then] = [placeOf(pod), placeOf(before)];
    const [is, was] = [isReady(pod), isReady(before)];
    if (pod && now !== null && now !== then) {
      this.#pods.arrived(at, pod, this.#workloadNames.get(uidOf(pod)) ?? null);
    }
    if (is !== was) {
      this.#workloads.countReady(at, any, is ? 1 : -1);
      this.#machines.noteReady(at, any, is);
    }
    if (pod && then !== null && now === null) this.#workloads.countDone(at, pod);
    if (pod?.metadata.deletionTimestamp !== undefined) this.#pods.stopping(at, pod);
    if (then !== null && now === null) this.#pods.left(at, any);
    if (now !== then) {
      if (then !== null) this.#nodes.countPod(at, then, -1);
      if (now !== null) this.#nodes.countPod(at, now, 1);
      if (now !== null) this.#arrivals.set(uidOf(any), at);
    }
    this.#noteUnplaced(at, any, pod && unplacedMessage(pod));
    if (!pod) this.#log.gone(at, uidOf(any));
  }

  #noteUnplaced(at: number, pod: KubeObject, message: string | null): void {
    const uid = uidOf(pod);
    const open = this.#openUnplaced.get(uid);
    if (message === null) {
      if (!open) return;
      open.until = at;
      this.#openUnplaced.delete(uid);
    } else if (open) open.message = message;
    else {
      const { name, namespace = '' } = pod.metadata;
      const workload = this.#workloadNames.get(uid) ?? null;
      const track = { namespace, pod: name, workload, from: at, until: null, message };
      this.#openUnplaced.set(uid, track);
      this.#unplaced.push(track);
    }
  }

  #noteBudget(at: number, budget: KubeObject): void {
    const { name, namespace = '' } = budget.metadata;
    const key = `${namespace}/${name}`;
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
    if (!this.#budgets.has(key)) {
      this.#budgets.add(key, { namespace, name, workloads: coveredBy(budget, this.#api) });
    }
    this.#budgets.push(at, key, { healthy: currentHealthy, desired: desiredHealthy });
  }
}

function isNoExecute({ effect }: { readonly effect: string }): boolean {
  return effect === 'NoExecute';
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}

/** True where only the time of a report changed. */
function isHeartbeat(object: KubeObject, previous: KubeObject): boolean {
  return object.spec === previous.spec && readiness(object) === readiness(previous);
}

function readiness(object: KubeObject): string {
  return conditionOf(object, 'Ready')?.status ?? '';
}

function conditionOf(object: KubeObject, type: string): Condition | null {
  const conditions: readonly Condition[] = object.status?.conditions ?? [];
  return conditions.find((condition) => condition.type === type) ?? null;
}

/** True for a pod that serves, as far as the API says: a leaving pod does not. */
function isReady(pod: KubeObject | null): boolean {
  if (!pod || pod.metadata.deletionTimestamp !== undefined) return false;
  return pod.status?.phase === 'Running' && readiness(pod) === 'True';
}

/** The node on which a pod is, while it has not ended. */
function placeOf(pod: KubeObject | null): string | null {
  const hasEnded = pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
  return hasEnded ? null : (pod?.spec.nodeName ?? null);
}

/** The reason why a pod fits on no node; null: it has a node, was not scheduled yet, or is leaving. */
export function unplacedMessage(pod: KubeObject): string | null {
  if (pod.spec.nodeName || pod.metadata.deletionTimestamp !== undefined) return null;
  const condition = conditionOf(pod, 'PodScheduled');
  return condition?.reason === 'Unschedulable' ? (condition.message ?? '') : null;
}

const templated = ['deployments', 'statefulsets', 'daemonsets', 'replicasets'];

/** As `Deployment shop/web`, in the order of kinds; a ReplicaSet of a Deployment is a part of it. */
export function coveredBy(
  { metadata, spec }: KubeObject,
  api: Pick<ClusterApi, 'list'>,
): readonly string[] {
  const { selector } = spec;
  // A budget without a selector selects nothing.
  if (!selector) return [];
  const { namespace = '' } = metadata;
  return templated
    .flatMap((resource) => api.list(resource, namespace))
    .filter((one) => !one.metadata.ownerReferences?.some(({ controller }) => controller))
    .filter((one) => selects(selector, one.spec.template?.metadata?.labels ?? {}))
    .map(({ kind, metadata: { name } }) => `${kind} ${namespace}/${name}`);
}
