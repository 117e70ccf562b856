import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// The machine's own kubectl.

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(
  command: string,
  args: readonly string[],
  input = '',
  env = process.env,
): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { env, timeout: 240_000 }, (error, out, err) => {
      const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
      resolve({ code, out, err: error && code === -1 ? `${err}${error.message}` : err });
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

const found = (await run('kubectl', ['version', '--client'])).code === 0;
const isRequired = process.env.REQUIRE_KUBECTL === '1';

/** Why tests with kubectl are left out, or false; a machine may be required to have one. */
export const withoutKubectl: string | false =
  !found && !isRequired && 'there is no kubectl on PATH';

/** kubectl with a home and a kubeconfig of its own. */
export class Kubectl {
  readonly kubeconfig: string;
  readonly #directory: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor() {
    this.#directory = mkdtempSync(join(tmpdir(), 'kubectl-test-'));
    this.kubeconfig = join(this.#directory, 'config');
    this.#env = { PATH: process.env.PATH, HOME: this.#directory, KUBECONFIG: this.kubeconfig };
  }

  /** Runs a command line, cut at its blanks. */
  run(line: string, input = ''): Promise<Result> {
    return run('kubectl', this.#args(line), input, this.#env);
  }

  /** Runs a command that must succeed and returns what it printed. */
  async ok(line: string, input = ''): Promise<string> {
    const { code, out, err } = await this.run(line, input);
    assert.equal(code, 0, `${line}\n${out}${err}`);
    return out;
  }

  /** Starts a command that goes on. */
  start(line: string): Running {
    const child = spawn('kubectl', this.#args(line), { env: this.#env });
    return { ...linesOf(child), stop: () => void child.kill() };
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true });
  }

  #args(line: string): readonly string[] {
    return [`--cache-dir=${this.#directory}/cache`, ...line.split(' ')];
  }
}

/** A command that goes on: its lines, each waited for. */
export interface Running {
  next(wanted: RegExp): Promise<string>;
  stop(): void;
}

function linesOf(child: ChildProcess): Pick<Running, 'next'> {
  const lines: string[] = [];
  let rest = '';
  let wake = (): void => {};
  child.stdout?.on('data', (chunk) => {
    const parts = (rest + String(chunk)).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    wake();
  });
  return {
    async next(wanted) {
      for (;;) {
        for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
          if (wanted.test(line)) return line;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
