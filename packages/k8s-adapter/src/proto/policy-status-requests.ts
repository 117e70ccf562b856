// Requests that write the status of policies, taint rules and pauses.
import type { KindName } from '../kinds/kinds.ts';
import { policyKinds } from '../kinds/kinds.ts';
import { type ApiRequest, replaceOfRequest, withQuery } from './api-request.ts';
import { policiesPath } from './list-requests.ts';

/** Whose fields a status becomes. */
const fieldManager = 'taintmgr-controller';

/** PATCH that puts this status in the place of the whole one before, of exactly this object. */
export function policyStatusRequest(
  kind: KindName,
  { name, uid }: { readonly name: string; readonly uid: string },
  status: unknown,
): ApiRequest {
  const path = `${policiesPath(policyKinds[kind].plural)}/${encodeURIComponent(name)}/status`;
  return replaceOfRequest(withQuery(path, { fieldManager }), uid, '/status', status);
}
