// The two processes of bench/largest.ts: the feeder, and the controller as it is shipped.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Order, Report } from './server.ts';
import type { Size } from './world.ts';

/** What the controller has used and holds. */
export interface Usage {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakBytes: number;
  /** After garbage collection, where that was asked for. */
  readonly heapBytes: number;
}

const controllerFile = `${import.meta.dirname}/../../../../../apps/controller/dist/main.js`;

/** The feeder. */
export class Feeder {
  readonly kubeconfig: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, kubeconfig: string) {
    this.#child = child;
    this.#lines = lines;
    this.kubeconfig = kubeconfig;
  }

  static async start({ nodes, pods, failing, tolerationSeconds }: Size): Promise<Feeder> {
    const numbers = [nodes, pods, failing, tolerationSeconds].map(String);
    const file = `${import.meta.dirname}/server.ts`;
    const child = spawn(process.execPath, ['-C', '@taintmgr/source', file, ...numbers], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdout } = child;
    const lines = createInterface(stdout)[Symbol.asyncIterator]();
    const { kubeconfig } = await nextOf<{ readonly kubeconfig: string }>(lines);
    return new Feeder(child, lines, kubeconfig);
  }

  order(order: Order): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** What has happened; changes since the last time. */
  async report(): Promise<Report> {
    this.order({ kind: 'report' });
    return nextOf<Report>(this.#lines);
  }

  end(): void {
    this.#child.kill();
  }
}

async function nextOf<T>(lines: AsyncIterator<string>): Promise<T> {
  const { value, done } = await lines.next();
  if (done) throw new Error('the feeder ended too early');
  return JSON.parse(value);
}

/**
 * The controller with flags of Node and of its own; resolves when it leads and has read everything.
 * `log`: the file that its log goes to; null: to none.
 */
export async function startController(
  kubeconfig: string,
  nodeFlags: readonly string[],
  flags: readonly string[],
  log: string | null,
): Promise<Controller> {
  const preload = ['--expose-gc', '--import', `${import.meta.dirname}/usage.mjs`];
  const alone = '--kube-controller-manager-runs=none';
  const own = ['--kubeconfig', kubeconfig, '--secure-port=0', alone, ...flags];
  const child = spawn(process.execPath, [...nodeFlags, ...preload, controllerFile, ...own], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (!child.stderr) throw new Error('no output');
  if (log !== null) child.stderr.pipe(createWriteStream(log));
  const lines = createInterface(child.stderr);
  const left = new Set(['leader elected', 'synced']);
  const last: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${last.join('\n')}`)));
    lines.on('line', (line) => {
      last.push(line);
      if (last.length > 20) last.shift();
      for (const text of left) if (line.includes(text)) left.delete(text);
      if (left.size === 0) resolve();
    });
  });
  return new Controller(child);
}

/** The controller at work. */
export class Controller {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** `profile` begins a profile, and `file` writes it there. */
  async usage(
    question: 'usage' | 'heap' | 'profile' | { readonly file: string } = 'usage',
  ): Promise<Usage> {
    const answer = once(this.#child, 'message');
    this.#child.send(question);
    const [usage] = await answer;
    return usage;
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
