import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { loadKubeconfig } from '@taintmgr/k8s-adapter';
import { checkChoices } from '../src/flags/checks.ts';
import { resolveChoices } from '../src/flags/resolve.ts';
import { createLogger } from '../src/log.ts';
import { runProcess } from '../src/process.ts';
import { freePort } from './free-port.ts';

/** A log line as JSON has it. */
export type LogLine = Readonly<Record<string, unknown>>;

/** The whole controller, in this process. */
export interface RunningProcess {
  readonly port: number;
  readonly lines: readonly LogLine[];
  /** Resolves with the first line that says this and has these fields. */
  saw(message: string, fields?: LogLine): Promise<LogLine>;
  stop(): Promise<void>;
  /** How it ends. */
  readonly result: Promise<void>;
}

/** Starts it against the cluster of a kubeconfig, with these flags. */
export async function startProcess(
  t: TestContext,
  kubeconfig: string,
  ...flags: readonly string[]
): Promise<RunningProcess> {
  const port = await freePort();
  const address = ['--bind-address=127.0.0.1', `--secure-port=${port}`];
  const choices = resolveChoices([...address, '-v=4', ...flags], {});
  const stop = new AbortController();
  t.after(() => stop.abort());
  const lines: LogLine[] = [];
  let wake = (): void => {};
  const log = createLogger({
    format: 'json',
    verbose: true,
    write: (line) => {
      lines.push(JSON.parse(line));
      wake();
    },
  });
  const cluster = await loadKubeconfig({ kubeconfig });
  const checked = checkChoices(choices);
  const result = runProcess({ choices, checked, cluster, signal: stop.signal, log });
  result.catch(() => {});
  const find = (message: string, fields: LogLine): LogLine | undefined =>
    lines.find(
      (line) =>
        line.msg === message &&
        Object.entries(fields).every(([name, value]) => line[name] === value),
    );
  return {
    port,
    lines,
    saw: async (message, fields = {}) => {
      for (;;) {
        const found = find(message, fields);
        if (found) return found;
        const more = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race([more, result.then(() => assert.fail(`ended without "${message}"`))]);
      }
    },
    stop: () => {
      stop.abort();
      return result;
    },
    result,
  };
}
