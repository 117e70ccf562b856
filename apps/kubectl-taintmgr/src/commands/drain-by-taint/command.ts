import {
  type DrainOptions,
  drainVerdict,
  type Node,
  type Pod,
  parseTaint,
  type Taint,
} from '@taintmgr/core';
import { connect } from '../../connection.ts';
import { type ExitCode, exitCode, UsageError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { readPodsOn } from '../../snapshot.ts';
import type { Drain, DrainFlags } from './drain.ts';
import { askServer } from './dry-run.ts';
import { overlapFault } from './overlap.ts';
import { planDrain } from './plan.ts';
import { Progress } from './progress.ts';
import { refusalLine, renderLeft, renderPlan } from './report.ts';
import { runDrain } from './run.ts';
import {
  closeNode,
  missing,
  type NodeChanges,
  readTargets,
  type Target,
  undoHint,
} from './targets.ts';

/** `drain-by-taint TAINT [NODE...]`: plans, refuses or carries out, and says how it ended. */
export async function drainByTaint(
  taintText: string,
  nodeNames: readonly string[],
  { flags, output, interrupt }: Invocation<DrainFlags>,
): Promise<ExitCode> {
  const taint = readTaint(taintText);
  const connection = await connect(flags, interrupt);
  const drain = { connection, taint, flags, output, interrupt };
  try {
    const targets = await readTargets(connection.client, nodeNames, flags.selector);
    if (targets.length > 0) return await drainTargets(drain, targets);
    output.err(`No nodes match --selector ${JSON.stringify(flags.selector)}; nothing was changed`);
    return exitCode.done;
  } finally {
    connection.transport.close();
  }
}

function readTaint(text: string): Taint {
  const [, effect = 'NoExecute', ...more] = text.split(':');
  if (effect === 'NoExecute' || more.length > 0) return parseTaint(text);
  throw new UsageError(
    `invalid taint "${text}": effect "${effect}": want NoExecute, the only one that evicts`,
  );
}

async function drainTargets(drain: Drain, targets: readonly Target[]): Promise<ExitCode> {
  const { connection, flags, output, taint } = drain;
  const options = drainOptions(flags);
  const nodes = targets.map(({ node }) => node);
  const pods = await readPods(drain, nodes);
  const now = Date.now();
  const plan = planDrain(now, taint, nodes, pods, options);
  const refusal = refusalLine(plan);
  if (flags.dryRun !== 'none' || refusal) output.out(renderPlan(plan, now));
  if (refusal) throw new UsageError(refusal);
  const overlap = flags.allowOverlap ? null : await overlapFault(connection.client, now);
  if (flags.dryRun === 'none') {
    if (overlap !== null) throw new UsageError(overlap);
    return await carryOut(drain, nodes);
  }
  if (overlap !== null) output.err(`Warning: ${overlap}`);
  for (const target of targets) {
    tellChanges(drain, target.node.name, missing(target, taint), ' (dry run)');
  }
  return flags.dryRun === 'server' ? await askServer(drain, plan) : exitCode.done;
}

/** Says, in kubectl's words, what was done to a node and what was so already. */
function tellChanges({ output }: Drain, nodeName: string, changes: NodeChanges, how = ''): void {
  for (const what of ['cordoned', 'tainted'] as const) {
    output.out(`node/${nodeName} ${changes[what] ? '' : 'already '}${what}${how}`);
  }
}

/** kubectl drain's filters as the flags set them. */
function drainOptions(flags: DrainFlags): DrainOptions {
  return {
    force: flags.force === true,
    ignoreDaemonSets: flags.ignoreDaemonsets === true,
    deleteEmptyDirData: flags.deleteEmptydirData === true,
  };
}

/** The pods of the target nodes that --pod-selector leaves. */
async function readPods({ connection, flags }: Drain, nodes: readonly Node[]): Promise<Pod[]> {
  const pods: Pod[] = [];
  for (const { name } of nodes) {
    pods.push(...(await readPodsOn(connection.client, name, flags.podSelector)));
  }
  return pods;
}

async function carryOut(drain: Drain, nodes: readonly Node[]): Promise<ExitCode> {
  const { connection, flags, output, interrupt } = drain;
  const nodeNames = nodes.map(({ name }) => name);
  await closeNodes(drain, nodeNames);
  const result = await runDrain(
    connection,
    {
      nodeNames,
      podSelector: flags.podSelector,
      takes: (pod) => drainVerdict(pod, drainOptions(flags)).kind === 'take',
      gracePeriod: flags.gracePeriod,
      timeout: flags.timeout,
      interrupt,
    },
    new Progress(output, await output.live(), Date.now()),
  );
  for (const name of nodeNames) {
    const isLeft = result.leaving.some(({ pod }) => pod.nodeName === name);
    if (result.synced && !isLeft) output.out(`node/${name} drained`);
  }
  if (result.code !== exitCode.done) output.err(renderLeft(result));
  tellUndo(drain, nodeNames);
  return result.code;
}

/** Closes the nodes; where that fails half-way, says how to undo what was done. */
async function closeNodes(drain: Drain, nodeNames: readonly string[]): Promise<void> {
  const { connection, taint } = drain;
  const changed: string[] = [];
  try {
    for (const name of nodeNames) {
      const changes = await closeNode(connection.client, name, taint, Date.now());
      if (changes.cordoned || changes.tainted) changed.push(name);
      tellChanges(drain, name, changes);
    }
  } catch (error) {
    if (changed.length > 0) tellUndo(drain, changed);
    throw error;
  }
}

function tellUndo({ output, taint }: Drain, nodeNames: readonly string[]): void {
  output.err(`hint: to undo: ${undoHint(nodeNames, taint)}`);
}
