// Finds out who asks, by token or client certificate.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Millis } from '@taintmgr/core/time';
import type { ApiClient, ApiRequest } from '@taintmgr/k8s-adapter';
import { Paced } from './paced.ts';
import { Reviews, TooManyReviewsError } from './reviews.ts';

interface AuthenticationOptions {
  /** Reviews tokens. */
  readonly client: Pick<ApiClient, 'send'>;
  /** How long the review of a token holds. */
  readonly cacheTtl: Millis;
  /** Told when tokens cannot be reviewed. */
  readonly onError: (error: unknown) => void;
}

/** Null: the credential is not valid. Rejects with TooManyReviewsError. */
export type Authenticate = (request: IncomingMessage) => Promise<Identity | null>;

/**
 * Finds out who asks, as kube-controller-manager does: by client certificate, else by a bearer
 * token that the API server reviews, else it is nobody in particular.
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

/** Nobody else can have it: the handshake of TCP has shown it. */
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
export function reviewRequest(path: string, body: object): ApiRequest {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify(body) };
}

/** The user who asks. */
export interface Identity {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Whoever shows no credential. */
export const anonymous: Identity = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};

const everyone = 'system:authenticated';

/** Somebody who has shown a credential is in the group of all who have. */
function authenticated(identity: Identity): Identity {
  const { groups } = identity;
  return groups.includes(everyone) ? identity : { ...identity, groups: [...groups, everyone] };
}
