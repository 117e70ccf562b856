// Who asks, by token.
import { unauthorized } from '../objects/errors.ts';
import type { User } from './authorizer.ts';

/** Whoever shows no credential, or one of a kind the server does not know. */
const anonymous: User = {
  name: 'system:anonymous',
  groups: ['system:unauthenticated'],
  rules: [],
};

/** Whoever asks a server that checks no credentials. */
const admin: User = {
  name: 'admin',
  groups: ['system:masters', 'system:authenticated'],
  rules: [],
};

/** Bearer tokens and the users they stand for. */
export type Tokens = ReadonlyMap<string, User>;

/** Lets a token in for so long. */
export type IssueToken = (token: string, user: User, lifetimeMs: number) => void;

/**
 * The user behind a request. With `tokens` null nobody is asked and everybody is an admin.
 * Throws ApiError 401 for a token that is not known.
 */
export function authenticate(
  tokens: Tokens | null,
  headers: Readonly<Record<string, string>>,
): User {
  if (!tokens) return admin;
  const credential = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '');
  if (!credential) return anonymous;
  const user = tokens.get(credential[1] ?? '');
  if (!user) throw unauthorized();
  return withGroup(user);
}

function withGroup(user: User): User {
  const group = 'system:authenticated';
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
}
