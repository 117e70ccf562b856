import type { NodeFacts } from '../../cluster/facts.ts';
import { namedNodes } from '../../cluster/named-nodes.ts';
import type { ClusterReader } from '../../cluster/reader.ts';
import { UsageError } from '../../usage-error.ts';

/**
 * The nodes that the command names or selects, in the order given. A missing one is an error before
 * anything is changed.
 */
export async function readTargets(
  reader: ClusterReader,
  names: readonly string[],
  labelSelector: string | undefined,
): Promise<readonly NodeFacts[]> {
  if (names.length === 0 && labelSelector === undefined) {
    throw new UsageError('name the nodes to drain, or give --selector');
  }
  return await namedNodes(reader, names, labelSelector);
}
