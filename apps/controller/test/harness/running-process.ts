import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type KubeconfigOptions, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { checkChoices } from '../../src/flags/checks.ts';
import { type Environment, resolveChoices } from '../../src/flags/resolve.ts';
import { createLogger } from '../../src/log/logger.ts';
import { runProcess } from '../../src/process/run-process.ts';
import { freePort } from './free-port.ts';

/** A log line as JSON has it. */
type LogLine = Readonly<Record<string, unknown>>;

/** The whole controller, in this process. */
export interface RunningProcess {
  readonly port: number;
  readonly lines: readonly LogLine[];
  /** Resolves when a line says this and has these fields, for the `times`-th time; 1 when left out. */
  saw(message: string, fields?: LogLine, times?: number): Promise<void>;
  stop(): Promise<void>;
  /** How it ends. */
  readonly result: Promise<void>;
}

export interface StartOptions {
  readonly connection: KubeconfigOptions;
  readonly flags: readonly string[];
  readonly environment?: Environment;
}

/** Clusters of tests have no kube-controller-manager: their administrator says so. */
const alone = { TAINTMGR_KUBE_CONTROLLER_MANAGER_RUNS: 'none' };

/** Starts it against a cluster. */
export async function startProcess(
  t: TestContext,
  { connection, flags, environment = {} }: StartOptions,
): Promise<RunningProcess> {
  const port = await freePort();
  const address = ['--bind-address=127.0.0.1', `--secure-port=${port}`];
  const choices = resolveChoices([...address, '-v=4', ...flags], { ...alone, ...environment });
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
  const cluster = await loadKubeconfig(connection);
  const checked = checkChoices(choices);
  const result = runProcess({ choices, checked, cluster, signal: stop.signal, log });
  result.catch(() => {});
  const count = (message: string, fields: LogLine): number => {
    const pairs = Object.entries({ ...fields, msg: message });
    return lines.filter((line) => pairs.every(([name, value]) => line[name] === value)).length;
  };
  return {
    port,
    lines,
    saw: async (message, fields = {}, times = 1) => {
      while (count(message, fields) < times) {
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
