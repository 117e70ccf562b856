// The queue and the cycle of the scheduler.
import { Controller, type ControllerContext } from '../controllers/controller.ts';
import { isActive, isTerminal, keyOf } from '../controllers/pods.ts';
import { seedFor } from '../kernel/hash.ts';
import { seededRandom } from '../kernel/prng.ts';
import { ApiError } from '../objects/errors.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Change } from '../store/cluster-api.ts';
import { SearchError } from './device-allocation.ts';
import { type SelectsDevice, selectsByDriver } from './device-pools.ts';
import { awaitsClaims, claimsDevices, claimsOnNode } from './devices.ts';
import { availableText, type Failure, failureText, subjectsOf } from './failure.ts';
import type { Subject } from './filter.ts';
import type { Place } from './place.ts';
import { type MovedPod, Placement } from './placement.ts';
import { PodReports } from './pod-reports.ts';
import { notHelpful, type Preemption, preempt } from './preemption.ts';
import { type SchedulingPod, schedulingPod } from './scheduling-pod.ts';
import { ownSchedulerName } from './unknown-rules.ts';
import { isBound, isPromised, selectedNode } from './volume-claims.ts';
import { volumeChoice } from './volumes.ts';
import { ActivePods, signatureOf, UnschedulablePods } from './waiting-pods.ts';

/** The subjects that a change of these resources may help; null: every subject. */
const helpedBy: Readonly<Record<string, readonly Subject[]>> = {
  persistentvolumeclaims: ['volumes', 'disks'],
  persistentvolumes: ['volumes'],
  storageclasses: ['volumes'],
  csinodes: ['volumes'],
  namespaces: ['podAffinity'],
  services: [],
  resourceclaims: ['devices'],
  resourceslices: ['devices'],
  deviceclasses: ['devices'],
  devicetaintrules: ['devices'],
};
const followed = new Set(['nodes', 'pods', ...Object.keys(helpedBy)]);
const byLeaving: readonly Subject[] = [
  ...['resources', 'ports', 'disks', 'volumes', 'spread', 'podAffinity'],
] as readonly Subject[];
const byComing: readonly Subject[] = ['spread', 'podAffinity'];
const byClaims: ReadonlySet<Subject> = new Set<Subject>(['devices']);
/** The greatest age of a pod's last failure when a change that might help the pod happens. */
const staleMs = 10_000;
/** A pod whose binding was refused is tried again after this. */
const refusedMs = 1000;
/** The key of the work that tries all active pods. */
const round = '';

interface SchedulerOptions {
  readonly next?: number | undefined;
  /** Reads the expressions that select devices; left out: those that name a driver. */
  readonly selects?: SelectsDevice | undefined;
}

/** A pod that has come or left; null: the node itself is another. */
type PlaceChange = MovedPod | { readonly place: Place; readonly pod: null };

/** The failure of a kind of pods, valid until something changes. */
interface Told {
  readonly message: string;
  readonly subjects: ReadonlySet<Subject>;
}

/**
 * Binds each pending pod to a node, see Placement. A pod that fits nowhere gets its condition, may make room
 * for itself, and is tried again at once when something changes that could help it: kube-scheduler takes pods
 * out of their backoff as soon as it has nothing else to do.
 */
export class Scheduler extends Controller {
  readonly #seed: number;
  readonly #selects: SelectsDevice;
  readonly #reports: PodReports;
  readonly #active = new ActivePods();
  readonly #unschedulable = new UnschedulablePods();
  /** Pods that have their node and wait for their volumes. */
  readonly #binding = new Map<string, string>();
  readonly #told = new Map<string, Told>();
  /**
   * Pods that have joined nodes or left them, and nodes that have changed, since the last round.
   */
  #changes: PlaceChange[] = [];
  /** Active pods that are worth a try only if one of those makes a difference to them. */
  readonly #hopeful = new Set<string>();
  /** The pod that is removing others; until it is done, it is not tried again for their going. */
  #preempting: string | null = null;
  #placement: Placement;

  /** `next`: the place at which another search stopped, to continue from. */
  constructor(
    context: ControllerContext,
    seed: number,
    { next = 0, selects = selectsByDriver }: SchedulerOptions = {},
  ) {
    super(context);
    this.#seed = seed;
    this.#selects = selects;
    this.#reports = new PodReports(this.api);
    this.#placement = this.#newPlacement(next);
  }

