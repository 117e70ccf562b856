// The tokens of service accounts: for whom they are meant, and how long they hold.

import type { Store, User } from '@taintmgr/sim-cluster/server';
import { quoted } from '@taintmgr/sim-cluster/server';
import { serviceAccountUser } from './authorizer.ts';

interface Reference {
  readonly name: string;
  readonly uid: string;
}

/** The claims of a service account token. */
export interface AccountToken {
  readonly namespace: string;
  readonly account: Reference;
  readonly audiences: readonly string[];
  /** The object whose end invalidates the token; null: the account alone. */
  readonly bound: (Reference & { readonly kind: BoundKind }) | null;
}

/** The resources of the objects that a token may be bound to, by their kind. */
export const boundResources = { Node: 'nodes', Pod: 'pods', Secret: 'secrets' } as const;
export type BoundKind = keyof typeof boundResources;

/** The account as a user. */
export function userOf({ namespace, account }: AccountToken): User {
  return { ...serviceAccountUser(namespace, account.name), uid: account.uid };
}

/** Why a token is refused that is shown to these audiences, as the real server words it; null: it is not. */
export function accountTokenError(
  store: Store,
  { namespace, account, audiences, bound }: AccountToken,
  asked: readonly string[],
): string | null {
  if (!audiences.some((audience) => asked.includes(audience))) {
    const [own, wanted] = [quoted(audiences), quoted(asked)];
    return `token audiences ${own} is invalid for the target audiences ${wanted}`;
  }
  const found = store.get('serviceaccounts', namespace, account.name);
  if (!found) return `serviceaccounts ${JSON.stringify(account.name)} not found`;
  if (found.metadata.uid !== account.uid) {
    return `service account UID (${found.metadata.uid}) does not match claim (${account.uid})`;
  }
  if (!bound) return null;
  const place = bound.kind === 'Node' ? '' : namespace;
  const object = store.get(boundResources[bound.kind], place, bound.name);
  if (!object) return 'service account token has been invalidated';
  if (object.metadata.uid === bound.uid) return null;
  const kind = bound.kind.toLowerCase();
  const claim = `service account ${kind} ref claim (${bound.uid})`;
  return `${kind} UID (${object.metadata.uid}) does not match ${claim}`;
}
