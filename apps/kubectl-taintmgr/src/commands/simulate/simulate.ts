// Simulates what becomes of pods, and says it as tables, documents and a page: simulate.
import { closeSync, writeFileSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Instant } from '@taintmgr/core/time';
import { openPrivate } from '@taintmgr/k8s-adapter/client';
import { printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile, PolicyPathError, readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import { filesFirst } from '@taintmgr/k8s-adapter/survey';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type Output, warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Answer, printAnswer, readFormat } from '../../render/printer.ts';
import { type SimulateFlags, unchangedWord, upstreamWord, type VariantFlag } from './flags.ts';
import { replayCommand } from './replay/replay.ts';
import {
  type Result,
  type RunResult,
  shownName,
  simulationDocument,
  withDraws,
  withSummary,
} from './result/documents.ts';
import { type FailIf, parseFailIf, readingsText } from './result/fail-if.ts';
import { simulationTable } from './result/table.ts';
import { emptyScript, readEvents, readScript, type Script } from './script/script.ts';
import { liveSource, readSource, readText } from './source/read.ts';
import type { ClusterSource } from './source/source.ts';
import { Beginning, managerSettings, type Run, type Semantics } from './stage/run.ts';
import { tuneForSimulation } from './tuning.ts';
import { watched } from './watched.ts';

/** So many missing things are named. */
const missingShown = 20;

