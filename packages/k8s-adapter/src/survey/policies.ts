// Policies, pauses and taint rules: which there are, and which count.
import type { Event, Namespace } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import { policyApiVersion, policyKinds } from '../kinds/kinds.ts';
import type { PolicyObject } from '../kinds/manifest.ts';
import {
  advice,
  type DecidingKind,
  decidingKinds,
  followedKinds,
  holdingPause,
  policyEvent,
  policyGoneEvent,
  readFollowed,
  selectsNamespaces,
} from '../manifests/followed.ts';
import { gonePauses } from '../manifests/pause-records.ts';
import { namespaceFromJson } from '../proto/convert.ts';
import type { Evictor } from './evictors.ts';
import type { ClusterReader } from './reader.ts';
import type { OwnSettings } from './taint-managers.ts';

/** The actions on pods here, as far as the cluster configures them. */
export interface ClusterPolicies extends PoliciesInForce {
  /** Of all namespaces, where a policy or a takeover asks for their labels. */
  readonly namespaces: readonly Namespace[];
  /** The kinds that we have no permission to list. */
  readonly hidden: readonly DecidingKind[];
  /** The kinds that the cluster does not have. */
  readonly missing: readonly DecidingKind[];
  /** Pauses that went while no controller ran: who starts gives back the time they took; left out: none. */
  readonly gone?: readonly EvictionPause[];
}

/** A cluster without policies. */
export const noPolicies: ClusterPolicies = {
  ...policiesInForce([], undefined),
  namespaces: [],
  hidden: [],
  missing: decidingKinds,
};

/**
 * Reads the policies that count for `evictor`, as if `files` were given to taintmgr-controller. Of
 * the cluster none, where it does not serve the kinds or they may not be read.
 */
export async function readClusterPolicies(
  reader: ClusterReader,
  evictor: Promise<Evictor>,
  files: readonly PolicyObject[] = [],
): Promise<ClusterPolicies> {
  const [lists, { settings, left }] = await Promise.all([readKinds(reader), evictor]);
  const read = lists.flatMap(({ objects }) => objects);
  const inForce = policiesInForce(read, settings, files);
  const isAsked = settings?.engine.takeover || inForce.objects.some(selectsNamespaces);
  const namespaces = isAsked
    ? await reader.ifAllowed(() => reader.objects('/api/v1/namespaces'))
    : [];
  const kindsThat = (are: ReadKind['lack']): readonly DecidingKind[] =>
    lists.flatMap(({ kind, lack }) => (lack === are ? [kind] : []));
  const hidden = kindsThat('hidden');
  const gone = hidden.includes('EvictionPause') ? [] : goneSince(left, inForce.objects);
  return {
    ...inForce,
    namespaces: (namespaces ?? []).map(namespaceFromJson),
    hidden,
    missing: kindsThat('missing'),
    ...(gone.length > 0 && { gone }),
  };
}

/** Pauses that the last leader has seen, and that are gone. */
function goneSince(
  left: Evictor['left'],
  there: readonly PolicyObject[],
): readonly EvictionPause[] {
  if (!left) return [];
  const ofFiles = left.policies.flatMap(({ object }) => object ?? []);
  const pauses = [...there, ...ofFiles].flatMap((one) => {
    return one.kind === 'EvictionPause' ? [one.value] : [];
  });
  return gonePauses(left.pauseRecords ?? [], (name) => {
    return pauses.find((pause) => pause.name === name) ?? null;
  });
}

/** The policies that were read, and of unreadable ones those that were known before. */
export function withKnown(read: ClusterPolicies, before: ClusterPolicies): ClusterPolicies {
  const lost = [...read.hidden, ...read.missing];
  const there = new Set(read.objects.map(keyOf));
  const kept = before.objects.filter((object) => {
    return lost.some((kind) => kind === object.kind) && !there.has(keyOf(object));
  });
  const namespaces = read.namespaces.length > 0 ? read.namespaces : before.namespaces;
  return { ...read, objects: [...read.objects, ...kept], namespaces };
}

async function readKinds(reader: ClusterReader): Promise<readonly ReadKind[]> {
  const asked = decidingKinds.map((kind) => {
    const path = `/apis/${policyApiVersion}/${policyKinds[kind].plural}`;
    const values = reader.objectsIfServed(path);
    // A failure counts only where the cluster has these kinds.
    values.catch(() => undefined);
    return { kind, values };
  });
  const isServed = await reader.serves(`/apis/${policyApiVersion}`);
  if (!isServed) return decidingKinds.map((kind) => ({ kind, objects: [], lack: 'missing' }));
  return await Promise.all(asked.map(({ kind, values }) => readKind(reader, kind, values)));
}

interface ReadKind {
  readonly kind: DecidingKind;
  readonly objects: readonly PolicyObject[];
  /** Null: they could be read. */
  readonly lack: 'hidden' | 'missing' | null;
}

/** The definitions may be of another version, or one of them was deleted. */
async function readKind(
  reader: ClusterReader,
  kind: DecidingKind,
  asked: Promise<readonly unknown[] | null>,
): Promise<ReadKind> {
  const read = async (): Promise<readonly unknown[] | 'missing'> => (await asked) ?? 'missing';
  const values = (await reader.ifAllowed(read)) ?? 'hidden';
  if (values === 'hidden' || values === 'missing') return { kind, objects: [], lack: values };
  const objects = values.flatMap((value) => followed(kind, value).objects);
  return { kind, objects, lack: null };
}

