import { randomBytes } from 'node:crypto';
import type { Taint } from '@taintmgr/core';
import type { DrainPlan } from '@taintmgr/core/drain';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { type CordonAndTaint, markOf, readMarks } from '@taintmgr/k8s-adapter/drain';
import {
  ClusterReader,
  jobEnds,
  type NodeFacts,
  selected,
  surveyNodes,
  whoAmI,
} from '@taintmgr/k8s-adapter/survey';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Answer, type Format, printAnswer, readFormat } from '../../render/printer.ts';
import { carryOut } from './carry-out.ts';
import { planOf, readConfig, restartedPods } from './config.ts';
import { type DrainReport, drainDocument, drainReport, plannedOutcomes } from './documents.ts';
import type { Drain } from './drain.ts';
import { dryRun } from './dry-run.ts';
import type { DrainFlags } from './flags.ts';
import { exitCodes } from './outcome.ts';
import { renderPlan, waitLines, wavesOf } from './plan-table.ts';
import { readDrainPolicies } from './policies.ts';
import {
  anotherDrainFault,
  flagsFault,
  overlapFault,
  policyFault,
  refuseNodeName,
  rightsFault,
} from './refusals.ts';
import {
  chooseEffect,
  effectLine,
  newDrainName,
  nobodyMatches,
  readRequest,
  readTargets,
} from './settings.ts';

/** `drain-by-taint TAINT [NODE...]`: plans, refuses or carries out, and says how it ended. */
export async function run(
  invocation: Invocation<DrainFlags>,
  taintText: string | undefined,
  nodeNames: readonly string[],
): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  if (flags.serverSide) {
    const { runOnServer } = await import('./server-side.ts');
    return await runOnServer(invocation, taintText, nodeNames);
  }
  const alone = (['detach', 'name'] as const).find((flag) => flags[flag] !== undefined);
  if (alone) throw new UsageError(`--${alone} is only there with --server-side`);
  const request = await readRequest(invocation, taintText, nodeNames);
  refuseTogether(flags);
  const format = await readFormat(flags.output);
  return await withConnection(invocation, async (connection) => {
    const reader = new ClusterReader(connection.client, flags.chunkSize);
    const targets = await readTargets(reader, request);
    const { podSelector = '' } = flags;
    if (targets.length === 0) {
      await selected('--pod-selector', podSelector, () => reader.podsOn([], podSelector));
      output.err(nobodyMatches(flags));
      return exitCode.done;
    }
    const startedAt = Date.now();
    if (taintText !== undefined) await refuseNodeName(reader, taintText);
    const survey = await selected('--pod-selector', podSelector, () =>
      surveyNodes(reader, targets, podSelector),
    );
    const settings = chooseEffect(request, survey);
    const config = await readConfig(reader, survey, settings);
    const policies = await readDrainPolicies(connection, reader, survey.evictor, invocation);
    for (const message of reader.refused) warn(output, `not everything could be read: ${message}`);
    const drain: Drain = {
      connection,
      policies,
      settings,
      survey,
      config,
      wanted: {
        ...wantedOn(targets, settings.taint, request.drain.spec.cordon !== 'Never', startedAt),
        by: (await whoAmI(connection.client)) ?? '',
      },
      output,
      say: format.kind === 'table' ? output.out : output.err,
      interrupt,
      startedAt,
    };
    return await planAndDrain(drain, reader, format, flags.headers !== false);
  });
}

function refuseTogether({ podSelector, maxUnavailable, restartSingleReplicas }: DrainFlags): void {
  if (podSelector === undefined) return;
  const other = [
    maxUnavailable !== undefined ? '--max-unavailable' : null,
    restartSingleReplicas ? '--restart-single-replicas' : null,
  ].find((flag) => flag !== null);
  if (!other) return;
  const why = 'it counts all pods of a workload';
  throw new UsageError(`--pod-selector and ${other} exclude each other: ${why}`);
}

