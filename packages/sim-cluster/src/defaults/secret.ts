// The defaults of a Secret.
import { isObject, type JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/** A new or changed Secret: one without a type is Opaque, and what a client gives as text becomes data. */
export function withSecretDefaults(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  const typed = { ...rest, type: secret.type || 'Opaque' };
  if (!isObject(stringData)) return typed;
  const data: JsonObject = { ...rest.data };
  for (const [key, text] of Object.entries(stringData)) {
    data[key] = Buffer.from(String(text)).toString('base64');
  }
  return { ...typed, data };
}
