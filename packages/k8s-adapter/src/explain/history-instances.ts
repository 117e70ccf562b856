// Assigns sources to pods: pods of one name follow one another, and Events may name only the name.
import { earliest, type Instant, type Millis } from '@taintmgr/core/time';
import type { Departure, Owner } from '../history/departure.ts';
import { groupBy } from '../text/count.ts';
import { compare } from './history-claims.ts';
import type { HistorySources } from './history-model.ts';
import type { EventTrace, PodTrace } from './history-traces.ts';

/** A pod, and all that is about it. */
export interface Instance {
  readonly namespace: string;
  readonly name: string;
  /** '': no source says which one of that name. */
  readonly uid: string;
  readonly departures: readonly Departure[];
  readonly pod: PodTrace | null;
  readonly events: readonly EventTrace[];
  /** Of its owner, that it has deleted the pod. */
  readonly deletions: readonly EventTrace[];
  /** '': unknown. */
  readonly node: string;
  /** About its node. */
  readonly ofNode: readonly EventTrace[];
  readonly owner: Owner | null;
  /** An Event says that a program made it leave. */
  readonly isMarked: boolean;
}

/** Mutable while sources are sorted in. */
interface Draft {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly departures: Departure[];
  pod: PodTrace | null;
  readonly events: EventTrace[];
  readonly deletions: EventTrace[];
}

/** A ReplicaSet is not scaled down more often within seconds. */
const scalingsMax = 5;
/** Events are dated to the second, and watches lag. */
const slackMs: Millis = 5_000;

/** All pods that any source names, those that stay too. */
export class Instances {
  readonly all: readonly Instance[];
  /** `namespace/name` by uid. */
  readonly names: ReadonlyMap<string, string>;
  /** Events about nodes, by their names. */
  readonly #ofNodes: ReadonlyMap<string, readonly EventTrace[]>;
  readonly #owners: ReadonlyMap<string, Owner>;

  constructor({ departures, pods, events }: HistorySources) {
    const own = unique(events ?? []);
    this.#owners = ownersIn(own);
    // Events of nodes are in the namespace default: a client that may create Events elsewhere knows
    // nothing of nodes.
    const ofNodes = own.filter(({ kind, namespace }) => kind === 'Node' && namespace === 'default');
    this.#ofNodes = groupBy(ofNodes, ({ name }) => name);
    const drafts = new Map<string, Draft>();
    const draftOf = (namespace: string, name: string, uid: string): Draft => {
      // An Event may name any uid: that of a pod of another namespace too.
      const key = `${namespace}/${name}/${uid}`;
      const found = drafts.get(key) ?? emptyDraft(namespace, name, uid);
      drafts.set(key, found);
      return found;
    };
    for (const one of unique(departures)) {
      draftOf(one.namespace, one.pod, one.uid).departures.push(one);
    }
    for (const pod of unique(pods ?? [])) draftOf(pod.namespace, pod.name, pod.uid).pod ??= pod;
    const aboutPods = own.filter(({ kind }) => kind === 'Pod');
    for (const event of aboutPods) {
      if (event.uid !== '') draftOf(event.namespace, event.name, event.uid).events.push(event);
    }
    const byName = groupBy([...drafts.values()], (draft) => `${draft.namespace}/${draft.name}`);
    const namesakes = new Map(Array.from(byName, ([name, all]) => [name, new Namesakes(all)]));
    const heirOf = (namespace: string, name: string, at: Instant): Draft => {
      const found = namesakes.get(`${namespace}/${name}`)?.nearest(at);
      return found ?? draftOf(namespace, name, '');
    };
    // The choice of the pod depends on earlier knowledge: none of these changes it.
    const nameless = aboutPods.filter(({ uid }) => uid === '');
    const placed = nameless.flatMap((event) => {
      return shared(event, (at) => heirOf(event.namespace, event.name, at));
    });
    const deleted = own.flatMap((event) => {
      const pod = podIn(event, 'delete');
      return pod === null ? [] : shared(event, (at) => heirOf(event.namespace, pod, at));
    });
    for (const [draft, event] of placed) draft.events.push(event);
    const scalings = groupBy(own.filter(isScaleDown), scaledDown);
    for (const [draft, event] of deleted) {
      const ofOwner = scalings.get(`${event.namespace}/${event.name}`) ?? [];
      const near = ofOwner.filter(({ lastAt }) => Math.abs(lastAt - event.lastAt) <= slackMs);
      draft.deletions.push(event, ...near.slice(0, scalingsMax));
    }
    // Names in records and pods come first, and count.
    const named = [...drafts.values()].filter(({ uid }) => uid !== '').reverse();
    this.names = new Map(named.map(({ uid, namespace, name }) => [uid, `${namespace}/${name}`]));
    this.all = Array.from(drafts.values(), (draft) => this.#instanceOf(draft));
  }

  #instanceOf(draft: Draft): Instance {
    const { namespace, name, departures, pod, deletions } = draft;
    const events = draft.events.sort((a, b) => a.firstAt - b.firstAt || compareAll(a, b));
    const [deletion] = deletions;
    const owner =
      departures.find((one) => one.owner !== undefined)?.owner ??
      pod?.owner ??
      (deletion ? { kind: deletion.kind, name: deletion.name } : null) ??
      this.#owners.get(`${namespace}/${name}`) ??
      null;
    const isMarked = events.some(({ reason, message }) => isMark(reason, message));
    const node = nodeOf(draft);
    return { ...draft, events, owner, node, ofNode: this.#ofNodes.get(node) ?? [], isMarked };
  }
}

function isMark(reason: string, message: string): boolean {
  if (reason.endsWith('TaintManagerEviction')) return message.startsWith('Marking for deletion');
  return ['Preempted', 'Evicted', 'NodeControllerEviction'].includes(reason);
}

function emptyDraft(namespace: string, name: string, uid: string): Draft {
  return { namespace, name, uid, departures: [], pod: null, events: [], deletions: [] };
}

/** Equal Events about pods of one name are one Event with a count: the first and the last may be about two pods. */
function shared(
  event: EventTrace,
  heirOf: (at: Instant) => Draft,
): readonly (readonly [Draft, EventTrace])[] {
  const { firstAt, lastAt, count } = event;
  const [first, last] = [heirOf(firstAt), heirOf(lastAt)];
  if (first === last) return [[first, event]];
  return [
    [first, { ...event, lastAt: firstAt, count: 1 }],
    [last, { ...event, firstAt: lastAt, count: count - 1 }],
  ];
}

interface TimeOfDraft {
  readonly draft: Draft;
  readonly at: Instant;
}

/** The pods of one name: thousands, where a client makes Events of as many uids. */
class Namesakes {
  readonly #leaving: readonly TimeOfDraft[];
  readonly #coming: readonly TimeOfDraft[];

