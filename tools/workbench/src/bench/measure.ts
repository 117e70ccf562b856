// Measures how long something takes and what it holds.
import { spawnSync } from 'node:child_process';

/** Nanoseconds that `work` takes, the best of `rounds`. */
export function nanosOf(rounds: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint();
    work();
    best = Math.min(best, Number(process.hrtime.bigint() - start));
  }
  return best;
}

/** Bytes of heap that what `build` makes holds on to, after garbage collection. */
export function bytesOf(build: () => object): number {
  const collect = globalThis.gc;
  if (!collect) throw new Error('run with --expose-gc');
  collect();
  const before = process.memoryUsage().heapUsed;
  const built = build();
  collect();
  const after = process.memoryUsage().heapUsed;
  return Object.keys(built).length >= 0 ? after - before : 0;
}

/** Runs one case of a benchmark in a process of its own, so that none pays for another's heap. */
export function inProcess<T>(file: string, ...args: readonly (string | number)[]): T {
  const flags = ['-C', '@taintmgr/source', '--expose-gc', '--max-old-space-size=8000'];
  const result = spawnSync(process.execPath, [...flags, file, ...args.map(String)], {
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(result.stderr);
  return JSON.parse(result.stdout);
}

/**
 * Runs the contender that the command line names, with its size, after a smaller one so that it is
 * compiled before it counts; without a name it compares them all.
 */
export function contend(
  compare: () => void,
  run: (name: string, size: number) => unknown,
  warmUp: number,
): void {
  const [name, size] = process.argv.slice(2);
  if (name === undefined) {
    compare();
    return;
  }
  run(name, warmUp);
  process.stdout.write(JSON.stringify(run(name, Number(size))));
}

/** `12 MB`, with so many digits after the point. */
export function mega(bytes: number, digits = 0): string {
  return `${(bytes / 1e6).toFixed(digits)} MB`;
}

/** `1.2k`, `340k`, `5.1M`. */
export function short(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
  if (value >= 1e4) return `${Math.round(value / 1e3)}k`;
  return value >= 1e3 ? `${(value / 1e3).toFixed(1)}k` : value.toFixed(value < 10 ? 1 : 0);
}

/** Prints rows with aligned columns, numbers to the right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  for (const row of [head, ...rows]) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    process.stdout.write(`${cells.join('   ')}\n`);
  }
  process.stdout.write('\n');
}
