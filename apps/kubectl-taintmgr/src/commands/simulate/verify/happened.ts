// Changes that a simulation cannot foretell: machines that died, taints by hand, scaling. Unforeseeable
// changes are played as events of a script.
import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import { count } from '@taintmgr/k8s-adapter/command-line';
import { readPositioned } from '@taintmgr/k8s-adapter/manifests';
import { zoneLabel } from '@taintmgr/k8s-adapter/survey';
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';
import type { ScriptAction } from '../script/actions.ts';
import { readEventField, type ScriptEvent } from '../script/script.ts';
import type { Stage } from '../stage/stage.ts';
import { isChanged, isSame, keyOf, readyOf, revisionOf, type Taint, taintsOf } from './inferred.ts';
import type { Observed, ObservedChange } from './observed.ts';

/** The changes to play between two snapshots. */
export interface Happened {
  readonly events: readonly ScriptEvent[];
  /** The same as lines of a script. */
  readonly lines: readonly string[];
  /** When machines died, and were back. */
  readonly machines: readonly {
    readonly at: Millis;
    readonly node: string;
    readonly runs: boolean;
  }[];
  /** Pods that a user deleted, by uid. */
  readonly deleted: ReadonlySet<string>;
  /** Pods that their controllers took for another template or another number, by uid. */
  readonly taken: ReadonlySet<string>;
  /** Observed changes that are not played, in words. */
  readonly unplayed: readonly string[];
}

/** The interval in which kubelets renew their leases. */
const renewalMs: Millis = 10_000;
/** Between a renewal and when kube-controller-manager hears of it. */
const passMs: Millis = 5_000;
/** Taints that the simulation puts on itself. */
const ofLifecycle: ReadonlySet<string> = new Set(
  [
    ...['not-ready', 'unreachable', 'memory-pressure', 'disk-pressure', 'pid-pressure'],
    ...['network-unavailable', 'unschedulable'],
  ].map((name) => `node.kubernetes.io/${name}`),
);

interface Line {
  readonly at: Millis;
  /** An action of scripts, or one of `ownActions`. */
  readonly action: string;
  readonly body: object;
}

export interface HappenedOptions {
  readonly observed: Observed;
  readonly before: Cluster['api'];
  readonly startsAt: Instant;
  /** A node is given up after this time without a renewal. */
  readonly graceMs: Millis;
}

/** Finds it, in order. */
export function whatHappened(options: HappenedOptions): Happened {
  const finder = new Finder(options);
  for (const change of options.observed.changes) finder.take(change);
  return finder.result();
}

class Finder {
  readonly #options: HappenedOptions;
  readonly #latest = new Map<string, KubeObject>();
  readonly #lines: Line[] = [];
  readonly #machines: { at: Millis; node: string; runs: boolean }[] = [];
  readonly #silent = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #taken = new Set<string>();
  readonly #unplayed: string[] = [];
  /** The last renewals that were seen, by node. */
  readonly #renewals = new Map<string, Instant>();
  /** Workloads whose template or size was changed. */
  readonly #changed = new Set<string>();
  readonly #taintings: ReadonlyMap<string, readonly Instant[]>;
  #strangers = 0;

  constructor(options: HappenedOptions) {
    this.#options = options;
    this.#taintings = taintingsIn(options.observed);
  }

  take(change: ObservedChange): void {
    const { resource, object, type } = change;
    const key = `${resource} ${keyOf(object)}`;
    const before =
      this.#latest.get(key) ?? this.#options.before.find(resource, keyOf(object)) ?? null;
    if (resource === 'nodes') this.#node(change, before);
    else if (resource === 'leases') this.#lease(change);
    else if (resource === 'pods') this.#pod(change, before);
    else if (resource !== 'jobs') this.#workload(change, before);
    if (type !== 'DELETED') this.#latest.set(key, object);
  }

