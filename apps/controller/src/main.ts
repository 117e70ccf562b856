import { CommanderError } from '@commander-js/extra-typings';
import { ApiError, ConnectionError, KubeconfigError, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { runController } from './controller.ts';
import { createLogger, type Logger } from './log.ts';
import { lineOf } from './notice-log.ts';
import { type Options, parseOptions } from './options.ts';
import { startSimulation } from './simulation.ts';
import { version } from './version.ts';

try {
  await main(parseOptions(process.argv.slice(2)));
} catch (error) {
  process.exitCode = fail(error);
}

async function main(options: Options): Promise<void> {
  const log = createLogger({
    format: options.logFormat,
    verbose: options.verbosity >= 2,
    write: (line) => void process.stderr.write(line),
  });
  const signal = stopSignal(log);
  const simulation = options.simulate ? await startSimulation(options.seed) : null;
  try {
    const connection = simulation ? { kubeconfig: simulation.kubeconfig } : options.connection;
    const cluster = await loadKubeconfig(connection);
    const { server } = cluster.access;
    log.info({ version, server, mode: options.mode }, 'starting');
    if (simulation) process.stdout.write(`export KUBECONFIG=${simulation.kubeconfig}\n`);
    await runController({
      cluster,
      engine: { mode: options.mode, evictionsInFlightMax: options.evictionsInFlightMax },
      signal,
      onNotice: (notice, now) => {
        const { level, message, fields } = lineOf(notice, now);
        log[level](fields, message);
      },
    });
    log.info('stopped');
  } finally {
    await simulation?.stop();
  }
}

/** The first signal ends it in order, a second one at once. */
function stopSignal(log: Logger): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      log.info({ signal: name }, 'stopping: evictions under way come to their end');
      stop.abort();
    });
  }
  return stop.signal;
}

/** Prints what went wrong and what to do next; the exit code to use. */
function fail(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  const isKnown = [ApiError, ConnectionError, KubeconfigError].some(
    (known) => error instanceof known,
  );
  if (!(error instanceof Error) || !isKnown) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  if (error instanceof ApiError && error.failure.status === 403) {
    const hint =
      'the controller has to get, list, watch and delete pods, and get, list and watch nodes';
    process.stderr.write(`hint: ${hint}\n`);
  }
  return 1;
}
