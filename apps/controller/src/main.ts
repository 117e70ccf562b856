import { CommanderError } from '@commander-js/extra-typings';
import { loadKubeconfig } from '@taintmgr/k8s-adapter';
import { runController } from './controller.ts';
import { engineConfig } from './engine-config.ts';
import { errorLines } from './error-lines.ts';
import { checkChoices } from './flags/checks.ts';
import { type Choices, resolveChoices } from './flags/resolve.ts';
import { createLogger, type Logger } from './log.ts';
import { lineOf } from './notice-log.ts';
import { startSimulation } from './simulation.ts';
import { stopSignal } from './stop-signal.ts';
import { version } from './version.ts';

try {
  await main(resolveChoices(process.argv.slice(2), process.env));
} catch (error) {
  process.exitCode = fail(error);
}

async function main(choices: Choices): Promise<void> {
  const { settings } = choices;
  const checked = checkChoices(choices);
  const engine = engineConfig(choices, checked);
  const log = createLogger({
    format: settings.loggingFormat,
    verbose: settings.verbosity >= 2,
    write: (line) => void process.stderr.write(line),
  });
  warn(log, choices);
  const signal = stopSignal(1, (name) => {
    log.info({ signal: name }, 'stopping: evictions under way come to their end');
  });
  const simulation = settings.simulate ? await startSimulation(settings.seed) : null;
  try {
    const connection = simulation ? { kubeconfig: simulation.kubeconfig } : choices.connection;
    const cluster = await loadKubeconfig(connection);
    const { server } = cluster.access;
    const { semantics, mode } = settings;
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

function warn(log: Logger, { unknownVariables }: Choices): void {
  for (const name of unknownVariables) {
    log.warn({ variable: name }, 'environment variable of no flag: it is not read');
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
