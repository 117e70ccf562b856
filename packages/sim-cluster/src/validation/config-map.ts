// The validation of ConfigMaps, and of Secrets, whose rules are nearly the same.
import type { Cause } from '../objects/errors.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { forbiddenValue, invalidValue } from './causes.ts';
import { validateMetadata } from './metadata.ts';

type Texts = Readonly<Record<string, string>>;

const bytesMax = 1024 * 1024;
const keyLengthMax = 253;
const keyError =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** The rules for a ConfigMap: its keys and its size. */
export function validateConfigMap(map: KubeObject): readonly Cause[] {
  const data: Texts = map.data ?? {};
  const binaryData: Texts = map.binaryData ?? {};
  const causes = [...validateMetadata(map)];
  for (const key of Object.keys(data)) {
    const field = `data[${key}]`;
    causes.push(...keyErrors(key).map((error) => invalidValue(field, key, error)));
    if (Object.hasOwn(binaryData, key)) {
      causes.push(invalidValue(field, key, 'duplicate of key present in binaryData'));
    }
  }
  for (const key of Object.keys(binaryData)) {
    const errors = keyErrors(key);
    causes.push(...errors.map((error) => invalidValue(`binaryData[${key}]`, key, error)));
  }
  if (size(data, 'utf8') + size(binaryData, 'base64') > bytesMax) {
    const message = `Too long: may not be more than ${bytesMax} bytes`;
    causes.push({ reason: 'FieldValueTooLong', message, field: '[]' });
  }
  return causes;
}

function keyErrors(key: string): readonly string[] {
  if (key.length > keyLengthMax) return [`must be no more than ${keyLengthMax} bytes`];
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) return [keyError];
  if (key === '.' || key === '..') return [`must not be '${key}'`];
  return key.startsWith('..') ? ["must not start with '..'"] : [];
}

function size(texts: Texts, encoding: 'utf8' | 'base64'): number {
  return Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text, encoding), 0);
}

/** The faults of an update of an immutable ConfigMap; others are freely mutable. */
export function validateConfigMapUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  if (previous.immutable !== true) return [];
  const changed = (['data', 'binaryData'] as const).filter(
    (field) => !equal(next[field], previous[field]),
  );
  const fields = [...(next.immutable === true ? [] : ['immutable']), ...changed];
  return fields.map((field) => forbiddenValue(field, 'field is immutable when `immutable` is set'));
}

/** A Secret also keeps its type. */
export function validateSecretUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const isSameType = next.type === (previous.type ?? next.type);
  const causes = isSameType ? [] : [invalidValue('type', next.type, 'field is immutable')];
  return [...causes, ...validateConfigMapUpdate(next, previous)];
}
