// Judges a client that carries out NodeDrains, by the state of the API: by the plain rules, without
// knowledge of the client's code.
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import { ApiHistory } from './api-history.ts';
import type { Call } from './call.ts';
import { isAtWork, marksOf } from './drain-marks.ts';
import { isToGo, NodeDrainOrder } from './node-drain-order.ts';
import { ObjectHistory, type ObservedChange } from './object-history.ts';
import type { Violation } from './terms.ts';

const resource = 'nodedrains.taintmgr.dev';
/**
 * The number of times that a returning pod is asked to go, for each of its owner's replicas on the
 * node.
 */
const returnsMax = 4;
/** Below this number of replicas some may not have been there yet. */
const replicasMin = 4;
/**
 * The time for which a client may not have heard of a change: a stalled watch is found out after
 * 150 s.
 */
const unheardMs = 200_000;

/** The time that a drain may take after its window has opened. */
const beginsMs = 120_000;

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** A NodeDrain's spec from an instant on. */
interface Version {
  readonly at: number;
  readonly spec: KubeObject['spec'];
}

/** The last writes of others to a node's cordon and taints, and those of the client. */
interface NodeRecord {
  isCordonOfOthers: boolean;
  /** The taints that the client has added and no other program has touched since. */
  readonly ours: Set<string>;
  object: KubeObject | null;
}

/** Make it before anything happens, and lead the client's requests through both ends of `apiHistory`. */
export class NodeDrainCheckers {
  readonly apiHistory: ApiHistory;
  readonly #api: ClusterApi;
  readonly #history: ObjectHistory;
  readonly #violations: Violation[] = [];
  readonly #versions = new Map<string, Version[]>();
  readonly #nodes = new Map<string, NodeRecord>();
  readonly #order: NodeDrainOrder;
  /** Drains that were over their limit, by name, and at which instant. */
  readonly #suspects = new Map<string, number>();
  /**
   * The number of an owner's pods that a run of the client has made to leave a node, for a version
   * of a drain.
   */
  readonly #returns = new Map<string, { times: number; replicas: number }>();

  /** True once another program has marked a pod as a taint manager does. */
  #hasOthers = false;

