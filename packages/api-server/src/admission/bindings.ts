// Shows a request to expressions, as values of CEL.

import type { AdmissionRequest, Json, KubeObject, Writer } from '@taintmgr/sim-cluster/server';
import { userInfo } from '../auth/authorizer.ts';
import { type CelValue, lazyObject, toCel } from '../cel/value.ts';
import { type AskAuthorizer, authorizerOf } from '../policy/authorizer.ts';
import { namespaceType, requestType } from '../policy/environment.ts';

export type Bindings = Readonly<Record<string, CelValue>>;

/** The values that are the same for all policies. */
export function requestBindings(
  request: AdmissionRequest,
  writer: Writer,
  namespace: KubeObject | null,
  ask: AskAuthorizer,
): Bindings {
  const { resource, subresource, name } = request;
  const { group, plural } = resource;
  const asked = { group, plural, subresource, namespace: request.namespace, name };
  return {
    object: dynamic(request.object),
    oldObject: dynamic(request.oldObject),
    request: toCel(requestType, requestJson(request, writer)),
    namespaceObject: namespace ? toCel(namespaceType, namespaceJson(namespace)) : null,
    authorizer: authorizerOf(ask, asked),
  };
}

/** An object, or null, as expressions see it. */
export function dynamic(object: KubeObject | null): CelValue {
  return toCel('dyn', object as Json);
}

/** The attributes of a request that expressions see as `request`, without its objects. */
export function requestJson(request: AdmissionRequest, { user }: Writer): Json {
  const { subresource, namespace, name, operation } = request;
  const asked = request.asked ?? request;
  return {
    kind: kindJson(request),
    resource: resourceJson(request),
    requestKind: kindJson(asked),
    requestResource: resourceJson(asked),
    ...(subresource ? { subResource: subresource, requestSubResource: subresource } : {}),
    ...(name ? { name } : {}),
    ...(namespace ? { namespace } : {}),
    operation,
    userInfo: userInfo(user),
    dryRun: request.dryRun,
    options: request.options,
  };
}

type Shown = Pick<AdmissionRequest, 'resource' | 'object' | 'oldObject'>;

/** A subresource has an object of a different kind. */
function kindJson({ resource, object, oldObject }: Shown): Json {
  const shown = object ?? oldObject;
  const [version = '', group = ''] = (shown?.apiVersion ?? '').split('/').reverse();
  return { group, version, kind: shown?.kind ?? resource.kind };
}

function resourceJson({ resource: { group, version, plural } }: Shown): Json {
  return { group, version, resource: plural };
}

function namespaceJson({ metadata, spec, status }: KubeObject): Json {
  const { uid = '', ...rest } = metadata;
  return { metadata: { ...rest, UID: uid }, spec, status };
}

/** The value of `variables`: each is worked out when it is first read. */
export function lazyVariables(
  variables: readonly Lazy[],
  type: Parameters<typeof lazyObject>[0],
): CelValue {
  return lazyObject(type, Object.fromEntries(variables.map(({ name, read }) => [name, read])));
}

export interface Lazy {
  readonly name: string;
  readonly read: () => CelValue;
}
