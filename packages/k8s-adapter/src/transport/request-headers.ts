// The headers of requests as HTTP/2 has them.
import type { OutgoingHttpHeaders } from 'node:http';
import type { OutgoingRequest } from './call.ts';
import type { RequestHead } from './http2/frame-writer.ts';
import type { Header } from './http2/header-table.ts';

type Method = OutgoingRequest['method'];

/** The headers of requests to one server. */
export class RequestHeaders {
  readonly #authority: string;
  /** What requests have in common, by their headers and then by what they do. */
  readonly #shared = new WeakMap<OutgoingHttpHeaders, Partial<Record<Method, readonly Header[]>>>();

  /** `authority`: host and port, as requests name them. */
  constructor(authority: string) {
    this.#authority = authority;
  }

  /** Those of one request with this body. */
  of({ method, path, headers }: OutgoingRequest, body: Uint8Array | null): RequestHead {
    return { path, shared: this.#sharedOf(method, headers), bodyBytes: body?.length ?? null };
  }

  #sharedOf(method: Method, headers: OutgoingHttpHeaders): readonly Header[] {
    const byMethod = this.#shared.get(headers) ?? {};
    const known = byMethod[method];
    if (known) return known;
    const what: readonly Header[] = [
      [':method', method],
      [':scheme', 'https'],
      [':authority', this.#authority],
    ];
    const shared = [...what, ...flatHeaders(headers)];
    this.#shared.set(headers, { ...byMethod, [method]: shared });
    return shared;
  }
}

/** A header has one value, or several, each of them a header. */
function flatHeaders(headers: OutgoingHttpHeaders): readonly Header[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one): readonly Header[] => {
      return one === undefined ? [] : [[name, String(one)]];
    }),
  );
}
