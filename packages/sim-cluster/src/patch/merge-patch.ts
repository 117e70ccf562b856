import { entry, isObject, type JsonObject, setOwn } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';

/** JSON Merge Patch (RFC 7386): null removes a member, objects merge, everything else replaces. */
export function applyMergePatch(document: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(document) ? { ...document } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setOwn(result, key, applyMergePatch(entry(result, key), value));
  }
  return result;
}
