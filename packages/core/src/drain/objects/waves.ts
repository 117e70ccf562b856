// Which wave of a NodeDrain a node is in.
import type { Node } from '../../model/node.ts';
import { selects } from '../../model/selector.ts';
import type { DrainWave, NodeDrain } from '../../policy/node-drain.ts';
import type { Wave } from '../wave.ts';

/** The first wave that selects the node, or that of the others; of its zone, where zones come in turn. */
export function waveOf(
  { spec: { waves = [], order } }: NodeDrain,
  { labels = {}, zone = '' }: Pick<Node, 'labels' | 'zone'>,
): Wave {
  const wave = waves.find(({ nodeSelector }) => selects(nodeSelector, labels));
  const name = wave?.name ?? (waves.length === 0 ? '' : othersName(waves));
  const parts = [name, order === 'ByZone' ? zone : ''].filter((part) => part !== '');
  return { name: parts.join(' in '), nodesAtOnceMax: wave?.nodesAtOnce ?? null };
}

/** What the nodes that no wave selects are called: no wave has that name. */
function othersName(waves: readonly DrainWave[]): string {
  let others = 'the others';
  while (waves.some(({ name }) => name === others)) others = `all ${others}`;
  return others;
}

/** The same nodes, wave after wave, each as they come. */
export function inWaves(
  { spec: { waves = [] } }: NodeDrain,
  nodes: readonly Node[],
): readonly Node[] {
  const place = ({ labels = {} }: Node): number => {
    const at = waves.findIndex((wave) => selects(wave.nodeSelector, labels));
    return at < 0 ? waves.length : at;
  };
  return waves.length === 0 ? nodes : nodes.toSorted((a, b) => place(a) - place(b));
}
