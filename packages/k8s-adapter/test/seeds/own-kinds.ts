import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import type { ClusterApi, Json, KubeObject } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { current } from './script.ts';

// The kinds that people and GitOps say with what is to be done, as the API server has them.

export const policies = 'evictionpolicies.taintmgr.dev';
export const rules = 'nodetaintrules.taintmgr.dev';
export const pauses = 'evictionpauses.taintmgr.dev';
const apiVersion = 'taintmgr.dev/v1alpha1';

/** Installs the kinds, with schemas that let everything through: the readers are to be tested. */
export function installKinds(api: ClusterApi): void {
  for (const definition of customResourceDefinitions()) {
    const { metadata, spec } = structuredClone(definition) as KubeObject;
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const versions = spec.versions.map((version: object) => ({
      ...version,
      additionalPrinterColumns: [],
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
    }));
    api.create('customresourcedefinitions', { metadata, spec: { ...spec, versions } });
  }
}

/** People clean up: what is there no more holds nobody back. */
export function deletePolicies(api: ClusterApi): void {
  for (const kind of [policies, pauses]) {
    for (const { metadata } of api.list(kind)) api.delete(kind, '', metadata.name);
  }
}

/** Creates the object, or changes the one of that name. */
export function put(
  api: ClusterApi,
  resource: string,
  kind: string,
  name: string,
  spec: { readonly [member: string]: Json },
): string {
  const before = api.get(resource, '', name);
  if (before) api.update(resource, { ...current(before), spec });
  else api.create(resource, { apiVersion, kind, metadata: { name }, spec });
  return `${before ? 'change' : 'create'} ${kind} ${name} ${JSON.stringify(spec)}`;
}

/** Deletes one of a kind. */
export function deleteOne(api: ClusterApi, resource: string, draw: Draw): string {
  const all = api.list(resource);
  if (all.length === 0) return `there is none of ${resource}`;
  const { name } = draw.of(all).metadata;
  api.delete(resource, '', name);
  return `delete ${name} of ${resource}`;
}
