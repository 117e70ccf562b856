// What policies, pauses and taint rules of the cluster say, for the engine that predicts.
import type { Event, Namespace } from '@taintmgr/core';
import { type PolicyObject, policyApiVersion, policyKinds } from '@taintmgr/core/policy';
import {
  type FollowedKind,
  followedKinds,
  holdingPause,
  namespaceFromJson,
  policyEvent,
  policyGoneEvent,
  readFollowed,
  selectsNamespaces,
} from '@taintmgr/k8s-adapter';
import type { ClusterReader } from './reader.ts';

/** What is done about pods here, as far as the cluster says it. */
export interface ClusterPolicies {
  readonly objects: readonly PolicyObject[];
  /** Of all namespaces, where a policy asks for their labels. */
  readonly namespaces: readonly Namespace[];
  /** The kinds that we have no permission to list. */
  readonly hidden: readonly FollowedKind[];
}

export const noPolicies: ClusterPolicies = { objects: [], namespaces: [], hidden: [] };

/**
 * Reads them; none where the cluster has no such kinds, or we may not see them. One of `files` counts
 * before one of the cluster with its name, as for taintmgr-controller.
 */
export async function readClusterPolicies(
  reader: ClusterReader,
  files: readonly PolicyObject[] = [],
): Promise<ClusterPolicies> {
  const isServed = await reader.serves(`/apis/${policyApiVersion}`);
  if (!isServed && files.length === 0) return noPolicies;
  const lists = isServed
    ? await Promise.all(followedKinds.map((kind) => readKind(reader, kind)))
    : [];
  const read = lists.flatMap(({ objects }) => objects);
  const objects = filesFirst(files, read);
  const namespaces = objects.some(selectsNamespaces)
    ? await reader.ifAllowed(() => reader.objects('/api/v1/namespaces'))
    : [];
  const hidden = lists.flatMap(({ kind, isHidden }) => (isHidden ? [kind] : []));
  return { objects, namespaces: (namespaces ?? []).map(namespaceFromJson), hidden };
}

interface ReadKind {
  readonly kind: FollowedKind;
  readonly objects: readonly PolicyObject[];
  readonly isHidden: boolean;
}

async function readKind(reader: ClusterReader, kind: FollowedKind): Promise<ReadKind> {
  const path = `/apis/${policyApiVersion}/${policyKinds[kind].plural}`;
  const values = await reader.ifAllowed(() => reader.objects(path));
  const objects = (values ?? []).flatMap((value) => followed(kind, value).objects);
  return { kind, objects, isHidden: values === null };
}

/** What an object of the cluster comes to, and why where it cannot be followed. */
interface FollowedObject {
  readonly objects: readonly PolicyObject[];
  readonly name: string;
  readonly faults: readonly string[];
}

/** The object; where it cannot be read, what taintmgr-controller does then. */
export function followed(kind: FollowedKind, value: unknown): FollowedObject {
  const found = readFollowed(kind, value);
  const { name, faults, object } = found;
  if (object) return { objects: [object], name, faults };
  const pause = holdingPause(kind, found);
  return { objects: pause ? [{ kind: 'EvictionPause', value: pause }] : [], name, faults };
}

/** Those of files, and those of the cluster whose names are not in files. */
export function filesFirst(
  files: readonly PolicyObject[],
  ofCluster: readonly PolicyObject[],
): readonly PolicyObject[] {
  const inFiles = new Set(files.map(keyOf));
  return [...files, ...ofCluster.filter((object) => !inFiles.has(keyOf(object)))];
}

/** What an engine has to hear so that it knows these and no longer those before. */
export function policyEvents(
  { objects, namespaces }: ClusterPolicies,
  before: ClusterPolicies = noPolicies,
): readonly Event[] {
  const kept = new Set(objects.map(keyOf));
  const gone = before.objects.filter((object) => !kept.has(keyOf(object)));
  const named = new Set(namespaces.map(({ name }) => name));
  return [
    ...namespaces.map((namespace): Event => ({ kind: 'namespaceUpsert', namespace })),
    ...before.namespaces.flatMap(({ name }): readonly Event[] => {
      return named.has(name) ? [] : [{ kind: 'namespaceDelete', name }];
    }),
    ...gone.flatMap(goneEvent),
    ...objects.flatMap((object) => policyEvent(object) ?? []),
  ];
}

function keyOf({ kind, value }: PolicyObject): string {
  return `${kind} ${value.name}`;
}

function goneEvent({ kind, value: { name } }: PolicyObject): readonly Event[] {
  const followed = followedKinds.find((one) => one === kind);
  return followed ? [policyGoneEvent(followed, name)] : [];
}
