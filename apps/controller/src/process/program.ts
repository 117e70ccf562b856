// The program: reads the settings, runs the controller, says what went wrong.
import v8 from 'node:v8';
import { CommanderError } from '@commander-js/extra-typings';
import type { EmbeddedCluster } from '@taintmgr/api-server';
import { ApiError, ConnectionError, KubeconfigError, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { type Checked, checkChoices } from '../flags/checks.ts';
import { ConfigFileError } from '../flags/config-file.ts';
import { foreignGates } from '../flags/feature-gates.ts';
import { SettingError } from '../flags/kind.ts';
import { PolicyFilesError } from '../flags/policy-files.ts';
import { type Choices, resolveChoices } from '../flags/resolve.ts';
import { batched } from '../log/batched.ts';
import { createLogger, type Logger } from '../log/logger.ts';
import { OverlapError } from '../overlap/overlap.ts';
import { CheckError, checkUrl } from './check-url.ts';
import { runProcess } from './run-process.ts';

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
    without: isDoneHere ? ['conditionTaints'] : [],
  });
}

/** Ends the process on an unexpected error, which is logged in the log's own form; a new start recovers. */
function crashWith(log: Logger): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ error: error.stack ?? String(error) }, 'crashed, which is a bug');
    process.exit(1);
  });
}

function warn(log: Logger, { hints, unknownVariables, settings, ownPod }: Choices): void {
  for (const hint of hints) log.warn(hint);
  for (const gate of foreignGates(settings.featureGates)) {
    log.warn(`unknown feature gate ${gate}, ignored`);
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

const hints: Readonly<Record<number, string>> = {
  401: 'the credentials of the current context are not valid',
  403: 'the permissions it needs are in deploy/, one ClusterRole for each mode',
  404: 'the server may not be a Kubernetes API server: check --server and --context',
};

const redirected = 'the server redirects: check --server and --context';

function hintFor(status: number): string | undefined {
  if (status >= 300 && status < 400) return redirected;
  return hints[status];
}

const knownErrors = [
  ApiError,
  CheckError,
  ConnectionError,
  KubeconfigError,
  ConfigFileError,
  PolicyFilesError,
  SettingError,
  OverlapError,
];

/** The number of faults of policies that are logged, one line each; the others are counted. */
const faultsMax = 20;

/** The lines to print when the controller cannot start; null for a mistake of ours. */
export function errorLines(error: unknown): string | null {
  const isKnown = knownErrors.some((known) => error instanceof known);
  if (!isKnown || !(error instanceof Error)) return null;
  const faults = error instanceof PolicyFilesError ? error.faults : [error.message];
  // The message may be the server's: a line stays a line.
  const more = faults.length - faultsMax;
  const shown = more > 0 ? [...faults.slice(0, faultsMax), `and ${more} more`] : faults;
  const lines = shown.map(
    (fault) => `error: ${fault.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu, ' ')}`,
  );
  const hint = error instanceof ApiError ? hintFor(error.failure.status ?? 0) : undefined;
  return [...lines, ...(hint === undefined ? [] : [`hint: ${hint}`])].join('\n');
}

const flags: readonly string[] = [
  // The space for new objects stays as large as it begins: 1 MiB, and not 16 in each half.
  '--semi-space-growth-factor=1',
  // The rest of it is 0.3 MB each time: to wake other threads for that takes longer than it saves.
  '--no-parallel-scavenge',
  // Turbofan after ten times as many calls. A mass eviction is over before the cost of compiling its code is
  // recovered. Maglev's code is nearly as quick, and a process that runs for days still gets the optimized
  // code.
  '--invocation-count-for-turbofan=30000',
  // Maglev does not inline functions: the compiled code is smaller, which saves 5 MB of 120.
  '--no-maglev-inlining',
];

/**
 * The rest of the heap is collected when it has grown by this percentage, and not to four times its size. For
 * a small heap, 80 in place of 50 saves up to a tenth of a mass eviction's CPU for 2 MB of 120; for that of a
 * million pods it would cost 150 MB.
 */
const growth = { small: 80, large: 30 };
/** With what waits to be collected: some 100,000 pods, if all are watched. */
const largeHeapBytes = 128 * 2 ** 20;
const lookEveryMs = 1000;

/**
 * A little more work of the garbage collector for half of the memory, and less compiling. These flags can be
 * set while the program runs, so that every way to start it works.
 */
export function tuneForController(): void {
  for (const flag of flags) v8.setFlagsFromString(flag);
  followHeap();
}

/** Lets the heap grow as its size allows, from now on; `percent` hears how much that is. */
export function followHeap(percent: (growth: number) => void = letHeapGrow): void {
  percent(growth.small);
  const timer = setInterval(() => {
    if (v8.getHeapStatistics().used_heap_size < largeHeapBytes) return;
    // For good: a cluster of that size does not become a small one.
    clearInterval(timer);
    percent(growth.large);
  }, lookEveryMs);
  timer.unref();
}

function letHeapGrow(percent: number): void {
  v8.setFlagsFromString(`--heap-growing-percent=${percent}`);
}
