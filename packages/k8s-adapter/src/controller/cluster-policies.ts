// Policies, taint rules and pauses of the cluster, as sources of the loop.
import { allPodsNeeds, type Event } from '@taintmgr/core';
import type { EvictionPause, EvictionPolicy } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { policyKinds } from '../kinds/kinds.ts';
import type { PolicyObject } from '../kinds/manifest.ts';
import {
  advice,
  decidingKinds,
  type Followed,
  type FollowedKind,
  type FollowedObject,
  FollowedObjects,
  followedKinds,
  holdingPause,
  holdingPauseName,
  policyEvent,
  policyGoneEvent,
  readFollowed,
} from '../manifests/followed.ts';
import type { PodSource } from '../pod-watch/pod-source.ts';
import {
  apartFromPods,
  type Source,
  type SourceEffect,
  sourceOfMany,
} from '../pod-watch/source.ts';
import type { ItemChange } from '../proto/inventory.ts';
import { Reflector, type ReflectorOptions } from '../proto/reflector.ts';
import { policiesPath } from '../proto/requests.ts';

type Shared = Pick<ReflectorOptions<unknown>, 'random' | 'watch'>;

export interface ClusterPolicyOptions extends Shared {
  /** Policies of files: an object of the cluster with the same name does not count. */
  readonly files: readonly PolicyObject[];
  /** The part that reads the pods that policies count; null: all pods are read anyway. */
  readonly allPods: AllPodsPolicies | null;
  /** True if drains are carried out. */
  readonly nodeDrains: boolean;
  /**
   * The place that keeps the objects as they are read, for reports on their state; left out: none.
   */
  readonly followed?: FollowedObjects;
}

/**
 * A source for each kind. A cluster that does not serve a kind has none of it. An EvictionPolicy or
 * an EvictionPause that cannot be read may be what keeps pods: all evictions are held while it is
 * there, by a pause that carries its name. So are those for the taint of a NodeDrain that cannot be
 * read. A NodeTaintRule that cannot be read stays as it was.
 */
export function clusterPolicies(options: ClusterPolicyOptions): readonly Source[] {
  const kinds = options.nodeDrains ? followedKinds : decidingKinds;
  return kinds.map((kind: FollowedKind) => {
    const source = followingSource(kind, options);
    if (kind === 'EvictionPolicy') return options.allPods?.policies(source) ?? source;
    return kind === 'NodeDrain' ? (options.allPods?.drains(source) ?? source) : source;
  });
}

function followingSource(
  kind: FollowedKind,
  { files, followed = new FollowedObjects(), random, watch }: ClusterPolicyOptions,
): Source {
  const resource = policyKinds[kind].plural;
  const inFiles = new Set(files.flatMap((one) => (one.kind === kind ? [one.value.name] : [])));
  const reflector = new Reflector<Followed>({
    ...{ random, watch },
    resource,
    path: policiesPath(resource),
    selectors: {},
    mayBeAbsent: true,
    // Without drains everything else continues.
    mayBeForbidden: kind === 'NodeDrain',
    project: (value) => readFollowed(kind, value),
  });
  /** The objects that hold evictions because they cannot be followed. */
  const holding = new Set<string>();
  return apartFromPods(
    sourceOfMany(reflector, (change) => {
      if (change.kind === 'delete') {
        followed.delete(kind, change.name);
        return inFiles.has(change.name) ? [] : effectsOf(kind, change, holding);
      }
      const object = { ...change.item, kind, isInFile: inFiles.has(change.item.name) };
      const before = followed.get(kind, object.name);
      followed.put(object);
      // A change of the status only is no news, except of a drain, which another leader continues.
      const isSame = kind !== 'NodeDrain' && before !== null && saysTheSame(before, object);
      return object.isInFile || isSame ? [] : effectsOf(kind, change, holding);
    }),
  );
}

function saysTheSame(one: FollowedObject, other: FollowedObject): boolean {
  const [a, b] = [one, other].map(({ status: _, ...said }) => JSON.stringify(said));
  return a === b;
}

function effectsOf(
  kind: FollowedKind,
  change: ItemChange<Followed>,
  holding: Set<string>,
): readonly (Event | SourceEffect)[] {
  const name = change.kind === 'upsert' ? change.item.name : change.name;
  const released: readonly Event[] = holding.delete(name)
    ? [{ kind: 'pauseDelete', name: holdingPauseName(kind, name) }]
    : [];
  if (change.kind === 'delete') return [policyGoneEvent(kind, name), ...released];
  const { object, faults } = change.item;
  if (object) {
    const event = policyEvent(object);
    return event ? [event, ...released] : released;
  }
  const pause = holdingPause(kind, change.item);
  const holds = pause === null ? 'nothing' : kind === 'NodeDrain' ? 'drain' : 'all';
  const unreadable = {
    object: `${kind} "${name}"`,
    faults,
    holds,
    next: advice(change.item),
  } as const;
  const report: SourceEffect = { kind: 'notice', notice: { kind: 'unreadable', ...unreadable } };
  if (!pause) return [report];
  holding.add(name);
  return [{ kind: 'pauseUpsert', pause }, report];
}

