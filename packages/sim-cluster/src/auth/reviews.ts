import { ApiError } from '../errors.ts';
import type { Json, KubeObject } from '../objects.ts';
import { topLevel } from '../schema/metadata.ts';
import { always, type Struct, struct } from '../schema/types.ts';
import { formatTime } from '../time.ts';
import { invalidValue } from '../validation/causes.ts';
import { type Attributes, isAllowed, rulesOf, type User } from './authorizer.ts';

/** A kind that is asked and answered but never stored. */
export interface Review {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly schema: Struct;
  /** Fills in the status. Throws ApiError 422 for a question that makes no sense. */
  readonly answer: (review: KubeObject, user: User, now: number) => KubeObject;
}

const accessSpec = struct('SelfSubjectAccessReviewSpec', {
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
});

function answerAccess(review: KubeObject, user: User): KubeObject {
  const { resourceAttributes: resource, nonResourceAttributes: other } = review.spec;
  if ((resource === undefined) === (other === undefined)) {
    const text = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    const cause = invalidValue('spec.resourceAttributes', resource, text);
    throw new ApiError(
      422,
      'Invalid',
      `.authorization.k8s.io "" is invalid: ${cause.field}: ${cause.message}`,
      { group: 'authorization.k8s.io', causes: [cause] },
    );
  }
  const attributes: Attributes = resource
    ? {
        verb: resource.verb ?? '',
        path: '',
        resource: {
          group: resource.group ?? '',
          plural: resource.resource ?? '',
          subresource: resource.subresource ?? '',
          namespace: resource.namespace ?? '',
          name: resource.name ?? '',
        },
      }
    : { verb: other.verb ?? '', path: other.path ?? '', resource: null };
  return { ...review, status: { allowed: isAllowed(user, attributes) } };
}

function answerRules(review: KubeObject, user: User): KubeObject {
  const namespace: string = review.spec.namespace ?? '';
  const rules = rulesOf(user).filter(
    (rule) => rule.namespace === undefined || rule.namespace === namespace,
  );
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

function answerSubject(review: KubeObject, user: User, now: number): KubeObject {
  const { name: username, uid, groups } = user;
  const userInfo: { readonly [key: string]: Json } = { username, ...(uid ? { uid } : {}), groups };
  const metadata = { ...review.metadata, creationTimestamp: formatTime(now) };
  return { ...review, metadata, status: { userInfo } };
}

/** The reviews served, all of the asking user itself. */
export const REVIEWS: readonly Review[] = [
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    plural: 'selfsubjectreviews',
    singular: 'selfsubjectreview',
    kind: 'SelfSubjectReview',
    schema: topLevel('SelfSubjectReview', { status: 'any' }),
    answer: answerSubject,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
    singular: 'selfsubjectaccessreview',
    kind: 'SelfSubjectAccessReview',
    schema: topLevel('SelfSubjectAccessReview', { spec: always(accessSpec), status: 'any' }),
    answer: answerAccess,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectrulesreviews',
    singular: 'selfsubjectrulesreview',
    kind: 'SelfSubjectRulesReview',
    schema: topLevel('SelfSubjectRulesReview', {
      spec: always(struct('SelfSubjectRulesReviewSpec', { namespace: 'string' })),
      status: 'any',
    }),
    answer: answerRules,
  },
];
