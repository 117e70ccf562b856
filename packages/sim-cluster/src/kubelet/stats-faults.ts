import type { Summary } from './summary.ts';

/**
 * Faults in a kubelet's stats.
 * - `error`: it answers that it could not get them
 * - `unreachable`: the node does not answer at all
 * - `stale`: they are those from before the fault for as long as it lasts
 * - `partial`: the file systems, the processes, the free memory and every other pod are missing
 * - `nonsense`: the fields are there, with values that cannot be
 * - `truncated`: the text ends in the middle
 * - `empty`: it has nothing in it
 * - or whatever a function makes of the true ones
 */
export type StatsFault =
  | 'error'
  | 'unreachable'
  | 'stale'
  | keyof typeof distortions
  | ((summary: Summary) => unknown);

/** By the name of the fault: the body that is sent in place of the true one. */
const distortions = {
  partial: (summary: Summary): string => write(partial(summary)),
  nonsense: (summary: Summary): string => write(nonsense(summary)),
  truncated: (summary: Summary): string => firstHalf(write(summary)),
  empty: (): string => '{}',
} as const;

/** The body of an answer with these stats, by a kubelet with that fault or none. */
export function statsBody(summary: Summary, fault: StatsFault | null): string {
  if (typeof fault === 'function') return write(fault(summary));
  const distort =
    fault !== null && fault in distortions ? distortions[fault as keyof typeof distortions] : write;
  return distort(summary);
}

/** JSON in the form of a kubelet. */
function write(value: unknown): string {
  return JSON.stringify(value, null, 1);
}

function firstHalf(text: string): string {
  return text.slice(0, text.length / 2);
}

function partial({ node, pods }: Summary): unknown {
  const { fs: _fs, runtime: _runtime, rlimit: _rlimit, memory, ...rest } = node;
  const { availableBytes: _availableBytes, ...used } = memory;
  const left = pods.filter((_, index) => index % 2 === 0);
  return {
    node: { ...rest, memory: used },
    pods: left.map(({ memory: _memory, containers: _containers, ...pod }) => pod),
  };
}

/** Numbers become each of these in turn, times one long ago. */
const impossibleValues: readonly unknown[] = [-1, 2 ** 63, 'a lot', null, 0.5, [], {}];

function nonsense(summary: Summary): unknown {
  let count = 0;
  return JSON.parse(JSON.stringify(summary), (key, value) => {
    if (key === 'time') return '0001-01-01T00:00:00Z';
    return typeof value === 'number' ? impossibleValues[count++ % impossibleValues.length] : value;
  });
}