  result(): Happened {
    const { until } = this.#options.observed;
    const length = until - this.#options.startsAt;
    const lines = this.#lines.filter(({ at }) => at < length).toSorted((a, b) => a.at - b.at);
    const texts = lines.map(({ at, action, body }) =>
      JSON.stringify({ at: `${Math.round(at) / 1000}s`, [action]: body }),
    );
    const unplayed = [...this.#unplayed];
    if (this.#strangers > 0) {
      const what = count(this.#strangers, 'deletion');
      unplayed.push(`${what} by other clients, of pods that came later`);
    }
    return {
      events: eventsOf(this.#options.observed.name, texts, length),
      lines: texts,
      machines: this.#machines,
      deleted: this.#deleted,
      taken: this.#taken,
      unplayed,
    };
  }

  #since(at: Instant): Millis {
    return Math.max(0, at - this.#options.startsAt);
  }

  #add(at: Instant, action: string, body: object): void {
    this.#lines.push({ at: this.#since(at), action, body });
  }

  // Nodes

  #lease({ object, at, type }: ObservedChange): void {
    const { name, namespace } = object.metadata;
    if (namespace !== 'kube-node-lease' || type === 'DELETED') return;
    const before = this.#options.before.get('leases', namespace, name);
    const { renewTime } = object.spec;
    // The one of the snapshot was renewed before that was taken.
    const isOld = before !== null && before.spec.renewTime === renewTime;
    this.#renewals.set(name, isOld ? (parseTime(renewTime ?? '') ?? at) : at);
    if (this.#silent.has(name)) this.#back(name, at);
  }

  #node(change: ObservedChange, before: KubeObject | null): void {
    const { object, at, type, after } = change;
    const { name } = object.metadata;
    if (after !== undefined && this.#options.observed.from !== 'recording') {
      this.#unplayed.push(`node ${name} was changed, and nothing says when`);
      return;
    }
    if (type === 'DELETED') {
      this.#add(at, 'removeNode', { node: name });
      this.#machines.push({ at: this.#since(at), node: name, runs: false });
      return;
    }
    if (!before) {
      this.#add(at, 'addNode', descriptionOf(object));
      return;
    }
    const [was, is] = [readyOf(before).status, readyOf(object).status];
    if (is === 'Unknown' && was !== 'Unknown') this.#lost(name, at);
    else if (is === 'True' && was === 'Unknown') this.#back(name, at);
    else if (is === 'False' && was === 'True') {
      this.#add(at, 'setCondition', { node: name, condition: 'Ready', status: false });
    } else if (is === 'True' && was === 'False') {
      this.#add(at, 'setCondition', { node: name, condition: 'Ready', status: true });
    }
    const isCordoned = object.spec?.unschedulable === true;
    if (isCordoned !== (before.spec?.unschedulable === true)) {
      this.#add(at, isCordoned ? 'cordon' : 'uncordon', { node: name });
    }
    this.#taints(name, at, taintsOf(before), taintsOf(object));
  }

  #taints(node: string, at: Instant, before: readonly Taint[], now: readonly Taint[]): void {
    const put = now.filter((taint) => !before.some((one) => isSame(one, taint)));
    const gone = before.filter((taint) => !now.some((one) => isSame(one, taint)));
    for (const taint of put.filter(({ key }) => !ofLifecycle.has(key))) {
      this.#add(at, 'taint', { node, taint: taintText(taint) });
    }
    for (const taint of gone.filter(({ key }) => !ofLifecycle.has(key))) {
      this.#add(at, 'untaint', { node, taint: taintText(taint) });
    }
  }

  /** A node is given up at `at`: its last renewal was heard of a grace period before, or a pass more. */
  #lost(node: string, at: Instant): void {
    if (this.#silent.has(node)) return;
    this.#silent.add(node);
    const renewed = this.#renewalBefore(node, at);
    // The machine died before the renewal that did not come.
    const died = renewed + renewalMs / 2;
    if (renewed > this.#options.startsAt) this.#add(renewed, renewNow, { node });
    this.#add(died, 'stopKubelet', { node });
    this.#machines.push({ at: this.#since(died), node, runs: false });
  }

  #renewalBefore(node: string, at: Instant): Instant {
    const latest = at - this.#options.graceMs;
    const seen = this.#renewals.get(node);
    if (seen !== undefined && seen <= latest + passMs) return seen;
    const lease = this.#options.before.get('leases', 'kube-node-lease', node);
    const first = parseTime(lease?.spec.renewTime ?? '');
    if (first === null) return latest - passMs / 2;
    const renewals = Math.floor((latest - first) / renewalMs);
    const inStep = first + renewals * renewalMs;
    return latest - inStep <= passMs + slackMs ? inStep : latest - passMs / 2;
  }

