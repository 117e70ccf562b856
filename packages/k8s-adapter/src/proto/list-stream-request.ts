import type { ApiRequest, Selectors } from './request.ts';

/**
 * The request that streams everything in the collection at `path`, as of now or later, and then its
 * changes (WatchList). The server ends it after `timeoutSeconds`; one that cannot do it says 422.
 */
export function listStreamRequest(
  path: string,
  { fieldSelector, labelSelector }: Selectors,
  timeoutSeconds: number,
): ApiRequest {
  const query = new URLSearchParams({
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(labelSelector !== undefined && { labelSelector }),
    watch: 'true',
    allowWatchBookmarks: 'true',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    timeoutSeconds: String(timeoutSeconds),
  });
  return {
    method: 'GET',
    path: `${path}?${query}`,
    headers: { accept: 'application/json' },
    body: null,
  };
}
