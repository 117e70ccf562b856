// The claims of pods and the volumes that they have or could have.
import type { KubeObject } from '../objects/kube-object.ts';
import { quantity } from '../objects/quantity.ts';
import { labelSelectorRequirements, matchesLabels } from '../selectors/labels.ts';
import { matchesTerms, type NodeTerm } from './node-affinity.ts';

/** The objects of the cluster, as far as they are looked up by name or listed. */
export interface Objects {
  /** The object of this name; null: there is none. */
  get(resource: string, namespace: string, name: string): KubeObject | null;
  /** All objects of a resource, or those of one namespace. */
  list(resource: string, namespace?: string): readonly KubeObject[];
}

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
/** On a claim: both sides know that it is bound. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed';
/** On a claim: the node for which the provisioner makes its volume. */
export const selectedNode = 'volume.kubernetes.io/selected-node';
/** The provisioner of classes whose volumes are made by hand. */
export const noProvisioner = 'kubernetes.io/no-provisioner';

/** The name of the class of a claim or a volume; '' for none. */
export function classNameOf({ metadata, spec }: KubeObject): string {
  return metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '';
}

/** True if a claim and its volume are bound to each other. */
export function isBound({ metadata, spec, status }: KubeObject): boolean {
  const isDone = metadata.annotations?.[bindCompleted] !== undefined || status?.phase === 'Bound';
  return isDone && Boolean(spec?.volumeName);
}

/** True if the volume of a claim is chosen when a pod has a node. */
export function waitsForPod(objects: Objects, claim: KubeObject): boolean {
  const storageClass = objects.get('storageclasses', '', classNameOf(claim));
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && !claim.spec?.volumeName;
}

/** True if a node can reach a volume. */
export function reaches(node: KubeObject, volume: KubeObject): boolean {
  const terms: readonly NodeTerm[] | undefined =
    volume.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return !terms || matchesTerms(terms, node);
}

/** True if a volume was made for that claim, or is promised to it. */
export function isPromised({ spec }: KubeObject, { metadata }: KubeObject): boolean {
  const { claimRef } = spec ?? {};
  return (
    claimRef?.name === metadata.name &&
    claimRef.namespace === metadata.namespace &&
    (!claimRef.uid || claimRef.uid === metadata.uid)
  );
}

const sizeOf = (volume: KubeObject): number => quantity(volume.spec?.capacity?.storage ?? 0);
/** The requested size of a claim, in bytes. */
export const askedBy = (claim: KubeObject): number =>
  quantity(claim.spec?.resources?.requests?.storage ?? 0);

/**
 * The volumes that a claim could have, the best first: one that is promised to it, else the free ones of its
 * class that are large enough, the smallest first.
 */
export function volumesFor(objects: Objects, claim: KubeObject): readonly KubeObject[] {
  const volumes = objects.list('persistentvolumes');
  const promised = volumes.filter((volume) => isPromised(volume, claim));
  if (promised.length > 0) return promised;
  const wanted = classNameOf(claim);
  return volumes
    .filter((volume) => classNameOf(volume) === wanted && isFree(volume) && suits(volume, claim))
    .sort((one, other) => sizeOf(one) - sizeOf(other));
}

function isFree({ metadata, spec, status }: KubeObject): boolean {
  const isThere = metadata.deletionTimestamp === undefined;
  return isThere && !spec?.claimRef && (status?.phase ?? 'Available') === 'Available';
}

function suits(volume: KubeObject, claim: KubeObject): boolean {
  const { accessModes = [], volumeMode = 'Filesystem' } = volume.spec ?? {};
  const wanted: readonly string[] = claim.spec?.accessModes ?? [];
  const selector = claim.spec?.selector;
  const requirements = labelSelectorRequirements(selector ?? {});
  return (
    sizeOf(volume) >= askedBy(claim) &&
    volumeMode === (claim.spec?.volumeMode ?? 'Filesystem') &&
    wanted.every((mode) => accessModes.includes(mode)) &&
    requirements !== null &&
    matchesLabels(requirements, volume.metadata.labels ?? {})
  );
}

interface TopologyTerm {
  readonly matchLabelExpressions?: readonly { readonly key: string; readonly values?: string[] }[];
}

/** True if the provisioner of a class would make a volume for a node. */
export function provisions(storageClass: KubeObject | null, node: KubeObject): boolean {
  if (!storageClass?.provisioner || storageClass.provisioner === noProvisioner) return false;
  const allowed: readonly TopologyTerm[] = storageClass.allowedTopologies ?? [];
  const labels = node.metadata.labels ?? {};
  if (allowed.length === 0) return true;
  return allowed.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values = [] }) => values.includes(labels[key] ?? '')),
  );
}