  constructor(drafts: readonly Draft[]) {
    const sorted = drafts.toSorted((a, b) => compare(a.uid, b.uid));
    this.#leaving = sorted.flatMap((draft) => leavesAt(draft).map((at) => ({ draft, at })));
    this.#coming = sorted.map((draft) => ({ draft, at: cameAt(draft) }));
  }

  /** The one that an Event at that time is about: one that left then, else the last that had come. */
  nearest(at: Instant): Draft | null {
    return this.#leaver(at) ?? this.#lastCome(at);
  }

  #leaver(at: Instant): Draft | null {
    let found: TimeOfDraft | null = null;
    for (const one of this.#leaving) {
      const far = Math.abs(one.at - at);
      if (far <= slackMs && (!found || far < Math.abs(found.at - at))) found = one;
    }
    return found?.draft ?? null;
  }

  #lastCome(at: Instant): Draft | null {
    let found: TimeOfDraft | null = null;
    for (const one of this.#coming) {
      if (one.at <= at + 999 && (!found || one.at > found.at)) found = one;
    }
    return found?.draft ?? null;
  }
}

/** When it was asked to leave, as far as what names its uid says. */
function leavesAt({ departures, pod, events }: Draft): readonly Instant[] {
  const { deletionTimestamp = null, graceMs = 0, mark = null } = pod ?? {};
  return [
    ...departures.flatMap((one) => one.answeredAt ?? one.askedAt ?? one.seenAt),
    ...(deletionTimestamp === null ? [] : [deletionTimestamp - (graceMs ?? 0)]),
    ...(mark?.at == null ? [] : [mark.at]),
    ...events.filter(({ reason }) => reason === 'Killing').map(({ firstAt }) => firstAt),
  ];
}

/** When it came, or the first that is known of it. */
function cameAt({ departures, pod, events }: Draft): Instant {
  const times = [
    pod?.createdAt ?? null,
    ...events.map(({ firstAt }) => firstAt),
    ...departures.map(({ decidedAt, seenAt }) => decidedAt ?? seenAt),
  ];
  return earliest(times) ?? Number.POSITIVE_INFINITY;
}

function nodeOf({ departures, pod, events }: Draft): string {
  const recorded = departures.find(({ node }) => node !== undefined)?.node;
  const hosts = events.filter(({ reason, host }) => reason === 'Killing' && host !== '');
  return recorded ?? (pod?.node || scheduledTo(events) || hosts[0]?.host || '');
}

/** `Successfully assigned shop/web-1 to n1` */
function scheduledTo(events: readonly EventTrace[]): string {
  const found = events.find(({ reason }) => reason === 'Scheduled');
  return /^Successfully assigned \S+ to (\S+)$/.exec(found?.message ?? '')?.[1] ?? '';
}

/** The pod that an Event of its owner has created or deleted; null: it is about something else. */
export function podIn(event: EventTrace, act: 'create' | 'delete'): string | null {
  const reason = act === 'create' ? 'SuccessfulCreate' : 'SuccessfulDelete';
  if (event.reason !== reason || event.kind === 'Pod') return null;
  return podNamed[act].exec(event.message)?.[1] ?? null;
}

function isScaleDown({ reason, message }: EventTrace): boolean {
  return reason === 'ScalingReplicaSet' && message.startsWith('Scaled down replica set ');
}

/** The ReplicaSet that a Deployment scaled down, which deletes pods then. */
function scaledDown({ namespace, message }: EventTrace): string {
  return `${namespace}/${/^Scaled down replica set (\S+)/.exec(message)?.[1]}`;
}

/** As ReplicaSets, DaemonSets and Jobs say it, and as StatefulSets do. */
const podNamed = {
  create: /(?:Created pod: |[Cc]reate Pod )([-.a-z0-9]+)/,
  delete: /(?:Deleted pod: |[Dd]elete Pod )([-.a-z0-9]+)/,
} as const;

/** By `namespace/name` of a pod. */
function ownersIn(events: readonly EventTrace[]): ReadonlyMap<string, Owner> {
  return new Map(
    events.flatMap((event) => {
      const pod = podIn(event, 'create');
      const owner = { kind: event.kind, name: event.name };
      return pod === null ? [] : [[`${event.namespace}/${pod}`, owner] as const];
    }),
  );
}

/** Each once, in an order that does not depend on the order in which they came. */
export function unique<T extends object>(values: readonly T[]): readonly T[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value] as const));
  return [...byText].sort(([a], [b]) => compare(a, b)).map(([, value]) => value);
}

function compareAll(a: object, b: object): number {
  return compare(JSON.stringify(a), JSON.stringify(b));
}