async function planAndDrain(
  drain: Drain,
  reader: ClusterReader,
  format: Format,
  headers: boolean,
): Promise<ExitCode> {
  const { survey, config, settings, output, startedAt, policies } = drain;
  const restarted = await restartedPods(reader, survey, settings.drain);
  const plan = planOf(survey, config, policies.events, startedAt, restarted);
  const missing = flagsFault(plan);
  const isDryRun = settings.dryRun !== 'none';
  const effect = effectLine(settings);
  if (format.kind === 'table' && (missing !== null || isDryRun)) {
    const { widthOut: width, paintOut: paint } = output;
    const options = { wide: format.wide, headers, width, paint };
    const knowsBudgets = survey.budgets !== null;
    const lines = [renderPlan(plan, startedAt, options, knowsBudgets, wavesOf(config))];
    if (headers) lines.push(...waitLines(settings.drain));
    output.out([...lines, ...(headers && effect !== null ? [effect] : [])].join('\n'));
  } else if (effect !== null && (missing !== null || isDryRun)) {
    output.err(effect);
  }
  const leaving = plan.pods.filter(({ fate }) => fate.kind === 'evict' || fate.kind === 'hold');
  const jobs = await jobEnds(
    reader,
    leaving.map(({ pod }) => pod),
  );
  for (const line of jobs) warn(output, line);
  const inTheWay = missing ?? (await overlapOf(drain, reader)) ?? (await anotherDrainOf(drain));
  const rights = (): Promise<string | null> => rightsFault(drain, plan);
  const refusal = inTheWay ?? (isDryRun ? null : (policies.fault ?? (await rights())));
  const report = refusal === null ? await perform(drain, plan) : refused(drain, plan, refusal);
  if (format.kind !== 'table') {
    output.write(await printAnswer(answerOf(report), format, headers, output));
  }
  if (refusal !== null) throw new UsageError(refusal);
  return exitCodes[report.result];
}

function perform(drain: Drain, plan: DrainPlan): Promise<DrainReport> {
  return drain.settings.dryRun === 'none' ? carryOut(drain, plan) : dryRun(drain, plan);
}

function refused(drain: Drain, { pods }: DrainPlan, message: string): DrainReport {
  const nodes = plannedOutcomes(drain.config.targets, pods, new Map());
  return drainReport(drain, 'Refused', nodes, { message });
}

function answerOf(report: DrainReport): Answer {
  const rows = report.nodes.flatMap(({ name, pods }) =>
    pods.map((pod) => ({ node: name, ...pod })),
  );
  return {
    document: drainDocument(report),
    rows,
    names: report.nodes.flatMap(({ gonePods }) => gonePods.map((name) => `pod/${name}`)),
    table: () => '',
  };
}

/** The controller that is in the way, in words; null: none is, or the user accepts it, or only asks. */
async function overlapOf(drain: Drain, reader: ClusterReader): Promise<string | null> {
  const { settings, survey, output } = drain;
  const { taint, budgets, flags, dryRun } = settings;
  const fault = overlapFault(taint, survey, budgets) ?? (await policyFault(drain, reader));
  if (fault === null || flags.allowOverlap) return null;
  if (dryRun === 'none' && budgets.kind !== 'ignore') return fault;
  warn(output, fault);
  return null;
}

/** Another drain that is in the way, in words; null: there is none, or the user only asks. */
async function anotherDrainOf(drain: Drain): Promise<string | null> {
  const fault = await anotherDrainFault(drain);
  if (fault === null || drain.settings.dryRun === 'none') return fault;
  warn(drain.output, fault.replace('; nothing was changed', ''));
  return null;
}

/** An earlier run with the same taint is continued under its name. */
function wantedOn(
  targets: readonly NodeFacts[],
  taint: Taint,
  cordon: boolean,
  now: number,
): Omit<CordonAndTaint, 'by'> {
  const marks = targets.flatMap(({ annotations }) => readMarks(annotations));
  const run = randomBytes(4).toString('hex');
  return { id: markOf(marks, taint)?.id ?? newDrainName(now), taint, cordon, run };
}
