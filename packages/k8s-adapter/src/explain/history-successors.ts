// The successors of pods that left: the next pod of the same owner.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Departure } from '../history/departure.ts';
import { groupBy } from '../text/count.ts';
import { compare, recordOf } from './history-claims.ts';
import { podIn, unique } from './history-instances.ts';
import type { HistorySources, Story, Successor } from './history-model.ts';
import type { EventTrace } from './history-traces.ts';

/** A pod that came. */
interface Birth extends Successor {
  readonly namespace: string;
  /** `kind/name` */
  readonly owner: string;
  readonly at: Instant;
}

/** Who comes later than this comes for another reason. */
const laterMs: Millis = 600_000;

/** Who leaves within this of another cannot be told from it by what came. */
const togetherMs: Millis = 2_000;

/** The pods that came, each taken once. */
export class Births {
  /** By namespace and owner, by when they came. */
  readonly #births: ReadonlyMap<string, readonly Birth[]>;
  /**
   * By namespace and uid: a client that may create Events in one namespace may name the uid of a
   * pod elsewhere.
   */
  readonly #byUid: ReadonlyMap<string, Birth>;
  readonly #taken = new Set<Birth>();

  /** When pods were asked to leave, by namespace and owner. */
  readonly #leaving: ReadonlyMap<string, readonly Story[]>;

  constructor(sources: HistorySources, stories: readonly Story[]) {
    this.#leaving = groupBy(stories, ownerKey);
    const ofPods = birthsOfPods(sources);
    const known = new Map(ofPods.map((birth) => [keyOf(birth), birth] as const));
    const events = unique(sources.events ?? []);
    const scheduled = groupBy(
      events.filter(({ kind, reason }) => kind === 'Pod' && reason === 'Scheduled'),
      ({ namespace, name }) => `${namespace}/${name}`,
    );
    const others = events.flatMap((event) => birthsIn(event, scheduled));
    const unknown = others.filter((birth) => {
      const other = known.get(keyOf(birth));
      return !other || Math.abs(other.at - birth.at) > 2_000;
    });
    const all = [...ofPods, ...unknown].sort((a, b) => a.at - b.at || compare(a.pod, b.pod));
    this.#births = groupBy(all, ({ namespace, owner }) => `${namespace}/${owner}`);
    this.#byUid = new Map(all.map((birth) => [`${birth.namespace}/${birth.uid}`, birth]));
  }

  /** Takes the next one; stories have to come by when they were asked to leave. */
  after(story: Story, departures: readonly Departure[]): Successor | null {
    const telling = departures.find(({ successor }) => successor !== undefined);
    const recorded = telling?.successor;
    if (telling && recorded) {
      const { pod, uid, node = '', boundAt = null, readyAt = null } = recorded;
      const now = this.#byUid.get(`${story.namespace}/${uid}`);
      if (now) this.#taken.add(now);
      const isReady = readyAt !== null ? true : (now?.isReady ?? null);
      const created = {
        createdAt: now?.createdAt ?? null,
        readyAt: readyAt ?? now?.readyAt ?? null,
      };
      return {
        pod,
        uid,
        node,
        boundAt,
        ...created,
        isReady,
        isOneOfSeveral: false,
        source: recordOf(telling),
      };
    }
    const next = this.#next(story);
    if (!next) return null;
    this.#taken.add(next);
    const { namespace: _, owner: __, at: ___, ...successor } = next;
    return { ...successor, isOneOfSeveral: this.#leavesWithOthers(story) };
  }

  /** A StatefulSet gives the same name again. */
  #leavesWithOthers(story: Story): boolean {
    const since = leftSince(story);
    if (since === null || story.owner?.kind === 'StatefulSet') return false;
    const others = this.#leaving.get(ownerKey(story)) ?? [];
    return others.some((one) => {
      return one !== story && Math.abs((leftSince(one) ?? 0) - since) < togetherMs;
    });
  }

  #next(story: Story): Birth | undefined {
    const { namespace, owner, uid, pod, state, leaving, goneAt } = story;
    const since = leftSince(story);
    if (!owner || since === null || state === 'marked') return undefined;
    const from = Math.floor(since / 1000) * 1000;
    const until = Math.max(goneAt ?? 0, leaving?.graceEnds ?? 0, since) + laterMs;
    const ofOwner = this.#births.get(`${namespace}/${owner.kind}/${owner.name}`) ?? [];
    return ofOwner.find((birth) => {
      const isOwn = birth.uid === '' ? birth.pod === pod && birth.at === from : birth.uid === uid;
      // A pod of a dead machine stands in the way of its name for as long as its object is there.
      const isItsTurn = owner.kind === 'StatefulSet' ? birth.pod === pod : birth.at <= until;
      return !isOwn && birth.at >= from && isItsTurn && !this.#taken.has(birth);
    });
  }
}

/** When it was asked to leave, or else when what made it leave happened. */
function leftSince({ askedAt, by }: Story): Instant | null {
  return askedAt?.at ?? by?.at ?? null;
}

function ownerKey({ namespace, owner }: Story): string {
  return `${namespace}/${owner?.kind}/${owner?.name}`;
}

function keyOf({ namespace, pod }: Birth): string {
  return `${namespace}/${pod}`;
}

function birthsOfPods({ pods }: HistorySources): readonly Birth[] {
  return unique(pods ?? []).flatMap((pod) => {
    const { namespace, name, uid, owner, createdAt, node, boundAt, readyAt } = pod;
    if (!owner || createdAt === null) return [];
    return [
      {
        ...{ namespace, owner: `${owner.kind}/${owner.name}`, at: createdAt },
        ...{ pod: name, uid, node, createdAt, boundAt, readyAt, isReady: readyAt !== null },
        isOneOfSeveral: false,
        source: { kind: 'pod', name: `pod ${name}` } as const,
      },
    ];
  });
}

/** The first and the last of equal ones, as of a StatefulSet; of others the last. */
function birthsIn(
  event: EventTrace,
  scheduled: ReadonlyMap<string, readonly EventTrace[]>,
): readonly Birth[] {
  const { namespace, kind, name, firstAt, lastAt, message, reason, by } = event;
  const pod = podIn(event, 'create');
  if (pod === null) return [];
  const ofPod = scheduled.get(`${namespace}/${pod}`) ?? [];
  const times = message.startsWith('(combined') ? [lastAt] : [...new Set([firstAt, lastAt])];
  return times.map((at) => {
    // The successor may be bound within the second in which it was created.
    const later = ofPod.filter((one) => one.firstAt >= at);
    const [bound] = later.toSorted((a, b) => a.firstAt - b.firstAt);
    const node = /to (\S+)$/.exec(bound?.message ?? '')?.[1] ?? '';
    return {
      ...{ namespace, owner: `${kind}/${name}`, at, pod, uid: bound?.uid ?? '', node },
      ...{ createdAt: at, boundAt: bound?.firstAt ?? null, readyAt: null, isReady: null },
      isOneOfSeveral: false,
      source: { kind: 'event', name: `Event ${reason} of ${by}` } as const,
    };
  });
}
