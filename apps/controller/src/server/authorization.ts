// Asks the API server if a reader may read a page.
import type { Millis } from '@taintmgr/core/time';
import type { ApiClient } from '@taintmgr/k8s-adapter';
import { type Identity, reviewRequest } from './authentication.ts';
import { Reviews } from './reviews.ts';

export interface AuthorizationOptions {
  /** Asks who may do what. */
  readonly client: Pick<ApiClient, 'send'>;
  /** Open to everybody; one that ends in `*` stands for all that begin so. */
  readonly alwaysAllowPaths: readonly string[];
  readonly allowedTtl: Millis;
  readonly deniedTtl: Millis;
}

/** Tells whether somebody may do this at this path. Rejects when that cannot be found out. */
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
