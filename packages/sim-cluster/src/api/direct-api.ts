import type { ClusterApi } from '../store/cluster-api.ts';
import type { Backend } from '../write/backend.ts';
import { bindPod } from '../write/binding.ts';
import { createObject } from '../write/create.ts';
import { deleteObject } from '../write/delete.ts';
import { replaceObject } from '../write/update.ts';

/** The API without the wire, for one writer; its name is the manager of the fields it writes. */
export function directApi(backend: Backend, manager: string): ClusterApi {
  const { store, clock, served } = backend;
  return {
    clock,
    as: (other) => directApi(backend, other),
    get: (resource, namespace, name) =>
      store.get(served.stored(resource).storeKey, namespace, name),
    list: (resource, namespace = '') =>
      store.collection(served.stored(resource).storeKey).list(namespace),
    create: (resource, object) => {
      const entry = served.stored(resource);
      const namespace = entry.namespaced ? (object.metadata.namespace ?? 'default') : '';
      return createObject(backend, entry, object, namespace, { manager });
    },
    update: (resource, object, subresource) => {
      const { name, namespace = '' } = object.metadata;
      const options = subresource ? { subresource, manager } : { manager };
      const target = { name, namespace };
      return replaceObject(backend, served.stored(resource), target, object, options).object;
    },
    delete: (resource, namespace, name, { gracePeriodSeconds, uid } = {}) => {
      const request = {
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      };
      deleteObject(backend, served.stored(resource), { namespace, name }, request);
    },
    bind: (namespace, name, nodeName) => {
      bindPod(backend, { namespace, name }, { name: nodeName }, false);
    },
    subscribe: (listener) => store.subscribe(listener),
  };
}
