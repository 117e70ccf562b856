import { formatTaint } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  type ApiRequest,
  drainMarksAnnotation,
  getNodeRequest,
  nodesPath,
  type TaintObject,
} from '@taintmgr/k8s-adapter';
import { type DrainMark, writeMarks } from './drain-marks.ts';
import type { ObjectMeta } from './objects.ts';

const conflictsMax = 5;

/** Who we are in metadata.managedFields: by that `undo` knows what is still as a drain set it. */
export const fieldManager = 'kubectl-taintmgr';

/** The fields of a node that a drain reads and writes back whole. */
export interface WritableNode {
  readonly metadata: Pick<ObjectMeta, 'name' | 'annotations' | 'managedFields'> & {
    readonly resourceVersion: string;
  };
  readonly spec?: { readonly taints?: readonly TaintObject[]; readonly unschedulable?: boolean };
}

/**
 * Changes a node beside others who write it too: reads it, changes it, tries again on a conflict.
 * Refused with 409 because somebody else was quicker, it is read and looked at again. `change` hears
 * what time it is, by the API server where it says so.
 */
export async function changeNode<T>(
  client: ApiClient,
  nodeName: string,
  change: (
    node: WritableNode,
    at: Instant,
  ) => { readonly request: ApiRequest | null; readonly result: T },
): Promise<T> {
  for (let conflicts = 0; ; conflicts++) {
    const { value, serverTime } = await client.ask(getNodeRequest(nodeName));
    const { request, result } = change(value as WritableNode, serverTime ?? Date.now());
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

/** What of a node a drain writes; what is left out stays. */
export interface NodePatch {
  readonly taints?: readonly TaintObject[];
  readonly unschedulable?: true | null;
  readonly marks: readonly DrainMark[];
}

/** One PATCH for all of it, refused with 409 when the node is no longer at its resourceVersion. */
export function patchNodeRequest(
  { metadata }: WritableNode,
  { taints, unschedulable, marks }: NodePatch,
): ApiRequest {
  const annotations = { [drainMarksAnnotation]: writeMarks(marks) };
  return {
    method: 'PATCH',
    path: `${nodesPath}/${encodeURIComponent(metadata.name)}?fieldManager=${fieldManager}`,
    headers: {
      accept: 'application/json',
      'content-type': 'application/strategic-merge-patch+json',
    },
    body: JSON.stringify({
      metadata: { resourceVersion: metadata.resourceVersion, annotations },
      spec: {
        ...(unschedulable !== undefined && { unschedulable }),
        // The list has no merge key: it is written whole.
        ...(taints && { taints: taints.length === 0 ? null : taints }),
      },
    }),
  };
}

/** `key=value:effect` */
export function formatTaintObject({
  key,
  value = '',
  effect,
}: Pick<TaintObject, 'key' | 'value' | 'effect'>): string {
  return formatTaint({ key, value, effect });
}
