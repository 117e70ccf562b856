// Whose turn it is in a drain: which nodes are worked on and which wait.
import type { DrainConfig } from './config.ts';
import { type DrainNode, isBegun, isEnded } from './state.ts';

/** What decides whose turn it is. */
export type TurnRules = Pick<DrainConfig, 'nodesAtOnceMax' | 'zoneSerial'>;

/** The nodes whose turn has come, in their order. */
export function nodesToBegin(
  nodes: readonly DrainNode[],
  { nodesAtOnceMax, zoneSerial }: TurnRules,
  held: ReadonlySet<string> = new Set(),
): readonly DrainNode[] {
  const active = nodes.filter(({ phase }) => isBegun(phase)).length;
  const room = nodesAtOnceMax === 0 ? nodes.length : Math.max(0, nodesAtOnceMax - active);
  const zone = zoneSerial ? currentZone(nodes) : null;
  return nodes
    .filter(({ name, phase }) => phase.kind === 'pending' && !held.has(name))
    .filter((node) => zone === null || node.zone === zone)
    .slice(0, room);
}

/** With zones one after the other: the nodes that must not begin, because an earlier zone failed. */
export function nodesToLeave(
  nodes: readonly DrainNode[],
  { zoneSerial }: TurnRules,
): readonly DrainNode[] {
  if (!zoneSerial) return [];
  const failed = nodes.find(({ phase }) => phase.kind === 'failed');
  if (!failed) return [];
  return nodes.filter(({ zone, phase }) => zone !== failed.zone && phase.kind === 'pending');
}

/** The first zone, in the order of first nodes, that is not done with; null: all are. */
function currentZone(nodes: readonly DrainNode[]): string | null {
  const zones = [...new Set(nodes.map(({ zone }) => zone))];
  const isOpen = (name: string): boolean =>
    nodes.some(({ zone, phase }) => zone === name && !isEnded(phase));
  return zones.find(isOpen) ?? null;
}
