import { type ApiClient, ApiError, type ApiRequest } from '@taintmgr/k8s-adapter';

/** Which rights the user has. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  /** Plural, with a subresource as `pods/eviction`. */
  readonly resource: string;
  /** Left out: in all namespaces. */
  readonly namespace?: string;
  /** Left out: to all objects. */
  readonly name?: string;
}

interface Review {
  readonly status?: { readonly allowed?: boolean };
}

/**
 * Whether the current user has a right, as the API server says; null where it does not tell. Throws
 * ConnectionError.
 */
export async function isAllowed(client: ApiClient, right: Right): Promise<boolean | null> {
  try {
    const review = (await client.send(reviewRequest(right))) as Review;
    return review.status?.allowed === true;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** In the words of `kubectl auth can-i`: `create pods/eviction -n shop`. */
export function describeRight({ verb, group, resource, namespace, name }: Right): string {
  const full = group === '' ? resource : `${resource}.${group}`;
  const object = name === undefined ? full : `${full}/${name}`;
  return `${verb} ${object}${namespace === undefined ? '' : ` -n ${namespace}`}`;
}

function reviewRequest({ verb, group, resource, namespace = '', name = '' }: Right): ApiRequest {
  const [plural = '', subresource = ''] = resource.split('/');
  const resourceAttributes = { verb, group, resource: plural, subresource, namespace, name };
  return {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    }),
  };
}
