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
export function authenticated(identity: Identity): Identity {
  const { groups } = identity;
  return groups.includes(everyone) ? identity : { ...identity, groups: [...groups, everyone] };
}
