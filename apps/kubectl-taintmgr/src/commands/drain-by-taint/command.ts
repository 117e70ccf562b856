import { randomBytes } from 'node:crypto';
import { type DrainPlan, formatTaint, formatTime } from '@taintmgr/core';
import { connect } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { warn } from '../../cli/output.ts';
import { readMarks } from '../../cluster/drain-marks.ts';
import type { NodeFacts } from '../../cluster/facts.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { type Format, readFormat } from '../../render/format.ts';
import { type Answer, printAnswer } from '../../render/printer.ts';
import { UsageError } from '../../usage-error.ts';
import { carryOut } from './carry-out.ts';
import type { Closing } from './cordon-and-taint.ts';
import { type DrainReport, drainDocument, plannedOutcomes } from './documents.ts';
import type { Drain } from './drain.ts';
import { rehearse } from './dry-run.ts';
import { effectLine } from './effect.ts';
import type { DrainFlags } from './flags.ts';
import { gather, planOf, podsOf } from './gather.ts';
import { exitCodes } from './outcome.ts';
import { overlapFault } from './overlap.ts';
import { refusalLine, renderPlan } from './plan-table.ts';
import { rightsFault } from './rights.ts';
import { readSettings } from './settings.ts';
import { readTargets } from './targets.ts';

/** `drain-by-taint TAINT [NODE...]`: plans, refuses or carries out, and says how it ended. */
export async function run(
  invocation: Invocation<DrainFlags>,
  taintText: string,
  nodeNames: readonly string[],
): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  const request = readSettings(taintText, flags, output);
  const format = await readFormat(flags.output);
  const connection = await connect(flags, interrupt);
  try {
    const reader = new ClusterReader(connection.client, flags.chunkSize);
    const targets = await readTargets(reader, nodeNames, flags.selector);
    if (targets.length === 0) {
      await podsOf(reader, targets, request);
      output.err(
        `No nodes match --selector ${JSON.stringify(flags.selector)}; nothing was changed`,
      );
      return exitCode.done;
    }
    const startedAt = Date.now();
    await refuseNodeName(reader, taintText);
    const gathered = await gather(reader, targets, request);
    const { settings } = gathered;
    for (const message of reader.refused) warn(output, `not everything could be read: ${message}`);
    const isText = format.kind === 'table';
    const closing = closingFor(settings.taint, flags.cordon !== false, targets, startedAt);
    const say = isText ? output.out : output.err;
    const drain: Drain = {
      connection,
      settings,
      gathered,
      closing,
      output,
      say,
      interrupt,
      startedAt,
    };
    return await planAndDrain(drain, format, flags.headers !== false);
  } finally {
    connection.transport.close();
  }
}

async function planAndDrain(drain: Drain, format: Format, headers: boolean): Promise<ExitCode> {
  const { gathered, settings, output, startedAt } = drain;
  const plan = planOf(gathered, startedAt);
  const missing = refusalLine(plan);
  const isRehearsal = settings.dryRun !== 'none';
  const effect = effectLine(settings);
  if (format.kind === 'table' && (missing !== null || isRehearsal)) {
    const options = { wide: format.wide, headers };
    const lines = [renderPlan(plan, startedAt, options, gathered.budgets !== null)];
    output.out([...lines, ...(headers && effect !== null ? [effect] : [])].join('\n'));
  } else if (effect !== null) {
    output.err(effect);
  }
  const refusal =
    missing ?? overlapOf(drain) ?? (isRehearsal ? null : await rightsFault(drain, plan));
  const report = refusal === null ? await perform(drain, plan) : refused(drain, plan, refusal);
  if (format.kind !== 'table') {
    output.write(await printAnswer(answerOf(report), format, headers));
  }
  if (refusal !== null) throw new UsageError(refusal);
  return exitCodes[report.result];
}

/** A taint that was forgotten: the first node would be taken for it. */
async function refuseNodeName(reader: ClusterReader, text: string): Promise<void> {
  if (/[=:/]/.test(text) || !(await reader.nodeIfThere(text))) return;
  throw new UsageError(
    `${text} is a node; name a taint before it, such as maintenance=kernel; nothing was changed`,
  );
}

function perform(drain: Drain, plan: DrainPlan): Promise<DrainReport> {
  return drain.settings.dryRun === 'none' ? carryOut(drain, plan) : rehearse(drain, plan);
}

function refused(drain: Drain, plan: DrainPlan, message: string): DrainReport {
  const { settings, gathered, startedAt } = drain;
  return {
    settings,
    result: 'Refused',
    id: null,
    startedAt,
    finishedAt: Date.now(),
    message,
    nodes: plannedOutcomes(gathered.targets, plan.pods, new Map()),
  };
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

/** Why another controller is in the way; null: none is, or that is accepted, or only asked about. */
function overlapOf({ settings, gathered, output }: Drain): string | null {
  const { taint, budgets, flags, dryRun } = settings;
  const fault = overlapFault(taint, gathered.evictors);
  if (fault === null || flags.allowOverlap) return null;
  if (dryRun === 'none' && budgets.kind !== 'ignore') return fault;
  warn(output, fault);
  return null;
}

function closingFor(
  taint: Closing['taint'],
  cordon: boolean,
  targets: readonly NodeFacts[],
  now: number,
): Closing {
  const name = formatTaint(taint);
  const marks = targets.flatMap(({ annotations }) => readMarks(annotations));
  const earlier = marks.find((mark) => formatTaint(mark.taint) === name);
  return { id: earlier?.id ?? newId(now), taint, cordon };
}

/** `drain-20261120-230839-7f3a`: when it began, and what tells it from another of that second. */
function newId(now: number): string {
  const [date = '', time = ''] = formatTime(now).replace(/[-:Z]/g, '').split('T');
  return `drain-${date}-${time}-${randomBytes(2).toString('hex')}`;
}
