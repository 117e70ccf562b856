// Handles POST serviceaccounts/NAME/token: a token that lets its bearer act as the account.
import { randomBytes } from 'node:crypto';
import { serviceAccountUser } from '../auth/authorizer.ts';
import { invalid, notFound } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import { topLevel } from '../schema/metadata.ts';
import { always, list, type Struct, struct } from '../schema/types.ts';
import { invalidValue } from '../validation/causes.ts';
import { type Answer, jsonReply } from '../wire/answer.ts';
import { negotiate } from '../wire/negotiation.ts';
import { type BodyKind, readObject } from './body.ts';
import { type ResourceCall, targetOf } from './context.ts';

const schema: Struct = topLevel('TokenRequest', {
  spec: always(
    struct('TokenRequestSpec', {
      audiences: list('string'),
      expirationSeconds: 'int64*',
      boundObjectRef: 'any',
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

const audience = 'https://kubernetes.default.svc';
const defaultSeconds = 3600;
const secondsMin = 600;
const secondsMax = 2 ** 32;

/** Answers with the token; nothing is stored. */
export function handleToken(call: ResourceCall): Answer {
  const { backend, resource, info, request, issueToken } = call;
  const { namespace, name } = targetOf(call);
  const account = backend.store.get(resource.storeKey, namespace, name);
  if (!account) throw notFound(resource, name);
  const { object, warnings } = readObject(request, info.query, kind);
  const { audiences = [], expirationSeconds = defaultSeconds, boundObjectRef } = object.spec;
  const wrong = durationError(expirationSeconds);
  if (wrong !== null) {
    throw invalid(kind, name, [invalidValue('spec.expirationSeconds', expirationSeconds, wrong)]);
  }
  const now = backend.clock.now();
  const expires = now + expirationSeconds * 1000;
  const spec = {
    audiences: audiences.length > 0 ? audiences : [audience],
    expirationSeconds,
    boundObjectRef: boundObjectRef ?? null,
  };
  const token = tokenOf(account, spec.audiences, now, expires);
  issueToken(
    token,
    { ...serviceAccountUser(namespace, name), uid: account.metadata.uid ?? '' },
    expires - now,
  );
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

function durationError(seconds: number): string | null {
  if (seconds < secondsMin) return 'may not specify a duration less than 10 minutes';
  return seconds > secondsMax ? 'may not specify a duration larger than 2^32 seconds' : null;
}

/** It has the form of a signed token; only this server can tell whether it is one. */
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
    iss: audience,
    sub: `system:serviceaccount:${metadata.namespace}:${metadata.name}`,
  };
  const parts = [{ alg: 'RS256', kid: 'sim' }, claims].map((part) => JSON.stringify(part));
  const encoded = parts.map((part) => Buffer.from(part).toString('base64url'));
  return [...encoded, randomBytes(32).toString('base64url')].join('.');
}
