// Requests that make a TaintManager and write its status.
import { type ApiRequest, objectRequest, replaceRequest, withQuery } from './api-request.ts';

/** Where the TaintManagers of a cluster are. */
export const taintManagersPath = '/apis/taintmgr.dev/v1alpha1/taintmanagers';

/** Whose fields a status becomes. */
const fieldManager = 'taintmgr-controller';

/** POST of a TaintManager that says nothing yet: what is created has no status. */
export function createTaintManagerRequest(name: string): ApiRequest {
  return objectRequest('POST', withQuery(taintManagersPath, { fieldManager }), {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'TaintManager',
    metadata: { name },
  });
}

/** PATCH that puts this status in the place of the whole one before, whoever wrote that. */
export function replaceTaintManagerStatusRequest(name: string, status: unknown): ApiRequest {
  const path = `${taintManagersPath}/${encodeURIComponent(name)}/status`;
  return replaceRequest(withQuery(path, { fieldManager }), '/status', status);
}
