// Simulates what becomes of pods, and says it as tables, documents and a page: simulate.
import { printable, rulesOf, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { FaultyFile } from '@taintmgr/k8s-adapter/manifests';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type Output, warn, writeTableNotes } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { version } from '../../cli/version.ts';
import { type Answer, printAnswer, readFormat } from '../../render/printer.ts';
import { overlayOf } from './apply/apply.ts';
import { commandOf } from './command-text.ts';
import { afterName, beforeName, type SimulateFlags, type Top } from './flags.ts';
import { play } from './play.ts';
import { replayCommand } from './replay/replay.ts';
import { checkReportFile, writeReportFile } from './report-file.ts';
import { type Result, simulationDocument } from './result/documents.ts';
import { type FailIf, parseFailIf, readingsText } from './result/fail-if.ts';
import { simulationTable } from './result/table.ts';
import { readScriptTexts, scriptFrom } from './script/script-texts.ts';
import { liveSource, readSource } from './source/read.ts';
import type { ClusterSource } from './source/source.ts';
import type { Semantics } from './stage/run.ts';
import { tuneForSimulation } from './tuning.ts';
import { actorNotes, rulesIn, variantsIn } from './variants.ts';
import { verifyCommand } from './verify/verify.ts';

/** The number of missing parts that are named. */
const missingShown = 20;

const byAlone =
  '--by says how --each loses each part, and --each is missing: want --each node, zone or the key of a label';

/** `simulate`: plays a script, or a recording. */
export async function run(invocation: Invocation<SimulateFlags>): Promise<ExitCode> {
  const { flags } = invocation;
  try {
    if (flags.replay !== undefined) return await replayCommand(invocation, flags.replay);
    if (flags.verify !== undefined) {
      tuneForSimulation();
      const isTaken = (source: ClusterSource): boolean => isWhole(source, flags, invocation.output);
      return await verifyCommand(invocation, flags.verify, isTaken);
    }
    return await simulateOnce(invocation);
  } catch (error) {
    throw error instanceof FaultyFile ? new UsageError(error.faults) : error;
  }
}

/** Reads cluster and script, plays them, and says what happened. */
async function simulateOnce(invocation: Invocation<SimulateFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  tuneForSimulation();
  const format = await readFormat(flags.output);
  const texts = await readScriptTexts(flags);
  const script = scriptFrom(texts);
  if (flags.by && flags.each === undefined) throw new UsageError(byAlone);
  const { filename = [], apply = [] } = flags;
  if ([...filename, ...apply].filter((path) => path === '-').length > 1) {
    throw new UsageError(
      '-f - and --apply -: standard input is there once; want a file for the other',
    );
  }
  if (flags.report !== undefined) await checkReportFile(flags.report);
  // A cluster may take long to read.
  conditionsOf(flags, null);
  const read = await sourceOf(invocation);
  const { apply: paths, seed } = flags;
  const overlay = paths ? await overlayOf(read, { paths, script, seed }) : null;
  // The gaps, notes and actor of the cluster with manifests count for the cluster without them too.
  const { missing, notes, actor } = overlay?.source ?? read;
  const told = { ...read, missing, actor };
  const source = { ...told, notes: [...actorNotes(flags, script, told), ...notes] };
  const conditions = conditionsOf(flags, rulesIn(flags, script, source));
  for (const hint of [...script.hints, ...conditions.flatMap(({ hints }) => hints)]) {
    warn(output, hint);
  }
  if (!isWhole(source, flags, output)) return exitCode.error;
  const variants = variantsIn(flags, script, source, overlay);
  const [variant] = variants;
  if (flags.each !== undefined && variant) {
    const { simulateEach } = await import('./each/each.ts');
    return await simulateEach(invocation, { each: flags.each, texts, script, variant, format });
  }
  const result = await play(source, { script, variants }, invocation, conditions);
  // Before anything is printed: who reads that may go away early.
  const unwritten =
    flags.report === undefined
      ? null
      : writeReportFile(flags.report, await reportPage(result, flags));
  output.write(
    await printAnswer(answerOf(result, flags.top), format, flags.headers !== false, output),
  );
  writeTableNotes(output, format.kind === 'table', source.notes);
  const code = reportLimits(result, output);
  if (unwritten) throw unwritten;
  return code;
}

/** The conditions of --fail-if, which may name the runs that there will be; null: that is not known yet. */
function conditionsOf(flags: SimulateFlags, rules: readonly Semantics[] | null): readonly FailIf[] {
  const { failIf = [], variant = [], apply, allowUnknown: allowsUnknown = false } = flags;
  const own = apply ? [beforeName, afterName] : variant.map(({ name }) => name);
  const mustName = own.length > 0;
  const names = mustName ? own : (rules?.map(rulesOf) ?? null);
  return failIf.map((text) => parseFailIf(text, { names, mustName, allowsUnknown }));
}

async function sourceOf(invocation: Invocation<SimulateFlags>): Promise<ClusterSource> {
  const { filename } = invocation.flags;
  if (filename !== undefined) return await readSource(filename);
  return await withConnection(invocation, ({ client }) => liveSource(client, 'the cluster'));
}

/** Reports the missing parts; false where they need --partial. */
function isWhole(
  { missing }: ClusterSource,
  { partial, apply }: SimulateFlags,
  output: Output,
): boolean {
  if (missing.length === 0) return true;
  const say = (text: string): void =>
    partial ? warn(output, printable(text)) : output.err(`error: ${printable(text)}`);
  for (const text of missing.slice(0, missingShown)) say(text);
  if (missing.length > missingShown) say(`and ${missing.length - missingShown} more`);
  const what = apply ? 'the cluster or of --apply' : 'the cluster';
  if (!partial) output.err(`Part of ${what} could not be taken; --partial simulates the rest.`);
  return partial === true;
}

function answerOf(result: Result, top: Top | undefined): Answer {
  const workloads = result.runs[0]?.summary.workloads ?? [];
  return {
    document: simulationDocument(result),
    rows: workloads,
    names: workloads.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`),
    table: (options) => simulationTable(result, options, top),
  };
}

function reportLimits({ limits, seeds }: Result, output: Output): ExitCode {
  const crossed = limits.filter(({ exceeded }) => exceeded);
  for (const { limit, readings, exceededIn } of crossed) {
    const often = exceededIn === undefined ? '' : `with ${exceededIn} of ${seeds} seeds: `;
    const text = `${often}${printable(readingsText(readings))}`;
    output.err(`limit crossed: ${printable(limit)}: ${text}`);
  }
  const open = limits.flatMap(({ limit, unknown }) =>
    unknown === undefined ? [] : [[limit, unknown]],
  );
  for (const [limit = '', unknown = ''] of open) {
    output.err(`error: --fail-if ${printable(limit)}: ${printable(unknown)}`);
  }
  if (crossed.length > 0) return exitCode.exceeded;
  return open.length > 0 ? exitCode.error : exitCode.done;
}

/** The page is loaded by those alone who want it. */
async function reportPage(result: Result, flags: SimulateFlags): Promise<string> {
  const { pageHtml } = await import('@taintmgr/page');
  return pageHtml(simulationDocument(result), { command: commandOf(flags), version });
}