/** An object of the cluster that this version cannot follow. */
export interface Unfollowed {
  /** As kubectl calls it: `evictionpolicy/spot`. */
  readonly about: string;
  readonly faults: readonly string[];
  /** The next step; '': it is not of a newer version. */
  readonly next: string;
}

/** Reads those that cannot be followed; none of kinds that the cluster does not have or show. */
export async function readUnfollowed(reader: ClusterReader): Promise<readonly Unfollowed[]> {
  const found = followedKinds.map(async (kind) => {
    const path = `/apis/${policyApiVersion}/${policyKinds[kind].plural}`;
    const values = (await reader.ifAllowed(() => reader.objectsIfServed(path))) ?? [];
    return values.flatMap((value): readonly Unfollowed[] => {
      const one = readFollowed(kind, value);
      const about = `${kind.toLowerCase()}/${one.name}`;
      return one.object ? [] : [{ about, faults: one.faults, next: advice(one) }];
    });
  });
  return (await Promise.all(found)).flat();
}

/** The result of an object of the cluster, and the reason where it cannot be followed. */
interface FollowedObject {
  readonly objects: readonly PolicyObject[];
  readonly name: string;
  readonly faults: readonly string[];
}

/**
 * Reads an object that decides about pods. Of one that cannot be read: the pause that
 * taintmgr-controller puts in its place.
 */
export function followed(kind: DecidingKind, value: unknown): FollowedObject {
  const found = readFollowed(kind, value);
  const { name, faults, object } = found;
  if (object) return { objects: [object], name, faults };
  const pause = holdingPause(kind, found);
  return { objects: pause ? [{ kind: 'EvictionPause', value: pause }] : [], name, faults };
}

/** The policies of files, and those of the cluster whose names are not in files. */
export function filesFirst(
  files: readonly PolicyObject[],
  ofCluster: readonly PolicyObject[],
): readonly PolicyObject[] {
  const inFiles = new Set(files.map(keyOf));
  return [...files, ...ofCluster.filter((object) => !inFiles.has(keyOf(object)))];
}

/** The events after which an engine knows these and no longer those before. */
export function policyEvents(
  { objects, namespaces, gone: goneEarlier = [] }: ClusterPolicies,
  before: ClusterPolicies = noPolicies,
): readonly Event[] {
  const kept = new Set(objects.map(keyOf));
  const gone = before.objects.filter((object) => !kept.has(keyOf(object)));
  const named = new Set(namespaces.map(({ name }) => name));
  const known = new Set(before.gone?.map(({ name }) => name));
  const news = goneEarlier.filter(({ name }) => !known.has(name));
  return [
    ...news.flatMap((pause): readonly Event[] => [
      { kind: 'pauseUpsert', pause },
      { kind: 'pauseDelete', name: pause.name },
    ]),
    ...namespaces.map((namespace): Event => ({ kind: 'namespaceUpsert', namespace })),
    ...before.namespaces.flatMap(({ name }): readonly Event[] => {
      return named.has(name) ? [] : [{ kind: 'namespaceDelete', name }];
    }),
    ...gone.flatMap(goneEvent),
    ...objects.flatMap((object) => policyEvent(object) ?? []),
  ];
}

function goneEvent({ kind, value: { name } }: PolicyObject): readonly Event[] {
  const followed = decidingKinds.find((one) => one === kind);
  return followed ? [policyGoneEvent(followed, name)] : [];
}

/** The policies that count, and their origin. */
export interface PoliciesInForce {
  readonly objects: readonly PolicyObject[];
  /** The names of those that only the files of taintmgr-controller have. */
  readonly ofController: readonly string[];
  /** Policies among these of which only the name is known. */
  readonly unknown: readonly string[];
  /** True when the cluster has some that taintmgr-controller does not follow. */
  readonly isIgnored: boolean;
}

type Settings = Pick<OwnSettings, 'engine' | 'followsCluster' | 'policies'>;

/**
 * Returns the policies that count. Of several with one name the one of `files` counts, then one of
 * the controller's own files, then one of the cluster. By the rules of kube-controller-manager none
 * counts.
 */
export function policiesInForce(
  cluster: readonly PolicyObject[],
  settings: Settings | undefined,
  files: readonly PolicyObject[] = [],
): PoliciesInForce {
  const isUpstream = settings?.engine.semantics === 'upstream-1.36';
  const isIgnored = settings?.followsCluster === false && cluster.length > 0;
  if (isUpstream) return { objects: [], ofController: [], unknown: [], isIgnored };
  const taken = new Set(files.map(keyOf));
  const own = (settings?.policies ?? []).filter(({ kind, name }) => !taken.has(`${kind} ${name}`));
  for (const { kind, name } of own) taken.add(`${kind} ${name}`);
  const followed = settings?.followsCluster === false ? [] : cluster;
  return {
    objects: [
      ...files,
      ...own.flatMap(({ object }) => object ?? []),
      ...followed.filter((object) => !taken.has(keyOf(object))),
    ],
    ofController: own.map(({ name }) => name),
    unknown: own.flatMap(({ name, object }) => (object ? [] : [name])),
    isIgnored,
  };
}

/** Tells policies apart. */
function keyOf({ kind, value }: PolicyObject): string {
  return `${kind} ${value.name}`;
}
