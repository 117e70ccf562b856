// The changes between two snapshots, inferred from the second snapshot and from Events.
import type { Instant } from '@taintmgr/core/time';
import { count, mostOf } from '@taintmgr/k8s-adapter/command-line';
import type { Condition } from '@taintmgr/k8s-adapter/survey';
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';
import {
  eventOf,
  evictedByEvents,
  instantOf,
  leavingAt,
  missingKinds,
  type Observed,
  type ObservedChange,
  resources,
  type SeenEvent,
  some,
} from './observed.ts';

/** Events are kept for an hour. */
const eventsKeptMs = 3_600_000;

export interface InferredOptions {
  readonly name: string;
  /** The cluster before. */
  readonly before: Cluster['api'];
  readonly startsAt: Instant;
  /** The objects after, and Events. */
  readonly after: readonly KubeObject[];
}

/** Returns the changes that the second snapshot and Events show. */
export function observedBetween(options: InferredOptions): Observed {
  const { name, startsAt, after } = options;
  const events = after.filter(({ kind }) => kind === 'Event');
  const objects = after.filter(({ kind }) => kind !== 'Event');
  const seen = events.map(eventOf).filter(({ at }) => at !== null && at > startsAt);
  const until = Math.ceil(mostOf([...objects, ...events].flatMap(timesOf), startsAt));
  const between = new Between(options, { objects, events: seen, until });
  const { changes, unknown } = between.take();
  return {
    name,
    from: objects.length > 0 ? 'snapshot' : 'Events',
    until,
    changes: changes.toSorted((one, other) => one.at - other.at),
    gaps: [],
    unknown: [
      ...(events.length > 0 && until - startsAt > eventsKeptMs
        ? ['Events are kept for an hour: those before are not there any more']
        : []),
      ...(objects.length === 0
        ? ['Events do not show pods that stayed']
        : missingKinds(objects.map(({ kind = '' }) => kind)).map(
            (kind) => `what became of ${kind}s: there is none in ${name}`,
          )),
      ...unknown,
    ],
    evictedByEvents: evictedByEvents(events),
  };
}

/** All that an object says of when it was seen. */
function timesOf(object: KubeObject): readonly Instant[] {
  const conditions: readonly Condition[] = object.status?.conditions ?? [];
  const texts = [
    object.metadata.creationTimestamp,
    ...(object.kind === 'Lease' ? [object.spec?.renewTime] : []),
    ...conditions.flatMap((one) => [one.lastTransitionTime, heartbeatOf(one)]),
  ];
  const times = texts.flatMap((text) => instantOf(text) ?? []);
  if (object.kind !== 'Event') return times;
  const { at } = eventOf(object);
  return at === null ? times : [...times, at];
}

function heartbeatOf(condition: Condition): unknown {
  return 'lastHeartbeatTime' in condition ? condition.lastHeartbeatTime : undefined;
}

interface Seen {
  readonly objects: readonly KubeObject[];
  readonly events: readonly SeenEvent[];
  readonly until: Instant;
}

/** A change of a node at one time; `at` is null if no source tells the time. */
interface NodeStep {
  readonly at: Instant | null;
  readonly change: (node: KubeObject) => KubeObject;
}

/** Looks for what happened, kind by kind. */
class Between {
  readonly #before: Cluster['api'];
  readonly #startsAt: Instant;
  readonly #seen: Seen;
  readonly #changes: ObservedChange[] = [];
  readonly #unknown: string[] = [];
  /** Events by their subjects. */
  readonly #eventsOf = new Map<string, SeenEvent[]>();

  constructor({ before, startsAt }: InferredOptions, seen: Seen) {
    this.#before = before;
    this.#startsAt = startsAt;
    this.#seen = seen;
    for (const event of seen.events) {
      const { kind, namespace, name } = event.involvedObject;
      const about = kind === 'Node' || namespace === '' ? name : `${namespace}/${name}`;
      const events = this.#eventsOf.get(`${kind} ${about}`) ?? [];
      this.#eventsOf.set(`${kind} ${about}`, [...events, event]);
    }
  }

  take(): { readonly changes: readonly ObservedChange[]; readonly unknown: readonly string[] } {
    this.#nodes();
    this.#workloads();
    this.#pods();
    return { changes: this.#changes, unknown: this.#unknown };
  }

  /** The objects of a kind after, by name; null: there are none, so that nothing is known of them. */
  #after(kind: string): ReadonlyMap<string, KubeObject> | null {
    const all = this.#seen.objects.filter((object) => object.kind === kind);
    return all.length === 0 ? null : new Map(all.map((object) => [keyOf(object), object]));
  }

