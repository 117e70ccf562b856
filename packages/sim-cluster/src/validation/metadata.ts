// The validation of metadata.
import type { Cause } from '../objects/errors.ts';
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';
import { labelValueErrors, qualifiedNameErrors, subdomainErrors } from '../objects/names.ts';
import { forbiddenValue, invalidValue, required } from './causes.ts';

/** Finalizers that need no domain. */
const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);
const annotationsBytesMax = 256 * 1024;

/** The rules for `metadata` of any object; `nameErrors` is the kind's rule for names. */
export function validateMetadata(
  object: KubeObject,
  nameErrors: (name: string) => readonly string[] = subdomainErrors,
  finalizerErrors: typeof coreFinalizerCauses = coreFinalizerCauses,
): readonly Cause[] {
  const { metadata } = object;
  const causes: Cause[] = [];
  // A prefix may end in a dash, which no name may.
  const prefix = metadata.generateName?.replace(/.-$/, 'a') ?? '';
  for (const error of prefix === '' ? [] : nameErrors(prefix)) {
    causes.push(invalidValue('metadata.generateName', metadata.generateName, error));
  }
  if (!metadata.name) {
    causes.push(required('metadata.name', 'name or generateName is required'));
  } else {
    for (const error of nameErrors(metadata.name)) {
      causes.push(invalidValue('metadata.name', metadata.name, error));
    }
  }
  causes.push(...validateLabels(metadata.labels ?? {}, 'metadata.labels'));
  causes.push(...validateAnnotations(metadata.annotations ?? {}));
  for (const owner of metadata.ownerReferences ?? []) causes.push(...validateOwner(owner));
  causes.push(...validateController(metadata.ownerReferences ?? []));
  for (const [index, finalizer] of (metadata.finalizers ?? []).entries()) {
    causes.push(...finalizerErrors(finalizer, `metadata.finalizers[${index}]`));
  }
  return causes;
}

/** The rules for a map of labels. */
export function validateLabels(
  labels: Readonly<Record<string, string>>,
  field: string,
): readonly Cause[] {
  const causes: Cause[] = [];
  for (const [key, value] of Object.entries(labels)) {
    for (const error of qualifiedNameErrors(key)) causes.push(invalidValue(field, key, error));
    for (const error of labelValueErrors(value)) causes.push(invalidValue(field, value, error));
  }
  return causes;
}

function validateAnnotations(annotations: Readonly<Record<string, string>>): readonly Cause[] {
  const causes: Cause[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    for (const error of qualifiedNameErrors(key.toLowerCase())) {
      causes.push(invalidValue('metadata.annotations', key, error));
    }
  }
  if (bytes > annotationsBytesMax) {
    const message = `Too long: may not be more than ${annotationsBytesMax} bytes`;
    causes.push({ reason: 'FieldValueTooLong', message, field: 'metadata.annotations' });
  }
  return causes;
}

/** The real server does not say which one. */
function validateOwner(owner: OwnerReference): readonly Cause[] {
  const field = 'metadata.ownerReferences';
  const causes: Cause[] = [];
  const { apiVersion = '', kind } = owner;
  if (!/^[^/]+(?:\/[^/]+)?$|^\/[^/]+$/.test(apiVersion)) {
    causes.push(invalidValue(`${field}.apiVersion`, apiVersion, 'version must not be empty'));
  }
  for (const member of ['kind', 'name', 'uid'] as const) {
    if (!owner[member]) causes.push(invalidValue(`${field}.${member}`, '', 'must not be empty'));
  }
  if (apiVersion === 'v1' && kind === 'Event') {
    const text = '/v1, Kind=Event is disallowed from being an owner';
    causes.push(invalidValue(field, owner, text));
  }
  return causes;
}

function validateController(owners: readonly OwnerReference[]): readonly Cause[] {
  const [first, ...others] = owners.filter(({ controller }) => controller);
  return others.map((other) => {
    const names = [first, other].map((owner) => `${owner?.kind}/${owner?.name}`).join(' and ');
    const text = `Only one reference can have Controller set to true. Found "true" in references for ${names}`;
    return invalidValue('metadata.ownerReferences', owners, text);
  });
}

/** The rules for `metadata` of definitions and custom resources: a finalizer needs no domain. */
export function validateExtensionMetadata(object: KubeObject): readonly Cause[] {
  return validateMetadata(object, subdomainErrors, finalizerCauses);
}

/** The rules for `metadata` of an object within another: its name is anything, or none. */
export function validateEmbeddedMetadata(object: KubeObject, path: string): readonly Cause[] {
  const name = object.metadata.name || 'none';
  const named = { ...object, metadata: { ...object.metadata, name } };
  const causes = validateMetadata(named, pathSegmentErrors, finalizerCauses);
  return causes.map((cause) => ({
    ...cause,
    ...(cause.field ? { field: cause.field.replace(/^metadata/, path) } : {}),
  }));
}

function pathSegmentErrors(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%']
    .filter((sign) => name.includes(sign))
    .map((sign) => `may not contain '${sign}'`);
}

function finalizerCauses(finalizer: string, field: string): readonly Cause[] {
  return qualifiedNameErrors(finalizer).map((error) => invalidValue(field, finalizer, error));
}

/** New finalizers of a custom resource whose names do not identify a component. */
export function finalizerWarnings(
  { metadata }: KubeObject,
  previous: KubeObject | null,
): readonly string[] {
  const had = previous?.metadata.finalizers ?? [];
  const bare = (metadata.finalizers ?? []).filter(
    (name) => !had.includes(name) && !name.includes('/') && !standardFinalizers.has(name),
  );
  const text =
    'prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers';
  return [...new Set(bare)]
    .sort()
    .map((name) => `metadata.finalizers: ${JSON.stringify(name)}: ${text}`);
}

function coreFinalizerCauses(finalizer: string, field: string): readonly Cause[] {
  const causes = finalizerCauses(finalizer, field);
  if (causes.length > 0) return causes;
  if (finalizer.includes('/') || standardFinalizers.has(finalizer)) return [];
  const text = 'name is neither a standard finalizer name nor is it fully qualified';
  return [invalidValue(field, finalizer, text)];
}

/** The faults of an update of `metadata`. */
export function validateMetadataUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const causes: Cause[] = [];
  if (next.metadata.uid !== previous.metadata.uid) {
    causes.push(invalidValue('metadata.uid', next.metadata.uid, 'field is immutable'));
  }
  for (const name of ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    const value = next.metadata[name];
    if (value === previous.metadata[name]) continue;
    causes.push(invalidValue(`metadata.${name}`, value, 'field is immutable'));
  }
  const had = new Set(previous.metadata.finalizers ?? []);
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !had.has(finalizer));
  if (previous.metadata.deletionTimestamp !== undefined && added.length > 0) {
    const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    const text = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
    causes.push(forbiddenValue('metadata.finalizers', text));
  }
  return causes;
}
