// The defaults of CustomResourceDefinitions, and what the server notes in them.
import type { KubeObject } from '@taintmgr/sim-cluster/server';
import { formatTime } from '@taintmgr/sim-cluster/server';
import {
  conditionOf,
  type Definition,
  type DefinitionCondition,
  type DefinitionNames,
} from '../structural/definition.ts';

/** The finalizer that lets the objects go before their definition. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** A new definition: its status says nothing yet. */
export function admitDefinition(object: KubeObject): KubeObject {
  return { ...object, status: { acceptedNames: { plural: '', kind: '' }, storedVersions: [] } };
}

/** A definition with the names that follow from others, and with the versions ever stored. */
export function deriveDefinition(object: KubeObject, subresource = ''): KubeObject {
  const { spec, status } = object as Definition;
  const { names } = spec;
  const kind = names.kind ?? '';
  const singular = names.singular || kind.toLowerCase();
  const listKind = names.listKind || (kind === '' ? '' : `${kind}List`);
  const storage = spec.versions?.find((version) => version.storage)?.name;
  const stored = status?.storedVersions ?? [];
  const isNew = storage !== undefined && !stored.includes(storage) && subresource !== 'status';
  return {
    ...object,
    spec: {
      ...spec,
      names: { ...names, ...(singular ? { singular } : {}), ...(listKind ? { listKind } : {}) },
      conversion: spec.conversion ?? { strategy: 'None' },
    },
    status: { ...status, storedVersions: isNew ? [...stored, storage] : stored },
  };
}

/** The definition with a condition, which keeps its time while its status stays the same. */
export function withDefinitionCondition(
  definition: Definition,
  condition: DefinitionCondition,
  now: number,
): Definition {
  const { conditions } = definition.status ?? {};
  const before = conditionOf(definition, condition.type);
  const isSame = before?.status === condition.status;
  const { type, status, reason, message } = condition;
  const lastTransitionTime = (isSame && before?.lastTransitionTime) || formatTime(now);
  const next = { type, status, lastTransitionTime, reason, message } as DefinitionCondition;
  const all = before
    ? (conditions ?? []).map((other) => (other === before ? next : other))
    : [...(conditions ?? []), next];
  return { ...definition, status: { ...definition.status, conditions: all } };
}

/** A definition that is being deleted: the finalizer keeps it until its objects are gone. */
export function markDefinitionDeleted(
  marked: KubeObject,
  previous: KubeObject,
  now: number,
): KubeObject {
  // No grace period is noted in a definition.
  const { generation: _raised, deletionGracePeriodSeconds: _none, ...metadata } = marked.metadata;
  const { generation, finalizers = [] } = previous.metadata;
  const held = finalizers.includes(cleanupFinalizer)
    ? finalizers
    : [...finalizers, cleanupFinalizer];
  const object = {
    ...marked,
    metadata: { ...metadata, ...(generation ? { generation } : {}), finalizers: held },
  } as Definition;
  if (conditionOf(object, 'Terminating')) return object;
  const pending = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message:
      'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return withDefinitionCondition(object, pending, now);
}

const accepted = {
  type: 'NamesAccepted',
  status: 'True',
  reason: 'NoConflicts',
  message: 'no conflicts found',
} as const;
const established = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
} as const;

/** A definition as it is once its names are accepted and its resource is served. */
export function establishedDefinition(object: KubeObject, now: number): Definition {
  const derived = deriveDefinition(object) as Definition;
  const acceptedNames: DefinitionNames = derived.status?.acceptedNames?.kind
    ? derived.status.acceptedNames
    : derived.spec.names;
  const named = { ...derived, status: { ...derived.status, acceptedNames } };
  return withDefinitionCondition(withDefinitionCondition(named, accepted, now), established, now);
}
