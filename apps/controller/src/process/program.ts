// The program: reads the settings, runs the controller, says what went wrong.
import { CommanderError } from '@commander-js/extra-typings';
import type { EmbeddedCluster } from '@taintmgr/api-server';
import { loadKubeconfig } from '@taintmgr/k8s-adapter';
import { type Checked, checkChoices } from '../flags/checks.ts';
import { foreignGates } from '../flags/feature-gates.ts';
import { type Choices, resolveChoices } from '../flags/resolve.ts';
import { batched } from '../log/batched.ts';
import { createLogger, type Logger } from '../log/logger.ts';
import { checkUrl } from './check-url.ts';
import { runProcess } from './run-process.ts';
import { errorLines } from './start-errors.ts';
import { tuneForController } from './tuning.ts';

const output = batched((text) => void process.stderr.write(text));
process.on('exit', output.flush);

/** Runs the program until it is over, or `signal` tells it to stop; sets the exit code. */
export async function runProgram(signal: AbortSignal): Promise<void> {
  await main(signal).catch((error: unknown) => {
    process.exitCode = fail(error);
  });
}

async function main(signal: AbortSignal): Promise<void> {
  tuneForController();
  const choices = resolveChoices(process.argv.slice(2), process.env);
  const { settings } = choices;
  if (settings.checkUrl !== '') {
    process.stdout.write(`${await checkUrl(settings.checkUrl)}\n`);
    return;
  }
  const checked = checkChoices(choices);
  const log = createLogger({
    format: settings.loggingFormat,
    verbose: settings.verbosity >= 2,
    write: output.write,
  });
  crashWith(log);
  warn(log, choices);
  const onStop = (): void =>
    log.info({ signal: signal.reason }, 'stopping: waiting for evictions in progress');
  if (signal.aborted) onStop();
  else signal.addEventListener('abort', onStop);
  const simulation = settings.simulate ? await simulate(settings.seed, checked) : null;
  try {
    const connection = simulation ? { kubeconfig: simulation.kubeconfig } : choices.connection;
    const cluster = await loadKubeconfig(connection);
    if (cluster.withheld !== null) log.warn(cluster.withheld);
    if (simulation) process.stdout.write(`export KUBECONFIG=${simulation.kubeconfig}\n`);
    await runProcess({ choices, checked, cluster, signal, log });
    log.info('stopped');
  } finally {
    await simulation?.stop();
  }
}

/** The cluster of `--simulate`: three zones with workloads and our kinds, over HTTPS; loaded only when asked for. */
async function simulate(seed: number, { controllers }: Checked): Promise<EmbeddedCluster> {
  const { startEmbedded } = await import('@taintmgr/api-server');
  const { threeZones } = await import('@taintmgr/sim-cluster');
  const { customResourceDefinitions } = await import('@taintmgr/k8s-adapter/kinds');
  const isDoneHere = controllers.enabled.includes('node-lifecycle-controller');
  return await startEmbedded({
    seed,
    topology: threeZones,
    definitions: customResourceDefinitions(),
    without: isDoneHere ? ['nodeLifecycleStandIn'] : [],
  });
}

/** What nobody has thought of: said in the log's own form, and over; a new start finds its way. */
function crashWith(log: Logger): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ error: error.stack ?? String(error) }, 'crashed, which is a bug');
    process.exit(1);
  });
}

function warn(log: Logger, { unknownVariables, settings, ownPod }: Choices): void {
  for (const gate of foreignGates(settings.featureGates)) {
    log.warn(`feature gate ${gate} is none of ours, ignored`);
  }
  for (const name of unknownVariables) {
    log.warn({ variable: name }, 'environment variable is not a known flag, ignored');
  }
  if (ownPod === null && process.env.KUBERNETES_SERVICE_HOST !== undefined) {
    const missing =
      'POD_NAME and POD_NAMESPACE are not set: the last replica of this controller is not spared';
    log.warn(missing);
  }
}

/** Prints what went wrong and what to do next; the exit code to use. */
function fail(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  const lines = errorLines(error);
  if (lines === null) throw error;
  output.flush();
  process.stderr.write(`${lines}\n`);
  return 1;
}