  #back(node: string, at: Instant): void {
    if (!this.#silent.delete(node)) return;
    this.#add(at, 'resumeKubelet', { node });
    this.#machines.push({ at: this.#since(at), node, runs: true });
  }

  // Workloads and pods

  #workload(
    { object, at, type, after, resource }: ObservedChange,
    before: KubeObject | null,
  ): void {
    const { ownerReferences = [], namespace, name } = object.metadata;
    if (ownerReferences.some(({ controller }) => controller)) return;
    const workload = `${namespace}/${name}`;
    const what = `${object.kind} ${workload}`;
    if (type === 'DELETED') this.#unplayed.push(`${what} was deleted`);
    else if (!before) this.#unplayed.push(`${what} is new`);
    else if (isChanged(before, object)) {
      this.#changed.add(what);
      if (after !== undefined && this.#options.observed.from !== 'recording') {
        this.#unplayed.push(`${what} was changed, and nothing says when`);
        return;
      }
      const { replicas } = object.spec;
      if (before.spec.replicas !== replicas) this.#add(at, 'scale', { workload, replicas });
      if (revisionOf(before) !== revisionOf(object)) {
        this.#add(at, rollOut, { resource, workload, revision: revisionOf(object) });
      }
    }
  }

  /** A pod that a user deleted, as far as no other cause explains it. */
  #pod({ object, at, type, after }: ObservedChange, before: KubeObject | null): void {
    if (!before || before.metadata.uid !== object.metadata.uid) return;
    const isLeaving = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
    const pod = type === 'DELETED' ? before : object;
    if (!isLeaving || before.metadata.deletionTimestamp !== undefined) return;
    if (after !== undefined || this.#isExplained(pod, at)) return;
    const { namespace = '', name, uid = '' } = pod.metadata;
    if (!this.#options.before.get('pods', namespace, name)) {
      this.#strangers++;
      return;
    }
    this.#deleted.add(uid);
    this.#add(at, deletePod, { pod: `${namespace}/${name}` });
  }

  #isExplained(pod: KubeObject, at: Instant): boolean {
    const reason = disruptionOf(pod);
    if (reason !== null) return reason !== 'EvictionByEvictionAPI';
    if (isEvictedByEvent(pod, this.#options.observed)) return true;
    const hasEnded = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller);
    if (hasEnded || owner?.kind === 'Job') return true;
    const node = this.#latest.get(`nodes ${pod.spec.nodeName}`);
    const known = node ?? this.#options.before.get('nodes', '', pod.spec.nodeName ?? '');
    if (!known || taintsOf(known).some(({ effect }) => effect === 'NoExecute')) return true;
    if (!this.#isOfChanged(pod)) return this.#isLostSoon(pod, at);
    this.#taken.add(pod.metadata.uid ?? '');
    return true;
  }

  /** Another template, or fewer replicas: its controller takes it. */
  #isOfChanged({ metadata }: KubeObject): boolean {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    if (!owner) return false;
    const set = this.#options.before.get('replicasets', metadata.namespace ?? '', owner.name);
    const top = set?.metadata.ownerReferences?.find(({ controller }) => controller) ?? owner;
    return this.#changed.has(`${top.kind} ${metadata.namespace}/${top.name}`);
  }

  /** A NoExecute taint that comes in the same moment may be told of later than the pods that leave for it. */
  #isLostSoon({ spec }: KubeObject, at: Instant): boolean {
    const taintings = this.#taintings.get(spec.nodeName) ?? [];
    return taintings.some((instant) => Math.abs(instant - at) < slackMs);
  }
}

/** When nodes were seen with NoExecute taints. */
function taintingsIn({ changes }: Observed): ReadonlyMap<string, readonly Instant[]> {
  const found = new Map<string, Instant[]>();
  for (const { resource, object, at } of changes) {
    const isTainted = taintsOf(object).some(({ effect }) => effect === 'NoExecute');
    if (resource !== 'nodes' || !isTainted) continue;
    const { name } = object.metadata;
    found.set(name, [...(found.get(name) ?? []), at]);
  }
  return found;
}

