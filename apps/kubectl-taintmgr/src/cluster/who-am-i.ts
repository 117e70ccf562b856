import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';

interface Review {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

/** Who we are to the API server; null where it does not say. */
export async function whoAmI(client: ApiClient): Promise<string | null> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  try {
    const answer = (await client.send({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(review),
    })) as Review;
    return answer.status?.userInfo?.username ?? null;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
