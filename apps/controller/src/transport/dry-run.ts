// The transport in a dry run: writes are only judged, by the server, or are dropped.
import type { ApiRequest, Sink, Transport } from '@taintmgr/k8s-adapter';

/** The judge of writes in a dry run. */
export type DryRun = 'none' | 'client' | 'server';

/** True for requests that a dry run still writes: only the status that a program publishes of itself. */
export type Spared = (request: ApiRequest) => boolean;

/**
 * The transport, changing nothing. Whatever is sent goes through here, so nothing can be forgotten. `server`:
 * the API server judges each write as ever, and says what would have come of it. `client`: it hears of no
 * write, so that rights to read are enough, and each write counts as accepted. Sends `spared` requests
 * unchanged.
 */
export function dryRun(
  transport: Transport,
  judge: Exclude<DryRun, 'none'>,
  spared: Spared,
): Transport {
  return {
    send: (request, sink) => {
      if (changesNothing(request) || spared(request)) return transport.send(request, sink);
      return judge === 'client' ? accept(sink) : transport.send(withDryRun(request), sink);
    },
  };
}

/** A token is kept nowhere. */
function changesNothing({ method, path }: ApiRequest): boolean {
  return method === 'GET' || /\/serviceaccounts\/[^/]+\/token$/.test(path);
}

/** Later, as an answer would come. */
function accept(sink: Sink): () => void {
  const timer = setImmediate(() => {
    sink.head(200, { 'content-type': 'application/json' });
    sink.data('{}');
    sink.end();
  });
  return () => clearImmediate(timer);
}

/** The request with dryRun=All where the API server looks for it: DELETE reads its body only. */
function withDryRun(request: ApiRequest): ApiRequest {
  const { method, path, body } = request;
  if (method === 'DELETE') {
    const options: object = body === null ? {} : JSON.parse(body);
    const headers = { ...request.headers, 'content-type': 'application/json' };
    const fields = { apiVersion: 'v1', kind: 'DeleteOptions', ...options, dryRun: ['All'] };
    return { method, path, headers, body: JSON.stringify(fields) };
  }
  return { ...request, path: `${path}${path.includes('?') ? '&' : '?'}dryRun=All` };
}
