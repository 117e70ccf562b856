// The headers of requests as HTTP/2 has them.
import type { OutgoingHttpHeaders } from 'node:http';
import type { OutgoingRequest } from './call.ts';
import type { RequestHeader } from './http2/frame-writer.ts';

/** The headers of requests to one server. */
export class RequestHeaders {
  readonly #authority: RequestHeader;
  /** What requests have in common, by their headers. */
  readonly #shared = new WeakMap<OutgoingHttpHeaders, readonly RequestHeader[]>();

  /** `authority`: host and port, as requests name them. */
  constructor(authority: string) {
    this.#authority = { name: ':authority', value: authority, isOwn: false };
  }

  /** Those of one request with this body; what a request is comes first. */
  of(
    { method, path, headers }: OutgoingRequest,
    body: Uint8Array | null,
  ): readonly RequestHeader[] {
    const known = this.#shared.get(headers);
    const shared = known ?? sharedHeaders(headers);
    if (!known) this.#shared.set(headers, shared);
    const pathHeader = { name: ':path', value: path, isOwn: true };
    const all = [methods[method], scheme, this.#authority, pathHeader, ...shared];
    if (body) all.push({ name: 'content-length', value: String(body.length), isOwn: true });
    return all;
  }
}

const scheme: RequestHeader = { name: ':scheme', value: 'https', isOwn: false };
const methods: Readonly<Record<OutgoingRequest['method'], RequestHeader>> = {
  GET: methodHeader('GET'),
  POST: methodHeader('POST'),
  PUT: methodHeader('PUT'),
  PATCH: methodHeader('PATCH'),
  DELETE: methodHeader('DELETE'),
};

function methodHeader(value: string): RequestHeader {
  return { name: ':method', value, isOwn: false };
}

/** A header has one value, or several, each of them a header. */
function sharedHeaders(headers: OutgoingHttpHeaders): readonly RequestHeader[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => {
      return one === undefined ? [] : [{ name, value: String(one), isOwn: false }];
    }),
  );
}
