// The defaults of the volumes of a pod.
import { isList, isObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import { withFieldVersion, within } from './container-parts.ts';

/** Readable by all, as 0644 is written in JSON. */
const fileMode = 420;
const tokenSeconds = 3600;

/** A volume with the modes of its files, and what else it says of them. */
export function withVolumeDefaults(volume: Json): Json {
  let whole = volume;
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    whole = within(whole, source, (given) => ({ defaultMode: fileMode, ...given }));
  }
  whole = within(whole, 'hostPath', (given) => ({ type: '', ...given }));
  whole = within(whole, 'downwardAPI', withItemVersions);
  return within(whole, 'projected', (given) => {
    const { sources } = given;
    return isList(sources) ? { ...given, sources: sources.map(withSourceDefaults) } : given;
  });
}

function withSourceDefaults(source: Json): Json {
  const read = within(source, 'downwardAPI', withItemVersions);
  return within(read, 'serviceAccountToken', (token) => ({
    expirationSeconds: tokenSeconds,
    ...token,
  }));
}

function withItemVersions(given: Json): Json {
  if (!isObject(given) || !isList(given.items)) return given;
  return { ...given, items: given.items.map(withFieldVersion) };
}
