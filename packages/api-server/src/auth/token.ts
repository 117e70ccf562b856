// Handles POST serviceaccounts/NAME/token: a token that lets its bearer act as the account.
import { randomBytes } from 'node:crypto';
import type { KubeObject, ResourceCall } from '@taintmgr/sim-cluster/server';
import {
  type Answer,
  always,
  type BodyKind,
  badRequest,
  conflict,
  formatTime,
  invalid,
  invalidValue,
  jsonReply,
  list,
  negotiate,
  notFound,
  readObject,
  type Struct,
  struct,
  targetOf,
  topLevel,
} from '@taintmgr/sim-cluster/server';
import { type AccountToken, type BoundKind, boundResources } from './account-token.ts';
import { type Authenticator, serverAudience } from './authenticator.ts';

const schema: Struct = topLevel('TokenRequest', {
  spec: always(
    struct('TokenRequestSpec', {
      audiences: list('string'),
      expirationSeconds: 'int64*',
      boundObjectRef: struct('BoundObjectReference', {
        kind: 'string',
        apiVersion: 'string',
        name: 'string',
        uid: 'string',
      }),
    }),
  ),
  status: 'any',
});
const kind: BodyKind = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  schema,
};

const defaultSeconds = 3600;
const secondsMin = 600;
const secondsMax = 2 ** 32;

/** Answers with the token; nothing is stored. */
export function handleToken(authenticator: Authenticator, call: ResourceCall): Answer {
  const { backend, resource, info, request } = call;
  const { namespace, name } = targetOf(call);
  const account = backend.store.get(resource.storeKey, namespace, name);
  if (!account) throw notFound(resource, name);
  const { object, warnings } = readObject(call, kind);
  const { audiences = [], expirationSeconds = defaultSeconds, boundObjectRef } = object.spec;
  const wrong = durationError(expirationSeconds);
  if (wrong !== null) {
    throw invalid(kind, name, [invalidValue('spec.expirationSeconds', expirationSeconds, wrong)]);
  }
  const bound = boundObjectRef ? boundTo(call, boundObjectRef) : null;
  const now = backend.clock.now();
  const expires = now + expirationSeconds * 1000;
  const spec = {
    audiences: audiences.length > 0 ? audiences : [serverAudience],
    expirationSeconds,
    boundObjectRef: boundObjectRef ?? null,
  };
  const token = tokenOf(account, spec.audiences, now, expires);
  authenticator.issue(token, {
    namespace,
    account: { name, uid: account.metadata.uid ?? '' },
    audiences: spec.audiences,
    bound,
  });
  backend.clock.after(expires - now, () => authenticator.revoke(token));
  const answer = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid: account.metadata.uid, creationTimestamp: formatTime(now) },
    spec,
    status: { token, expirationTimestamp: formatTime(expires) },
  };
  const { pretty } = negotiate(request.headers, info.query.get('pretty'));
  return jsonReply(201, answer, pretty, warnings);
}

interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
}

/** The object that a token is to end with. Throws ApiError 400, 404 or 409 for one that it cannot end with. */
function boundTo(
  { backend, path }: ResourceCall,
  { apiVersion = '', kind = '', name = '', uid = '' }: ObjectReference,
): AccountToken['bound'] {
  if (!isBoundKind(kind) || apiVersion !== 'v1') {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const type = `${group}/${version}, Kind=${kind}`;
    throw badRequest(`cannot bind token to object of type ${type}`);
  }
  const plural = boundResources[kind];
  const found = backend.store.get(plural, kind === 'Node' ? '' : path.namespace, name);
  if (!found) throw notFound({ group: '', plural }, name);
  if (kind === 'Pod' && (found.spec.serviceAccountName || 'default') !== path.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(path.name)} to pod running with different serviceaccount name.`,
    );
  }
  const present = found.metadata.uid ?? '';
  if (uid === '' || uid === present) return { kind, name, uid: present };
  const text = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw conflict({ group: '', plural: kind }, name, text);
}

function isBoundKind(kind: string): kind is BoundKind {
  return Object.hasOwn(boundResources, kind);
}

function durationError(seconds: number): string | null {
  if (seconds < secondsMin) return 'may not specify a duration less than 10 minutes';
  return seconds > secondsMax ? 'may not specify a duration larger than 2^32 seconds' : null;
}

/** The token has the form of a signed token; only this server can verify it. */
function tokenOf(
  { metadata }: KubeObject,
  aud: readonly string[],
  now: number,
  expires: number,
): string {
  const seconds = (ms: number): number => Math.floor(ms / 1000);
  const claims = {
    aud,
    exp: seconds(expires),
    iat: seconds(now),
    iss: serverAudience,
    sub: `system:serviceaccount:${metadata.namespace}:${metadata.name}`,
  };
  const parts = [{ alg: 'RS256', kid: 'sim' }, claims].map((part) => JSON.stringify(part));
  const encoded = parts.map((part) => Buffer.from(part).toString('base64url'));
  return [...encoded, randomBytes(32).toString('base64url')].join('.');
}
