// Lets a request in or turns it away: finds out who asks, by token or client certificate, then whether he may.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Millis } from '@taintmgr/core/time';
import type { ApiClient, ApiRequest } from '@taintmgr/k8s-adapter';
import { type Answer, errorAnswer, statusAnswer } from './answer.ts';
import { Paced } from './paced.ts';
import { Reviews, TooManyReviewsError } from './reviews.ts';

interface AuthenticationOptions {
  /** Reviews tokens. */
  readonly client: Pick<ApiClient, 'send'>;
  /** The time that the review of a token holds. */
  readonly cacheTtl: Millis;
  /** Told when tokens cannot be reviewed. */
  readonly onError: (error: unknown) => void;
}

/** Null: the credential is not valid. Rejects with TooManyReviewsError. */
export type Authenticate = (request: IncomingMessage) => Promise<Identity | null>;

/**
 * Finds out who asks, as kube-controller-manager does: by client certificate, else by a bearer token that the
 * API server reviews, else the client is anonymous.
 */
export function createAuthenticator(options: AuthenticationOptions): Authenticate {
  const { client, cacheTtl, onError } = options;
  const reviews = new Reviews<Identity | null>({
    ttl: () => cacheTtl,
    isGood: (identity) => identity !== null,
    now: () => performance.now(),
  });
  return async (request) => {
    const certified = certifiedIdentity(request);
    if (certified) return certified;
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) return anonymous;
    // The token itself is not to lie around.
    const key = createHash('sha256').update(token).digest('base64');
    try {
      return await reviews.answer(key, addressOf(request), () => reviewToken(client, token));
    } catch (error) {
      if (error instanceof TooManyReviewsError) throw error;
      onError(error);
      return null;
    }
  };
}

/** The client owns the address: the handshake of TCP has shown it. */
function addressOf({ socket }: IncomingMessage): string {
  const paced: Duplex = socket;
  return paced instanceof Paced ? paced.connection.peer : '';
}

/** The subject of a client certificate that --client-ca-file vouches for. */
function certifiedIdentity(request: IncomingMessage): Identity | null {
  const paced: Duplex = request.socket;
  const socket = paced instanceof Paced ? paced.source : null;
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const { subject } = socket.getPeerCertificate();
  const [name = ''] = [subject?.CN ?? ''].flat();
  if (name === '') return null;
  const groups = [subject?.O ?? []].flat();
  return authenticated({ name, uid: '', groups, extra: {} });
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

async function reviewToken(
  client: Pick<ApiClient, 'send'>,
  token: string,
): Promise<Identity | null> {
  const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' };
  const answer = await client.send(
    reviewRequest('/apis/authentication.k8s.io/v1/tokenreviews', { ...kind, spec: { token } }),
  );
  const { status = {} } = answer as TokenReview;
  const { username = '', uid = '', groups = [], extra = {} } = status.user ?? {};
  if (!status.authenticated || username === '') return null;
  return authenticated({ name: username, uid, groups, extra });
}

/** A question to the API server that changes nothing. */
function reviewRequest(path: string, body: object): ApiRequest {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify(body) };
}

/** The user who asks. */
interface Identity {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A client without a credential. */
const anonymous: Identity = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};

const everyone = 'system:authenticated';

/** A client with a credential is in the group of all authenticated users. */
function authenticated(identity: Identity): Identity {
  const { groups } = identity;
  return groups.includes(everyone) ? identity : { ...identity, groups: [...groups, everyone] };
}

export interface AuthorizationOptions {
  /** Asks who may do what. */
  readonly client: Pick<ApiClient, 'send'>;
  /** Open to all clients; a path that ends in `*` stands for all that begin so. */
  readonly alwaysAllowPaths: readonly string[];
  readonly allowedTtl: Millis;
  readonly deniedTtl: Millis;
}

/** Tells if a client may do this at this path. Rejects when that cannot be found out. */
export type Authorize = (identity: Identity, verb: string, path: string) => Promise<boolean>;

/**
 * Decides who may read what, as kube-controller-manager does: some paths are open, system:masters
 * may read everything, and for the rest the API server is asked.
 */
export function createAuthorizer(options: AuthorizationOptions): Authorize {
  const { client, alwaysAllowPaths, allowedTtl, deniedTtl } = options;
  const reviews = new Reviews<boolean>({
    ttl: (allowed) => (allowed ? allowedTtl : deniedTtl),
    isGood: (allowed) => allowed,
    now: () => performance.now(),
  });
  return async (identity, verb, path) => {
    if (alwaysAllowPaths.some((open) => covers(open, path))) return true;
    if (identity.groups.includes('system:masters')) return true;
    const key = JSON.stringify([identity, verb, path]);
    return reviews.answer(key, identity.name, () => reviewAccess(client, identity, verb, path));
  };
}

function covers(open: string, path: string): boolean {
  return open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : open === path;
}

async function reviewAccess(
  client: Pick<ApiClient, 'send'>,
  { name, uid, groups, extra }: Identity,
  verb: string,
  path: string,
): Promise<boolean> {
  const answer = await client.send(
    reviewRequest('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: name, uid, groups, extra, nonResourceAttributes: { path, verb } },
    }),
  );
  return (answer as { status?: { allowed?: boolean } }).status?.allowed === true;
}

/** The decision to let a request in, or to turn it away. */
export interface Admission {
  /** True if a credential has shown who sends it. */
  readonly isKnown: boolean;
  /** The answer that turns it away; null: it is let in. */
  readonly refusal: Answer | null;
}

export type Gate = (request: IncomingMessage, path: string) => Promise<Admission>;

/** Public paths need no credential. */
export const openGate: Gate = async () => ({ isKnown: false, refusal: null });

/**
 * Answers 401 for a credential that is not valid, 403 for a caller without the permission, and 429
 * where there are too many callers to review each.
 */
export function createGate(authenticate: Authenticate, authorize: Authorize): Gate {
  return async (request, path) => {
    try {
      const identity = await authenticate(request);
      if (!identity) return strange(statusAnswer(401, 'Unauthorized', 'Unauthorized'));
      const refusal = await refusalOf(identity, request, path, authorize);
      return { isKnown: identity !== anonymous, refusal };
    } catch (error) {
      if (error instanceof TooManyReviewsError) return strange(laterAnswer(error.message));
      throw error;
    }
  };
}

function strange(refusal: Answer): Admission {
  return { isKnown: false, refusal };
}

async function refusalOf(
  identity: Identity,
  { method = 'GET' }: IncomingMessage,
  path: string,
  authorize: Authorize,
): Promise<Answer | null> {
  const verb = method.toLowerCase();
  try {
    if (await authorize(identity, verb, path)) return null;
  } catch (error) {
    if (error instanceof TooManyReviewsError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    return errorAnswer(`Internal Server Error: ${JSON.stringify(path)}: ${why}`, 500);
  }
  const message = `forbidden: User ${JSON.stringify(identity.name)} cannot ${verb} path ${JSON.stringify(path)}`;
  return statusAnswer(403, 'Forbidden', message);
}

function laterAnswer(message: string): Answer {
  const answer = statusAnswer(429, 'TooManyRequests', message);
  return { ...answer, headers: { ...answer.headers, 'retry-after': '1' } };
}