  override get isIdle(): boolean {
    return super.isIdle && this.#active.size === 0 && this.#binding.size === 0;
  }

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    this.#placement = this.#newPlacement(this.#placement.next);
    for (const node of this.api.list('nodes')) this.#placement.setNode(node);
    for (const pod of this.api.list('pods')) this.#noticePod(keyOf(pod), pod, null);
  }

  override stop(): void {
    super.stop();
    this.#active.clear();
    this.#unschedulable.clear();
    this.#binding.clear();
    this.#told.clear();
    this.#hopeful.clear();
    this.#changes = [];
  }

  #newPlacement(next: number): Placement {
    return new Placement({ objects: this.api, seed: this.#seed, next, selects: this.#selects });
  }

  protected override notice({ type, resource, key, object, previous }: Change): void {
    const isGone = type === 'DELETED';
    if (resource === 'nodes') {
      const { name } = object.metadata;
      const placement = this.#placement;
      const place = isGone ? placement.deleteNode(name) : placement.setNode(object);
      if (place) this.#noteChange({ place, pod: null }, null);
    } else if (resource === 'pods') {
      if (isGone) this.#forgetPod(key, object);
      else this.#noticePod(key, object, previous);
    } else {
      this.#noticeOther(resource, object, previous);
    }
  }

  #noticeOther(resource: string, object: KubeObject, previous: KubeObject | null): void {
    const labels = previous?.metadata.labels;
    if (resource === 'namespaces' && previous && equal(labels, object.metadata.labels)) return;
    if (resource === 'namespaces' || resource === 'services') this.#placement.forget(resource);
    this.#helped(helpedBy[resource] ?? null);
    for (const key of this.#binding.keys()) this.queue.add(key);
  }

  #forgetPod(key: string, { spec }: KubeObject): void {
    const wasNominated = this.#placement.nominate(key, null);
    this.#leave(key);
    this.#forgetWaiting(key);
    if (wasNominated && !spec.nodeName) this.#helped(byLeaving);
  }

  /** A pod takes nothing any more. */
  #leave(key: string): void {
    const left = this.#placement.deletePod(key);
    if (left) this.#noteChange({ ...left, isGone: true }, byLeaving);
  }

  #noteChange(change: PlaceChange, subjects: readonly Subject[] | null): void {
    this.#told.clear();
    this.#changes.push(change);
    for (const waiting of this.#unschedulable.helpedBy(subjects)) {
      if (waiting === this.#preempting || this.#active.has(waiting)) continue;
      const pod = this.api.find('pods', waiting);
      if (!pod) continue;
      this.#activate(waiting, pod);
      this.#hopeful.add(waiting);
    }
    // No pod waits for the changes.
    if (this.#active.size === 0) this.#changes = [];
  }

  #forgetWaiting(key: string): string | null {
    this.#active.delete(key);
    this.#binding.delete(key);
    this.#reports.forget(key);
    return this.#unschedulable.delete(key);
  }

  #noticePod(key: string, pod: KubeObject, previous: KubeObject | null): void {
    if (pod.spec.nodeName || !isActive(pod)) this.#noticePlaced(key, pod, previous);
    else if (isPending(pod)) this.#noticePending(key, pod, previous);
    else if (isGated(pod)) this.#activate(key, pod);
  }

  #noticePlaced(key: string, pod: KubeObject, previous: KubeObject | null): void {
    if (!previous?.spec.nodeName) {
      this.#placement.nominate(key, null);
      this.#forgetWaiting(key);
    }
    if (isTerminal(pod)) this.#leave(key);
    const came = this.#placement.setPod(key, pod);
    // The start of its deletion helps no other pod: it is counted until it is gone.
    const isSame =
      previous?.spec.nodeName !== undefined && equal(previous.metadata.labels, pod.metadata.labels);
    if (came && !isSame) this.#noteChange({ ...came, isGone: false }, byComing);
  }

  #noticePending(key: string, pod: KubeObject, previous: KubeObject | null): void {
    if (this.#binding.has(key)) return;
    if (previous !== null && !isAskedAlike(previous, pod)) this.#unschedulable.delete(key);
    const { nominatedNodeName } = pod.status ?? {};
    if (nominatedNodeName) this.#placement.nominate(key, nominatedNodeName, pod);
    if (!this.#unschedulable.has(key)) this.#activate(key, pod);
  }

  #activate(key: string, { spec }: KubeObject): void {
    this.#hopeful.delete(key);
    this.#active.add(key, spec.priority ?? 0);
    this.queue.add(round);
  }

  /** Something has changed: pods that it may help are tried again, one of each kind. */
  #helped(subjects: readonly Subject[] | null): void {
    this.#told.clear();
    for (const key of this.#unschedulable.helpedBy(subjects)) {
      const pod = key === this.#preempting ? null : this.api.find('pods', key);
      if (pod) this.#activate(key, pod);
    }
  }

  protected override sync(key: string): void {
    if (key === round) this.#tryAll();
    else if (this.#binding.has(key)) this.#finish(key);
    else this.#try(key);
  }

  #tryAll(): void {
    for (let key = this.#active.take(); key !== null; key = this.#active.take()) this.#try(key);
    this.#changes = [];
  }

  #try(key: string): void {
    try {
      this.#cycle(key);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.queue.addAfter(key, refusedMs);
    }
  }

  /** A pod's turn. */
  #cycle(key: string): void {
    const pod = this.api.find('pods', key);
    if (!pod) return;
    if (isGated(pod)) this.#reports.gated(pod);
    if (!isPending(pod) || this.#binding.has(key)) return;
    if (this.#told.size > 0 && this.#isTold(key, pod)) return;
    if (awaitsClaims(this.api, pod)) {
      this.#unschedulable.add(key, signatureOf(pod), byClaims);
      return;
    }
    const wanted = schedulingPod(key, pod);
    if (this.#hopeful.delete(key) && !this.#isHelped(wanted)) return;
    this.#search(wanted);
  }

  #search(wanted: SchedulingPod): void {
    try {
      const { place, failure } = this.#placement.search(wanted);
      if (place) this.#place(wanted, place);
      else this.#fail(wanted, failure);
    } catch (error) {
      if (!(error instanceof SearchError)) throw error;
      const { key, pod } = wanted;
      this.#unschedulable.add(key, signatureOf(pod), new Set(['node', 'devices']));
      const message = `running "DynamicResources" filter plugin: ${error.message}`;
      this.#reports.unschedulable(key, pod, message, '', 'SchedulerError');
    }
  }

  /** True if one of the changes may help the pod, or if its last failure is too old to rely on. */
  #isHelped(wanted: SchedulingPod): boolean {
    const { key, pod } = wanted;
    if (pod.status?.nominatedNodeName || this.#reports.sinceFailure(key) >= staleMs) return true;
    const placement = this.#placement;
    return this.#changes.some((change) =>
      change.pod === null
        ? placement.isHelpedByNode(wanted, change.place)
        : placement.isHelpedBy(wanted, change),
    );
  }

  /** True if a pod like it has just failed, and nothing has changed. */
  #isTold(key: string, pod: KubeObject): boolean {
    const signature = signatureOf(pod);
    const told = this.#told.get(signature);
    if (!told) return false;
    this.#unschedulable.add(key, signature, told.subjects);
    this.#reports.unschedulable(key, pod, told.message, pod.status?.nominatedNodeName ?? '');
    return true;
  }

  #place(wanted: SchedulingPod, place: Place): void {
    const { key } = wanted;
    if (claimsDevices(wanted)) this.#reserve(wanted, place);
    const next = this.#unschedulable.delete(key);
    if (this.#bindsVolumes(wanted, place)) {
      this.#placement.nominate(key, null);
      this.#placement.pool.count(wanted, place);
      this.#binding.set(key, place.name);
      this.queue.add(key);
    } else {
      const { namespace = '', name } = wanted.pod.metadata;
      this.api.bind(namespace, name, place.name);
    }
    if (next === null) return;
    const pod = this.api.find('pods', next);
    if (pod) this.#activate(next, pod);
  }

  /** Gives the claims of a pod their devices, and reserves them for it. */
  #reserve({ pod }: SchedulingPod, { offer }: Place): void {
    if (!offer) return;
    const { api } = this;
    const { node } = offer;
    const time = formatTime(api.clock.now());
    for (const claim of claimsOnNode(api, pod, { node, selects: this.#selects, time })) {
      const held = api.update('resourceclaims', claim);
      api.update('resourceclaims', { ...held, status: claim.status }, 'status');
    }
  }

  /** Promises volumes to the claims that wait for a node; returns whether there are such. */
  #bindsVolumes(wanted: SchedulingPod, { name, offer }: Place): boolean {
    if (wanted.claims.length === 0 || !offer) return false;
    const { api } = this;
    const choice = volumeChoice(api, wanted, offer.node);
    for (const [claim, volume] of choice) {
      if (volume && isPromised(volume, claim)) continue;
      if (volume) api.update('persistentvolumes', promised(volume, claim));
      else api.update('persistentvolumeclaims', withNode(claim, name));
    }
    return choice.size > 0;
  }

  /** Binds a pod when all its claims have their volumes. */
  #finish(key: string): void {
    const pod = this.api.find('pods', key);
    const nodeName = this.#binding.get(key) ?? '';
    if (!pod) return;
    const { namespace = '', name } = pod.metadata;
    const { claims } = schedulingPod(key, pod);
    const isReady = claims.every((claim) => {
      const found = this.api.get('persistentvolumeclaims', namespace, claim);
      return found !== null && isBound(found);
    });
    if (isReady) this.api.bind(namespace, name, nodeName);
  }

  #fail(wanted: SchedulingPod, failure: Failure): void {
    const { key, pod } = wanted;
    const room =
      failure.refusal === null && failure.nodes > 0 ? this.#preempt(wanted, failure) : null;
    const message = messageOf(wanted, failure, room);
    const nominated = this.#nominated(pod, room);
    const subjects = subjectsOf(failure);
    const signature = signatureOf({
      ...pod,
      status: { ...pod.status, nominatedNodeName: nominated || undefined },
    });
    this.#unschedulable.add(key, signature, subjects);
    if (!room?.place && nominated === '') this.#told.set(signature, { message, subjects });
    this.#placement.nominate(key, nominated || null, pod);
    const written = this.#reports.unschedulable(key, pod, message, nominated);
    if (room?.place) this.#remove(written, room.place, room.victims);
  }

  #preempt(wanted: SchedulingPod, failure: Failure): Preemption {
    const budgets = this.api.list('poddisruptionbudgets');
    const begin = seededRandom(seedFor(this.#seed, `${wanted.key} preempts`))();
    return preempt(this.#placement, wanted, failure, { budgets, begin });
  }

  /** The node for which a pod is nominated after that; '' for none. */
  #nominated({ status }: KubeObject, room: Preemption | null): string {
    if (room?.place) return room.place.name;
    return room && !room.isRefused ? '' : (status?.nominatedNodeName ?? '');
  }

  /** Removes the victims; pods that are less important give up their claim to the node. */
  #remove(by: KubeObject, place: Place, victims: readonly SchedulingPod[]): void {
    const priority: number = by.spec.priority ?? 0;
    for (const other of [...place.nominated.values()]) {
      if (other.priority >= priority) continue;
      this.#placement.nominate(other.key, null);
      const pod = this.api.find('pods', other.key);
      if (pod) this.#reports.withdraw(pod);
    }
    this.#preempting = keyOf(by);
    for (const { key } of victims) {
      const victim = this.api.find('pods', key);
      if (victim) this.#reports.preempt(victim, by, place.name);
    }
    this.#preempting = null;
    const isDone = victims.every(({ key }) => this.api.find('pods', key) === null);
    if (isDone) this.#activate(keyOf(by), by);
  }
}