  /** The first Event of some reasons about an object. */
  #eventAt(reasons: readonly string[], { kind = '', metadata }: KubeObject): Instant | null {
    const about = kind === 'Node' ? `Node ${metadata.name}` : `${kind} ${keyOf({ metadata })}`;
    const found = this.#eventsOf.get(about)?.find(({ reason, involvedObject: { uid } }) => {
      return reasons.includes(reason) && (kind === 'Node' || !uid || uid === metadata.uid);
    });
    return found?.at ?? null;
  }

  #push(type: ObservedChange['type'], object: KubeObject, at: Instant | null): void {
    const resource = resources[object.kind ?? ''];
    if (!resource) return;
    const { until } = this.#seen;
    const when = at === null ? { at: until, after: this.#startsAt } : { at };
    this.#changes.push({ ...when, type, resource, object });
  }

  // Nodes

  #nodes(): void {
    const after = this.#after('Node');
    for (const node of this.#before.list('nodes')) {
      const now = after?.get(keyOf(node));
      if (now) this.#node(node, now);
      else if (after) {
        const at = this.#eventAt(['RemovingNode', 'DeletingNode'], node);
        this.#push('DELETED', node, at);
        if (at === null) this.#unknown.push(`when node ${node.metadata.name} was deleted`);
      } else this.#nodeByEvents(node);
    }
    for (const [key, node] of after ?? []) {
      if (!this.#before.get('nodes', '', key)) {
        this.#push('ADDED', node, instantOf(node.metadata.creationTimestamp));
      }
    }
    for (const [, lease] of this.#after('Lease') ?? []) {
      if (lease.metadata.namespace !== 'kube-node-lease') continue;
      const renewed = instantOf(lease.spec?.renewTime);
      if (renewed !== null && renewed > this.#startsAt) this.#push('MODIFIED', lease, renewed);
    }
  }

  /** Only Events tell of it. */
  #nodeByEvents(node: KubeObject): void {
    let latest = node;
    for (const { reason, involvedObject, at } of this.#seen.events) {
      if (involvedObject.kind !== 'Node' || involvedObject.name !== node.metadata.name) continue;
      const status = { NodeNotReady: 'Unknown', NodeReady: 'True' }[reason];
      if (status === undefined || at === null) continue;
      latest = withReady(latest, status);
      this.#push('MODIFIED', latest, at);
    }
  }

  #node(before: KubeObject, now: KubeObject): void {
    const steps = [...this.#readiness(before, now), ...this.#taints(before, now)];
    let latest = before;
    const inOrder = steps.toSorted((one, other) => (one.at ?? Infinity) - (other.at ?? Infinity));
    for (const { at, change } of inOrder) {
      latest = change(latest);
      this.#push('MODIFIED', latest, at);
    }
  }

  /** The changes of the Ready condition of a node, as far as their times are known. */
  #readiness(before: KubeObject, now: KubeObject): readonly NodeStep[] {
    const [was, is] = [readyOf(before), readyOf(now)];
    const since = instantOf(is.lastTransitionTime);
    const isNews = is.lastTransitionTime !== was.lastTransitionTime;
    if (since === null || since <= this.#startsAt || !isNews) return [];
    const turned = { at: since, change: (node: KubeObject) => withReady(node, is.status) };
    if (was.status !== 'True' || is.status !== 'True') return [turned];
    const lostAt = this.#eventAt(['NodeNotReady'], now);
    if (lostAt !== null) {
      return [{ at: lostAt, change: (node) => withReady(node, 'Unknown') }, turned];
    }
    this.#unknown.push(`since when node ${now.metadata.name} was not ready`);
    return [];
  }

  #taints(before: KubeObject, now: KubeObject): readonly NodeStep[] {
    const written = this.#later(writtenAt(now));
    const put = taintsOf(now).filter((one) => !isAmong(one, taintsOf(before)));
    const gone = taintsOf(before).filter((one) => !isAmong(one, taintsOf(now)));
    const steps: NodeStep[] = put.map((taint) => ({
      at: this.#later(instantOf(taint.timeAdded)) ?? written,
      change: (node) => withTaints(node, [...taintsOf(node), taint]),
    }));
    const unschedulable = now.spec?.unschedulable === true;
    const hasTurned = unschedulable !== (before.spec?.unschedulable === true);
    if (gone.length === 0 && !hasTurned) return steps;
    const change = (node: KubeObject): KubeObject => {
      const left = taintsOf(node).filter((one) => !isAmong(one, gone));
      return { ...node, spec: { ...node.spec, taints: left, unschedulable } };
    };
    return [...steps, { at: written, change }];
  }

  /** Null: it was before the beginning. */
  #later(at: Instant | null): Instant | null {
    return at !== null && at > this.#startsAt ? at : null;
  }

  // Workloads

  #workloads(): void {
    for (const kind of ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet']) {
      const after = this.#after(kind);
      for (const [key, object] of after ?? []) {
        const before = this.#before.find(resources[kind] ?? '', key);
        if (!before) this.#push('ADDED', object, instantOf(object.metadata.creationTimestamp));
        else if (isChanged(before, object)) {
          this.#push('MODIFIED', object, this.#eventAt(['ScalingReplicaSet'], object));
        }
      }
    }
  }

  // Pods

  #pods(): void {
    const after = this.#after('Pod');
    if (!after) {
      this.#podsByEvents();
      return;
    }
    const gone: KubeObject[] = [];
    for (const pod of this.#before.list('pods')) {
      const now = after.get(keyOf(pod));
      if (now && now.metadata.uid === pod.metadata.uid) this.#stillThere(pod, now);
      else gone.push(pod);
    }
    const fresh = [...after.values()].filter((pod) => {
      const before = this.#before.find('pods', keyOf(pod));
      return before?.metadata.uid !== pod.metadata.uid;
    });
    for (const pod of fresh) this.#fresh(pod);
    this.#gone(gone, fresh);
  }

  #stillThere(before: KubeObject, now: KubeObject): void {
    const { deletionTimestamp, deletionGracePeriodSeconds, ...metadata } = now.metadata;
    const since = instantOf(readyOf(now).lastTransitionTime);
    const isNews = readyOf(now).lastTransitionTime !== readyOf(before).lastTransitionTime;
    if (isNews && since !== null && since > this.#startsAt) {
      this.#push('MODIFIED', { ...now, metadata }, since);
    }
    if (deletionTimestamp && !before.metadata.deletionTimestamp) {
      this.#push('MODIFIED', now, leavingAt(now));
    }
  }

  #fresh(pod: KubeObject): void {
    const { deletionTimestamp, deletionGracePeriodSeconds, ...metadata } = pod.metadata;
    const { nodeName, ...spec } = pod.spec;
    const conditions: readonly Condition[] = pod.status?.conditions ?? [];
    const waiting = { phase: 'Pending', conditions: [] };
    const created = instantOf(metadata.creationTimestamp) ?? this.#startsAt;
    this.#push('ADDED', { ...pod, metadata, spec, status: waiting }, created);
    if (!nodeName) return;
    const bound = conditions.find(({ type }) => type === 'PodScheduled');
    const at = Math.max(created, instantOf(bound?.lastTransitionTime) ?? created);
    this.#push('MODIFIED', { ...pod, metadata, status: waiting }, at);
    const ready = readyOf(pod);
    const readyAt = instantOf(ready.lastTransitionTime);
    if (ready.status === 'True' && readyAt !== null) {
      this.#push('MODIFIED', { ...pod, metadata }, Math.max(at, readyAt));
    }
    if (deletionTimestamp) this.#push('MODIFIED', pod, leavingAt(pod));
  }

  /** Pods that are there no more: an Event or the pod that stands in for each says when. */
  #gone(gone: readonly KubeObject[], fresh: readonly KubeObject[]): void {
    const successors = new Map<string, Instant[]>();
    for (const pod of fresh) {
      const owner = setOf(pod);
      const at = instantOf(pod.metadata.creationTimestamp);
      if (owner === null || at === null) continue;
      successors.set(
        owner,
        [...(successors.get(owner) ?? []), at].toSorted((a, b) => a - b),
      );
    }
    let unseen = 0;
    for (const pod of gone) {
      const left = this.#eventAt(leavingReasons, pod);
      const owner = setOf(pod) ?? '';
      const at = left ?? successors.get(owner)?.shift() ?? null;
      if (at === null) unseen++;
      this.#push('MODIFIED', leaving(pod, at ?? this.#seen.until), at);
      this.#push('DELETED', pod, this.#seen.until);
    }
    this.#unknown.push(...some(unseen, 'pod', 'left, and nothing says when'));
    if (gone.length > 0) {
      this.#unknown.push(`when ${count(gone.length, 'pod')} ended that had been asked to leave`);
    }
  }

  #podsByEvents(): void {
    for (const { reason, involvedObject: about, at, message } of this.#seen.events) {
      if (about.kind !== 'Pod' || at === null) continue;
      const pod = this.#before.get('pods', about.namespace, about.name);
      const isIt = pod && (!about.uid || about.uid === pod.metadata.uid);
      if (isIt && leavingReasons.includes(reason) && !message.startsWith('Cancelling')) {
        this.#push('MODIFIED', leaving(pod, at), at);
      } else if (!isIt && reason === 'Scheduled') this.#scheduled(about, at, message);
    }
  }

  /** A pod that only the scheduler has reported. */
  #scheduled(about: SeenEvent['involvedObject'], at: Instant, message: string): void {
    const { namespace, name, uid = '' } = about;
    const [, nodeName] = / to (\S+)$/.exec(message) ?? [];
    const set = name.replace(/-[^-]+$/, '');
    const kinds = ['replicasets', 'statefulsets', 'daemonsets'];
    const owner = kinds.flatMap((kind) => this.#before.get(kind, namespace, set) ?? [])[0];
    if (!nodeName || !owner) return;
    const { apiVersion = '', kind = '', metadata } = owner;
    const ownerReferences = [
      { apiVersion, kind, name: set, uid: metadata.uid ?? '', controller: true },
    ];
    this.#push(
      'ADDED',
      {
        ...{ apiVersion: 'v1', kind: 'Pod', spec: { nodeName }, status: { phase: 'Pending' } },
        metadata: { namespace, name, uid, ownerReferences },
      },
      at,
    );
  }
}

