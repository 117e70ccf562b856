// Finds the user of a request by its token.

import type { Store, User } from '@taintmgr/sim-cluster/server';
import { unauthorized } from '@taintmgr/sim-cluster/server';
import { type AccountToken, accountTokenError, userOf } from './account-token.ts';

/** The user of a request without a credential, or with one of a kind the server does not know. */
const anonymous: User = {
  name: 'system:anonymous',
  groups: ['system:unauthenticated'],
  rules: [],
};

/** The user of every request to a server that checks no credentials. */
const admin: User = {
  name: 'admin',
  groups: ['system:masters', 'system:authenticated'],
  rules: [],
};

/** The audience of this server; a token that names no audience has it too. */
export const serverAudience = 'https://kubernetes.default.svc';
const serverAudiences: readonly string[] = [serverAudience];

/** Bearer tokens, and the users that they stand for. */
export type Tokens = ReadonlyMap<string, User>;

/** The user of a token, and those of the requested audiences that the token is meant for. */
export interface Bearer {
  readonly user: User;
  readonly audiences: readonly string[];
}

const unknownToken = 'invalid bearer token';

/** Knows the tokens given from the start, which stand for themselves, and those of service accounts. */
export class Authenticator {
  readonly #store: Store;
  /** Null: requests are not authenticated, and every client is an admin. */
  readonly #tokens: Tokens | null;
  readonly #issued = new Map<string, AccountToken>();

  constructor(store: Store, tokens: Tokens | null) {
    this.#store = store;
    this.#tokens = tokens;
  }

  /** Lets a token of a service account in until it is revoked. */
  issue(token: string, what: AccountToken): void {
    this.#issued.set(token, what);
  }

  revoke(token: string): void {
    this.#issued.delete(token);
  }

  /** The user behind a request. Throws ApiError 401 for a token that does not let its bearer in. */
  authenticate(headers: Readonly<Record<string, string>>): User {
    if (!this.#tokens) return admin;
    const credential = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '');
    if (!credential) return anonymous;
    const bearer = this.review(credential[1] ?? '', serverAudiences);
    if (typeof bearer === 'string') throw unauthorized();
    return bearer.user;
  }

  /** The user of a token for one of these audiences; a text is the reason for a refusal. */
  review(token: string, audiences: readonly string[]): Bearer | string {
    const user = this.#tokens ? this.#tokens.get(token) : admin;
    const issued = user ? undefined : this.#issued.get(token);
    if (issued) {
      const error = accountTokenError(this.#store, issued, audiences);
      // The real server asks for its other tokens too, which do not know this one.
      if (error !== null) return `[${unknownToken}, ${error}]`;
      const meant = issued.audiences.filter((audience) => audiences.includes(audience));
      return { user: withGroup(userOf(issued)), audiences: meant };
    }
    // A token that names no audience is meant for this server.
    if (!user || !audiences.includes(serverAudience)) return unknownToken;
    return { user: withGroup(user), audiences: serverAudiences };
  }
}

function withGroup(user: User): User {
  const group = 'system:authenticated';
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
}
