import { formatTaint, formatTime, type Instant, type Node, type Taint } from '@taintmgr/core';
import {
  type ApiClient,
  ApiError,
  type ApiRequest,
  nodeFromJson,
  nodesPath,
  type TaintObject,
} from '@taintmgr/k8s-adapter';
import { UsageError } from '../../exit.ts';
import { listSelected, readNode } from '../../snapshot.ts';
import { hasTaint } from './plan.ts';

const conflictsMax = 5;

/** A node that is to be drained. */
export interface Target {
  readonly node: Node;
  readonly isCordoned: boolean;
}

/**
 * The nodes that the command names or selects, in the order given. A missing one is an error before
 * anything is changed.
 */
export async function readTargets(
  client: ApiClient,
  names: readonly string[],
  labelSelector: string | undefined,
): Promise<readonly Target[]> {
  if (names.length > 0 && labelSelector !== undefined) {
    throw new UsageError('cannot specify both a node name and a --selector option');
  }
  if (labelSelector !== undefined) {
    const objects = await listSelected(client, nodesPath, '--selector', labelSelector);
    return objects.map(targetOf);
  }
  if (names.length === 0) throw new UsageError('name the nodes to drain, or give --selector');
  const targets: Target[] = [];
  for (const name of new Set(names)) targets.push(targetOf(await readNode(client, name)));
  return targets;
}

/** What was not yet so before a node was closed. */
export interface NodeChanges {
  readonly cordoned: boolean;
  readonly tainted: boolean;
}

/**
 * Cordons a node and puts the taint on it, with the time it was put there, as far as that is not so
 * already. It takes both: a pod that tolerates the taint for a while would else be scheduled right
 * back. Other people's changes are not overwritten: on a conflict the node is read again.
 */
export async function closeNode(
  client: ApiClient,
  nodeName: string,
  taint: Taint,
  now: Instant,
): Promise<NodeChanges> {
  for (let conflicts = 0; ; conflicts++) {
    const object = await readNode(client, nodeName);
    const changes = missing(targetOf(object), taint);
    if (!changes.cordoned && !changes.tainted) return changes;
    try {
      await client.send(closeNodeRequest(nodeName, object as NodeObject, changes, taint, now));
      return changes;
    } catch (error) {
      const conflict = error instanceof ApiError && error.failure.status === 409;
      if (!conflict || conflicts === conflictsMax) throw error;
    }
  }
}

/** What closing the node would change. */
export function missing({ node, isCordoned }: Target, taint: Taint): NodeChanges {
  return { cordoned: !isCordoned, tainted: !hasTaint(node, taint) };
}

/** How to undo by hand what `closeNode` did. */
export function undoHint(nodeNames: readonly string[], taint: Taint): string {
  const names = nodeNames.join(' ');
  const removal = `${formatTaint({ ...taint, value: '' })}-`;
  return `kubectl uncordon ${names} && kubectl taint nodes ${names} ${removal}`;
}

/** The fields of a node that are to be written back whole. */
interface NodeObject {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec?: { readonly taints?: readonly TaintObject[]; readonly unschedulable?: boolean };
}

function targetOf(object: unknown): Target {
  const { spec } = object as NodeObject;
  return { node: nodeFromJson(object), isCordoned: spec?.unschedulable === true };
}

/** One PATCH for both, refused with 409 when the node is no longer at its resourceVersion. */
function closeNodeRequest(
  nodeName: string,
  { metadata, spec }: NodeObject,
  { tainted }: NodeChanges,
  { key, value, effect }: Taint,
  now: Instant,
): ApiRequest {
  const others = (spec?.taints ?? []).filter((one) => one.key !== key || one.effect !== effect);
  const taints = [...others, { key, value, effect, timeAdded: formatTime(now) }];
  return {
    method: 'PATCH',
    path: `${nodesPath}/${encodeURIComponent(nodeName)}`,
    headers: {
      accept: 'application/json',
      'content-type': 'application/strategic-merge-patch+json',
    },
    body: JSON.stringify({
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: { unschedulable: true, ...(tainted && { taints }) },
    }),
  };
}
