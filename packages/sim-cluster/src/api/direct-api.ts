import { storedResource } from '../resources/resources.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import type { Backend } from '../write/backend.ts';
import { bindPod } from '../write/binding.ts';
import { createObject } from '../write/create.ts';
import { deleteObject } from '../write/delete.ts';
import { replaceObject } from '../write/update.ts';

/** The API without the wire, for one writer; its name is the manager of the fields it writes. */
export function directApi(backend: Backend, manager: string): ClusterApi {
  const { store, clock } = backend;
  return {
    clock,
    as: (other) => directApi(backend, other),
    get: (resource, namespace, name) => store.get(storedResource(resource).plural, namespace, name),
    list: (resource, namespace = '') =>
      store.collection(storedResource(resource).plural).list(namespace),
    create: (resource, object) => {
      const entry = storedResource(resource);
      const namespace = entry.namespaced ? (object.metadata.namespace ?? 'default') : '';
      return createObject(backend, entry, object, namespace, { manager });
    },
    update: (resource, object, subresource) => {
      const { name, namespace = '' } = object.metadata;
      const options = subresource ? { subresource, manager } : { manager };
      const target = { name, namespace };
      return replaceObject(backend, storedResource(resource), target, object, options).object;
    },
    delete: (resource, namespace, name, { gracePeriodSeconds, uid } = {}) => {
      const request = {
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      };
      deleteObject(backend, storedResource(resource), { namespace, name }, request);
    },
    bind: (namespace, name, nodeName) => {
      bindPod(backend, { namespace, name }, { name: nodeName }, false);
    },
    subscribe: (listener) => store.subscribe(listener),
  };
}
