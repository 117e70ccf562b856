import { type DrainPlan, drainStaleMs } from '@taintmgr/core/drain';
import { formatDuration } from '@taintmgr/core/time';
import { ApiClient, ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import { ending, isNamed } from '@taintmgr/k8s-adapter/drain';
import { warn } from '../../cli/output.ts';
import { changeNode, isGone, undoOnNodes } from '../../cluster/change-node.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { printable, shellWord } from '../../render/printable.ts';
import { type DrainReport, drainReport, outcomes } from './documents.ts';
import type { Drain } from './drain.ts';
import { renderLeft, type Verdicts, verdictsOf } from './failure-report.ts';
import { isBegun, isNotDrained } from './outcome.ts';
import { alreadySaid, blockerLines, daemonSetLine, unreturningLine } from './plan-table.ts';
import { Progress } from './progress.ts';
import { type DrainEnd, runDrain } from './run.ts';
import { stopHint, stopText } from './stop.ts';

/** Nobody waits longer for a drain to say that it has ended. */
const lastWordsMsMax = 2_000;

/**
 * Carries out a drain: cordons the nodes, taints each at its turn, lets its pods go, and says how
 * it ended.
 */
export async function carryOut(drain: Drain, plan: DrainPlan): Promise<DrainReport> {
  const { output, say } = drain;
  const daemonSets = daemonSetLine(plan);
  for (const line of blockerLines(plan)) warn(output, line);
  if (daemonSets !== null) warn(output, daemonSets);
  for (const line of unreturningLine(plan)) warn(output, printable(line));
  const audience = { output, say, live: await output.live() };
  const progress = new Progress(audience, Date.now(), alreadySaid(plan));
  const end = await runDrain(drain, progress);
  await endOnOpenNodes(drain, end);
  const verdicts: Verdicts = end.result === 'Drained' ? new Map() : await reportLeft(drain, end);
  const id = await offerUndo(drain, end);
  const message = end.machine.stop ? stopText(end.machine.stop) : end.refusal;
  return drainReport(drain, end.result, outcomes(end.machine, end.changes, verdicts), {
    id,
    message,
  });
}

/**
 * Rolls back where that is wanted, and says how to undo the rest; its name, null: nothing is left. What
 * another run goes on with is left to that one.
 */
async function offerUndo(
  drain: Drain,
  { result, machine, changes }: DrainEnd,
): Promise<string | null> {
  const { wanted, output, settings } = drain;
  if (machine.isTakenOver) return wanted.id;
  const isFailure = result !== 'Drained' && result !== 'Interrupted';
  const nodes = settings.drain.spec.onFailure === 'RollBack' && isFailure ? machine.nodes() : [];
  const failed = nodes.filter(isNotDrained).map(({ name }) => name);
  const left = await rollBack(drain, failed);
  const isRolledBack = (name: string): boolean => failed.includes(name) && !left.includes(name);
  const marked = [...changes].filter(([name, { id }]) => id !== null && !isRolledBack(name));
  if (!(await isMarked(drain, new Map(marked).keys()))) return null;
  const { evictor } = drain.survey;
  if (result !== 'Drained' && evictor.heedsDrains && wanted.taint.effect === 'NoExecute') {
    const time = formatDuration(drainStaleMs);
    output.err(`hint: taintmgr-controller evicts what is left ${time} from now, unless you undo`);
  }
  hintUndo(drain);
  return wanted.id;
}

/** True while a node has something of the drain, as far as the API server says: somebody may have undone it. */
async function isMarked(drain: Drain, names: Iterable<string>): Promise<boolean> {
  const client = lastWordsClient(drain.connection);
  const isOurs = isNamed(drain.wanted.id);
  for (const name of names) {
    try {
      const isOn = await changeNode(client, name, ({ marks }) => {
        return { kind: 'changed', patch: null, result: marks.some(isOurs) };
      });
      if (isOn) return true;
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
      if (!isGone(error)) return true;
    }
  }
  return false;
}

/**
 * Shows on nodes that were begun that the drain has ended, so that it can be continued at once. After
 * Ctrl-C the connection's own client sends nothing more.
 */
async function endOnOpenNodes({ connection, wanted }: Drain, { machine }: DrainEnd): Promise<void> {
  const client = lastWordsClient(connection);
  const open = machine.nodes().filter(({ phase }) => isBegun(phase));
  await Promise.all(
    open.map(async ({ name }) => {
      try {
        await changeNode(client, name, ending(wanted, false));
      } catch (error) {
        // Its mark shows it too, by not being renewed.
        if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
      }
    }),
  );
}

function lastWordsClient({ transport, cluster: { access } }: Drain['connection']): ApiClient {
  return new ApiClient({ transport, server: access.server, requestTimeout: lastWordsMsMax });
}

async function reportLeft(
  { connection, survey, settings, output }: Drain,
  end: DrainEnd,
): Promise<Verdicts> {
  const { machine } = end;
  const budgets = (await budgetsNow(connection)) ?? survey.budgets;
  const pods = new Map(survey.pods.map(({ pod }) => [pod.uid, pod] as const));
  const verdicts = verdictsOf(machine, budgets, (uid) => pods.get(uid) ?? null);
  output.err(renderLeft(end, verdicts));
  if (machine.stop) output.err(stopHint(machine.stop, settings.taint));
  return verdicts;
}

/** The budgets as they are by now; null where they cannot be read, or nobody wants to wait for them. */
async function budgetsNow({ client }: Drain['connection']): ReturnType<ClusterReader['budgets']> {
  try {
    return await new ClusterReader(client).budgets();
  } catch {
    // The report is worth more than why its last detail is missing.
    return null;
  }
}

/**
 * Takes back what this drain has set on nodes; the names of those where that failed. Once begun it goes
 * on after Ctrl-C; a second one ends the process.
 */
async function rollBack(drain: Drain, names: Iterable<string>): Promise<readonly string[]> {
  const { connection, wanted, output, say } = drain;
  const { transport, cluster } = connection;
  const { access, requestTimeout } = cluster;
  const client = new ApiClient({ transport, server: access.server, requestTimeout });
  const options = { say, warn: (text: string) => warn(output, text) };
  return await undoOnNodes(client, names, isNamed(wanted.id), options);
}

/** Says how to take it back by hand. The name may be that of a mark which anybody has written. */
function hintUndo({ output, wanted }: Drain): void {
  output.err(`hint: to undo: kubectl taintmgr undo ${printable(shellWord(wanted.id))}`);
}
