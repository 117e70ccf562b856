// Handles PATCH by server-side apply.

import type { Answer, Json, ResourceCall } from '@taintmgr/sim-cluster/server';
import {
  apiVersionOf,
  badRequest,
  conflict,
  createObject,
  decodeBody,
  flag,
  invalidOptions,
  isObject,
  type JsonObject,
  notFound,
  objectReply,
  parsedPatch,
  presenterOf,
  readDryRun,
  replaceObject,
  required,
  storageOf,
  targetOf,
  toView,
  updateOptions,
  withManaged,
  writerOf,
} from '@taintmgr/sim-cluster/server';
import { applyConfiguration } from './apply.ts';

/** PATCH by server-side apply. */
export function applyRequest(call: ResourceCall): Answer {
  const dryRun = readDryRun(call, 'PatchOptions');
  presenterOf(call);
  return apply(parsedPatch(call), call, dryRun);
}

function apply(configuration: Json, call: ResourceCall, dryRun: boolean): Answer {
  const { backend, resource, info, path } = call;
  const manager = requiredManager(call);
  const given = checkConfiguration(configuration, call);
  // No field validation lets an unknown field through an apply.
  const query = new URLSearchParams({ fieldValidation: 'Strict' });
  const { warnings } = decodeBody(given, query, resource);
  const read: JsonObject = resource.custom?.read(given, false).value ?? given;
  const { subresource } = path;
  const storage = storageOf(resource);
  const stored = backend.store.get(storage.storeKey, path.namespace, path.name);
  const live = stored && resource.custom ? toView(resource, stored) : stored;
  const { object, owners } = applyConfiguration(live, read, {
    resource: resource.custom ? resource : storage,
    manager,
    subresource,
    force: flag(info.query.get('force')) ?? false,
    now: backend.clock.now(),
  });
  const { object: decoded } = decodeBody(object, new URLSearchParams(), resource);
  const named = withManaged(decoded, owners);
  if (!live) {
    if (path.subresource) throw notFound(resource, path.name);
    const { uid } = named.metadata;
    if (uid) {
      const text = `the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(resource, path.name, `uid mismatch: ${text}`);
    }
    const options = { dryRun, owners, writer: writerOf(call, warnings) };
    return objectReply(
      call,
      201,
      createObject(backend, resource, named, path.namespace, options),
      warnings,
    );
  }
  const options = { ...updateOptions(call, dryRun, warnings), owners };
  const written = replaceObject(backend, resource, targetOf(call), named, options);
  return objectReply(call, 200, written.object, warnings);
}

/** What an applied configuration must and must not say. */
function checkConfiguration(configuration: Json, { resource, path }: ResourceCall): JsonObject {
  if (!isObject(configuration)) throw badRequest('invalid object type: /, Kind=');
  const { kind, apiVersion } = configuration;
  if (kind !== resource.kind || apiVersion !== apiVersionOf(resource)) {
    const [group = '', version = ''] = String(apiVersion ?? '').includes('/')
      ? String(apiVersion).split('/')
      : ['', String(apiVersion ?? '')];
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${String(kind ?? '')}`);
  }
  const metadata = isObject(configuration.metadata) ? configuration.metadata : {};
  if (metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  if (metadata.name !== undefined && metadata.name !== path.name) {
    throw badRequest(
      `the name of the object (${String(metadata.name)}) does not match the name on the URL (${path.name})`,
    );
  }
  return { ...configuration, metadata: { ...metadata, name: path.name } };
}

/** The manager that server-side apply cannot do without. */
function requiredManager({ info }: ResourceCall): string {
  const manager = info.query.get('fieldManager') ?? '';
  if (manager) return manager;
  throw invalidOptions('PatchOptions', [required('fieldManager', 'is required for apply patch')]);
}
