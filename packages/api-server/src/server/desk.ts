// The front of one server: authentication, admission, and the answers about resources that are not
// stored.

import type {
  Admission,
  ApiRequest,
  RequestInfo,
  ResourcePath,
  ServedResources,
  User,
} from '@taintmgr/sim-cluster/server';
import {
  type Answer,
  accessDenied,
  applyType,
  type Call,
  type Formats,
  forbiddenValue,
  invalid,
  jsonReply,
  mediaType,
  methodNotAllowed,
  negotiate,
  type OpenFront,
  pathDenied,
  pathNotFound,
  readObject,
  type Server,
  storageOf,
  unknownPath,
} from '@taintmgr/sim-cluster/server';
import { judgeDevices } from '../admission/devices.ts';
import { Escalation } from '../admission/escalation.ts';
import { PolicyAdmission } from '../admission/policy-admission.ts';
import { type CallWebhook, unreachable } from '../admission/webhooks/call.ts';
import { WebhookAdmission } from '../admission/webhooks/webhook-admission.ts';
import { Access } from '../auth/access.ts';
import { Authenticator, type Tokens } from '../auth/authenticator.ts';
import type { Attributes } from '../auth/authorizer.ts';
import { impersonated, impersonationVerb } from '../auth/impersonation.ts';
import { type Review, reviews } from '../auth/reviews.ts';
import { handleToken } from '../auth/token.ts';
import { Definitions } from '../crd/life-cycle.ts';
import { apiGroups } from '../discovery/documents.ts';
import { handlePath } from '../discovery/paths.ts';
import { latestRelease, type Release } from '../kinds/releases.ts';
import { type FormatOptions, formatsOf } from './formats.ts';

/** The options of a server for real clients: authentication, webhooks and formats. */
export interface DeskOptions extends FormatOptions {
  /**
   * Bearer tokens and their users; without them requests are not authenticated and every client is
   * an admin. RBAC objects in the cluster and the rules given here say what a user may do.
   */
  readonly tokens?: Tokens;
  /**
   * The time in milliseconds after a load in which the parameters of admission policies are unknown, as after the
   * start of a server that finds them stored; default 0.
   */
  readonly paramsSyncMs?: number;
  /** Reaches admission webhooks; left out: none can be reached. */
  readonly callWebhook?: CallWebhook;
  /** The version of Kubernetes; left out: the latest, with its beta kinds. */
  readonly release?: Release;
}

export class Desk implements OpenFront {
  readonly formats: Formats;
  readonly admission: Admission;
  /** The rights of users, the refusals, and the rights that no user has used. */
  readonly access: Access;
  /** The admission policies in the store. */
  readonly policies: PolicyAdmission;
  readonly subresources: OpenFront['subresources'];
  readonly #server: Server;
  readonly #authenticator: Authenticator;
  readonly #webhooks: WebhookAdmission;
  readonly #paramsSyncMs: number;
  readonly #release: Release;

  constructor(server: Server, options: DeskOptions) {
    const { store, served, clock, random } = server;
    const { callWebhook: call = unreachable, paramsSyncMs = 0, release = latestRelease } = options;
    this.#release = release;
    const tokens = options.tokens ? new Map(options.tokens) : null;
    this.#server = server;
    this.#paramsSyncMs = paramsSyncMs;
    this.formats = formatsOf(options);
    this.access = new Access(store, tokens);
    this.policies = new PolicyAdmission({ store, clock, access: this.access, served });
    const { access, policies } = this;
    const webhooks = new WebhookAdmission({ store, clock, random, policies, call });
    this.#webhooks = webhooks;
    const escalation = new Escalation(store, access);
    this.admission = {
      judge: (request, writer) => {
        judgeDevices(request, store);
        escalation.judge(request, writer);
        policies.judge(request, writer);
        webhooks.judge(request, writer);
      },
    };
    this.#authenticator = new Authenticator(store, tokens);
    this.subresources = { token: (call) => handleToken(this.#authenticator, call) };
    new Definitions({ ...server, admission: this.admission });
  }

  asksOthers(): boolean {
    return !this.#webhooks.isEmpty;
  }

  loaded(): void {
    this.policies.begin(this.#paramsSyncMs);
  }

  admit(request: ApiRequest, info: RequestInfo): User {
    const { access } = this;
    const asking = this.#authenticator.authenticate(request.headers);
    const user = impersonated(access, asking, request.headers);
    if (!user) {
      const verb = impersonationVerb(request.headers['impersonate-user'] ?? '', info.verb);
      throw refusal(asking, { ...attributesOf(info), verb }, '');
    }
    const attributes = attributesOf(info);
    const { grant, reason } = access.judge(user, attributes);
    if (!grant) throw refusal(user, attributes, reason);
    if (appliesNew(this.#server, request, info)) {
      // A missing object is created, which is a separate right.
      const creates = { ...attributes, verb: 'create' };
      const decision = access.judge(user, creates);
      if (!decision.grant) throw refusal(user, creates, decision.reason);
    }
    if (info.verb === 'watch' && info.query.has('sendInitialEvents')) checkStream(this.#release);
    return user;
  }

  answer(call: Call): Answer {
    const { served } = this.#server;
    const path = call.info.resource;
    if (!path) return handlePath(call, served, this.#release);
    const review = reviewAt(path);
    return review ? this.#answerReview(call, path, review) : nothingAt(served, path);
  }

  #answerReview(call: Call, path: ResourcePath, review: Review): Answer {
    if (call.info.verb !== 'create' || path.name !== '') throw methodNotAllowed();
    const { pretty } = negotiate(call.request.headers, call.info.query.get('pretty'));
    const { object } = readObject(call, review);
    const apiVersion = `${review.group}/${review.version}`;
    const asked = { ...object, kind: review.kind, apiVersion };
    const now = this.#server.clock.now();
    const { access } = this;
    const authenticator = this.#authenticator;
    const answered = review.answer(asked, { user: call.user, access, authenticator, now });
    const { kind, metadata, ...rest } = answered;
    const ordered = { kind, apiVersion, metadata, ...rest };
    return jsonReply(201, ordered, pretty);
  }
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

function appliesNew({ served, store }: Server, request: ApiRequest, info: RequestInfo): boolean {
  const { verb, resource: path } = info;
  if (verb !== 'patch' || !path || mediaType(request) !== applyType) return false;
  const resource = served.find(path.group, path.version, path.plural);
  if (!resource) return false;
  return store.get(storageOf(resource).storeKey, path.namespace, path.name) === null;
}

/** Throws ApiError where a watch cannot begin with a list. */
function checkStream({ streamsLists }: Release): void {
  if (streamsLists) return;
  const text =
    'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
  const causes = [forbiddenValue('sendInitialEvents', text)];
  throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
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
