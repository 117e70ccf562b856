// Measures the time of an action and the memory it holds, here or in a separate process.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';

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

/** Runs a case of a benchmark in a separate process, so that no case pays for another's heap. */
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

/** The resources that a process has used since it began; memory at its largest. */
export interface Usage {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** Linux knows it of every process; elsewhere the process itself has to tell. */
const isKnown = process.platform === 'linux';
/**
 * The arguments of Node for a process whose usage is asked for; empty where they change nothing.
 */
export const measured: readonly string[] = isKnown
  ? []
  : ['--import', `${import.meta.dirname}/usage.mjs`];
/** USER_HZ, which is the same on all that Node runs on. */
const ticksPerSecond = 100;

const lastLinesMax = 20;

/** A process that is measured, or serves those that are. */
export class Child {
  readonly #child: ChildProcess;
  readonly #out: Interface;
  readonly #err: Interface;
  /** The last lines of its stderr. */
  readonly #lastLines: string[] = [];

  /** Runs Node. Its stderr is passed on only if it ends too early. */
  constructor(...command: readonly string[]) {
    this.#child = this.start(command);
    const { stdout, stderr } = this.#child;
    if (!stdout || !stderr) throw new Error('no output');
    this.#out = createInterface(stdout);
    this.#err = createInterface(stderr);
    this.#err.on('line', (line) => {
      this.#lastLines.push(line);
      if (this.#lastLines.length > lastLinesMax) this.#lastLines.shift();
    });
  }

  protected start(command: readonly string[]): ChildProcess {
    const channel = isKnown ? [] : (['ipc'] as const);
    return spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'pipe', ...channel] });
  }

  /** The next line on stdout, which is JSON. */
  async next<T>(): Promise<T> {
    const [line] = await this.#unlessItEnds(once(this.#out, 'line'));
    return JSON.parse(line);
  }

  /** Resolves when it has said all of these on stderr. */
  async said(...texts: readonly string[]): Promise<void> {
    const left = new Set(texts);
    const heard = new Promise<void>((resolve) => {
      this.#err.on('line', (line) => {
        for (const text of left) if (line.includes(text)) left.delete(text);
        if (left.size === 0) resolve();
      });
    });
    await this.#unlessItEnds(heard);
  }

  /** The usage so far; the process was started with `measured`. */
  async usage(): Promise<Usage> {
    if (isKnown && this.#child.pid !== undefined) return usageOf(this.#child.pid);
    const answer = once(this.#child, 'message');
    this.#child.send('usage');
    const [{ cpuMs, peakBytes }] = await this.#unlessItEnds(answer);
    return { cpuMs, rssBytes: peakBytes };
  }

  proceed(): void {
    this.#child.stdin?.write('\n');
  }

  async end(): Promise<void> {
    // A process that has ended by itself sends no further event.
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'close');
    this.#child.stdin?.end();
    this.#child.kill();
    await ended;
  }

  #unlessItEnds<T>(wanted: Promise<T>): Promise<T> {
    const ended = once(this.#child, 'close').then(([code]) => {
      const said = this.#lastLines.join('\n');
      throw new Error(`it ended too early, with code ${code}, and said:\n${said}`);
    });
    return Promise.race([wanted, ended]);
  }
}

/** A program other than Node; its usage is known on Linux only. */
export class ForeignChild extends Child {
  protected override start([program = '', ...args]: readonly string[]): ChildProcess {
    return spawn(program, args, { stdio: 'pipe' });
  }
}

/** The usage in Linux's records, of the whole process with all its threads. */
export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, peakKilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before them may hold anything; user and system are the 12th and 13th after it.
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  return {
    cpuMs: (((user ?? Number.NaN) + (system ?? Number.NaN)) * 1000) / ticksPerSecond,
    rssBytes: Number(peakKilobytes) * 1024,
  };
}
