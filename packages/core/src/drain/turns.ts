// Whose turn it is in a drain: which nodes are worked on and which wait.
import { poolLimit } from '../policy/condition-rule.ts';
import type { DrainConfig } from './config.ts';
import { type DrainNode, isBegun, isEnded } from './state.ts';
import type { NodesAtOnce, Wave } from './wave.ts';

/** What decides whose turn it is. */
export type TurnRules = Pick<DrainConfig, 'nodesAtOnceMax' | 'heldUpNodesMax'>;

/** Nodes whose turn does not come for now, and those that are begun and held up. */
export interface HeldNodes {
  readonly waiting: ReadonlySet<string>;
  readonly heldUp: ReadonlySet<string>;
}

const noneHeld: HeldNodes = { waiting: new Set(), heldUp: new Set() };

/** The nodes whose turn has come, in their order. */
export function nodesToBegin(
  nodes: readonly DrainNode[],
  rules: TurnRules,
  { waiting, heldUp }: HeldNodes = noneHeld,
): readonly DrainNode[] {
  const wave = currentWave(nodes);
  if (wave === null) return [];
  const inWave = nodes.filter((node) => node.wave.name === wave.name);
  const active = inWave.filter(({ phase }) => isBegun(phase));
  const isHeldUp = active.filter(({ name }) => heldUp.has(name)).length;
  const spared = Math.min(isHeldUp, rules.heldUpNodesMax);
  const limit = wave.nodesAtOnceMax ?? rules.nodesAtOnceMax;
  const room = atOnceMax(limit, inWave.length) - (active.length - spared);
  return inWave
    .filter(({ name, phase }) => phase.kind === 'pending' && !waiting.has(name))
    .slice(0, Math.max(0, room));
}

/** The nodes that must not begin, because an earlier wave failed. */
export function nodesToLeave(nodes: readonly DrainNode[]): readonly DrainNode[] {
  // What never was there says nothing of a wave.
  const failed = nodes.find(({ phase }) => phase.kind === 'failed' && phase.why !== 'NotFound');
  if (!failed) return [];
  return nodes.filter(
    ({ wave, phase }) => wave.name !== failed.wave.name && phase.kind === 'pending',
  );
}

/** The first wave, in the order of first nodes, that is not done with; null: all are. */
export function currentWave(nodes: readonly DrainNode[]): Wave | null {
  return nodes.find((node) => isWaveOpen(nodes, node.wave.name))?.wave ?? null;
}

function isWaveOpen(nodes: readonly DrainNode[], name: string): boolean {
  return nodes.some(({ wave, phase }) => wave.name === name && !isEnded(phase));
}

/** A part is one of the nodes of the wave, rounded down, and at least one node. */
function atOnceMax(limit: NodesAtOnce, size: number): number {
  if (limit === 0) return size;
  return Math.max(1, poolLimit(limit, size) ?? 1);
}
