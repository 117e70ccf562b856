// Records over time: of nodes, pods, zones, machines and Jobs.
import { isDeepStrictEqual } from 'node:util';
import { formatTaint, type LifecycleReport, zoneName } from '@taintmgr/core';
import { describeHold, type ZoneStatus } from '@taintmgr/core/lifecycle';
import type { Instant } from '@taintmgr/core/time';
import { nodeFromJson } from '@taintmgr/k8s-adapter';
import type { Condition } from '@taintmgr/k8s-adapter/survey';
import type { JobTrack, NodeTrack, PodTrack, Step, Timeline, ZoneTrack } from '@taintmgr/page';
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import { type Open, relativeText } from './evictions.ts';

/** A state of a track. */
export type StateOf<Track extends Timeline<unknown, object>> = Omit<Track['states'][number], 'at'>;

/** The timelines of several things, each under a key. */
export class Timelines<Id extends object, State extends object> {
  readonly #byKey = new Map<string, Id & { readonly states: Step<State>[] }>();

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Begins a timeline; whether there was none. */
  add(key: string, id: Id): boolean {
    if (this.#byKey.has(key)) return false;
    this.#byKey.set(key, { ...id, states: [] });
    return true;
  }

  /**
   * The state from `at` on, in seconds, never before the last one: only the last of those of one instant
   * counts. A key that was not added is ignored.
   */
  push(at: number, key: string, state: State): void {
    const states = this.#byKey.get(key)?.states;
    if (!states) return;
    if (states.at(-1)?.at === at) states.pop();
    const last = states.at(-1);
    if (!last || !isSame(last, state)) states.push({ at, ...state });
  }

  all(): readonly Timeline<Id, State>[] {
    return [...this.#byKey.values()];
  }

  /** In the order of their keys, in which node-2 comes before node-10. */
  inOrder(): readonly Timeline<Id, State>[] {
    const keyed = [...this.#byKey].sort(([one], [other]) => natural(one, other));
    return keyed.map(([, timeline]) => timeline);
  }
}

/** True where two states of one kind are equal: their members are plain values, or lists and maps of them. */
function isSame<State extends object>(one: State, other: State): boolean {
  for (const key in other) {
    const [mine, theirs] = [one[key], other[key]];
    if (mine === theirs) continue;
    if (typeof theirs !== 'object' || !isDeepStrictEqual(mine, theirs)) return false;
  }
  return true;
}

const digits = /(\d+)/;

function natural(one: string, other: string): number {
  const [a, b] = [one.split(digits), other.split(digits)];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const [left = '', right = ''] = [a[index], b[index]];
    if (left === right) continue;
    const difference = index % 2 === 1 ? Number(left) - Number(right) : 0;
    if (difference !== 0) return difference;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

/** Records how each node is doing and how many pods it has. */
export class NodeTimelines {
  readonly #states = new Timelines<Pick<NodeTrack, 'name' | 'zone'>, StateOf<NodeTrack>>();
  readonly #pods = new Timelines<object, { readonly count: number }>();
  readonly #keys = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  record(at: number, object: KubeObject): void {
    const node = nodeFromJson(object);
    const { name, labels = {} } = node;
    const zone = zoneName(labels);
    const key = this.#keys.get(name) ?? `${zone}\0${name}`;
    this.#keys.set(name, key);
    if (this.#states.add(key, { name, zone })) {
      this.#pods.add(key, {});
      this.#pods.push(0, key, { count: 0 });
    }
    const ready = node.conditions?.find(({ type }) => type === 'Ready')?.status;
    this.#states.push(at, key, {
      ready: ready === 'True' || ready === 'False' ? ready : 'Unknown',
      cordoned: object.spec?.unschedulable === true,
      taints: node.taints.map(formatTaint),
    });
  }

  gone(at: number, name: string): void {
    const key = this.#keys.get(name) ?? '';
    this.#states.push(at, key, { ready: 'Gone', cordoned: false, taints: [] });
  }

  /** Counts a pod that has joined the node (1) or left it (-1). */
  countPod(at: number, name: string, change: 1 | -1): void {
    const key = this.#keys.get(name);
    if (key === undefined) return;
    const count = (this.#counts.get(name) ?? 0) + change;
    this.#counts.set(name, count);
    this.#pods.push(at, key, { count });
  }

  tracks(): readonly NodeTrack[] {
    const pods = this.#pods.inOrder();
    return this.#states.inOrder().map((node, index) => {
      return { ...node, pods: pods[index]?.states ?? [] };
    });
  }
}

type PodState = PodTrack['states'][number]['state'];
type OpenPod = Open<PodTrack> & { readonly states: Step<{ readonly state: PodState }>[] };

/** Records them. */
export class PodLog {
  readonly pods: OpenPod[] = [];
  readonly #open = new Map<string, OpenPod>();

  /** The pod was bound to its node. */
  arrived(at: number, { metadata, spec }: KubeObject, workload: string | null): void {
    const { namespace = '', name, uid = '' } = metadata;
    const id = { namespace, pod: name, node: spec.nodeName as string, workload };
    const pod: OpenPod = { ...id, from: at, until: null, states: [{ at, state: 'starting' }] };
    this.#open.set(uid, pod);
    this.pods.push(pod);
  }

  /** The pod begins or stops to serve. */
  serves(at: number, pod: KubeObject, does: boolean): void {
    const isGoing = pod.metadata.deletionTimestamp !== undefined;
    this.#enter(at, pod, does ? 'serving' : isGoing ? 'stopping' : 'down');
  }

  /** The pod was asked to leave. */
  stopping(at: number, pod: KubeObject): void {
    this.#enter(at, pod, 'stopping');
  }

