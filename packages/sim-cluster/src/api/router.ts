// Sends each request to its handler, once it is authenticated and allowed.

import { type Call, type OpenFront, pathNotFound, type ResourceCall } from '../handlers/front.ts';
import type { DialNode } from '../handlers/node-proxy.ts';
import { handlePatch } from '../handlers/patch.ts';
import { handleGet, handleList, handleWatch } from '../handlers/read.ts';
import type { RequestInfo, ResourcePath } from '../handlers/request.ts';
import { handleScale } from '../handlers/scale.ts';
import type { Watchers } from '../handlers/watchers.ts';
import {
  handleBinding,
  handleCreate,
  handleDelete,
  handleDeleteCollection,
  handleEviction,
  handleProxy,
  handleUpdate,
} from '../handlers/write.ts';
import {
  badRequest,
  methodNotAllowed,
  notFound,
  unknownPath,
  verbNotSupported,
} from '../objects/errors.ts';
import { entry } from '../objects/json.ts';
import type { Resource } from '../resources/resource.ts';
import { type Answer, withWarning } from '../wire/answer.ts';
import type { ApiRequest } from '../wire/exchange.ts';
import type { Backend } from '../write/backend.ts';
import type { WebhookAnswers } from '../write/webhook-answers.ts';

export interface RouterOptions {
  readonly backend: Backend;
  readonly front: OpenFront;
  readonly dialNode: DialNode;
  readonly watchers: Watchers;
}

/**
 * Answers a request: authenticates the user, checks the user's rights, and calls the handler.
 * Throws ApiError for every refusal, and Unanswered while webhooks have to be asked.
 */
export function route(
  options: RouterOptions,
  request: ApiRequest,
  info: RequestInfo,
  answers: WebhookAnswers,
): Answer {
  const { front } = options;
  // Authorisation precedes routing: a user without rights does not learn what exists.
  const user = front.admit(request, info);
  const call: Call = { request, info, user, answers, formats: front.formats };
  return info.resource ? routeResource(options, call, info.resource) : front.answer(call);
}

function routeResource(options: RouterOptions, call: Call, path: ResourcePath): Answer {
  const { backend, front, dialNode, watchers } = options;
  const resource = backend.served.find(path.group, path.version, path.plural);
  if (!resource) return front.answer(call);
  if (path.namespace !== '' && !resource.namespaced) {
    if (resource.custom) return pathNotFound();
    throw unknownPath();
  }
  if (!resource.custom && endsInSlash(call.info, path)) refuseNameless(resource, path);
  const handler = handlerFor(front, call, resource, path);
  const answer = handler({ ...call, backend, dialNode, watchers, resource, path });
  return resource.deprecation === null ? answer : withWarning(answer, resource.deprecation);
}

/** The path after `proxy` belongs to another server. */
function endsInSlash({ path }: RequestInfo, { subresource }: ResourcePath): boolean {
  return path.endsWith('/') && subresource !== 'proxy';
}

/** A path that ends where a name should follow is a client's mistake: never the whole collection. */
function refuseNameless({ namespaced }: Resource, { namespace, name }: ResourcePath): never {
  const isNameless = name === '' && (!namespaced || namespace !== '');
  throw isNameless ? badRequest('name must be provided') : unknownPath();
}

type Handler = (call: ResourceCall) => Answer;

const handlers: Readonly<Record<string, Handler>> = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
};

/** Verbs that act on a collection; the others need a name. */
const collectionVerbs = new Set(['create', 'list', 'watch', 'deletecollection']);
const subresourceHandlers: Readonly<Record<string, Handler>> = {
  eviction: handleEviction,
  binding: handleBinding,
  proxy: handleProxy,
  scale: handleScale,
};

function handlerFor(front: OpenFront, call: Call, resource: Resource, path: ResourcePath): Handler {
  const { verb } = call.info;
  const { method } = call.request;
  // The real server accepts HEAD for a proxied path, and for no other resource.
  const isProxy = path.subresource === 'proxy';
  if (method.toUpperCase() === 'HEAD' && !isProxy) throw methodNotAllowed();
  const subresource = resource.subresources.find(({ name }) => name === path.subresource);
  if (path.subresource !== '') {
    if (!subresource) throw resource.custom ? notFound(resource, path.name) : unknownPath();
    if (!subresource.verbs.includes(verb)) {
      throw resource.custom ? verbNotSupported(resource, verb) : methodNotAllowed();
    }
    const { [path.subresource]: ofFront } = front.subresources;
    const handler = subresourceHandlers[path.subresource] ?? ofFront ?? handlers[verb];
    if (!handler) throw methodNotAllowed();
    return handler;
  }
  const handler = entry(handlers, verb);
  const needsName = !collectionVerbs.has(verb);
  if (!handler || !resource.verbs.includes(verb) || needsName !== (path.name !== '')) {
    throw methodNotAllowed();
  }
  // All namespaces together can be read but not written.
  const everywhere = resource.namespaced && path.namespace === '';
  if (everywhere && verb !== 'list' && verb !== 'watch') {
    if (resource.custom) return pathNotFound;
    throw path.name ? unknownPath() : methodNotAllowed();
  }
  return handler;
}