type PolicyUpsert = Extract<Event, { readonly kind: 'policyUpsert' }>;
type Effects = readonly (Event | SourceEffect)[];

/**
 * Stands between the source of policies, that of pods, and the machine. Theory of operation: a policy
 * that needs all pods makes the source of pods read them all, and reaches the machine when they are
 * known; until then it might count too few, so that a pause holds all evictions. The pause lasts for a
 * list of pods, and pods have back the time that it takes. When no policy needs all pods any more, they
 * may be read by node again, as in any cluster that has become calm (pod-source.ts).
 */
export class AllPodsPolicies {
  readonly #pods: PodSource;
  readonly #needing = new Set<string>();
  /** Policies that the machine does not know yet. */
  readonly #waiting = new Map<string, PolicyUpsert>();

  constructor(pods: PodSource) {
    this.#pods = pods;
  }

  /** The source of policies, which gives the machine one when it can be followed. */
  policies(source: Source): Source {
    return {
      ...source,
      handle: (now, input) =>
        source.handle(now, input).flatMap((effect) => this.#followed(now, effect)),
    };
  }

  /**
   * The source of drains: while one is not over, all pods are read. A drain reaches the machine at
   * once, which begins with no node whose pods are not known.
   */
  drains(source: Source): Source {
    return {
      ...source,
      handle: (now, input) =>
        source.handle(now, input).flatMap((effect) => {
          if (effect.kind === 'nodeDrainUpsert' && !effect.drain.isOver) {
            this.#needing.add(drainName(effect.drain.name));
            return [effect, ...this.#pods.readAll(now, true)];
          }
          if (effect.kind === 'nodeDrainUpsert' || effect.kind === 'nodeDrainDelete') {
            const name = effect.kind === 'nodeDrainDelete' ? effect.name : effect.drain.name;
            return [effect, ...this.#notNeeded(now, drainName(name))];
          }
          return [effect];
        }),
    };
  }

  /** The source of pods, which gives the policies that have waited for it. */
  pods(source: Source): Source {
    return {
      ...source,
      handle: (now, input) => {
        const effects = source.handle(now, input);
        if (this.#waiting.size === 0 || !this.#pods.readsAll) return effects;
        const released = [...this.#waiting.values()].flatMap((event) => this.#released(event));
        return [...effects, ...released];
      },
    };
  }

  #followed(now: Instant, effect: Event | SourceEffect): Effects {
    if (effect.kind === 'policyUpsert') {
      return needsAllPods(effect.policy)
        ? this.#needed(now, effect)
        : [effect, ...this.#notNeeded(now, effect.policy.name)];
    }
    if (effect.kind === 'policyDelete') return [effect, ...this.#notNeeded(now, effect.name)];
    return [effect];
  }

  #needed(now: Instant, event: PolicyUpsert): Effects {
    const { name } = event.policy;
    this.#needing.add(name);
    const reading = this.#pods.readAll(now, true);
    this.#waiting.set(name, event);
    if (this.#pods.readsAll) return [...reading, ...this.#released(event)];
    return [...reading, { kind: 'pauseUpsert', pause: waitingPause(name) }];
  }

  #notNeeded(now: Instant, name: string): Effects {
    if (!this.#needing.delete(name)) return [];
    const released: Effects = this.#waiting.delete(name) ? [pauseOver(name)] : [];
    return [...released, ...this.#pods.readAll(now, this.#needing.size > 0)];
  }

  /** The policy first: nothing goes between its pause and it. */
  #released(event: PolicyUpsert): Effects {
    const { name } = event.policy;
    this.#waiting.delete(name);
    return [event, pauseOver(name)];
  }
}

/** A limit that counts within a window looks at all pods. */
function needsAllPods({ limits }: EvictionPolicy): boolean {
  return allPodsNeeds({ limits }).length > 0;
}

/** No policy has such a name. */
function drainName(name: string): string {
  return `NodeDrain/${name}`;
}

function pauseOver(name: string): Event {
  return { kind: 'pauseDelete', name: pauseName(name) };
}

/** No object of the cluster has such a name. */
function pauseName(name: string): string {
  return `EvictionPolicy/${name}/pods`;
}

function waitingPause(name: string): EvictionPause {
  return {
    name: pauseName(name),
    uid: '',
    scope: { zones: [], nodes: null, taintKeys: [], namespaces: [] },
    readiness: false,
    deadlines: true,
    reason: `EvictionPolicy "${name}" limits a share or a number of pods: the pods of all nodes are being read`,
    until: null,
    // From its first input.
    since: Number.POSITIVE_INFINITY,
  };
}
