// The state of an object before the one that was read.
import { type ApiClient, ApiError, listRequest } from '@taintmgr/k8s-adapter/client';

/**
 * The object of the collection at `path` as it was before the resourceVersion `version`; null: that is not
 * known any more. API servers keep the states of some minutes, and number all writes of all objects in one
 * order. Any refusal means that there is nothing to be had.
 */
export async function stateBefore(
  client: ApiClient,
  path: string,
  name: string,
  version: string,
): Promise<unknown> {
  if (!/^[1-9]\d*$/.test(version)) return null;
  const at = String(BigInt(version) - 1n);
  const request = listRequest(path, { fieldSelector: `metadata.name=${name}`, at });
  try {
    const { items = [] } = (await client.send(request)) as { items?: readonly unknown[] };
    return items[0] ?? null;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
