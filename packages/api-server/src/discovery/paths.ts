// Handles discovery, versions, health and unknown paths.
import { createHash } from 'node:crypto';
import type { ServedResources } from '@taintmgr/sim-cluster/server';
import {
  type Answer,
  type Call,
  jsonReply,
  methodNotAllowed,
  negotiate,
  parseAccept,
  pathNotFound,
  textReply,
  unknownPath,
} from '@taintmgr/sim-cluster/server';
import type { Release } from '../kinds/releases.ts';
import {
  aggregated,
  aggregatedType,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
} from './documents.ts';
import { openApiDocument, openApiRoot, openApiV2 } from './openapi.ts';

type Handler = (call: Call, served: ServedResources, release: Release) => Answer;

/** `?verbose` names the checks, as scripts read them. */
const health: Handler = ({ info: { path, query } }) => {
  const [, endpoint = ''] = path.split('/');
  if (!query.has('verbose')) return textReply(200, 'ok');
  const checks = ['ping', 'log', 'etcd'].map((name) => `[+]${name} ok\n`);
  return textReply(200, `${checks.join('')}${endpoint} check passed\n`);
};

/** Paths without a resource. */
const paths: Readonly<Record<string, Handler>> = {
  '/version': (call, _served, { version }) => plain(call, version),
  '/healthz': health,
  '/livez': health,
  '/readyz': health,
  '/api': (call, served) =>
    wantsAggregated(call) ? cached(call, served, true) : plain(call, coreVersions()),
  '/apis': (call, served) =>
    wantsAggregated(call) ? cached(call, served, false) : plain(call, groupList(served)),
  '/openapi/v2': ({ request }) => {
    const { type, body } = openApiV2(request.headers.accept ?? '');
    return { kind: 'reply', status: 200, headers: { 'content-type': type }, body };
  },
  '/openapi/v3': (call, served) => plain(call, openApiRoot(served)),
};

/** Answers a path without a resource: version, health, discovery, OpenAPI. */
export function handlePath(call: Call, served: ServedResources, release: Release): Answer {
  const path = call.info.path.length > 1 ? call.info.path.replace(/\/$/, '') : call.info.path;
  const handler = paths[path] ?? prefixed(path, served);
  if (!handler) return pathNotFound();
  if (call.info.verb !== 'get' && handler !== health) throw methodNotAllowed();
  return handler(call, served, release);
}

function prefixed(path: string, served: ServedResources): Handler | null {
  const [, root, first = '', second = '', ...rest] = path.split('/');
  if (root === 'openapi' && first === 'v3') {
    return (call) => openApi(call, served, [second, ...rest].join('/'));
  }
  if (root === 'healthz' || root === 'livez' || root === 'readyz') return health;
  if (root === 'api' && second === '')
    return (call) => known(call, resourceList(served, '', first));
  if (root !== 'apis' || rest.length > 0 || !groupDocument(served, first)) return null;
  const document =
    second === '' ? groupDocument(served, first) : resourceList(served, first, second);
  // The part of the server that has custom resources knows no other words for it.
  const isCustom = served.all.some(({ group, custom }) => group === first && custom);
  return document === null && isCustom ? null : (call) => known(call, document);
}

function known(call: Call, document: object | null): Answer {
  if (document === null) throw unknownPath();
  return plain(call, document);
}

function plain({ request, info }: Call, document: object): Answer {
  const { pretty } = negotiate({ ...request.headers, accept: '*/*' }, info.query.get('pretty'));
  return jsonReply(200, document, pretty);
}

function wantsAggregated({ request }: Call): boolean {
  const [first] = parseAccept(request.headers.accept ?? '').filter(
    ({ mediaType }) => mediaType === 'application/json' || mediaType === '*/*',
  );
  const { as, g, v } = first?.parameters ?? {};
  return as === 'APIGroupDiscoveryList' && g === 'apidiscovery.k8s.io' && v === 'v2';
}

/** Aggregated discovery with its entity tag. */
function cached({ request }: Call, served: ServedResources, core: boolean): Answer {
  const body = `${JSON.stringify(aggregated(served, core))}\n`;
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`;
  const headers = { 'cache-control': 'public', vary: 'Accept', etag };
  if (request.headers['if-none-match'] === etag) {
    return { kind: 'reply', status: 304, headers, body: '' };
  }
  const typed = { 'content-type': aggregatedType, ...headers };
  return { kind: 'reply', status: 200, headers: typed, body };
}

/** A document is immutable under its hash; a wrong hash leads to the right one. */
function openApi({ info }: Call, served: ServedResources, path: string): Answer {
  const document = openApiDocument(served, path);
  if (!document) return { kind: 'reply', status: 404, headers: {}, body: '' };
  const asked = info.query.get('hash');
  const common = { 'content-type': 'application/json', vary: 'Accept', etag: `"${document.hash}"` };
  if (asked !== null && asked !== document.hash) {
    const location = `/openapi/v3/${path}?hash=${document.hash}`;
    return { kind: 'reply', status: 301, headers: { ...common, location }, body: '' };
  }
  const headers = asked === null ? common : { ...common, 'cache-control': 'public, immutable' };
  return { kind: 'reply', status: 200, headers, body: document.text };
}
