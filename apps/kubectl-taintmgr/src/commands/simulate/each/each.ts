// Loses one part of a cluster after the other, and tells which loss hurts: simulate --each.
import { formatDuration } from '@taintmgr/core/time';
import { printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import type { EachDocument } from '@taintmgr/page';
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import { type Output, warn, writeTableNotes } from '../../../cli/output.ts';
import type { Invocation } from '../../../cli/registry.ts';
import { version } from '../../../cli/version.ts';
import { type Answer, type Format, printAnswer } from '../../../render/printer.ts';
import { commandOf } from '../command-text.ts';
import type { By, SimulateFlags, Top } from '../flags.ts';
import { writeReportFile } from '../report-file.ts';
import { withSummary } from '../result/documents.ts';
import { readingsText } from '../result/fail-if.ts';
import type { Script } from '../script/script.ts';
import type { ScriptTexts } from '../script/script-texts.ts';
import { dataOf } from '../source/handover.ts';
import type { Variant } from '../variants.ts';
import { eachDocument, lossText } from './each-document.ts';
import { eachTable } from './each-table.ts';
import { type LossJob, LossPlayer } from './loss-player.ts';
import { LossThread } from './loss-thread.ts';
import { lossAtMs, type PlannedLoss, planLosses } from './plan.ts';
import { playLosses, threadsFor } from './play-losses.ts';

/** The value of `--each`, the script, the cluster with its rules, and the output format. */
interface EachOptions {
  readonly each: string;
  readonly texts: ScriptTexts;
  readonly script: Script;
  readonly variant: Variant;
  readonly format: Format;
}

/** The default of `--by`. */
const machinesDie: By = { kind: 'down' };

const noThread = 'a thread could not be started, and losses are played in fewer';

/** Plays all losses, and says what came of them. Throws FaultyFile and UsageError. */
export async function simulateEach(
  invocation: Invocation<SimulateFlags>,
  options: EachOptions,
): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  const { format, variant, script } = options;
  checkUntil(flags);
  const job = jobOf(flags, options);
  const player = new LossPlayer(job, variant.source);
  const live = await output.live();
  const { by = machinesDie } = flags;
  let planned: readonly PlannedLoss[] = [];
  let beganAt = performance.now();
  const baseline = await player.baseline({ live, interrupt }, (run, api) => {
    player.check(withSummary(run, flags.until));
    const { pods } = run.recording;
    planned = planLosses({ each: options.each, by, api, pods, policies: variant.policies });
    beganAt = performance.now();
  });
  const { losses, withoutThreads } = await playLosses({
    ...{ planned, live, interrupt },
    threads: threadsFor(planned.length, performance.now() - beganAt),
    startThread: () => new LossThread({ job, baseline }),
    play: (one) => player.play(one, baseline, interrupt),
  });
  if (withoutThreads !== null) warn(output, `${noThread}: ${withoutThreads}`);
  const document = eachDocument({
    flags,
    by: by.kind,
    each: options.each,
    variant,
    script,
    baseline,
    planned,
    losses,
  });
  const unwritten =
    flags.report === undefined
      ? null
      : writeReportFile(flags.report, await reportPage(document, flags));
  output.write(
    await printAnswer(answerOf(document, flags.top), format, flags.headers !== false, output),
  );
  writeTableNotes(output, format.kind === 'table', document.notes);
  const code = reportLosses(document, output, interrupt);
  if (unwritten) throw unwritten;
  return code;
}

function checkUntil({ until }: SimulateFlags): void {
  if (until > lossAtMs) return;
  const loss = `each loss comes ${formatDuration(lossAtMs)} after the beginning`;
  throw new UsageError(`--until ${formatDuration(until)}: ${loss}; want more, such as 30m`);
}

function jobOf(flags: SimulateFlags, { texts, variant }: EachOptions): LossJob {
  const { seed, seeds, until, failIf = [], allowUnknown = false } = flags;
  const { source, semantics, policies } = variant;
  const common = { seed, seeds, until, failIf, allowsUnknown: allowUnknown };
  return { ...common, source: dataOf(source), script: texts, semantics, policies };
}

function answerOf(document: EachDocument, top: Top | undefined): Answer {
  const { each, losses } = document;
  return {
    document,
    rows: losses,
    names: losses.map((loss) => `${each}/${loss.name}`),
    table: (options) => eachTable(document, options, top),
  };
}

/** The number of lines about crossed limits. */
const linesMax = 20;

/** Prints crossed limits, failed losses and the number not played; returns the exit code. */
function reportLosses(
  { each, losses, unplayed }: EachDocument,
  output: Output,
  interrupt: AbortSignal,
): ExitCode {
  const failed = losses.filter((loss) => loss.failed !== null);
  const judged = losses.flatMap((loss) => (loss.limits ?? []).map((limit) => ({ loss, ...limit })));
  const crossed = judged.filter(({ exceeded }) => exceeded);
  const open = judged.filter(({ unknown }) => unknown !== undefined);
  const lines = [
    ...crossed.map(({ loss, limit, readings }) => {
      return `limit crossed: ${limit}: ${lossText(each, loss)}: ${readingsText(readings)}`;
    }),
    ...open.map(({ loss, limit, unknown }) => {
      return `error: --fail-if ${limit}: ${lossText(each, loss)}: ${unknown}`;
    }),
    ...failed.map((loss) => `error: ${lossText(each, loss)}: ${loss.failed}`),
  ];
  for (const line of lines.slice(0, linesMax)) output.err(printable(line));
  if (lines.length > linesMax) output.err(`and ${lines.length - linesMax} more`);
  if (interrupt.aborted) {
    output.err(
      `interrupted: ${unplayed.length} of ${unplayed.length + losses.length} losses were not played`,
    );
    return exitCode.interrupted;
  }
  if (crossed.length > 0) return exitCode.exceeded;
  return failed.length + open.length > 0 ? exitCode.error : exitCode.done;
}

/** The page is loaded by those alone who want it. */
async function reportPage(document: EachDocument, flags: SimulateFlags): Promise<string> {
  const { pageHtml } = await import('@taintmgr/page');
  return pageHtml(document, { command: commandOf(flags), version });
}
