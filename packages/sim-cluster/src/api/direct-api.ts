import { type Resource, storageOf } from '../resources/resource.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import type { Writer } from '../write/admission.ts';
import type { Backend } from '../write/backend.ts';
import { bindPod } from '../write/binding.ts';
import type { BriefWrites } from '../write/brief.ts';
import { createObject } from '../write/create.ts';
import { deleteObject } from '../write/delete.ts';
import { replaceObject } from '../write/update.ts';

/** The parts of the cluster that ask the API server as any other client does. */
const users: Readonly<Record<string, string>> = {
  'kube-controller-manager': 'system:kube-controller-manager',
  'kube-scheduler': 'system:kube-scheduler',
};

/**
 * The user as whom a part of the cluster is judged. Kubelets, and a test's own writes, are not
 * judged.
 */
function writerNamed(manager: string): { readonly writer?: Writer } {
  const name = users[manager];
  if (name === undefined) return {};
  const user = { name, groups: ['system:authenticated'], rules: [] };
  return { writer: { user, warn: () => {} } };
}

/** The API without the wire, for one writer; its name is the manager of the fields it writes. */
export function directApi(
  backend: Backend,
  manager: string,
  brief: BriefWrites | null = null,
): ClusterApi {
  const { store, clock, served } = backend;
  const writer = writerNamed(manager);
  // Made of a template, like pods.
  const trust = ({ storeKey }: Resource): { readonly isTrusted: boolean } => ({
    isTrusted: brief !== null && storeKey === 'replicasets',
  });
  return {
    clock,
    as: (other) => directApi(backend, other, brief),
    stored: () => [...new Set(served.all.map(storageOf))],
    findKind: (apiVersion, kind) => {
      const resource = served.findKind(apiVersion, kind);
      return resource && storageOf(resource);
    },
    get: (resource, namespace, name) =>
      store.get(served.stored(resource).storeKey, namespace, name),
    find: (resource, key) => store.collection(served.stored(resource).storeKey).get(key),
    list: (resource, namespace = '') =>
      store.collection(served.stored(resource).storeKey).list(namespace),
    create: (resource, object) => {
      const entry = served.stored(resource);
      const namespace = entry.namespaced ? (object.metadata.namespace ?? 'default') : '';
      const options = { manager, ...writer };
      if (brief && entry.storeKey === 'pods') {
        return brief.createPod(entry, object, namespace, options);
      }
      return createObject(backend, entry, object, namespace, { ...options, ...trust(entry) });
    },
    update: (resource, object, subresource) => {
      const { name, namespace = '' } = object.metadata;
      const entry = served.stored(resource);
      const trusted = { manager, ...writer, ...trust(entry) };
      const options = { ...trusted, ...(subresource ? { subresource } : {}) };
      const written = brief?.update(entry, object, options);
      if (written) return written;
      const target = { name, namespace };
      return replaceObject(backend, entry, target, object, options).object;
    },
    delete: (resource, namespace, name, { gracePeriodSeconds, uid, propagationPolicy } = {}) => {
      const request = {
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(uid === undefined ? {} : { preconditions: { uid } }),
        ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      };
      const target = { namespace, name };
      deleteObject(backend, served.stored(resource), target, request, writer.writer);
    },
    skipVersion: () => store.skipVersion(),
    bind: (namespace, name, nodeName) => {
      bindPod(backend, { namespace, name }, { name: nodeName }, { isBrief: brief !== null });
    },
    subscribe: (listener, resources) => store.subscribe(listener, resources),
  };
}
