// What policies, pauses and taint rules of the cluster say, for the engine that predicts.
import type { Event, Namespace } from '@taintmgr/core';
import {
  type EvictionPause,
  type KindName,
  type PolicyObject,
  policyApiVersion,
  policyKinds,
  readManifest,
} from '@taintmgr/core/policy';
import { namespaceFromJson, pauseWhileUnreadable, policyEvent } from '@taintmgr/k8s-adapter';
import type { ClusterReader } from './reader.ts';

/** What is done about pods here, as far as the cluster says it. */
export interface ClusterPolicies {
  readonly objects: readonly PolicyObject[];
  /** Of all namespaces, where a policy asks for their labels. */
  readonly namespaces: readonly Namespace[];
  /** The kinds that we have no permission to list. */
  readonly hidden: readonly KindName[];
}

export const noPolicies: ClusterPolicies = { objects: [], namespaces: [], hidden: [] };
const kinds = ['EvictionPolicy', 'NodeTaintRule', 'EvictionPause'] as const;
type Kind = (typeof kinds)[number];

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
  const lists = isServed ? await Promise.all(kinds.map((kind) => readKind(reader, kind))) : [];
  const inFiles = new Set(files.map(keyOf));
  const read = lists.flatMap(({ objects }) => objects);
  const objects = [...files, ...read.filter((object) => !inFiles.has(keyOf(object)))];
  const namespaces = objects.some(selectsNamespaces)
    ? await reader.ifAllowed(() => reader.objects('/api/v1/namespaces'))
    : [];
  const hidden = lists.flatMap(({ kind, isHidden }) => (isHidden ? [kind] : []));
  return { objects, namespaces: (namespaces ?? []).map(namespaceFromJson), hidden };
}

interface ReadKind {
  readonly kind: Kind;
  readonly objects: readonly PolicyObject[];
  readonly isHidden: boolean;
}

async function readKind(reader: ClusterReader, kind: Kind): Promise<ReadKind> {
  const path = `/apis/${policyApiVersion}/${policyKinds[kind].plural}`;
  const values = await reader.ifAllowed(() => reader.objects(path));
  const objects = (values ?? []).flatMap((value) => read(kind, value));
  return { kind, objects, isHidden: values === null };
}

/** The object; where it cannot be read, what taintmgr-controller does then. */
function read(kind: Kind, value: unknown): readonly PolicyObject[] {
  const manifest = { apiVersion: policyApiVersion, kind, ...Object(value) };
  const judged = readManifest(manifest, 0);
  if (judged.kind === 'allowed') return [judged.value];
  if (kind === 'NodeTaintRule') return [];
  const faults = judged.faults.map(({ text }) => text);
  const pause = pauseWhileUnreadable(kind, String(manifest.metadata?.name), faults);
  return [{ kind: 'EvictionPause', value: pause }];
}

/** Whether a pause stands for an object that cannot be read: none of the cluster has such a name. */
export function isForUnreadable({ name }: EvictionPause): boolean {
  return name.includes('/');
}

function selectsNamespaces(object: PolicyObject): boolean {
  return (
    object.kind === 'EvictionPolicy' && (object.value.match.namespaces?.selector ?? null) !== null
  );
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
  switch (kind) {
    case 'EvictionPolicy':
      return [{ kind: 'policyDelete', name }];
    case 'NodeTaintRule':
      return [{ kind: 'taintRuleDelete', name }];
    case 'EvictionPause':
      return [{ kind: 'pauseDelete', name }];
    default:
      return [];
  }
}
