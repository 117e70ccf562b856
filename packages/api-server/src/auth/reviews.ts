import type { KubeObject, User } from '@taintmgr/sim-cluster/server';
import {
  ApiError,
  always,
  badRequest,
  formatTime,
  invalidValue,
  list,
  type Struct,
  struct,
  topLevel,
} from '@taintmgr/sim-cluster/server';
import type { Access } from './access.ts';
import { type Authenticator, serverAudience } from './authenticator.ts';
import { type Attributes, userInfo } from './authorizer.ts';

/** The user, and the sources of the answer. */
interface ReviewContext {
  readonly user: User;
  readonly access: Access;
  readonly authenticator: Authenticator;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Reviews of access and tokens: kinds that are asked and answered but never stored. */
export interface Review {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly schema: Struct;
  /** Fills in the status. Throws ApiError 400 or 422 for a question that makes no sense. */
  readonly answer: (review: KubeObject, context: ReviewContext) => KubeObject;
}

const authentication = 'authentication.k8s.io';
const authorization = 'authorization.k8s.io';

const attributeFields = {
  resourceAttributes: struct('ResourceAttributes', {
    namespace: 'string',
    verb: 'string',
    group: 'string',
    version: 'string',
    resource: 'string',
    subresource: 'string',
    name: 'string',
    fieldSelector: 'any',
    labelSelector: 'any',
  }),
  nonResourceAttributes: struct('NonResourceAttributes', { path: 'string', verb: 'string' }),
} as const;
const selfAccessSpec = struct('SelfSubjectAccessReviewSpec', attributeFields);
const accessSpec = struct('SubjectAccessReviewSpec', {
  ...attributeFields,
  user: 'string',
  groups: list('string'),
  extra: 'any',
  uid: 'string',
});
const tokenSpec = struct('TokenReviewSpec', { token: 'string', audiences: list('string') });

function invalidReview(field: string, value: unknown, text: string): Error {
  const cause = invalidValue(field, value, text);
  const message = `.${authorization} "" is invalid: ${cause.field}: ${cause.message}`;
  return new ApiError(422, 'Invalid', message, { group: authorization, causes: [cause] });
}

function attributesOf({ spec }: KubeObject): Attributes {
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec;
  if ((resource === undefined) === (other === undefined)) {
    const text = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalidReview('spec.resourceAttributes', resource, text);
  }
  if (!resource) return { verb: other.verb ?? '', path: other.path ?? '', resource: null };
  return {
    verb: resource.verb ?? '',
    path: '',
    resource: {
      group: resource.group ?? '',
      plural: resource.resource ?? '',
      subresource: resource.subresource ?? '',
      namespace: resource.namespace ?? '',
      name: resource.name ?? '',
    },
  };
}

function withDecision(review: KubeObject, user: User, access: Access): KubeObject {
  const { grant, reason } = access.decide(user, attributesOf(review));
  const status = { allowed: grant !== null, ...(reason === '' ? {} : { reason }) };
  return { ...review, status };
}

function answerSelfAccess(review: KubeObject, { user, access }: ReviewContext): KubeObject {
  return withDecision(review, user, access);
}

function answerAccess(review: KubeObject, { access }: ReviewContext): KubeObject {
  const { user = '', groups = [] } = review.spec;
  if (user === '' && groups.length === 0) {
    const text = 'at least one of user or group must be specified';
    throw invalidReview('spec.user', user, text);
  }
  return withDecision(review, access.named(user, groups), access);
}

/** The answer omits `authenticated` for an unauthenticated token: the wire leaves `false` out. */
function answerToken(review: KubeObject, { authenticator }: ReviewContext): KubeObject {
  const token: string = review.spec.token ?? '';
  const given: readonly string[] = review.spec.audiences ?? [];
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const bearer = authenticator.review(token, given.length > 0 ? given : [serverAudience]);
  const status =
    typeof bearer === 'string'
      ? { user: {}, error: bearer }
      : { authenticated: true, user: userInfo(bearer.user), audiences: bearer.audiences };
  return { ...review, status };
}

function answerRules(review: KubeObject, { user, access }: ReviewContext): KubeObject {
  const namespace: string = review.spec.namespace ?? '';
  const rules = access
    .grantsOf(user)
    .map(({ rule }) => rule)
    .filter((rule) => rule.namespace === undefined || rule.namespace === namespace);
  const resourceRules = rules
    .filter((rule) => rule.resources)
    .map(({ verbs, apiGroups = [], resources = [], resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames ? { resourceNames } : {}),
    }));
  const nonResourceRules = rules
    .filter((rule) => rule.nonResourceURLs)
    .map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs }));
  const status = { resourceRules, nonResourceRules, incomplete: false };
  return { ...review, spec: {}, status };
}

function answerSubject(review: KubeObject, { user, now }: ReviewContext): KubeObject {
  const metadata = { ...review.metadata, creationTimestamp: formatTime(now) };
  return { ...review, metadata, status: { userInfo: userInfo(user) } };
}

function review(
  group: string,
  kind: string,
  fields: Struct['fields'],
  answer: Review['answer'],
): Review {
  const singular = kind.toLowerCase();
  const schema = topLevel(kind, { ...fields, status: 'any' });
  return { group, version: 'v1', plural: `${singular}s`, singular, kind, schema, answer };
}

const rulesSpec = struct('SelfSubjectRulesReviewSpec', { namespace: 'string' });

/** The reviews served. */
export const reviews: readonly Review[] = [
  review(authentication, 'SelfSubjectReview', {}, answerSubject),
  review(authentication, 'TokenReview', { spec: always(tokenSpec) }, answerToken),
  review(
    authorization,
    'SelfSubjectAccessReview',
    { spec: always(selfAccessSpec) },
    answerSelfAccess,
  ),
  review(authorization, 'SelfSubjectRulesReview', { spec: always(rulesSpec) }, answerRules),
  review(authorization, 'SubjectAccessReview', { spec: always(accessSpec) }, answerAccess),
];
