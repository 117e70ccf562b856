// Changes a node beside others who write it too: reads it, changes it, tries again on a conflict.
import type { Instant } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  type ApiRequest,
  getNodeRequest,
} from '@taintmgr/k8s-adapter/client';
import {
  drainableNode,
  type NodeChange,
  patchNodeRequest,
  type RefusedChange,
} from '@taintmgr/k8s-adapter/drain';

const conflictsMax = 5;

/** Who we are in metadata.managedFields: by that `undo` knows what is still as a drain set it. */
export const fieldManager = 'kubectl-taintmgr';

/** Another drain is at work on a node, or has taken it over. */
export class AnotherDrainError extends Error {
  /** Whether another run goes on with the same drain. */
  readonly isTakenOver: boolean;

  constructor({ message, takenOver }: RefusedChange) {
    super(message);
    this.isTakenOver = takenOver === true;
  }
}

/**
 * Makes a drain's change to a node; with a dry run it only says what that would come to. Throws
 * AnotherDrainError.
 */
export async function changeNode<T>(
  client: ApiClient,
  nodeName: string,
  change: NodeChange<T>,
  isDryRun = false,
): Promise<T> {
  return await rewriteNode(client, nodeName, (object, at) => {
    const node = drainableNode(object);
    const changed = change(node, at);
    if (changed.kind === 'refused') throw new AnotherDrainError(changed);
    const { patch, result } = changed;
    const request = patch && !isDryRun ? patchNodeRequest(node, patch, fieldManager) : null;
    return { request, result };
  });
}

/**
 * Reads a node and sends the request that is made of it, if any. Refused with 409 because somebody
 * else was quicker, it is read and looked at again. `change` hears what time it is, by the API server
 * where it says so.
 */
export async function rewriteNode<T>(
  client: ApiClient,
  nodeName: string,
  change: (
    node: unknown,
    at: Instant,
  ) => { readonly request: ApiRequest | null; readonly result: T },
): Promise<T> {
  for (let conflicts = 0; ; conflicts++) {
    const { value, serverTime } = await client.ask(getNodeRequest(nodeName));
    const { request, result } = change(value, serverTime ?? Date.now());
    if (!request) return result;
    try {
      await client.send(request);
      return result;
    } catch (error) {
      const conflict = error instanceof ApiError && error.failure.status === 409;
      if (!conflict || conflicts === conflictsMax) throw error;
    }
  }
}
