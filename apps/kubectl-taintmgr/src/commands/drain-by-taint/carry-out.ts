import { type DrainPlan, drainStaleMs } from '@taintmgr/core/drain';
import type { Config } from '@taintmgr/core/model';
import { formatDuration } from '@taintmgr/core/time';
import { ApiClient, ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import { cordoning, ending, isNamed, type NodeChanges } from '@taintmgr/k8s-adapter/drain';
import { warn } from '../../cli/output.ts';
import { changeNode, isGone, undoOnNodes } from '../../cluster/change-node.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { printable, shellWord } from '../../render/printable.ts';
import { type DrainReport, drainReport, outcomes } from './documents.ts';
import { type Drain, sayChange } from './drain.ts';
import { renderLeft, type Verdicts, verdictsOf } from './failure-report.ts';
import { isBegun, isNotDrained } from './outcome.ts';
import { alreadySaid, blockerLines, daemonSetLine, unreturningLine } from './plan-table.ts';
import { Progress } from './progress.ts';
import { type DrainEnd, type NodeWritten, runDrain } from './run.ts';
import type { DrainSettings } from './settings.ts';
import { keptText, stopHint, stopText } from './stop.ts';

/** Nobody waits longer for a drain to say that it has ended. */
const lastWordsMsMax = 2_000;

/**
 * Carries out a drain: cordons the nodes, taints each at its turn, lets its pods go, and says how
 * it ended.
 */
export async function carryOut(drain: Drain, plan: DrainPlan): Promise<DrainReport> {
  const { connection, settings, config, output, say, interrupt, wanted } = drain;
  const daemonSets = daemonSetLine(plan);
  for (const line of blockerLines(plan)) warn(output, line);
  if (daemonSets !== null) warn(output, daemonSets);
  for (const line of unreturningLine(plan)) warn(output, printable(line));
  const changes = await cordonNodes(drain);
  const { podSelector } = settings.flags;
  const audience = { output, say, live: await output.live() };
  const progress = new Progress(audience, Date.now(), alreadySaid(plan));
  const options = {
    ...{ config, podSelector, interrupt, policies: drain.policies, drain: settings.drain },
    ...{ ownPod: ownPodAmong(drain.survey), wanted, changes },
    onWritten: (notice: NodeWritten) => follow(drain, changes, notice),
  };
  const end = await runDrain(connection, options, progress);
  await endOnOpenNodes(drain, end);
  const verdicts: Verdicts = end.result === 'Drained' ? new Map() : await reportLeft(drain, end);
  const id = await offerUndo(drain, end, changes);
  const message = end.machine.stop ? stopText(end.machine.stop) : end.refusal;
  return drainReport(drain, end.result, outcomes(end.machine, changes, verdicts), {
    id,
    message,
  });
}

/** The leader of taintmgr-controller, which keeps its last replica; null: none of these pods may be one. */
function ownPodAmong({ evictor: { ownPod }, pods }: Drain['survey']): Config['ownPod'] {
  const isAmong = pods.some(({ pod }) => pod.namespace === ownPod?.namespace);
  return ownPod && isAmong ? ownPod : null;
}

/**
 * Rolls back where that is wanted, and says how to undo the rest; its name, null: nothing is left. What
 * another run goes on with is left to that one.
 */
async function offerUndo(
  drain: Drain,
  { result, machine }: DrainEnd,
  changes: ReadonlyMap<string, NodeChanges>,
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
 * Cordons the nodes: one that refuses is tried again at its turn, one that is gone the drain will miss.
 * Cut short, it takes back what was set, or says how to do that.
 */
async function cordonNodes(drain: Drain): Promise<Map<string, NodeChanges>> {
  const { survey, wanted, settings, interrupt } = drain;
  const changes = new Map<string, NodeChanges>();
  if (!wanted.cordon || cordonsAtTurn(settings)) return changes;
  // The one whose answer did not come may be cordoned all the same.
  const changed: string[] = [];
  try {
    for (const { node } of survey.nodes) {
      changed.push(node.name);
      const change = await cordonNode(drain, node.name);
      if (change) changes.set(node.name, change);
      if (!change || change.id === null) changed.pop();
    }
    return changes;
  } catch (error) {
    const rollsBack = settings.drain.spec.onFailure === 'RollBack' && !interrupt.aborted;
    const left = rollsBack ? await rollBack(drain, changed) : changed;
    if (left.length > 0) hintUndo(drain);
    throw error;
  }
}

/** Null: the API server refused, or there is no such node any more. */
async function cordonNode(drain: Drain, name: string): Promise<NodeChanges | null> {
  const { connection, wanted, output } = drain;
  try {
    const change = await changeNode(connection.client, name, cordoning(wanted));
    sayChange(drain, name, 'cordoned', change);
    return change;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isGone(error)) return null;
    const why = printable(error.failure.message);
    warn(output, `node ${name} could not be cordoned, it is tried again at its turn: ${why}`);
    return null;
  }
}

/** Says what was written on a node, and keeps what has changed there. */
function follow(
  drain: Drain,
  changes: Map<string, NodeChanges>,
  { command: { nodeName, write }, outcome, written }: NodeWritten,
): void {
  const { wanted, say, output } = drain;
  const earlier = changes.get(nodeName);
  const isDone = outcome.kind === 'done';
  if (write.kind === 'taint' && isDone) {
    const { cordoned = false, tainted = false, id = null } = written;
    if (wanted.cordon && !earlier)
      sayChange(drain, nodeName, 'cordoned', { cordoned, tainted, id });
    changes.set(nodeName, { cordoned: cordoned || earlier?.cordoned === true, tainted, id });
  }
  if (write.kind !== 'untaint') return;
  if ('message' in outcome) warn(output, keptText(nodeName, wanted.taint, outcome.message));
  if (!isDone || !written.untainted) return;
  say(`node/${nodeName} untainted`);
  if (earlier) changes.set(nodeName, { ...earlier, tainted: false });
}

/** No node is cordoned while a window or a gate may keep it from its turn. */
function cordonsAtTurn({ drain: { spec } }: DrainSettings): boolean {
  const { cordon, windows = [], gates = [] } = spec;
  return cordon === 'AtTurn' || windows.length > 0 || gates.length > 0;
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
