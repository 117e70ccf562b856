import { UsageError } from '../usage-error.ts';
import type { NodeFacts } from './facts.ts';
import type { ClusterReader } from './reader.ts';
import { selected } from './refusals.ts';

/**
 * The nodes that a command line names or selects. Throws UsageError where it does both, and ApiError for one
 * that is not there.
 */
export async function namedNodes(
  reader: ClusterReader,
  names: readonly string[],
  labelSelector: string | undefined,
): Promise<readonly NodeFacts[]> {
  if (names.length > 0 && labelSelector !== undefined) {
    throw new UsageError('cannot specify both a node name and a --selector option');
  }
  if (names.length === 0) {
    return await selected('--selector', labelSelector ?? '', () => reader.nodes(labelSelector));
  }
  const nodes: NodeFacts[] = [];
  for (const name of new Set(names)) {
    nodes.push(await reader.node(name));
  }
  return nodes;
}
