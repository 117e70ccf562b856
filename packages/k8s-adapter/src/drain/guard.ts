// The finalizer that keeps a NodeDrain until what it has set on nodes is undone.

import { policyKinds } from '../kinds/kinds.ts';
import { drainFinalizer } from '../kinds/node-drain-value.ts';
import { type ApiRequest, patchRequest, withQuery } from '../proto/api-request.ts';
import { asList, asRecord, asText } from '../proto/json.ts';
import { policiesPath } from '../proto/list-requests.ts';

/** Where a NodeDrain is. */
export function nodeDrainPath(name: string): string {
  return `${policiesPath(policyKinds.NodeDrain.plural)}/${encodeURIComponent(name)}`;
}

/**
 * Puts the finalizer on a NodeDrain as it was read, or takes it off; others' finalizers stay. Null: it
 * is so already.
 */
export function guardRequest(
  object: unknown,
  isGuarded: boolean,
  fieldManager: string,
): ApiRequest | null {
  const { name, resourceVersion, finalizers: listed } = asRecord(asRecord(object).metadata);
  const before = asList(listed).map(asText);
  if (before.includes(drainFinalizer) === isGuarded) return null;
  const others = before.filter((one) => one !== drainFinalizer);
  const finalizers = isGuarded ? [...others, drainFinalizer] : others;
  const target = withQuery(nodeDrainPath(asText(name)), { fieldManager });
  return patchRequest('merge', target, { metadata: { resourceVersion, finalizers } });
}
