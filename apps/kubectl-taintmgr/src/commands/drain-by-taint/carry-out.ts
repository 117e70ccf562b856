import { type DrainPlan, drainStaleMs } from '@taintmgr/core/drain';
import { formatDuration } from '@taintmgr/core/time';
import { ApiClient, ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import {
  cordoning,
  ending,
  isNamed,
  type NodeChanges,
  renewing,
  tainting,
} from '@taintmgr/k8s-adapter/drain';
import { warn } from '../../cli/output.ts';
import { changeNode } from '../../cluster/change-node.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { undoOnNodes } from '../../cluster/undo-drain.ts';
import { alreadySaid, blockerLines, daemonSetLine } from './blockers.ts';
import { type DrainReport, drainReport, outcomes } from './documents.ts';
import { type Drain, sayChange } from './drain.ts';
import { renderLeft } from './failure-report.ts';
import { isBegun, isNotDrained } from './outcome.ts';
import { Progress } from './progress.ts';
import { type DrainEnd, runDrain } from './run.ts';
import type { DrainSettings } from './settings.ts';
import { stopHint, stopText, takeTaintsBack } from './stop.ts';

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
  const changes = await cordonNodes(drain);
  const { podSelector } = settings.flags;
  const audience = { output, say, live: await output.live() };
  const progress = new Progress(audience, Date.now(), alreadySaid(plan));
  const { client } = connection;
  const options = {
    ...{ config, podSelector, interrupt, policies: drain.policies, drain: settings.drain },
    taint: (nodeName: string) => taintAtItsTurn(drain, nodeName, changes),
    renew: (nodeName: string) => changeNode(client, nodeName, renewing(wanted)),
    end: (nodeName: string, isDrained: boolean) =>
      changeNode(client, nodeName, ending(wanted, isDrained)),
    untaint: () => takeTaintsBack(drain, changes),
  };
  const end = await runDrain(connection, options, progress);
  await endOnOpenNodes(drain, end);
  if (end.result !== 'Drained') await reportLeft(drain, end);
  const id = await offerUndo(drain, end, changes);
  const message = end.machine.stop ? stopText(end.machine.stop) : end.refusal;
  return drainReport(drain, end.result, outcomes(end.machine, changes), { id, message });
}

/** Rolls back where that is wanted, and says how to undo the rest; its name, null: nothing is left. */
async function offerUndo(
  drain: Drain,
  { result, machine }: DrainEnd,
  changes: ReadonlyMap<string, NodeChanges>,
): Promise<string | null> {
  const { wanted, output, settings } = drain;
  const isFailure = result !== 'Drained' && result !== 'Interrupted';
  const nodes = settings.drain.rollsBack && isFailure ? machine.nodes() : [];
  const rolledBack = new Set(nodes.filter(isNotDrained).map(({ name }) => name));
  await rollBack(drain, rolledBack);
  const vanished = new Set(
    machine.nodes().flatMap(({ name, phase }) => (phase.kind === 'vanished' ? [name] : [])),
  );
  const isMarked = [...changes].some(([name, { id }]) => {
    return id !== null && !rolledBack.has(name) && !vanished.has(name);
  });
  if (!isMarked) return null;
  const { evictor } = drain.survey;
  if (result !== 'Drained' && evictor.heedsDrains && wanted.taint.effect === 'NoExecute') {
    const time = formatDuration(drainStaleMs);
    output.err(`hint: taintmgr-controller evicts what is left ${time} from now, unless you undo`);
  }
  output.err(`hint: to undo: kubectl taintmgr undo ${wanted.id}`);
  return wanted.id;
}

/** Cordons the nodes; where that fails half-way, takes it back or says how. */
async function cordonNodes(drain: Drain): Promise<Map<string, NodeChanges>> {
  const { connection, survey, wanted, output, settings } = drain;
  const changes = new Map<string, NodeChanges>();
  if (!wanted.cordon || cordonsAtTurn(settings)) return changes;
  try {
    for (const { node } of survey.nodes) {
      const change = await changeNode(connection.client, node.name, cordoning(wanted));
      changes.set(node.name, change);
      sayChange(drain, node.name, 'cordoned', change);
    }
    return changes;
  } catch (error) {
    const changed = [...changes].filter(([, { id }]) => id !== null).map(([name]) => name);
    if (settings.drain.rollsBack) await rollBack(drain, changed);
    else if (changed.length > 0) output.err(`hint: to undo: kubectl taintmgr undo ${wanted.id}`);
    throw error;
  }
}

async function taintAtItsTurn(
  drain: Drain,
  nodeName: string,
  changes: Map<string, NodeChanges>,
): Promise<void> {
  const { connection, wanted, settings } = drain;
  const isWith = wanted.cordon && cordonsAtTurn(settings);
  const how = isWith ? 'withCordon' : 'cordonedBefore';
  const change = await changeNode(connection.client, nodeName, tainting(wanted, Date.now(), how));
  if (isWith) sayChange(drain, nodeName, 'cordoned', change);
  const cordoned = change.cordoned || changes.get(nodeName)?.cordoned === true;
  changes.set(nodeName, { ...change, cordoned });
}

/** No node is cordoned while a window or a gate may keep it from its turn. */
function cordonsAtTurn({ drain: { cordon, windows, gates } }: DrainSettings): boolean {
  return cordon === 'atTurn' || windows.length > 0 || gates.length > 0;
}

/**
 * Shows on nodes that were begun that the drain has ended, so that it can be continued at once. After
 * Ctrl-C the connection's own client sends nothing more.
 */
async function endOnOpenNodes({ connection, wanted }: Drain, { machine }: DrainEnd): Promise<void> {
  const { transport, cluster } = connection;
  const { server } = cluster.access;
  const client = new ApiClient({ transport, server, requestTimeout: lastWordsMsMax });
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

async function reportLeft(
  { connection, survey, config, output }: Drain,
  end: DrainEnd,
): Promise<void> {
  const budgets = await budgetsNow(connection);
  const pods = new Map(survey.pods.map(({ pod }) => [pod.uid, pod] as const));
  output.err(renderLeft(end, budgets ?? survey.budgets, (uid) => pods.get(uid) ?? null));
  const { stop } = end.machine;
  if (stop) output.err(stopHint(stop, config.taint));
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

/** Takes back what this drain has set on nodes that it could not drain. */
async function rollBack(drain: Drain, names: Iterable<string>): Promise<void> {
  const { connection, wanted, output, say } = drain;
  const options = { say, warn: (text: string) => warn(output, text) };
  await undoOnNodes(connection.client, names, isNamed(wanted.id), options);
}