  /** The pod has left its node. */
  left(at: number, { metadata }: KubeObject): void {
    const uid = metadata.uid ?? '';
    const pod = this.#open.get(uid);
    if (!pod) return;
    pod.until = at;
    this.#open.delete(uid);
  }

  #enter(at: number, { metadata }: KubeObject, state: PodState): void {
    const states = this.#open.get(metadata.uid ?? '')?.states;
    const last = states?.at(-1);
    if (!states || last?.state === state || last?.state === 'stopping') return;
    if (last?.at === at) states.pop();
    states.push({ at, state });
  }
}

/** True for a report of changed zones. */
export function isOfZones(report: { readonly kind: string }): boolean {
  return zoneReports.some((kind) => kind === report.kind);
}

const zoneReports: readonly LifecycleReport['kind'][] = ['zone', 'zoneHold', 'nodeUnreachable'];

/** The recorded part of a zone. */
export function recordedZone(
  { state, ready, notReady, rate, hold }: ZoneStatus,
  startsAt: Instant,
): StateOf<ZoneTrack> {
  const held = hold && relativeText(describeHold(hold), startsAt);
  // Upstream counts in 32-bit floats.
  return { state: state ?? 'Unknown', ready, notReady, rate: Number(rate.toFixed(6)), held };
}

/** A pod has begun to serve (1), or serves no more (-1). */
type CountServing = (at: number, pod: KubeObject, change: 1 | -1) => void;
/** Calls back when the pod has started again, at that second. */
type AfterStart = (pod: KubeObject, then: (at: number) => void) => void;

/** The machines that are dead, and the pods that are ready on each machine. */
export class Machines {
  readonly #count: CountServing;
  readonly #afterStart: AfterStart;
  readonly #dead = new Set<string>();
  /** By node, then by uid. */
  readonly #ready = new Map<string, Map<string, KubeObject>>();
  /** The ready pods that do not serve, by uid: their machine is dead, or was until lately. */
  readonly #down = new Set<string>();

  constructor(count: CountServing, afterStart: AfterStart) {
    this.#count = count;
    this.#afterStart = afterStart;
  }

  /** A pod has become ready, as far as Kubernetes knows, or is so no more. */
  noteReady(at: number, pod: KubeObject, isReady: boolean): void {
    const node: string = pod.spec.nodeName ?? '';
    const uid = uidOf(pod);
    const pods = this.#ready.get(node) ?? new Map<string, KubeObject>();
    this.#ready.set(node, pods);
    if (isReady) {
      pods.set(uid, pod);
      if (this.#dead.has(node)) this.#down.add(uid);
      else if (this.#down.has(uid)) this.#afterStart(pod, (then) => this.#serve(then, node, uid));
      if (!this.#down.has(uid)) this.#count(at, pod, 1);
    } else if (pods.delete(uid) && !this.#down.has(uid)) this.#count(at, pod, -1);
  }

  /** A machine has died, or is back; then its pods have to start again. */
  noteMachine(at: number, node: string, runs: boolean): void {
    if (this.#dead.has(node) !== runs) return;
    if (runs) this.#dead.delete(node);
    else this.#dead.add(node);
    for (const [uid, pod] of this.#ready.get(node) ?? []) {
      if (runs) this.#afterStart(pod, (then) => this.#serve(then, node, uid));
      else if (!this.#down.has(uid)) {
        this.#down.add(uid);
        this.#count(at, pod, -1);
      }
    }
  }

  #serve(at: number, node: string, uid: string): void {
    if (this.#dead.has(node) || !this.#down.delete(uid)) return;
    const pod = this.#ready.get(node)?.get(uid);
    if (pod) this.#count(at, pod, 1);
  }
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}

/** Records Jobs: the present ones at the beginning, and all changes. */
export class JobTimelines {
  readonly #timelines = new Timelines<Omit<JobTrack, 'states'>, StateOf<JobTrack>>();
  readonly #pods = new Map<string, { readonly pod: string; readonly from: number }[]>();

  constructor(api: Pick<ClusterApi, 'list'>) {
    for (const job of api.list('jobs')) this.record(0, job);
    for (const pod of api.list('pods')) this.made(0, pod);
  }

  record(at: number, job: KubeObject): void {
    const { namespace = '', name } = job.metadata;
    const key = `${namespace}/${name}`;
    const { active = 0, succeeded = 0, failed = 0 } = job.status ?? {};
    const end = endOf(job);
    if (!this.#timelines.has(key)) {
      if (end !== null) return;
      this.#timelines.add(key, { namespace, name, pods: this.#podsOf(key) });
    }
    this.#timelines.push(at, key, { active, succeeded, failed, end });
  }

  /** A pod that is new. */
  made(at: number, { metadata }: KubeObject): void {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner?.kind !== 'Job') return;
    const pods = this.#podsOf(`${metadata.namespace}/${owner.name}`);
    pods.push({ pod: metadata.name, from: at });
  }

  tracks(): readonly JobTrack[] {
    return this.#timelines.inOrder();
  }

  #podsOf(key: string): { readonly pod: string; readonly from: number }[] {
    const pods = this.#pods.get(key) ?? [];
    this.#pods.set(key, pods);
    return pods;
  }
}

/** Decided, though its last pods may still be stopping. */
function endOf({ status }: KubeObject): string | null {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  for (const { type, status: isSo, reason } of conditions) {
    if (isSo !== 'True') continue;
    if (type === 'Complete' || type === 'SuccessCriteriaMet') return 'Complete';
    if (type === 'Failed' || type === 'FailureTarget') return `Failed: ${reason ?? 'unknown'}`;
  }
  return null;
}