function messageOf(wanted: SchedulingPod, failure: Failure, room: Preemption | null): string {
  const text = failureText(failure);
  const { nodes, refusal } = failure;
  const none = 'no new claims to deallocate, preemption:';
  if (refusal?.subject === 'devices') {
    return `${text} ${none} ${availableText(nodes, new Map([[notHelpful, nodes]]))}`;
  }
  if (!room?.text) return text;
  const claims = claimsDevices(wanted) ? 'still not schedulable, preemption:' : none;
  return `${text} ${claims} ${room.text}`;
}

/** True if two states of a pod ask for the same place. */
function isAskedAlike(one: KubeObject, other: KubeObject): boolean {
  return (
    equal(one.spec, other.spec) &&
    equal(one.metadata.labels, other.metadata.labels) &&
    equal(one.status?.resourceClaimStatuses, other.status?.resourceClaimStatuses)
  );
}

function promised(volume: KubeObject, { metadata }: KubeObject): KubeObject {
  const { namespace, name, uid } = metadata;
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
  return { ...volume, spec: { ...volume.spec, claimRef } };
}

function withNode(claim: KubeObject, nodeName: string): KubeObject {
  const annotations = { ...claim.metadata.annotations, [selectedNode]: nodeName };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}

/** True if a pod waits for a place from this scheduler. */
export function isPending(pod: KubeObject): boolean {
  return isOurs(pod) && (pod.spec.schedulingGates ?? []).length === 0;
}

/** True if a pod does not enter the queue yet. */
function isGated(pod: KubeObject): boolean {
  return isOurs(pod) && (pod.spec.schedulingGates ?? []).length > 0;
}

function isOurs(pod: KubeObject): boolean {
  const { nodeName, schedulerName = ownSchedulerName } = pod.spec;
  return !nodeName && schedulerName === ownSchedulerName && isActive(pod);
}
