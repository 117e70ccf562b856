import { formatTaint, formatTime, type Instant, type Node, type Taint } from '@taintmgr/core';
import {
  type ApiClient,
  ApiError,
  nodeFromJson,
  nodesPath,
  setTaintsRequest,
  type TaintObject,
} from '@taintmgr/k8s-adapter';
import { UsageError } from '../../exit.ts';
import { readNode } from '../../snapshot.ts';
import { hasTaint } from './plan.ts';

const conflictsMax = 5;

/**
 * The nodes that the command names or selects, in the order given. A missing one is an error before
 * anything is changed.
 */
export async function readTargets(
  client: ApiClient,
  names: readonly string[],
  labelSelector: string | undefined,
): Promise<readonly Node[]> {
  if (names.length > 0 && labelSelector !== undefined) {
    throw new UsageError('cannot specify both a node name and a --selector option');
  }
  if (labelSelector !== undefined) {
    const objects = await client.list(nodesPath, { labelSelector });
    return objects.map(nodeFromJson);
  }
  if (names.length === 0) throw new UsageError('name the nodes to drain, or give --selector');
  const nodes: Node[] = [];
  for (const name of new Set(names)) nodes.push(nodeFromJson(await readNode(client, name)));
  return nodes;
}

/**
 * Puts the taint on a node, with the time it was put there, unless it is there already; whether it
 * was put. Other people's changes are not overwritten: on a conflict the node is read again.
 */
export async function putTaint(
  client: ApiClient,
  nodeName: string,
  taint: Taint,
  now: Instant,
): Promise<boolean> {
  for (let conflicts = 0; ; conflicts++) {
    const object = await readNode(client, nodeName);
    if (hasTaint(nodeFromJson(object), taint)) return false;
    const { resourceVersion, taints } = taintsOf(object);
    const others = taints.filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
    const added = { key: taint.key, value: taint.value, effect: taint.effect };
    const list = [...others, { ...added, timeAdded: formatTime(now) }];
    try {
      await client.send(setTaintsRequest(nodeName, resourceVersion, list));
      return true;
    } catch (error) {
      const conflict = error instanceof ApiError && error.failure.status === 409;
      if (!conflict || conflicts === conflictsMax) throw error;
    }
  }
}

/** How to take the taint away again by hand. */
export function undoHint(nodeNames: readonly string[], taint: Taint): string {
  return `kubectl taint nodes ${nodeNames.join(' ')} ${formatTaint({ ...taint, value: '' })}-`;
}

/** The node's taints with every field they have, to be written back whole. */
function taintsOf(object: unknown): {
  readonly resourceVersion: string;
  readonly taints: readonly TaintObject[];
} {
  const node = object as {
    readonly metadata: { readonly resourceVersion: string };
    readonly spec?: { readonly taints?: readonly TaintObject[] };
  };
  return {
    resourceVersion: node.metadata.resourceVersion,
    taints: node.spec?.taints ?? [],
  };
}
