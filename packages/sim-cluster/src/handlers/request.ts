import { entry } from '../objects/json.ts';
import type { ApiRequest } from '../wire/exchange.ts';
import { flag } from '../wire/list-options.ts';

/** The path of a request taken apart. */
export interface ResourcePath {
  /** The API group; '' for the core group. */
  readonly group: string;
  /** Such as `v1`. */
  readonly version: string;
  /** '' for all namespaces and for cluster-scoped kinds. */
  readonly namespace: string;
  /** The plural name of the resource, such as `pods`. */
  readonly plural: string;
  /** '' for a collection. */
  readonly name: string;
  /** '' for the object itself. */
  readonly subresource: string;
  /** The path after `proxy`, such as `/stats/summary`; '' without that subresource. */
  readonly proxyPath: string;
}

/** A request understood as far as its line goes. */
export interface RequestInfo {
  /** `get`, `list`, `watch`, ... for resources, the lower-case method for other paths. */
  readonly verb: string;
  /** The path without its query. */
  readonly path: string;
  /** The parameters of the query. */
  readonly query: URLSearchParams;
  /** Null for a path without a resource. */
  readonly resource: ResourcePath | null;
}

/** Reads the request line. */
export function readRequest(request: ApiRequest): RequestInfo {
  const mark = request.path.indexOf('?');
  const path = mark < 0 ? request.path : request.path.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : request.path.slice(mark + 1));
  const { resource, legacyWatch } = readResourcePath(path);
  const method = request.method.toUpperCase();
  if (!resource) return { verb: method.toLowerCase(), path, query, resource };
  // The old /watch/ prefix names one object where the selector does now.
  if (legacyWatch && resource.name) {
    query.set('fieldSelector', `metadata.name=${resource.name}`);
    query.set('watch', 'true');
    return { verb: 'watch', path, query, resource: { ...resource, name: '' } };
  }
  if (legacyWatch) query.set('watch', 'true');
  return { verb: verbOf(method, resource, query), path, query, resource };
}

const itemVerbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

function verbOf(method: string, resource: ResourcePath, query: URLSearchParams): string {
  const verb = entry(itemVerbs, method) ?? method.toLowerCase();
  if (resource.name !== '') return verb;
  if (verb === 'get') return flag(query.get('watch')) ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

interface Taken {
  readonly resource: ResourcePath | null;
  readonly legacyWatch: boolean;
}

/** `/api/V/…` and `/apis/G/V/…` followed by `[namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]]`. */
function readResourcePath(path: string): Taken {
  const parts = path.split('/').slice(1);
  if (parts.at(-1) === '') parts.pop();
  const decoded = path.includes('%') ? parts.map(decode) : parts;
  const isCore = decoded[0] === 'api';
  if (!isCore && decoded[0] !== 'apis') return { resource: null, legacyWatch: false };
  const [group = '', version = ''] = isCore ? ['', decoded[1]] : [decoded[1], decoded[2]];
  let rest = decoded.slice(isCore ? 2 : 3);
  const legacyWatch = rest[0] === 'watch';
  if (legacyWatch) rest = rest.slice(1);
  if (rest.length === 0) return { resource: null, legacyWatch };
  const base = { group, version };
  // A namespace itself, and its subresources, look like the start of a namespaced path.
  const scoped =
    rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'status' && rest[2] !== 'finalize';
  const [namespace = '', plural = '', name = '', ...more] = scoped ? rest.slice(1) : ['', ...rest];
  // The rest of the path goes to another server and does not affect authorization.
  const isProxy = more[0] === 'proxy';
  const subresource = isProxy ? 'proxy' : more.join('/');
  const proxyPath = isProxy ? `/${more.slice(1).join('/')}` : '';
  return { resource: { ...base, namespace, plural, name, subresource, proxyPath }, legacyWatch };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
