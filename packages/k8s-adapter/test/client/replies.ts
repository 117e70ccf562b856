import { ApiClient } from '../../src/client/client.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';
import type { Sink, Transport } from '../../src/transport/sink.ts';

export type Reply = (path: string, sink: Sink) => void;

export function client(
  reply: Reply,
  options: { signal?: AbortSignal; requestTimeout?: number } = {},
) {
  const hungUp: string[] = [];
  const asked: string[] = [];
  const transport: Transport = {
    send: ({ path }: ApiRequest, sink: Sink) => {
      asked.push(path);
      queueMicrotask(() => reply(path, sink));
      return () => void hungUp.push(path);
    },
  };
  const api = new ApiClient({ transport, server: 'https://c:6443', ...options });
  return { api, asked, hungUp };
}

export function json(status: number, body: object): Reply {
  return (_, sink) => {
    sink.head(status, {});
    sink.data(JSON.stringify(body));
    sink.end();
  };
}
