// In which waves a drain goes, and what it waits for, as its plan says it.
import type { DrainConfig } from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';
import { count } from '../../render/count.ts';
import type { PlannedWave } from './plan-table.ts';

const namesMax = 8;

/** The waves in their order; none where the drain has none. */
export function wavesOf({ targets, nodesAtOnceMax }: DrainConfig): readonly PlannedWave[] {
  const waves = new Map<string, string[]>();
  for (const { name, wave } of targets) {
    const key = wave?.name ?? '';
    waves.set(key, [...(waves.get(key) ?? []), name]);
  }
  if (waves.size === 1 && waves.has('')) return [];
  return Array.from(waves, ([name, nodes], index) => {
    const own = targets.find(({ wave }) => wave?.name === name)?.wave?.nodesAtOnceMax;
    const limit = own ?? nodesAtOnceMax;
    const atOnce = limit === 0 ? 'all at once' : `${limit} at a time`;
    const more = nodes.length > namesMax ? `, and ${nodes.length - namesMax} more` : '';
    const names = `${nodes.slice(0, namesMax).join(', ')}${more}`;
    const which = `Wave ${index + 1} of ${waves.size}: ${name || 'nodes without a zone'}`;
    const title = `${which}: ${count(nodes.length, 'node')}, ${atOnce}: ${names}`;
    return { title, nodes: new Set(nodes) };
  });
}

/** What nodes wait for, beside their turn. */
export function waitLines({ spec }: NodeDrain): readonly string[] {
  const { gates = [], beforeNode = [], afterNode = [] } = spec;
  const windows = (spec.windows ?? []).map(({ schedule, timeZone }) => `${schedule} ${timeZone}`);
  const parts = [
    ['No node begins outside its windows', windows],
    ['No node begins while a gate is closed', gates.map(({ name }) => name)],
    ['Before its pods leave, each node waits for', beforeNode.map(({ name }) => name)],
    ['Before it counts as drained, each node waits for', afterNode.map(({ name }) => name)],
  ] as const;
  return parts.flatMap(([text, names]) =>
    names.length === 0 ? [] : `${text}: ${names.join('; ')}`,
  );
}
