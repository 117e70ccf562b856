// Policies, taint rules and pauses of the cluster, as sources of the loop.
import type { Event } from '@taintmgr/core';
import { policyKinds } from '../kinds/kinds.ts';
import type { PolicyObject } from '../kinds/manifest.ts';
import {
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
import type { AllPodsPolicies } from '../pod-watch/all-pods.ts';
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
  /** Those of files: an object of the cluster with the same name does not count. */
  readonly files: readonly PolicyObject[];
  /** What reads the pods that policies count; null: all pods are read anyway. */
  readonly allPods: AllPodsPolicies | null;
  /** True if drains are carried out. */
  readonly nodeDrains: boolean;
  /** Where what is read is kept, for those who say how it is doing; left out: nowhere. */
  readonly followed?: FollowedObjects;
}

/**
 * A source for each kind. A cluster that does not serve a kind has none of it. An EvictionPolicy or
 * an EvictionPause that cannot be read may be what keeps pods: all evictions are held while it is
 * there, by a pause that carries its name. A NodeTaintRule that cannot be read stays as it was.
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
    // Without drains everything else goes on.
    mayBeForbidden: kind === 'NodeDrain',
    project: (value) => readFollowed(kind, value),
  });
  /** Those that hold evictions because they cannot be followed. */
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
      // What only its status says is no news, but of a drain, which another leader goes on from.
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
  const unreadable = { object: `${kind} "${name}"`, faults, isHeld: pause !== null };
  const report: SourceEffect = { kind: 'notice', notice: { kind: 'unreadable', ...unreadable } };
  if (!pause) return [report];
  holding.add(name);
  return [{ kind: 'pauseUpsert', pause }, report];
}
