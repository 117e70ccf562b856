import type { PlainServer } from '../../src/api/plain-server.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';

/** What came back. */
export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON, `{}` when it is none. */
  readonly body: KubeObject;
  readonly ended: boolean;
  readonly wasReset: boolean;
}

/** One event of a watch. */
interface Event {
  readonly type: string;
  readonly object: KubeObject;
}

/** An open watch; `events` grows. */
export interface Watching {
  readonly response: () => Response;
  readonly events: readonly Event[];
  stop(): void;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly body?: unknown;
  readonly token?: string;
}

export const merge = 'application/merge-patch+json';
export const strategic = 'application/strategic-merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const applyType = 'application/apply-patch+yaml';

/** A client that speaks to the exchange function of an API server. */
export class Client {
  readonly #api: PlainServer;

  constructor(api: PlainServer) {
    this.#api = api;
  }

  /** Sends a request; the answer is complete unless it is a stream or comes later. */
  send(method: string, path: string, options: RequestOptions = {}): () => Response {
    return this.#exchange(method, path, options, () => {}).response;
  }

  request(method: string, path: string, options: RequestOptions = {}): Response {
    return this.send(method, path, options)();
  }

  get(path: string, options: RequestOptions = {}): Response {
    return this.request('GET', path, options);
  }

  post(path: string, body: unknown, options: RequestOptions = {}): Response {
    return this.request('POST', path, { ...options, body });
  }

  put(path: string, body: unknown, options: RequestOptions = {}): Response {
    return this.request('PUT', path, { ...options, body });
  }

  patch(path: string, body: unknown, type: string = merge, options: RequestOptions = {}): Response {
    const headers = { 'content-type': type, ...options.headers };
    return this.request('PATCH', path, { ...options, body, headers });
  }

  delete(path: string, options: RequestOptions = {}): Response {
    return this.request('DELETE', path, options);
  }

  watch(path: string, options: RequestOptions = {}): Watching {
    const events: Event[] = [];
    let rest = '';
    const query = { watch: 'true', ...options.query };
    const { response, cancel } = this.#exchange('GET', path, { ...options, query }, (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) events.push(JSON.parse(line) as Event);
    });
    return { response, events, stop: cancel };
  }

  #exchange(
    method: string,
    path: string,
    { headers = {}, query = {}, body, token }: RequestOptions,
    onData: (chunk: string) => void,
  ): { readonly response: () => Response; readonly cancel: () => void } {
    const answer = { status: 0, headers: {}, text: '', ended: false, wasReset: false };
    const search = Object.entries(query)
      .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((v) => [name, v]))
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join('&');
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const encoded =
      body === undefined
        ? null
        : typeof body === 'string' || body instanceof Uint8Array
          ? body
          : JSON.stringify(body);
    const request = {
      method,
      path: search ? `${path}?${search}` : path,
      headers: { ...authorization, ...headers },
      body: encoded,
    };
    const cancel = this.#api.exchange(request, {
      head: (status, received) => Object.assign(answer, { status, headers: received }),
      data: (chunk) => {
        answer.text += chunk;
        if (answer.status === 200) onData(String(chunk));
      },
      end: () => Object.assign(answer, { ended: true }),
      reset: () => Object.assign(answer, { wasReset: true }),
    });
    return { response: () => ({ ...answer, body: parse(answer.text) }), cancel };
  }
}

function parse(text: string): KubeObject {
  try {
    return JSON.parse(text) as KubeObject;
  } catch {
    return { metadata: { name: '' } };
  }
}
