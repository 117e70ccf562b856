import type { ApiRequest, Transport } from '@taintmgr/k8s-adapter';

/**
 * The transport, asking the API server to change nothing: it judges each write as ever, and says
 * what would have come of it. Whatever is sent goes through here, so nothing can be forgotten.
 */
export function dryRun(transport: Transport): Transport {
  return { send: (request, sink) => transport.send(withDryRun(request), sink) };
}

/** The request with dryRun=All where the API server looks for it: DELETE reads its body only. */
function withDryRun(request: ApiRequest): ApiRequest {
  const { method, path, body } = request;
  if (method === 'GET') return request;
  if (method === 'DELETE') {
    const options: object = body === null ? {} : JSON.parse(body);
    const headers = { ...request.headers, 'content-type': 'application/json' };
    const fields = { apiVersion: 'v1', kind: 'DeleteOptions', ...options, dryRun: ['All'] };
    return { ...request, headers, body: JSON.stringify(fields) };
  }
  return { ...request, path: `${path}${path.includes('?') ? '&' : '?'}dryRun=All` };
}
