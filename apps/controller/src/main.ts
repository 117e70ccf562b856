import { CommanderError } from '@commander-js/extra-typings';
import { resolveConfig } from '@taintmgr/core';
import { loadKubeconfig } from '@taintmgr/k8s-adapter';
import { readConfigFile } from './config-file.ts';
import { runController } from './controller.ts';
import { errorLines } from './error-lines.ts';
import { createLogger } from './log.ts';
import { lineOf } from './notice-log.ts';
import { type Options, parseOptions } from './options.ts';
import { startSimulation } from './simulation.ts';
import { stopSignal } from './stop-signal.ts';
import { version } from './version.ts';

try {
  await main(parseOptions(process.argv.slice(2)));
} catch (error) {
  process.exitCode = fail(error);
}

async function main(options: Options): Promise<void> {
  const file = options.config === null ? {} : readConfigFile(options.config);
  const engine = { ...file, ...options.engine };
  const log = createLogger({
    format: options.logFormat,
    verbose: options.verbosity >= 2,
    write: (line) => void process.stderr.write(line),
  });
  const signal = stopSignal(1, (name) => {
    log.info({ signal: name }, 'stopping: evictions under way come to their end');
  });
  const simulation = options.simulate ? await startSimulation(options.seed) : null;
  try {
    const connection = simulation ? { kubeconfig: simulation.kubeconfig } : options.connection;
    const cluster = await loadKubeconfig(connection);
    const { server } = cluster.access;
    const { mode, semantics } = resolveConfig(engine);
    log.info({ version, server, semantics, mode }, 'starting');
    if (simulation) process.stdout.write(`export KUBECONFIG=${simulation.kubeconfig}\n`);
    await runController({
      cluster,
      engine,
      signal,
      onNotice: (notice, now) => {
        const { level, message, fields } = lineOf(notice, now);
        log[level](fields, message);
      },
      onStart: (resumeEvictions) => {
        process.on('SIGUSR2', () => {
          log.info({ signal: 'SIGUSR2' }, 'resuming: limits that tripped are open again');
          resumeEvictions();
        });
      },
    });
    log.info('stopped');
  } finally {
    await simulation?.stop();
  }
}

/** Prints what went wrong and what to do next; the exit code to use. */
function fail(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  const lines = errorLines(error);
  if (lines === null) throw error;
  process.stderr.write(`${lines}\n`);
  return 1;
}
