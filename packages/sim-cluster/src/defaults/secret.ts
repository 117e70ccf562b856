// The defaults of a Secret.
import { isObject, type JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/** A Secret without a type is Opaque. */
export function admitSecret(secret: KubeObject): KubeObject {
  return { ...secret, type: secret.type || 'Opaque' };
}

/** What a client gives as text becomes data. */
export function withTextAsData(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  if (!isObject(stringData)) return secret;
  const data: JsonObject = { ...rest.data };
  for (const [key, text] of Object.entries(stringData)) {
    data[key] = Buffer.from(String(text)).toString('base64');
  }
  return { ...rest, data };
}
