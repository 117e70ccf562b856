// Handles POST, PUT and DELETE.
import { badRequest, created, deleted } from '../objects/errors.ts';
import { isObject } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { storageOf } from '../resources/resource.ts';
import * as podSchema from '../schema/pod.ts';
import { type Answer, statusReply, withWarning } from '../wire/answer.ts';
import { flag, readInteger, readListOptions } from '../wire/list-options.ts';
import { judgeSubresource } from '../write/admit.ts';
import { bindPod, checkSubresourceName } from '../write/binding.ts';
import { createObject } from '../write/create.ts';
import { type DeleteRequest, deleteObject, validateDeleteRequest } from '../write/delete.ts';
import { evictPod } from '../write/eviction.ts';
import { replaceObject, type UpdateOptions } from '../write/update.ts';
import { type BodyKind, decodeBody, readJson, readObject } from './body.ts';
import {
  managerOf,
  objectReply,
  presenterOf,
  readDryRun,
  targetOf,
  warned,
  writerOf,
} from './context.ts';
import type { ResourceCall } from './front.ts';
import { listObjects } from './list.ts';
import { proxyToNode } from './node-proxy.ts';
import { listReply } from './read.ts';

/** POST to a collection. */
export function handleCreate(call: ResourceCall): Answer {
  const { backend, resource, path } = call;
  const dryRun = readDryRun(call, 'CreateOptions');
  presenterOf(call);
  const { object, warnings } = readObject(call, resource);
  const options = { dryRun, manager: managerOf(call), writer: writerOf(call, warnings) };
  const stored = warned(warnings, () =>
    createObject(backend, resource, object, path.namespace, options),
  );
  return objectReply(call, 201, stored, warnings);
}

/** PUT of an object, its status or (namespaces) its finalizers. */
export function handleUpdate(call: ResourceCall): Answer {
  const { backend, resource } = call;
  const dryRun = readDryRun(call, 'UpdateOptions');
  presenterOf(call);
  const previous = backend.isBrief ? storedIn(call) : null;
  const { object, warnings } = readObject(call, resource, previous);
  const options: UpdateOptions = {
    dryRun,
    manager: managerOf(call),
    writer: writerOf(call, warnings),
    subresource: call.path.subresource as '' | 'status' | 'finalize' | 'approval',
  };
  const written = warned(warnings, () =>
    replaceObject(backend, resource, targetOf(call), object, options),
  );
  return objectReply(call, written.created ? 201 : 200, written.object, warnings);
}

function storedIn({ backend, resource, path }: ResourceCall): KubeObject | null {
  return backend.store.get(storageOf(resource).storeKey, path.namespace, path.name);
}

/** DELETE of one object. */
export function handleDelete(call: ResourceCall): Answer {
  const { backend, resource, path } = call;
  const request = readDeleteOptions(call);
  const warnings: string[] = [];
  const writer = writerOf(call, warnings);
  const { object, gone } = warned(warnings, () =>
    deleteObject(backend, resource, targetOf(call), request, writer),
  );
  if (!gone || resource.showsDeleted) return objectReply(call, 200, object, warnings);
  const status = deleted(resource, path.name, object.metadata.uid ?? '');
  return statusReply(200, status, warnings);
}

/** DELETE of a collection: the answer is the list as it was before. */
export function handleDeleteCollection(call: ResourceCall): Answer {
  const { backend, resource, path, info } = call;
  const request = readDeleteOptions(call);
  validateDeleteRequest(request);
  const presenter = presenterOf(call);
  const list = readListOptions(info.query);
  const listed = call.answers.once(() =>
    listObjects(backend.store, resource, path.namespace, list),
  );
  const warnings: string[] = [];
  const writer = { ...writerOf(call, warnings), isCollection: true };
  for (const { metadata } of listed.items) {
    const target = { namespace: metadata.namespace ?? '', name: metadata.name };
    // The object may have gone while webhooks were asked about the one before.
    if (storedIn({ ...call, path: { ...path, ...target } })) {
      deleteObject(backend, resource, target, request, writer);
    }
  }
  const answer = listReply(call, presenter, listed);
  return warnings.reduce((warned, text) => withWarning(warned, text), answer);
}

/** DeleteOptions from the body if there is one, else from the query. */
function readDeleteOptions(call: ResourceCall): DeleteRequest {
  const { request, info } = call;
  const { query } = info;
  if (request.body !== null && request.body.length > 0) {
    const body = readJson(call, (parseError) =>
      badRequest(`couldn't get version/kind; json parse error: ${parseError}`),
    );
    return checkDeleteOptions(body);
  }
  const grace = readInteger(query.get('gracePeriodSeconds'));
  const orphan = flag(query.get('orphanDependents'));
  const policy = query.get('propagationPolicy');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: grace }),
    ...(orphan === null ? {} : { orphanDependents: orphan }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    dryRun: query.getAll('dryRun'),
  };
}

function checkDeleteOptions(body: Json): DeleteRequest {
  const kind = isObject(body) ? (body.kind ?? 'DeleteOptions') : 'DeleteOptions';
  if (kind !== 'DeleteOptions') {
    const version = isObject(body) ? String(body.apiVersion ?? '') : '';
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"`,
    );
  }
  const { object } = decodeBody(body, new URLSearchParams(), deleteOptions);
  return object as DeleteRequest;
}

const eviction: BodyKind = {
  group: 'policy',
  version: 'v1',
  kind: 'Eviction',
  schema: podSchema.eviction,
};
const binding: BodyKind = { group: '', version: 'v1', kind: 'Binding', schema: podSchema.binding };
const deleteOptions: BodyKind = {
  group: '',
  version: 'v1',
  kind: 'DeleteOptions',
  schema: podSchema.deleteOptions,
};

/** POST pods/NAME/eviction. */
export function handleEviction(call: ResourceCall): Answer {
  const { object, warnings } = readObject(call, eviction);
  const dryRun = call.info.query.getAll('dryRun').filter((value) => value !== '');
  const writer = writerOf(call, warnings);
  const asked = { ...object, kind: 'Eviction', apiVersion: 'policy/v1' };
  warned(warnings, () => evictPod(call.backend, targetOf(call), asked, dryRun, writer));
  return statusReply(201, created(), warnings);
}

/** POST pods/NAME/binding. */
export function handleBinding(call: ResourceCall): Answer {
  const dryRun = readDryRun(call, 'CreateOptions');
  const { object, warnings } = readObject(call, binding);
  const asked = { ...object, kind: 'Binding', apiVersion: 'v1' };
  const target = targetOf(call);
  checkSubresourceName(target, asked);
  const writer = writerOf(call, warnings);
  warned(warnings, () =>
    judgeSubresource(call.backend, 'binding', asked, { target, dryRun, writer }),
  );
  bindPod(call.backend, target, object.target ?? {}, { of: object.metadata, dryRun });
  return statusReply(201, created(), warnings);
}

/** Any verb of nodes/NAME/proxy/...: what the node's kubelet answers. */
export function handleProxy({ backend, path, info, request, dialNode }: ResourceCall): Answer {
  const { method } = request;
  const dialed = { method, path: path.proxyPath, query: info.query };
  return proxyToNode(path.name, dialed, (name) => backend.store.get('nodes', '', name), dialNode);
}
