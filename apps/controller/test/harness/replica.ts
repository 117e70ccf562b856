import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The controller as a process of its own. */
export interface Replica {
  /** Resolves when its log has said this; rejected when it ends without. */
  saw(message: string): Promise<void>;
  /** Sends a signal that it cannot refuse, or the one that sets its clock: see set-clock.ts. */
  strike(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2'): void;
  /** Lets it end in order. */
  stop(): Promise<void>;
}

/** What runs a program of ours, and with which arguments before it. */
export interface Runner {
  readonly binary: string;
  readonly run: readonly string[];
}

const thisNode: Runner = { binary: process.execPath, run: ['-C', '@taintmgr/source'] };

/** Starts it against the cluster of a kubeconfig; killed when the test ends. */
export function startReplica(
  t: TestContext,
  kubeconfig: string,
  flags: readonly string[],
  { binary, run }: Runner = thisNode,
): Replica {
  const alone = '--kube-controller-manager-runs=none';
  const own = ['--kubeconfig', kubeconfig, '--secure-port=0', '--logging-format=json', alone];
  const child = spawn(binary, [...run, program, ...own, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const log = new Log(child);
  return {
    saw: (message) => log.saw(message),
    strike: (signal) => assert.ok(child.kill(signal), `nothing to send ${signal} to`),
    stop: async () => {
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      const [code] = await ended;
      assert.equal(code, 0, log.text);
    },
  };
}

/** What a process says, to be waited for. */
class Log {
  text = '';
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.text += chunk;
    });
  }

  async saw(message: string): Promise<void> {
    const wanted = `"msg":"${message}`;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (this.text.includes(wanted)) resolve();
      };
      this.#child.stderr?.on('data', look);
      this.#child.once('close', () =>
        reject(new Error(`ended without "${message}": ${this.text}`)),
      );
      look();
    });
  }
}
