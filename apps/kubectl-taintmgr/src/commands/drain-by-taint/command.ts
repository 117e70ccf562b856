import {
  type DrainOptions,
  drainVerdict,
  type Node,
  type Pod,
  parseTaint,
  type Taint,
} from '@taintmgr/core';
import { podFromJson, podsPath } from '@taintmgr/k8s-adapter';
import { type Connection, connect } from '../../connection.ts';
import { type ExitCode, exitCode, UsageError } from '../../exit.ts';
import type { Output } from '../../output.ts';
import { askServer } from './dry-run.ts';
import { refuseOverlap } from './overlap.ts';
import { planDrain } from './plan.ts';
import { Progress } from './progress.ts';
import { refusalLine, renderLeft, renderPlan } from './report.ts';
import { runDrain } from './run.ts';
import { putTaint, readTargets, undoHint } from './targets.ts';

/** What the command line says. */
export interface DrainFlags {
  readonly selector?: string | undefined;
  readonly podSelector?: string | undefined;
  readonly dryRun: 'none' | 'client' | 'server';
  readonly force: boolean;
  readonly ignoreDaemonsets: boolean;
  readonly deleteEmptydirData: boolean;
  /** Seconds; negative: the pod's own. */
  readonly gracePeriod: number;
  /** Milliseconds; 0: no limit. */
  readonly timeout: number;
  readonly allowOverlap: boolean;
}

/** One drain: what it works with. */
export interface Drain {
  readonly connection: Connection;
  readonly taint: Taint;
  readonly flags: DrainFlags;
  readonly output: Output;
  readonly interrupt: AbortSignal;
}

/** `drain-by-taint TAINT [NODE...]`: plans, refuses or carries out, and says how it ended. */
export async function drainByTaint(
  taintText: string,
  nodeNames: readonly string[],
  flags: DrainFlags & Readonly<Record<string, unknown>>,
  output: Output,
  interrupt: AbortSignal,
): Promise<ExitCode> {
  const taint = readTaint(taintText);
  const connection = await connect(flags);
  const drain = { connection, taint, flags, output, interrupt };
  try {
    const nodes = await readTargets(connection.client, nodeNames, flags.selector);
    return nodes.length === 0 ? exitCode.done : await drainNodes(drain, nodes);
  } finally {
    connection.transport.close();
  }
}

function readTaint(text: string): Taint {
  const taint = parseTaint(text);
  if (taint.effect === 'NoExecute') return taint;
  throw new UsageError(
    `invalid taint "${text}": effect "${taint.effect}": want NoExecute, the only one that evicts`,
  );
}

async function drainNodes(drain: Drain, nodes: readonly Node[]): Promise<ExitCode> {
  const { flags, output, taint } = drain;
  const options = drainOptions(flags);
  const pods = await readPods(drain, nodes);
  const now = Date.now();
  const plan = planDrain(now, taint, nodes, pods, options);
  const refusal = refusalLine(plan);
  if (flags.dryRun !== 'none' || refusal) output.out(renderPlan(plan, now));
  if (refusal) throw new UsageError(refusal);
  switch (flags.dryRun) {
    case 'client':
      return exitCode.done;
    case 'server':
      return await askServer(drain, plan);
    case 'none':
      return await carryOut(drain, nodes);
  }
}

/** kubectl drain's filters as the flags set them. */
function drainOptions(flags: DrainFlags): DrainOptions {
  return {
    force: flags.force,
    ignoreDaemonSets: flags.ignoreDaemonsets,
    deleteEmptyDirData: flags.deleteEmptydirData,
  };
}

/** The pods of the target nodes that --pod-selector leaves. */
async function readPods({ connection, flags }: Drain, nodes: readonly Node[]): Promise<Pod[]> {
  const pods: Pod[] = [];
  for (const { name } of nodes) {
    const objects = await connection.client.list(podsPath, {
      fieldSelector: `spec.nodeName=${name}`,
      ...(flags.podSelector !== undefined && { labelSelector: flags.podSelector }),
    });
    pods.push(...objects.map(podFromJson));
  }
  return pods;
}

async function carryOut(drain: Drain, nodes: readonly Node[]): Promise<ExitCode> {
  const { connection, taint, flags, output, interrupt } = drain;
  if (!flags.allowOverlap) await refuseOverlap(connection.client, Date.now());
  const nodeNames = nodes.map(({ name }) => name);
  for (const name of nodeNames) {
    const put = await putTaint(connection.client, name, taint, Date.now());
    output.out(`node/${name} ${put ? 'tainted' : 'already tainted'}`);
  }
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
    new Progress(output, Date.now()),
  );
  for (const name of nodeNames) {
    const isLeft = result.leaving.some(({ pod }) => pod.nodeName === name);
    if (!isLeft) output.out(`node/${name} drained`);
  }
  if (result.code !== exitCode.done) {
    output.err(renderLeft(result));
    output.err(`hint: to take the taint away again: ${undoHint(nodeNames, taint)}`);
  }
  return result.code;
}