  constructor(api: ClusterApi, apiHistory: ApiHistory = new ApiHistory(api.clock)) {
    this.apiHistory = apiHistory;
    this.#api = api;
    this.#order = new NodeDrainOrder(api, (invariant, evidence) =>
      this.#report(invariant, evidence),
    );
    this.#history = new ObjectHistory(api, apiHistory, (change) => this.#observe(change));
  }

  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /**
   * Judges after a quiet time, in which no person holds a drain back: an unfinished drain needs a
   * reason.
   */
  atRest(): void {
    for (const { metadata, spec, status } of this.#api.list(resource)) {
      if (metadata.deletionTimestamp) this.#report('is undone', `${metadata.name} is still there`);
      else if (!this.#hasJustBegun(spec, status ?? {})) this.#isDone(metadata, status ?? {});
    }
  }

  /** Some time after all NodeDrains were deleted: nothing of them is left. */
  atGone(): void {
    for (const { metadata } of this.#api.list(resource)) {
      this.#report('is undone', `${metadata.name} is still there`);
    }
    for (const node of this.#api.list('nodes')) {
      const { name } = node.metadata;
      const known = this.#recordOf(name);
      if (marksOf(node).length > 0) this.#report('is undone', `${name} has a mark of it`);
      const left = taintsOf(node).filter((taint) => known.ours.has(textOf(taint)));
      if (left.length > 0) this.#report('is undone', `${name} has ${left.map(textOf)}`);
      if (node.spec.unschedulable && !known.isCordonOfOthers) {
        this.#report('is undone', `${name} is cordoned`);
      }
    }
  }

  #observe({ at, change, by }: ObservedChange): void {
    const { type, object } = change;
    this.#judgeSuspects(at);
    if (change.resource === resource) this.#follow(at, object);
    if (change.resource === 'nodes') this.#node(at, type === 'DELETED' ? null : object, object, by);
    if (change.resource === 'pods' && by) this.#pod(at, object, by);
    else if (change.resource === 'pods' && isMarked(object)) {
      this.#hasOthers ||= !(change.previous && isMarked(change.previous));
    }
  }

  #follow(at: number, { metadata, spec, status }: KubeObject): void {
    const states: readonly { readonly name: string; readonly reason?: string }[] =
      status?.nodeStates ?? [];
    const stopped = states.find(({ reason }) => reason === 'ForeignEviction');
    if (stopped && !this.#hasOthers) {
      this.#report('stops beside another taint manager alone', `${metadata.name}: ${stopped.name}`);
    }
    const versions = this.#versions.get(metadata.name) ?? [];
    const last = versions.at(-1);
    if (JSON.stringify(last?.spec) !== JSON.stringify(spec)) versions.push({ at, spec });
    this.#versions.set(metadata.name, versions);
  }

  /** The recent specs of a drain of that name that a client may still act on. */
  #recent(name: string, at: number): readonly KubeObject['spec'][] {
    const versions = this.#versions.get(name) ?? [];
    return versions
      .filter((_, index) => (versions[index + 1]?.at ?? at) > at - unheardMs)
      .map(({ spec }) => spec);
  }

  #node(at: number, object: KubeObject | null, { metadata }: KubeObject, by: Call | null): void {
    const { name } = metadata;
    const known = this.#recordOf(name);
    const before = known.object;
    known.object = object;
    if (object) this.#order.look(at, object);
    if (!object || !before) {
      known.ours.clear();
      known.isCordonOfOthers = object?.spec.unschedulable === true;
      return;
    }
    if (by) {
      this.#cordon(name, before, object, known);
      this.#taints(at, name, before, object, known, by);
      for (const { id } of marksOf(object)) if (this.#overLimit(id, at)) this.#suspects.set(id, at);
    } else {
      const now = new Set(taintsOf(object).map(timedTextOf));
      for (const taint of taintsOf(before)) {
        if (!now.has(timedTextOf(taint))) known.ours.delete(textOf(taint));
      }
    }
    const [was, is] = [before, object].map(({ spec }) => spec.unschedulable === true);
    if (was !== is) known.isCordonOfOthers = is === true && !by;
  }

  #cordon(name: string, before: KubeObject, object: KubeObject, known: NodeRecord): void {
    const [was, is] = [before, object].map(({ spec }) => spec.unschedulable === true);
    if (!was && is) {
      const fights = marksOf(before).filter(({ cordoned }) => cordoned);
      const now = marksOf(object).filter(({ cordoned }) => cordoned);
      const isNew = now.some(({ id, taint }) =>
        fights.every((one) => one.id !== id || one.taint !== taint),
      );
      if (!isNew) this.#report('fights nobody who uncordons', name);
    }
    if (was && !is && known.isCordonOfOthers) this.#report("leaves others' cordons", name);
  }

  #taints(
    at: number,
    name: string,
    before: KubeObject,
    object: KubeObject,
    known: NodeRecord,
    by: Call,
  ): void {
    const [old, now] = [before, object].map((one) => new Set(taintsOf(one).map(textOf)));
    for (const taint of now ?? []) {
      if (old?.has(taint)) continue;
      known.ours.add(taint);
      const mark = marksOf(object).find((one) => one.taint === taint);
      const isMeant = mark && this.#recent(mark.id, at).some((spec) => isFor(spec, object));
      const isBegun = marksOf(before).some(({ id }) => id === mark?.id);
      if (mark && isMeant && !isBegun) {
        this.#order.begun(by.sentAt, object, mark.id, this.#recent(mark.id, at));
      }
      const isBack = marksOf(before).some((one) => one.taint !== taint) && !mark;
      if (!isMeant && !isBack) this.#report('taints nodes of its drains alone', `${name} ${taint}`);
    }
    for (const taint of old ?? []) {
      if (now?.has(taint)) continue;
      const gaveWay = [...(now ?? [])].some((one) => keyOf(one) === keyOf(taint));
      if (!known.ours.has(taint) && !gaveWay)
        this.#report("leaves others' taints", `${name} ${taint}`);
      known.ours.delete(taint);
    }
  }

  /**
   * A drain empties as many nodes at a time as it says, and those that it says may be held up. Two
   * nodes that hand over are written one after the other: a drain that still breaks its limit after
   * that instant is reported.
   */
  #judgeSuspects(at: number): void {
    for (const [id, since] of this.#suspects) {
      if (since === at) continue;
      this.#suspects.delete(id);
      const busy = this.#overLimit(id, at);
      if (busy) this.#report('keeps to its limits', `${id} is at work on ${busy.join(', ')}`);
    }
  }

  /** The nodes that the drain is at work on; null: as many as it may. */
  #overLimit(id: string, at: number): readonly string[] | null {
    const recent = this.#recent(id, at);
    const limits = recent.map(({ limits: { nodesAtOnce = 1, heldUpNodes = 1 } = {} }) =>
      nodesAtOnce === 0 || typeof nodesAtOnce === 'string'
        ? Number.POSITIVE_INFINITY
        : nodesAtOnce + heldUpNodes,
    );
    // A node that is done with has its mark until that is written, and writes may be late.
    const isLong = recent.some(({ afterNode }) => afterNode !== undefined);
    const busy = this.#api.list('nodes').filter((node) => {
      return isAtWork(node, id, at) && (isLong || this.#hasPodsToGo(node, recent));
    });
    const isOver = limits.length > 0 && busy.length > Math.max(...limits);
    return isOver ? busy.map(({ metadata }) => metadata.name) : null;
  }

  #hasPodsToGo({ metadata: { name } }: KubeObject, specs: readonly KubeObject['spec'][]): boolean {
    return this.#api.list('pods').some((pod) => {
      const isOfNobody = !pod.metadata.ownerReferences?.some(({ controller }) => controller);
      const isMeant = specs.some((spec) => spec.tolerations === 'Ignore' || !tolerates(pod, spec));
      return pod.spec.nodeName === name && (isToGo(pod) || isOfNobody) && isMeant;
    });
  }

  #pod(at: number, pod: KubeObject, { kind, uid, run, sentAt }: Call): void {
    const { metadata, spec } = pod;
    if ((kind !== 'evictPod' && kind !== 'deletePod') || uid !== metadata.uid) return;
    const states = this.#history.pod(metadata.uid ?? '');
    const isFirst = states.filter(({ object }) => object?.metadata.deletionTimestamp).length <= 1;
    if (!isFirst) return;
    const name = `${metadata.namespace}/${metadata.name} on ${spec.nodeName}`;
    const drains = this.#atWork(spec.nodeName ?? '', sentAt);
    const specs = drains.flatMap((id) => this.#recent(id, at));
    if (specs.length === 0) this.#report('evicts where it shows that it is at work', name);
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner?.kind === 'DaemonSet') this.#report('leaves DaemonSet pods', name);
    const deletes = ({ budgets }: KubeObject['spec']): boolean =>
      ['DeleteAfter', 'Ignore'].includes(budgets?.policy);
    if (kind === 'deletePod' && !specs.some(deletes)) this.#report('asks budgets', name);
    const unmanaged = ({ pods }: KubeObject['spec']): boolean => pods?.withoutController === true;
    if (!owner && !specs.some(unmanaged)) this.#report('leaves pods that nobody recreates', name);
    for (const id of drains) {
      this.#order.left(at, pod, id, this.#recent(id, at));
      // An eviction writes its mark first, which is a separate change.
      const key = `${run} ${id} ${spec.nodeName} ${owner?.uid ?? metadata.uid}`;
      if (metadata.deletionTimestamp) this.#return(key, id, pod);
    }
  }

  /**
   * Drains that were at work on the node when a request was sent: a late request cannot be called
   * back.
   */
  #atWork(nodeName: string, sentAt: number): readonly string[] {
    const state = this.#history.node(nodeName).findLast(({ at }) => at <= sentAt);
    const node = state?.object;
    const ids = node ? marksOf(node).map(({ id }) => id) : [];
    return node ? ids.filter((id) => isAtWork(node, id, sentAt)) : [];
  }

  #return(key: string, id: string, { metadata, spec }: KubeObject): void {
    const { uid, generation } = this.#api.get(resource, '', id)?.metadata ?? {};
    const owner = ownerOf(metadata);
    const now = this.#api.list('pods', metadata.namespace ?? '').filter((other) => {
      return other.spec.nodeName === spec.nodeName && ownerOf(other.metadata) === owner;
    });
    const version = `${key} ${uid} ${generation}`;
    const before = this.#returns.get(version) ?? { times: 0, replicas: replicasMin };
    const times = before.times + 1;
    const replicas = Math.max(before.replicas, now.length);
    this.#returns.set(version, { times, replicas });
    if (times <= returnsMax * replicas) return;
    const name = `${metadata.namespace}/${metadata.name} on ${spec.nodeName}`;
    this.#report('leaves pods that come back again and again', `${id}: ${name}, ${times} times`);
  }

  /** True if it was its window that it waited for: pods that come back take a node more than half a minute. */
  #hasJustBegun({ windows = [] }: KubeObject['spec'], status: KubeObject['status']): boolean {
    const startedAt = Date.parse(status.startedAt ?? '');
    return windows.length > 0 && this.#api.clock.now() - startedAt < beginsMs;
  }

  #isDone({ name, generation }: KubeObject['metadata'], status: KubeObject['status']): void {
    const { phase, observedGeneration, nodeStates = [], pods = [] } = status;
    const says = `${name}: ${JSON.stringify(status)}`;
    if (observedGeneration !== generation) {
      this.#report('says how it is', says);
      return;
    }
    const of = (kind: string): number =>
      nodeStates.filter((node: { readonly phase: string }) => node.phase === kind).length;
    if (status.nodesDrained !== of('Drained')) this.#report('says how it is', says);
    const isOver = ['Drained', 'Failed', 'TimedOut'].includes(phase);
    const open = nodeStates.length - of('Drained') - of('Failed') - of('Gone');
    if (isOver !== (open === 0 && nodeStates.length > 0)) this.#report('says how it is', says);
    const waits = pods.some(({ state }: { readonly state: string }) => state === 'waiting');
    if (!isOver && !waits && of('Held') === 0 && nodeStates.length > 0) {
      this.#report('comes to an end', says);
    }
  }

  #recordOf(name: string): NodeRecord {
    const known = this.#nodes.get(name) ?? {
      ...{ isCordonOfOthers: false, ours: new Set<string>(), object: null },
    };
    this.#nodes.set(name, known);
    return known;
  }

  #report(invariant: string, evidence: string): void {
    this.#violations.push({ invariant, at: this.#api.clock.now(), evidence });
  }
}

