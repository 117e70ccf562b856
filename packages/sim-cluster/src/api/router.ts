// Sends each request to its handler, once it is authenticated and allowed.
import type { WebhookAnswers } from '../admission/webhooks/answers.ts';
import type { Access } from '../auth/access.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Attributes, User } from '../auth/authorizer.ts';
import { impersonated, impersonationVerb } from '../auth/impersonation.ts';
import { type Review, reviews } from '../auth/reviews.ts';
import { apiGroups } from '../discovery/documents.ts';
import { mediaType, readObject } from '../handlers/body.ts';
import type { ResourceCall } from '../handlers/context.ts';
import { handlePath, pathNotFound } from '../handlers/discovery.ts';
import type { DialNode } from '../handlers/node-proxy.ts';
import { applyType, handlePatch } from '../handlers/patch.ts';
import { handleGet, handleList, handleWatch } from '../handlers/read.ts';
import type { Call, RequestInfo, ResourcePath } from '../handlers/request.ts';
import { handleScale } from '../handlers/scale.ts';
import { handleToken } from '../handlers/token.ts';
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
  accessDenied,
  badRequest,
  methodNotAllowed,
  notFound,
  pathDenied,
  unknownPath,
  verbNotSupported,
} from '../objects/errors.ts';
import { entry } from '../objects/json.ts';
import { type Resource, storageOf } from '../resources/resource.ts';
import type { ServedResources } from '../resources/served.ts';
import { type Answer, jsonReply, withWarning } from '../wire/answer.ts';
import type { ApiRequest } from '../wire/exchange.ts';
import { negotiate } from '../wire/negotiation.ts';
import type { Backend } from '../write/backend.ts';

export interface RouterOptions {
  readonly backend: Backend;
  readonly authenticator: Authenticator;
  readonly access: Access;
  readonly dialNode: DialNode;
  readonly watchers: Watchers;
  /** Whether answers are in protobuf where that is asked for. */
  readonly protobuf: boolean;
}

/**
 * Answers a request: who asks, may he, what for. Throws ApiError for every refusal, and Unanswered while
 * webhooks have to be asked.
 */
export function route(
  options: RouterOptions,
  request: ApiRequest,
  info: RequestInfo,
  answers: WebhookAnswers,
): Answer {
  const { authenticator, access } = options;
  const asking = authenticator.authenticate(request.headers);
  const user = impersonated(access, asking, request.headers);
  if (!user) {
    const verb = impersonationVerb(request.headers['impersonate-user'] ?? '', info.verb);
    throw refusal(asking, { ...attributesOf(info), verb }, '');
  }
  // Authorisation comes before routing: who may nothing does not learn what exists.
  const attributes = attributesOf(info);
  const { grant, reason } = access.judge(user, attributes);
  if (!grant) throw refusal(user, attributes, reason);
  if (appliesNew(options, request, info)) {
    // What is not there yet is created, which is a right of its own.
    const creates = { ...attributes, verb: 'create' };
    const decision = access.judge(user, creates);
    if (!decision.grant) throw refusal(user, creates, decision.reason);
  }
  const call: Call = { request, info, user, answers };
  return info.resource
    ? routeResource(options, call, info.resource)
    : handlePath(call, options.backend.served);
}

function appliesNew({ backend }: RouterOptions, request: ApiRequest, info: RequestInfo): boolean {
  const { verb, resource: path } = info;
  if (verb !== 'patch' || !path || mediaType(request) !== applyType) return false;
  const resource = backend.served.find(path.group, path.version, path.plural);
  if (!resource) return false;
  return backend.store.get(storageOf(resource).storeKey, path.namespace, path.name) === null;
}

function attributesOf(info: RequestInfo): Attributes {
  const { verb, path, resource } = info;
  return { verb, path, resource: resource ? { ...resource, name: nameOf(info, resource) } : null };
}