/** Times of two observers differ by less. */
const slackMs: Millis = 1_000;

/** The reason why a pod was asked to leave, as its condition says; null: it has none. */
export function disruptionOf({ status }: KubeObject): string | null {
  const conditions: readonly { readonly type: string; readonly status: string; reason?: string }[] =
    status?.conditions ?? [];
  const found = conditions.find((one) => one.type === 'DisruptionTarget' && one.status === 'True');
  return found ? (found.reason ?? '') : null;
}

/** Tells whether an Event reports the deletion of a pod for a taint. */
export function isEvictedByEvent({ metadata }: KubeObject, observed: Observed): boolean {
  const { evictedByEvents } = observed;
  const name = `${metadata.namespace}/${metadata.name}`;
  return evictedByEvents.has(metadata.uid ?? '') || evictedByEvents.has(name);
}

function taintText({ key, value = '', effect }: Taint): string {
  return value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}

/** As `addNode` takes a node. */
function descriptionOf({ metadata, spec, status }: KubeObject): object {
  const { labels = {}, name } = metadata;
  const zone = labels[zoneLabel];
  const taints = taintsOf({ metadata, spec }).filter(({ key }) => !ofLifecycle.has(key));
  const { cpu, memory, pods } = status?.allocatable ?? {};
  return {
    name,
    ...(zone !== undefined && { zone }),
    labels,
    ...(taints.length > 0 && { taints: taints.map(taintText) }),
    capacity: { ...(cpu && { cpu }), ...(memory && { memory }), ...(pods && { pods }) },
  };
}

// Actions that scripts do not have

const renewNow = 'renewLease';
const deletePod = 'deletePod';
const rollOut = 'rollOut';

function eventsOf(name: string, lines: readonly string[], until: Millis): readonly ScriptEvent[] {
  if (lines.length === 0) return [];
  const text = `[${lines.join(',\n')}]`;
  const items = readPositioned(`what happened by ${name}`, text, 'events').items();
  return items.flatMap((field): readonly ScriptEvent[] => {
    const own = ownAction(field.value as Readonly<Record<string, unknown>>);
    if (!own) return readEventField(field, until);
    return [{ field, at: field.at(['at']).duration(), action: own, lasts: null, stagger: 0 }];
  });
}

function ownAction(line: Readonly<Record<string, unknown>>): ScriptAction | null {
  const { [renewNow]: renew, [deletePod]: removed, [rollOut]: rolled } = line;
  if (isBody(renew)) {
    const { node = '' } = renew;
    return done(`the last renewal of ${node}`, ({ cluster }) => {
      if (cluster.hasKubelet(node)) cluster.node(node).renewLeaseOnly();
    });
  }
  if (isBody(removed)) {
    const [namespace = '', name = ''] = (removed.pod ?? '').split('/');
    return done(`another client deletes ${namespace}/${name}`, ({ api }) => {
      if (api.get('pods', namespace, name)) api.delete('pods', namespace, name);
    });
  }
  if (!isBody(rolled)) return null;
  const { resource = '', workload = '', revision = '' } = rolled;
  const [namespace = '', name = ''] = workload.split('/');
  return done(`${workload} gets another template`, ({ api }) => {
    const object = api.get(resource, namespace, name);
    if (object) api.update(resource, withRevision(object, revision));
  });
}

function done(text: string, apply: (stage: Stage) => void): ScriptAction {
  return { text, targets: null, undo: null, apply };
}

function isBody(value: unknown): value is Readonly<Record<string, string | undefined>> {
  return typeof value === 'object' && value !== null;
}

const revisionAnnotation = 'taintmgr.dev/played-revision';

/** Another template, of which nothing is known but that it is another one. */
function withRevision(object: KubeObject, revision: string): KubeObject {
  const { template } = object.spec;
  const annotations = { ...template.metadata?.annotations, [revisionAnnotation]: revision };
  const metadata = { ...template.metadata, annotations };
  return { ...object, spec: { ...object.spec, template: { ...template, metadata } } };
}
