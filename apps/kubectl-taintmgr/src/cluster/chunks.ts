// Reads a large collection in chunks.
import { type ApiClient, ApiError, listRequest, type Selectors } from '@taintmgr/k8s-adapter';

interface Page {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly unknown[];
}

/**
 * Lists everything in pages of so many objects; 0: all at once. When the server forgets the moment
 * of the first page before the last, it is read at once after all, as kubectl does. Throws as
 * ApiClient.send does.
 */
export async function listInChunks(
  client: ApiClient,
  path: string,
  selectors: Selectors,
  chunkSize: number,
): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  const limit = chunkSize === 0 ? {} : { limit: chunkSize };
  let continueToken = '';
  try {
    do {
      const request = listRequest(path, { ...selectors, ...limit, continueToken });
      const page = (await client.send(request)) as Page;
      for (const item of page.items ?? []) items.push(item);
      continueToken = page.metadata?.continue ?? '';
    } while (continueToken !== '');
    return items;
  } catch (error) {
    const isExpired = error instanceof ApiError && error.failure.status === 410;
    if (!isExpired || continueToken === '') throw error;
    return await listInChunks(client, path, selectors, 0);
  }
}
