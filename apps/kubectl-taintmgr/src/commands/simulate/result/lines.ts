// What a run comes down to, in sentences below the tables of `simulate`.
import { formatDuration } from '@taintmgr/core/time';
import { count } from '../../../render/count.ts';
import type { RunResult } from './documents.ts';

const byRules: ReadonlyMap<string, string> = new Map([
  ['precise', 'taintmgr'],
  ['upstream-1.36', 'kube-controller-manager'],
]);

/** Runs that nobody has named have their rules for a name: people are told whose rules these are. */
export function shownName({ name, semantics }: Pick<RunResult, 'name' | 'semantics'>): string {
  return name === semantics ? (byRules.get(semantics) ?? name) : name;
}

/** Of pods that fit nowhere, and of loops, so many are named. */
const namedMax = 10;

/** Which pods fitted on no node; none where all did. */
export function unplacedLines(
  { name, summary, recording }: RunResult,
  isNamed: boolean,
): readonly string[] {
  const { pods, atOnceMax, atEnd } = summary.unplaced;
  if (pods === 0) return [];
  const where = isNamed ? `${name}: ` : '';
  const first = `${where}${count(pods, 'pod')} fitted on no node: ${atOnceMax} at once, ${atEnd} at the end`;
  const left = recording.unplaced.filter(({ until }) => until === null);
  const lines = left.slice(0, namedMax).map(({ namespace, pod, from, message }) => {
    return `  ${namespace}/${pod} since ${seconds(from)}: ${message}`;
  });
  const more = left.length - lines.length;
  return [first, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])];
}

/** `taintmgr: 15 evictions, 0 refused by PDBs, 6 nodes tainted` */
export function totals({ name, summary }: RunResult): string {
  const { evictions, refusals, failures, nodesTainted } = summary;
  const failed = failures > 0 ? `, ${failures} failed` : '';
  return `${name}: ${count(evictions, 'eviction')}, ${refusals} refused by PDBs${failed}, ${count(nodesTainted, 'node')} tainted`;
}

/** `  loop: shop/db-0 evicted 83 times from zone-a-1, 1m to 14m50s: tolerates bad:NoExecute for 10s` */
export function loopLines({ summary: { loops } }: RunResult): readonly string[] {
  const lines = loops.slice(0, namedMax).map((loop) => {
    const { namespace, name, node, evictions, firstAt, lastAt, because } = loop;
    const who = name.includes('/') ? name : `${namespace}/${name}`;
    const when = `${seconds(firstAt)} to ${seconds(lastAt)}`;
    return `  loop: ${who} evicted ${evictions} times from ${node}, ${when}: ${because[0] ?? ''}`;
  });
  const more = loops.length - lines.length;
  return more > 0 ? [...lines, `  and ${count(more, 'more loop')}`] : lines;
}

/** A time of a run in words. */
export function seconds(value: number): string {
  return formatDuration(value * 1000);
}