const leavingReasons: readonly string[] = ['TaintManagerEviction', 'Preempted', 'Killing'];

/** A pod that was reported as leaving. */
function leaving(pod: KubeObject, at: Instant): KubeObject {
  const deletionTimestamp = new Date(at).toISOString();
  return {
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 },
  };
}

/** The ReplicaSet that recreates a pod at once; null: it has none. */
function setOf({ metadata }: KubeObject): string | null {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  return owner?.kind === 'ReplicaSet' ? `${metadata.namespace}/${owner.name}` : null;
}

export function keyOf({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

export function taintsOf({ spec }: KubeObject): readonly Taint[] {
  return spec?.taints ?? [];
}

/** Tells whether `taints` contain `taint`. */
function isAmong(taint: Taint, taints: readonly Taint[]): boolean {
  return taints.some((one) => isSame(one, taint));
}

export function isSame(one: Taint, other: Taint): boolean {
  const sameValue = (one.value ?? '') === (other.value ?? '');
  return one.key === other.key && one.effect === other.effect && sameValue;
}

export function readyOf({ status }: KubeObject): Partial<Condition> & { readonly status: string } {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  return conditions.find(({ type }) => type === 'Ready') ?? { status: '' };
}

function withReady(node: KubeObject, status: string): KubeObject {
  const conditions: readonly Condition[] = node.status?.conditions ?? [];
  const others = conditions.filter(({ type }) => type !== 'Ready');
  return {
    ...node,
    status: { ...node.status, conditions: [...others, { type: 'Ready', status }] },
  };
}

function withTaints(node: KubeObject, taints: readonly Taint[]): KubeObject {
  return { ...node, spec: { ...node.spec, taints } };
}

/** The time when the taints of a node were last written, or the node was cordoned; null: unknown. */
function writtenAt({ metadata }: KubeObject): Instant | null {
  const times = (metadata.managedFields ?? []).flatMap(({ time, fieldsV1, manager }) => {
    const fields = Object.keys(fieldsV1?.['f:spec'] ?? {});
    const isOfTaints = fields.includes('f:taints') || fields.includes('f:unschedulable');
    return isOfTaints && manager !== 'kube-controller-manager' ? (instantOf(time) ?? []) : [];
  });
  return times.length === 0 ? null : mostOf(times, 0);
}

/** Tells whether the template or the number of replicas of a workload changed. */
export function isChanged(before: KubeObject, now: KubeObject): boolean {
  return before.spec?.replicas !== now.spec?.replicas || revisionOf(before) !== revisionOf(now);
}

/** The revision of a workload, which changes with each new template. */
export function revisionOf({ metadata, status }: KubeObject): string {
  const ofDeployment = metadata.annotations?.['deployment.kubernetes.io/revision'];
  return ofDeployment ?? status?.updateRevision ?? '';
}