/** True if a taint manager is about to delete the pod, or says so. */
function isMarked({ status }: KubeObject): boolean {
  const conditions: readonly { readonly reason?: string }[] = status?.conditions ?? [];
  return conditions.some(({ reason }) => reason === 'DeletionByTaintManager');
}

/** True if the pod may stay beside the taint of a drain for ever. */
function tolerates(
  { spec: { tolerations = [] } }: KubeObject,
  { taint }: KubeObject['spec'],
): boolean {
  return tolerations.some(
    ({
      key = '',
      tolerationSeconds,
    }: {
      readonly key?: string;
      readonly tolerationSeconds?: number;
    }) => tolerationSeconds === undefined && (key === '' || key === taint?.key),
  );
}

function ownerOf({ ownerReferences }: KubeObject['metadata']): string | undefined {
  return ownerReferences?.find(({ controller }) => controller)?.uid;
}

function taintsOf({ spec }: KubeObject): readonly (Taint & { readonly timeAdded?: string })[] {
  return spec.taints ?? [];
}

function textOf({ key, value = '', effect }: Taint): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}

function timedTextOf(taint: Taint & { readonly timeAdded?: string }): string {
  return `${textOf(taint)} ${taint.timeAdded ?? ''}`;
}

/** Key and effect of a taint's text. */
function keyOf(text: string): string {
  return text.replace(/=[^:]*/, '');
}

/** True if a NodeDrain selects a node by its name or its labels. */
function isFor({ nodes, nodeSelector }: KubeObject['spec'], { metadata }: KubeObject): boolean {
  if (nodes) return nodes.includes(metadata.name);
  const wanted: Readonly<Record<string, string>> = nodeSelector?.matchLabels ?? {};
  return Object.entries(wanted).every(([key, value]) => metadata.labels?.[key] === value);
}
