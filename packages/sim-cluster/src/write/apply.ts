// Lays a manifest over what there is, as `kubectl apply` does on the side of the client.
import { equal, isList, isObject, type JsonObject, setOwn } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { lastAppliedAnnotation, withoutGone } from '../patch/last-applied.ts';
import { applyStrategicPatch } from '../patch/strategic.ts';
import { type Resource, storageOf } from '../resources/resource.ts';
import { storedResource } from '../resources/resources.ts';
import type { Backend } from './backend.ts';
import { cannotBeHandled, canonical, decodeAs, toView } from './canonical.ts';
import { createObject } from './create.ts';
import { replaceObject } from './update.ts';

/** The result of applying an object. */
export interface Applied {
  /** The old object, with its defaults; null: there was none. */
  readonly before: KubeObject | null;
  /** The new object, with its defaults; if it equals `before`, nothing was written. */
  readonly after: KubeObject;
}

/**
 * Applies a manifest: a new object is created, with its namespace; an existing one gets the fields
 * of the manifest, and loses those that the annotation of its last apply has and the manifest does
 * not. Status and identity stay. Throws ApiError, also for a field that the kind does not have.
 */
export function applyObject(backend: Backend, resource: Resource, manifest: KubeObject): Applied {
  const given = asManifest(resource, manifest);
  const { name, namespace = '' } = given.metadata;
  const { storeKey } = storageOf(resource);
  const present = backend.store.get(storeKey, namespace, name);
  if (!present) {
    if (namespace !== '' && !backend.store.get('namespaces', '', namespace)) {
      createObject(backend, storedResource('namespaces'), { metadata: { name: namespace } }, '');
    }
    return { before: null, after: createObject(backend, resource, given, namespace) };
  }
  const view = toView(resource, present);
  const merged = mergedWith(resource, view, given);
  const [before, after] = [view, merged].map((object) => whole(backend, resource, object, present));
  if (!before || !after || equal(before, after)) return { before: view, after: view };
  const next = grafted(view, before, after) as unknown as KubeObject;
  const options = { patch: true, manager: 'kubectl-client-side-apply' };
  replaceObject(backend, resource, { namespace, name }, next, options);
  return { before, after };
}

/** The metadata that only a server sets. */
const ofServer = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields'];

/** The manifest as far as it counts. Throws ApiError 400 for a value of another type and for a field that is none. */
function asManifest(resource: Resource, manifest: KubeObject): KubeObject {
  const { unknown } = decodeAs(resource, manifest);
  if (unknown.length > 0) {
    const fields = unknown.map((path) => `unknown field "${path}"`).join(', ');
    const { kind, version } = resource;
    throw cannotBeHandled(resource, kind, version, `strict decoding error: ${fields}`);
  }
  const { status: _, metadata, ...rest } = manifest;
  const { namespace = 'default', annotations, ...kept } = metadata;
  const own = Object.entries(kept).filter(([name]) => !ofServer.includes(name));
  const { [lastAppliedAnnotation]: _last, ...said } = annotations ?? {};
  return {
    ...rest,
    metadata: {
      ...Object.fromEntries(own),
      name: metadata.name,
      ...(annotations && { annotations: said }),
      ...(resource.namespaced && { namespace }),
    },
  };
}

function mergedWith(resource: Resource, present: KubeObject, given: KubeObject): KubeObject {
  const { schema } = resource;
  const left = withoutGone(schema, withoutRivals(present, given), given);
  return applyStrategicPatch(schema, left, given as unknown as Json) as unknown as KubeObject;
}

/** The object as it is stored once it is written whole. */
function whole(
  { clock }: Backend,
  resource: Resource,
  object: KubeObject,
  present: KubeObject,
): KubeObject {
  const storage = storageOf(resource);
  return storage.derive(canonical(storage, object), '', present, clock.now());
}

/**
 * A loaded object with the differences between two readings of it: unreadable fields stay, so that
 * a workload's template matches its pods.
 */
function grafted(
  loaded: Json | KubeObject,
  before: Json | KubeObject,
  after: Json | KubeObject,
): Json {
  if (equal(before, after)) return loaded as Json;
  if (!isObject(loaded) || !isObject(before) || !isObject(after)) return after as Json;
  const result: JsonObject = { ...loaded };
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) delete result[name];
  for (const [name, member] of Object.entries(after)) {
    const [was, read] = [loaded[name], before[name]];
    if (was === undefined && read !== undefined && equal(read, member)) continue;
    setOwn(
      result,
      name,
      was === undefined || read === undefined ? member : grafted(was, read, member),
    );
  }
  return result;
}

// Where one choice excludes others, only the choice in the manifest counts: kubectl ensures that
// with directives, or with the last applied configuration, which is unknown for an object that
// others keep.

const choices = ['strategy', 'updateStrategy'];
const rivals: Readonly<Record<string, string>> = {
  minAvailable: 'maxUnavailable',
  maxUnavailable: 'minAvailable',
};

/** Without what the manifest does not choose. */
function withoutRivals(present: KubeObject, given: KubeObject): KubeObject {
  const { spec } = present;
  if (!isObject(spec) || !isObject(given.spec)) return present;
  const next: JsonObject = { ...spec };
  for (const choice of choices) {
    const [was, chosen] = [spec[choice], given.spec[choice]];
    if (isObject(was) && isObject(chosen)) next[choice] = named(was, chosen);
  }
  for (const [name, rival] of Object.entries(rivals)) {
    if (given.spec[name] !== undefined && given.spec[rival] === undefined) delete next[rival];
  }
  if (isObject(spec.template) && isObject(given.spec.template)) {
    next.template = withVolumes(spec.template, given.spec.template);
  }
  return { ...present, spec: next };
}

function withVolumes(template: Members, given: Members): Json {
  const [spec, wanted] = [template.spec, given.spec];
  if (!isObject(spec) || !isObject(wanted)) return template;
  const [volumes, others] = [spec.volumes, wanted.volumes];
  if (!isList(volumes) || !isList(others)) return template;
  const kept = volumes.map((volume) => {
    if (!isObject(volume)) return volume;
    const same = others.find((one) => isObject(one) && one.name === volume.name);
    return isObject(same) ? named(volume, same) : volume;
  });
  return { ...template, spec: { ...spec, volumes: kept } };
}

type Members = { readonly [name: string]: Json };

function named(present: Members, given: Members): Json {
  return Object.fromEntries(Object.entries(present).filter(([name]) => Object.hasOwn(given, name)));
}
