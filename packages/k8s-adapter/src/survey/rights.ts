// The API server's view of us: our user and our rights; and the rights of others.
import type { ApiClient } from '../client/client.ts';
import { ApiError } from '../transport/errors.ts';

/** Something that a user may be allowed to do. */
export interface Right {
  /** Such as `get`. */
  readonly verb: string;
  /** The API group; '' for the core group. */
  readonly group: string;
  /** Plural, with a subresource as `pods/eviction`. */
  readonly resource: string;
  /** Left out: in all namespaces. */
  readonly namespace?: string;
  /** Left out: to all objects. */
  readonly name?: string;
}

/** Reads what `describeRight` writes, but for names: `get leases.coordination.k8s.io -n shop`. */
export function rightOf(text: string): Right {
  const [, verb = '', resource = '', group = '', namespace] =
    /^(\w+) ([\w/]+)\.?([\w.]*)(?: -n (\S+))?$/.exec(text) ?? [];
  return { verb, group, resource, ...(namespace !== undefined && { namespace }) };
}

/** In the words of `kubectl auth can-i`: `create pods/eviction -n shop`. */
export function describeRight({ verb, group, resource, namespace, name }: Right): string {
  const full = group === '' ? resource : `${resource}.${group}`;
  const object = name === undefined ? full : `${full}/${name}`;
  return `${verb} ${object}${namespace === undefined ? '' : ` -n ${namespace}`}`;
}

/**
 * True when the current user has a right, as the API server says; null where it does not say.
 * Throws ConnectionError.
 */
export async function isAllowed(client: ApiClient, right: Right): Promise<boolean | null> {
  const spec = { resourceAttributes: attributesOf(right) };
  const answer = await review(client, 'authorization', 'SelfSubjectAccessReview', { spec });
  return answer && answer.allowed === true;
}

/** An account of programs. */
export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

/**
 * True when a service account has a right, as the API server says; null where it does not tell us.
 * Throws ConnectionError.
 */
export async function isAllowedTo(
  client: ApiClient,
  { namespace, name }: ServiceAccount,
  right: Right,
): Promise<boolean | null> {
  const all = 'system:serviceaccounts';
  const spec = {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: [all, `${all}:${namespace}`, 'system:authenticated'],
    resourceAttributes: attributesOf(right),
  };
  const answer = await review(client, 'authorization', 'SubjectAccessReview', { spec });
  return answer && answer.allowed === true;
}

function attributesOf({ verb, group, resource, namespace = '', name = '' }: Right): object {
  const [plural = '', subresource = ''] = resource.split('/');
  return { verb, group, resource: plural, subresource, namespace, name };
}

/** The user that we are to the API server; null where it does not say. */
export async function whoAmI(client: ApiClient): Promise<string | null> {
  const answer = await review(client, 'authentication', 'SelfSubjectReview', {});
  return answer?.userInfo?.username ?? null;
}

interface ReviewStatus {
  readonly allowed?: boolean;
  readonly userInfo?: { readonly username?: string };
}

async function review(
  client: ApiClient,
  group: string,
  kind: string,
  body: object,
): Promise<ReviewStatus | null> {
  const apiVersion = `${group}.k8s.io/v1`;
  try {
    const answer = await client.send({
      method: 'POST',
      path: `/apis/${apiVersion}/${kind.toLowerCase()}s`,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion, kind, ...body }),
    });
    return (answer as { readonly status?: ReviewStatus }).status ?? {};
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
