// One HTTP request as a value, and how requests in JSON are made.
import type { Millis } from '@taintmgr/core/time';

/** One HTTP request as a value; credentials and the server's address are the transport's. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with its query, encoded, as in the request line: `/api/v1/nodes?limit=500`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /**
   * What `body` is the JSON of, for a server in the same process, which needs no text. Left out: there is
   * no body, or it was text from the start. Whoever sends another body leaves it out.
   */
  readonly bodyValue?: object;
  /** Another server than the API's, that the path is of; it is sent no credentials. */
  readonly elsewhere?: Elsewhere;
}

/** Tells whether it asks for a watch, whose answer has no end of its own. */
export function isWatch({ method, path }: Pick<ApiRequest, 'method' | 'path'>): boolean {
  return method === 'GET' && /[?&]watch=(true|1)(&|$)/.test(path);
}

/** Such a request is answered, and dated, by whoever is behind the API server: a kubelet. */
export function isProxied({ path }: Pick<ApiRequest, 'path'>): boolean {
  return path.includes('/proxy/');
}

/** A server that is not the cluster's. */
export interface Elsewhere {
  /** `http://prometheus.monitoring:9090`, and the path before that of requests, if any. */
  readonly url: string;
  readonly timeoutMs: Millis;
}

/** A request that is to be sent, or hung up. What is heard of it comes back under its id. */
export type RequestEffect =
  | { readonly kind: 'send'; readonly id: string; readonly request: ApiRequest }
  | { readonly kind: 'abort'; readonly id: string };

/** What stands after the `?`; undefined is left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

const contentTypes = {
  json: 'application/json',
  merge: 'application/merge-patch+json',
  jsonPatch: 'application/json-patch+json',
  strategicMerge: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** GET of JSON. */
export function getRequest(path: string, query: Query = {}): ApiRequest {
  return { method: 'GET', path: withQuery(path, query), headers: getHeaders, body: null };
}

/**
 * What the metadata client of client-go asks for: of the object that is answered no more than its
 * metadata, in protobuf where the server has it. A failure is a Status in JSON.
 */
const partly = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataOnly = [
  `application/vnd.kubernetes.protobuf${partly}`,
  `${contentTypes.json}${partly}`,
  contentTypes.json,
].join(',');

type Content = keyof typeof contentTypes;
type Headers = ApiRequest['headers'];

/** Made once: requests with the same headers have the same object of them. */
const getHeaders: Headers = { accept: contentTypes.json };
const bodyHeaders: Readonly<Record<Content, Readonly<Record<Wanted, Headers>>>> = {
  json: headersOf('json'),
  merge: headersOf('merge'),
  jsonPatch: headersOf('jsonPatch'),
  strategicMerge: headersOf('strategicMerge'),
  apply: headersOf('apply'),
};

function headersOf(content: Content): Readonly<Record<Wanted, Headers>> {
  const object = { ...getHeaders, 'content-type': contentTypes[content] };
  return { object, metadata: { ...object, accept: metadataOnly } };
}

/**
 * How much of the object is to be answered. `metadata`: nobody reads more where all went well, and it is less for
 * both sides to write and send.
 */
export type Wanted = 'object' | 'metadata';

/** POST, PUT or DELETE with an object. */
export function objectRequest(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body: object,
  wanted: Wanted = 'object',
): ApiRequest {
  return withBody(method, path, 'json', body, wanted);
}

/** PATCH with what is to change. */
export function patchRequest(
  kind: 'merge' | 'strategicMerge',
  path: string,
  changes: object,
  wanted: Wanted = 'object',
): ApiRequest {
  return withBody('PATCH', path, kind, changes, wanted);
}

/** PATCH by a JSON patch that puts one member of the object in the place of what stands there. */
export function replaceRequest(path: string, pointer: string, value: unknown): ApiRequest {
  return withBody('PATCH', path, 'jsonPatch', [{ op: 'add', path: pointer, value }]);
}

/** The same only for the object of this uid; what another has in its place is left alone: 422. */
export function replaceOfRequest(
  path: string,
  uid: string,
  pointer: string,
  value: unknown,
): ApiRequest {
  const test = { op: 'test', path: '/metadata/uid', value: uid };
  return withBody('PATCH', path, 'jsonPatch', [test, { op: 'add', path: pointer, value }]);
}

/** How server-side apply behaves. */
export interface ApplyOptions {
  /** Whose fields they become. */
  readonly fieldManager: string;
  /** Take fields from others who own them; else they are a conflict, 409. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** PATCH by server-side apply: the object is made, or made to have these fields. */
export function applyRequest(path: string, object: object, options: ApplyOptions): ApiRequest {
  const { fieldManager, force, dryRun } = options;
  const query = { fieldManager, force: String(force), dryRun: dryRun ? 'All' : undefined };
  return withBody('PATCH', withQuery(path, query), 'apply', object);
}

/** The path with a query. */
export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return pairs.length > 0 ? `${path}?${pairs.join('&')}` : path;
}

/** The text at once, though a server in the same process has no use for it: to write it later took three times as long. */
function withBody(
  method: ApiRequest['method'],
  path: string,
  content: Content,
  bodyValue: object,
  wanted: Wanted = 'object',
): ApiRequest {
  const headers = bodyHeaders[content][wanted];
  return { method, path, headers, body: JSON.stringify(bodyValue), bodyValue };
}
