// The nodes that a drain is for.
import { selects } from '@taintmgr/core';
import type { NodeFacts } from '../../cluster/facts.ts';
import { namedNodes } from '../../cluster/named-nodes.ts';
import type { ClusterReader } from '../../cluster/reader.ts';
import type { DrainFlags } from './flags.ts';
import type { DrainRequest } from './settings.ts';

/** Those that are named or selected. Throws ApiError for one that is not there. */
export async function readTargets(
  reader: ClusterReader,
  { flags, drain: { spec } }: Pick<DrainRequest, 'flags' | 'drain'>,
): Promise<readonly NodeFacts[]> {
  const { nodes, nodeSelector } = spec;
  if (nodes) return await namedNodes(reader, nodes, undefined);
  if (flags.selector !== undefined) return await namedNodes(reader, [], flags.selector);
  const all = await reader.nodes();
  return all.filter(({ node: { labels = {} } }) => nodeSelector && selects(nodeSelector, labels));
}

/** What is said where there are none. */
export function nobodyMatches({ selector, filename }: DrainFlags): string {
  const whose =
    selector === undefined
      ? `the nodeSelector of ${filename}`
      : `--selector ${JSON.stringify(selector)}`;
  return `No nodes match ${whose}; nothing was changed`;
}