function refusal(user: User, { verb, path, resource }: Attributes, reason: string): Error {
  const who = `User ${JSON.stringify(user.name)}`;
  const why = reason === '' ? '' : `: ${reason}`;
  if (!resource) return pathDenied(`${who} cannot ${verb} path "${path}"${why}`);
  const { group, plural, subresource, namespace, name } = resource;
  const what = JSON.stringify(subresource ? `${plural}/${subresource}` : plural);
  const where = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
  const text = `${who} cannot ${verb} resource ${what} in API group "${group}" ${where}${why}`;
  return accessDenied({ group, plural }, name, text);
}

/** A list or watch narrowed to one name is about that object. */
function nameOf({ query }: RequestInfo, resource: ResourcePath): string {
  if (resource.name) return resource.name;
  return /^metadata\.name==?([^,=]+)$/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}

function routeResource(options: RouterOptions, call: Call, path: ResourcePath): Answer {
  const { backend } = options;
  const resource = backend.served.find(path.group, path.version, path.plural);
  const review = resource ? undefined : reviewAt(path);
  if (review) return answerReview(options, call, path, review);
  if (!resource) return nothingAt(backend.served, path);
  if (path.namespace !== '' && !resource.namespaced) {
    if (resource.custom) return pathNotFound();
    throw unknownPath();
  }
  if (!resource.custom && endsInSlash(call.info, path)) refuseNameless(resource, path);
  const handler = handlerFor(call, resource, path);
  const answer = handler({ ...options, ...call, resource, path });
  return resource.deprecation === null ? answer : withWarning(answer, resource.deprecation);
}

/** What follows `proxy` in a path is somebody else's. */
function endsInSlash({ path }: RequestInfo, { subresource }: ResourcePath): boolean {
  return path.endsWith('/') && subresource !== 'proxy';
}

/** A path that ends where a name should follow is a client's mistake: never the whole collection. */
function refuseNameless({ namespaced }: Resource, { namespace, name }: ResourcePath): never {
  const isNameless = name === '' && (!namespaced || namespace !== '');
  throw isNameless ? badRequest('name must be provided') : unknownPath();
}

function reviewAt({ group, version, plural }: ResourcePath): Review | undefined {
  return reviews.find(
    (review) => review.group === group && review.plural === plural && review.version === version,
  );
}

/** In a group of every server the path is refused; elsewhere it leads nowhere at all. */
function nothingAt(served: ServedResources, { group }: ResourcePath): Answer {
  const isDefined = served.all.some((resource) => resource.custom && resource.group === group);
  if (isDefined || (group !== '' && !apiGroups(served).includes(group))) return pathNotFound();
  throw unknownPath();
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
  token: handleToken,
};

function handlerFor(call: Call, resource: Resource, path: ResourcePath): Handler {
  const { verb } = call.info;
  const { method } = call.request;
  // The real server knows HEAD for what is proxied, and for nothing else that is a resource.
  const isProxy = path.subresource === 'proxy';
  if (method.toUpperCase() === 'HEAD' && !isProxy) throw methodNotAllowed();
  const subresource = resource.subresources.find(({ name }) => name === path.subresource);
  if (path.subresource !== '') {
    if (!subresource) throw resource.custom ? notFound(resource, path.name) : unknownPath();
    if (!subresource.verbs.includes(verb)) {
      throw resource.custom ? verbNotSupported(resource, verb) : methodNotAllowed();
    }
    const handler = subresourceHandlers[path.subresource] ?? handlers[verb];
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

function answerReview(
  { backend, access, authenticator }: RouterOptions,
  call: Call,
  path: ResourcePath,
  review: Review,
): Answer {
  if (call.info.verb !== 'create' || path.name !== '') throw methodNotAllowed();
  const { pretty } = negotiate(call.request.headers, call.info.query.get('pretty'));
  const { object } = readObject(call.request, call.info.query, review);
  const apiVersion = `${review.group}/${review.version}`;
  const asked = { ...object, kind: review.kind, apiVersion };
  const now = backend.clock.now();
  const answered = review.answer(asked, { user: call.user, access, authenticator, now });
  const { kind, metadata, ...rest } = answered;
  const ordered = { kind, apiVersion, metadata, ...rest };
  return jsonReply(201, ordered, pretty);
}