/** `simulate`: plays a script, or a recording. */
export async function run(invocation: Invocation<SimulateFlags>): Promise<ExitCode> {
  const { flags } = invocation;
  try {
    if (flags.replay !== undefined) return await replayCommand(invocation, flags.replay);
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
  const script = await scriptOf(flags);
  if (flags.report !== undefined) await checkReportFile(flags.report);
  // A cluster may take long to read.
  conditionsOf(flags, null);
  const read = await sourceOf(invocation);
  const source = { ...read, notes: [...actorNotes(flags, script, read), ...read.notes] };
  const conditions = conditionsOf(flags, rulesIn(flags, script, source));
  if (!isWhole(source, flags, output)) return exitCode.error;
  const variants = variantsIn(flags, script, source);
  const result = await play(source, { script, variants }, invocation, conditions);
  // Before anything is printed: who reads that may go away early.
  const unwritten =
    flags.report === undefined ? null : writeReportFile(flags.report, await reportPage(result));
  output.write(await printAnswer(answerOf(result), format, flags.headers !== false));
  for (const note of source.notes) output.err(`Note: ${printable(note)}`);
  const code = reportLimits(result, output);
  if (unwritten) throw unwritten;
  return code;
}

/** The conditions of --fail-if, which may name the runs that there will be; null: that is not known yet. */
function conditionsOf(flags: SimulateFlags, rules: readonly Semantics[] | null): readonly FailIf[] {
  const { failIf = [], variant = [], allowUnknown: allowsUnknown = false } = flags;
  const mustName = variant.length > 0;
  const names = mustName ? variant.map(({ name }) => name) : rules;
  const shown = mustName
    ? names
    : (rules?.map((semantics) => shownName({ name: semantics, semantics })) ?? null);
  return failIf.map((text) => parseFailIf(text, { names, shown, mustName, allowsUnknown }));
}

async function scriptOf({ script, event = [], until }: SimulateFlags): Promise<Script> {
  const read =
    script === undefined
      ? emptyScript
      : readScript(script, await readText('--script', script), until);
  const own = event.flatMap((text) => readEvents('--event', text, until));
  return { ...read, events: [...read.events, ...own] };
}

/** Where the events come from; null: there are none. */
function scriptName({ script, event = [] }: SimulateFlags): string | null {
  const names = [...(script === undefined ? [] : [script]), ...event];
  return names.length === 0 ? null : names.join(' and ');
}

/** What is in force: by files, whose pauses hold from the start, and by the cluster that is copied. */
function policiesOf(
  { policy = [] }: SimulateFlags,
  { policies }: Script,
  { startsAt, policies: ofCluster }: ClusterSource,
): readonly PolicyObject[] {
  try {
    return filesFirst(readPolicyFiles(policy, startsAt, policies(startsAt)), ofCluster);
  } catch (error) {
    if (error instanceof PolicyPathError) throw new UsageError(`--policy ${error.message}`);
    throw error;
  }
}

async function sourceOf(invocation: Invocation<SimulateFlags>): Promise<ClusterSource> {
  const { filename } = invocation.flags;
  if (filename !== undefined) return await readSource(filename);
  return await withConnection(invocation, ({ client }) => liveSource(client, 'the cluster'));
}

/** Says what is missing, and whether to go on. */
function isWhole({ missing }: ClusterSource, { partial }: SimulateFlags, output: Output): boolean {
  if (missing.length === 0) return true;
  const say = (text: string): void =>
    partial ? warn(output, printable(text)) : output.err(`error: ${printable(text)}`);
  for (const text of missing.slice(0, missingShown)) say(text);
  if (missing.length > missingShown) say(`and ${missing.length - missingShown} more`);
  if (!partial) output.err('Part of the cluster could not be taken; --partial simulates the rest.');
  return partial === true;
}

/** What is played beside each other: variants, or the rules of the script and maybe the other ones. */
function variantsIn(
  flags: SimulateFlags,
  script: Script,
  source: ClusterSource,
): readonly Variant[] {
  const policies = policiesOf(flags, script, source);
  const [own = 'precise', ...others] = rulesIn(flags, script, source);
  const { variant = [] } = flags;
  if (variant.length > 0) {
    const ofFiles = ownRules(script, source);
    return variantsOf(variant, { own, ofFiles, policies, now: source.startsAt });
  }
  return [own, ...others].map((semantics) => ({ name: semantics, semantics, policies }));
}

/** Whose rules are played where no variant is named. */
function rulesIn(
  flags: SimulateFlags,
  script: Script,
  source: ClusterSource,
): readonly Semantics[] {
  const own = isAsItActs(flags, script, source) ? 'upstream-1.36' : ownRules(script, source);
  return flags.compare ? [own, other(own)] : [own];
}

/** The rules by which taintmgr-controller is set up. */
function ownRules({ engine }: Script, source: ClusterSource): Semantics {
  return engine.semantics ?? source.engine?.semantics ?? 'precise';
}

/** Whether kube-controller-manager is played because it acts there, and nobody asks for what only ours does. */
function isAsItActs(flags: SimulateFlags, script: Script, source: ClusterSource): boolean {
  if (source.actor?.name !== 'kube-controller-manager') return false;
  const { policy = [] } = flags;
  const own = [...policy, ...Object.keys(script.engine), ...script.policies(source.startsAt)];
  return own.length === 0;
}

/** Why it is kube-controller-manager that is played. */
function actorNotes(
  flags: SimulateFlags,
  script: Script,
  source: ClusterSource,
): readonly string[] {
  if (flags.variant || !isAsItActs(flags, script, source)) return [];
  const { source: shown = null } = source.actor ?? {};
  const why =
    shown === null
      ? 'nothing says who evicts here, and it usually does'
      : `it evicts here (${shown})`;
  const more = flags.compare ? '' : '; --compare plays taintmgr beside it';
  return [`kube-controller-manager is played: ${why}${more}`];
}

async function play(
  source: ClusterSource,
  { script, variants }: { readonly script: Script; readonly variants: readonly Variant[] },
  { flags, output, interrupt }: Invocation<SimulateFlags>,
  conditions: readonly FailIf[],
): Promise<Result> {
  const { seed, seeds, until } = flags;
  const audience = { live: await output.live(), interrupt };
  const draws: (readonly RunResult[])[] = [];
  for (let draw = 0; draw < seeds; draw++) {
    const common = { source, script, seed: seed + draw, until };
    const beginning = new Beginning({ ...common, runs: variants.length });
    const runs: RunResult[] = [];
    for (const { name, semantics, policies } of variants) {
      const onStart = (run: Run): void => {
        for (const condition of conditions) condition.check(withSummary(run, until, name));
      };
      const options = { ...common, beginning, policies, semantics, onStart };
      const which = seeds > 1 ? `seed ${common.seed}: ` : '';
      const what = variants.length > 1 ? `${which}${shownName({ name, semantics })}: ` : which;
      const run = withSummary(await watched(options, what, audience), until, name);
      runs.push(draw === 0 ? run : withoutCourse(run));
    }
    draws.push(runs);
  }
  const limits = conditions.map((condition) => condition.judge(draws));
  const [first = [], ...others] = draws;
  const runs = first.map((run, index) => {
    return withDraws(
      run,
      others.flatMap((draw) => draw[index]?.summary ?? []),
    );
  });
  const isManager = runs.some(({ semantics }) => semantics === 'upstream-1.36');
  const manager = isManager ? managerSettings(source, script) : null;
  return { source, script: scriptName(flags), seed, seeds, until, runs, limits, manager };
}

/** Of the draws after the first the figures are kept, and what conditions ask for. */
function withoutCourse(run: RunResult): RunResult {
  const { unplaced } = run.recording;
  const none = { evictions: [], failures: [], refusals: [], holds: [], nodes: [], zones: [] };
  return { ...run, recording: { ...run.recording, ...none, workloads: [], unplaced } };
}

function other(semantics: Semantics): Semantics {
  return semantics === 'precise' ? 'upstream-1.36' : 'precise';
}

function answerOf(result: Result): Answer {
  const workloads = result.runs[0]?.summary.workloads ?? [];
  return {
    document: simulationDocument(result),
    rows: workloads,
    names: workloads.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`),
    table: (options) => simulationTable(result, options),
  };
}

function reportLimits({ limits, runs, seeds }: Result, output: Output): ExitCode {
  const shown = new Map(runs.map((run) => [run.name, shownName(run)]));
  const crossed = limits.filter(({ exceeded }) => exceeded);
  for (const { limit, readings, exceededIn } of crossed) {
    const often = exceededIn === undefined ? '' : `with ${exceededIn} of ${seeds} seeds: `;
    const text = `${often}${printable(readingsText(readings, shown))}`;
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
async function reportPage(result: Result): Promise<string> {
  const { pageHtml } = await import('@taintmgr/page');
  return pageHtml(simulationDocument(result));
}

/** One of the runs that are compared. */
interface Variant {
  readonly name: string;
  readonly semantics: Semantics;
  readonly policies: readonly PolicyObject[];
}

/** What is in force in each variant: what its own files say counts before all others. */
function variantsOf(
  flags: readonly VariantFlag[],
  {
    own,
    ofFiles,
    policies,
    now,
  }: {
    /** The rules of what is in force without a variant. */
    readonly own: Semantics;
    /** Those of the one who follows policies. */
    readonly ofFiles: Semantics;
    /** What is in force without a variant. */
    readonly policies: readonly PolicyObject[];
    /** Since when a pause of a file holds that does not say so. */
    readonly now: Instant;
  },
): readonly Variant[] {
  return flags.map(({ name, from }) => {
    if (from === unchangedWord) return { name, semantics: own, policies };
    if (from === upstreamWord) return { name, semantics: 'upstream-1.36', policies };
    return {
      name,
      semantics: ofFiles,
      policies: filesFirst(readVariant(name, from, now), policies),
    };
  });
}

function readVariant(name: string, from: string, now: Instant): readonly PolicyObject[] {
  try {
    return readPolicyFiles([from], now);
  } catch (error) {
    if (!(error instanceof PolicyPathError)) throw error;
    const reserved = `${unchangedWord} or ${upstreamWord}`;
    throw new UsageError(
      `--variant ${name}=${error.message}; want a file, a directory, ${reserved}`,
    );
  }
}

/**
 * Says before anything is played that the file cannot be written, as far as that shows; nothing is
 * written yet, so that an existing report stands where the run fails. Throws UsageError.
 */
async function checkReportFile(file: string): Promise<void> {
  try {
    if (await isFolder(file)) throw new Error('it is a folder, want a file');
    await access(file, constants.W_OK);
  } catch (error) {
    const isNamed = !/(^|\/)$/.test(file);
    const fault = isNamed && isMissing(error) ? await folderFault(dirname(file)) : error;
    if (fault) throw reportFault(file, fault);
  }
}

/** Writes it; null, or why that failed. A report holds data of a cluster: only its owner may read it. */
function writeReportFile(file: string, text: string): UsageError | null {
  try {
    const descriptor = openPrivate(file);
    try {
      writeFileSync(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
    return null;
  } catch (error) {
    return reportFault(file, error);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path)).isDirectory();
}

/** Why no file can be made in it; null: one can. */
async function folderFault(folder: string): Promise<unknown> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function reportFault(file: string, error: unknown): UsageError {
  return new UsageError(`--report ${file}: ${error instanceof Error ? error.message : error}`);
}
