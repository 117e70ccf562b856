// The command line of a simulation, as a user types it in a shell to play it again.
import type { Millis } from '@taintmgr/core/time';
import { shellWord } from '@taintmgr/k8s-adapter/command-line';
import type { By, SimulateFlags } from './flags.ts';

/** `kubectl taintmgr simulate -f a.json --until 30m`, without flags of the connection and of the output. */
export function commandOf(flags: SimulateFlags): string {
  const { filename, script, event, policy, apply, variant = [], failIf, each, by, report } = flags;
  const { until, seed, seeds } = flags;
  const words = [
    ...repeated('-f', filename),
    ...repeated('--script', script),
    ...repeated('--event', event),
    ...repeated('--policy', policy),
    ...repeated('--apply', apply),
    ...['--until', durationFlag(until)],
    ...(seed === 1 ? [] : ['--seed', String(seed)]),
    ...(seeds === 1 ? [] : ['--seeds', String(seeds)]),
    ...variant.flatMap(({ name, from }) => ['--variant', `${name}=${from}`]),
    ...(flags.compare ? ['--compare'] : []),
    ...repeated('--each', each),
    ...repeated('--by', by && byFlag(by)),
    ...repeated('--fail-if', failIf),
    ...(flags.partial ? ['--partial'] : []),
    ...repeated('--report', report),
  ];
  return ['kubectl taintmgr simulate', ...words.map(shellWord)].join(' ');
}

function repeated(flag: string, values: string | readonly string[] = []): readonly string[] {
  return [values].flat().flatMap((value) => [flag, value]);
}

function byFlag(by: By): string {
  return by.kind === 'taint' && by.taint !== null ? `taint=${by.taint}` : by.kind;
}

/** `36h`, `90m`, `45s`: one that a flag reads, unlike one in days or of two units alone. */
function durationFlag(millis: Millis): string {
  const [unit, length] = flagUnits.find(([, size]) => millis % size === 0) ?? (['ms', 1] as const);
  return `${millis / length}${unit}`;
}

const flagUnits = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;
