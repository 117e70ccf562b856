// What a NodeDrain asks of an object that somebody else writes: where it is read, and what it says.
import type { DrainQuestion } from '@taintmgr/core/drain';
import { asInteger, asList, asRecord, asText } from '../proto/json.ts';

export type ObjectState = Extract<DrainQuestion, { kind: 'object' }>['object'];

/** `/api/v1`, `/apis/GROUP/VERSION`: it lists the resources of the version. */
export function versionPath({ apiVersion }: ObjectState): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** Where the object is, by the list of resources; or why there is no such place. */
export type ObjectPath =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'none'; readonly message: string };

export function objectPath(object: ObjectState, resources: unknown): ObjectPath {
  const { kind, apiVersion, namespace, name } = object;
  const listed = asList(asRecord(resources).resources).map(asRecord);
  const resource = listed.find((one) => one.kind === kind && !asText(one.name).includes('/'));
  if (!resource) return none(`the cluster has no ${kind} of ${apiVersion}`);
  const isNamespaced = resource.namespaced === true;
  if (isNamespaced && namespace === undefined) return none(`${kind} ${name}: want its namespace`);
  if (!isNamespaced && namespace !== undefined) {
    return none(`${kind} ${name}: got namespace ${namespace}, but it belongs to no namespace`);
  }
  const place = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const plural = encodeURIComponent(asText(resource.name));
  const path = `${versionPath(object)}${place}/${plural}/${encodeURIComponent(name)}`;
  return { kind: 'path', path };
}

function none(message: string): ObjectPath {
  return { kind: 'none', message };
}

/** Why the object does not say what is asked for; null: it does. */
export function objection(object: ObjectState, found: unknown): string | null {
  const { metadata: meta, status } = asRecord(found);
  const { annotation, condition: wanted } = object;
  const name = nameOf(object);
  const { annotations, generation, deletionTimestamp } = asRecord(meta);
  if (deletionTimestamp !== undefined) return `${name} is being deleted`;
  if (annotation) {
    const value = asRecord(annotations)[annotation.key];
    if (value === annotation.value) return null;
    if (value === undefined) return `${name} has no annotation ${annotation.key}`;
    const texts = [value, annotation.value].map((text) => JSON.stringify(text));
    return `annotation ${annotation.key} of ${name} is ${texts[0]}, want ${texts[1]}`;
  }
  if (!wanted) return null;
  const conditions = asList(asRecord(status).conditions).map(asRecord);
  const condition = conditions.find(({ type }) => type === wanted.type);
  if (!condition) return `${name} has no condition ${wanted.type}`;
  if (condition.status !== wanted.status) {
    const reason = asText(condition.reason);
    const got = `${asText(condition.status)}${reason === '' ? '' : ` (${reason})`}`;
    return `condition ${wanted.type} of ${name} is ${got}, want ${wanted.status}`;
  }
  const [observed, written] = [condition.observedGeneration, generation].map(asInteger);
  const isOld = observed != null && written != null && observed < written;
  return isOld ? `condition ${wanted.type} of ${name} is of an older generation` : null;
}

/** `Node n1`, `Cluster db/main` */
export function nameOf({ kind, namespace, name }: ObjectState): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
