import type { NodeFacts } from '../../cluster/facts.ts';
import { type ClusterReader, selected } from '../../cluster/reader.ts';
import { UsageError } from '../../exit.ts';

/**
 * The nodes that the command names or selects, in the order given. A missing one is an error before
 * anything is changed.
 */
export async function readTargets(
  reader: ClusterReader,
  names: readonly string[],
  labelSelector: string | undefined,
): Promise<readonly NodeFacts[]> {
  if (names.length > 0 && labelSelector !== undefined) {
    throw new UsageError('cannot specify both a node name and a --selector option');
  }
  if (labelSelector !== undefined) {
    return await selected('--selector', labelSelector, () => reader.nodes(labelSelector));
  }
  if (names.length === 0) throw new UsageError('name the nodes to drain, or give --selector');
  const targets: NodeFacts[] = [];
  for (const name of new Set(names)) targets.push(await reader.node(name));
  return targets;
}
