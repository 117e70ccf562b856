// The names that expressions of an admission policy may use.
import type { Variables } from '../cel/compile.ts';
import { type CelObject, listOf, mapOf } from '../cel/type.ts';
import { authorizerType } from './authorizer.ts';

const object = (name: string, fields: CelObject['fields']): CelObject => ({
  kind: 'object',
  name,
  fields,
});

const groupVersionKind = object('kubernetes.GroupVersionKind', {
  group: 'string',
  version: 'string',
  kind: 'string',
});
const groupVersionResource = object('kubernetes.GroupVersionResource', {
  group: 'string',
  version: 'string',
  resource: 'string',
});

/** The fields of `request` in expressions. */
export const requestType: CelObject = object('kubernetes.AdmissionRequest', {
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: 'string',
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: 'string',
  name: 'string',
  namespace: 'string',
  operation: 'string',
  userInfo: object('kubernetes.UserInfo', {
    username: 'string',
    uid: 'string',
    groups: listOf('string'),
    extra: mapOf(listOf('string')),
  }),
  dryRun: 'bool',
  options: 'dyn',
});

/** The fields of `namespaceObject` in expressions. */
export const namespaceType: CelObject = object('kubernetes.Namespace', {
  metadata: object('kubernetes.NamespaceMetadata', {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    labels: mapOf('string'),
    annotations: mapOf('string'),
    UID: 'string',
    creationTimestamp: 'timestamp',
    deletionGracePeriodSeconds: 'int',
    deletionTimestamp: 'timestamp',
    generation: 'int',
    resourceVersion: 'string',
    finalizers: listOf('string'),
  }),
  spec: object('kubernetes.NamespaceSpec', { finalizers: listOf('string') }),
  status: object('kubernetes.NamespaceStatus', {
    conditions: listOf(
      object('kubernetes.NamespaceCondition', {
        type: 'string',
        status: 'string',
        lastTransitionTime: 'timestamp',
        reason: 'string',
        message: 'string',
      }),
    ),
    phase: 'string',
  }),
});

/** The optional variables that an expression may use. */
export interface Names {
  readonly params: boolean;
  readonly authorizer: boolean;
}

const always: Variables = {
  object: 'dyn',
  oldObject: 'dyn',
  request: requestType,
  namespaceObject: namespaceType,
};
const plain = [false, true].map((params) =>
  [false, true].map((authorizer) => withNames({ params, authorizer })),
);

function withNames({ params, authorizer }: Names): Variables {
  return {
    ...always,
    ...(params ? { params: 'dyn' } : {}),
    ...(authorizer ? { authorizer: authorizerType } : {}),
  };
}

/** The names of an expression; `variables` are those that the policy declares before it. */
export function namesOf(names: Names, variables: CelObject | null): Variables {
  if (variables) return { ...withNames(names), variables };
  return plain[Number(names.params)]?.[Number(names.authorizer)] ?? always;
}

/** The type of `variables` with these declared. */
export function variablesType(fields: CelObject['fields']): CelObject {
  return object('kubernetes.variables', fields);
}
