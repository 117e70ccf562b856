import { pressureSignals, type Signal, type SignalExplanation } from '@taintmgr/core/pressure';
import { withConnection } from '../../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import type { Invocation } from '../../../cli/invocation.ts';
import { readFormat } from '../../../render/format.ts';
import { printable } from '../../../render/printable.ts';
import { type Answer, printAnswer } from '../../../render/printer.ts';
import type { Paint } from '../../../render/style.ts';
import { UsageError } from '../../../usage-error.ts';
import { podInOrderDocument, pressureDocument } from './documents.ts';
import type { PressureFlags } from './flags.ts';
import { type PressureSurvey, surveyPressure } from './survey.ts';
import { renderPressure } from './table.ts';

/** `explain pressure NODE`: reads once what is used there, and says what would become of it. */
export async function run(invocation: Invocation<PressureFlags>, name: string): Promise<ExitCode> {
  const { flags, output } = invocation;
  const signal = readSignal(flags.signal);
  const format = await readFormat(flags.output);
  return await withConnection(invocation, async (connection) => {
    const survey = await surveyPressure(connection.client, name, flags);
    const answer = answerOn(survey, signal, output.paintOut);
    output.write(await printAnswer(answer, format, flags.headers !== false));
    for (const note of notesOn(survey)) output.err(`Note: ${printable(note)}`);
    if (!flags.exitCode) return exitCode.done;
    if (survey.explanation.doubts.length > 0) return exitCode.noAnswer;
    return leaving(survey).length > 0 ? exitCode.found : exitCode.done;
  });
}

function readSignal(name: string | undefined): Signal | null {
  if (name === undefined) return null;
  if (Object.hasOwn(pressureSignals, name)) return name as Signal;
  const known = Object.keys(pressureSignals).join(', ');
  throw new UsageError(`--signal: got ${JSON.stringify(name)}, want one of ${known}`);
}

function answerOn(survey: PressureSurvey, signal: Signal | null, paint: Paint): Answer {
  const shown = shownSignals(survey, signal);
  return {
    document: pressureDocument(survey),
    rows: shown.flatMap((one) => one.order.map((pod) => podInOrderDocument(pod, one.signal))),
    names: leaving(survey),
    table: (options) => renderPressure(survey, shown, paint, options),
  };
}

/** The one that is asked for; else those that are met; else the first. */
function shownSignals(
  { explanation: { signals } }: PressureSurvey,
  wanted: Signal | null,
): readonly SignalExplanation[] {
  if (wanted !== null) return signals.filter(({ signal }) => signal === wanted);
  const met = signals.filter(isMet);
  return met.length > 0 ? met : signals.filter(({ signal }) => signal === 'memory.available');
}

/** `pod/NAME` of those that it would take to end what is met. */
function leaving({ explanation: { signals } }: PressureSurvey): readonly string[] {
  const names = signals.filter(isMet).flatMap(({ order, evictionsNeeded }) => {
    const going = order.filter(({ refusal }) => refusal === null);
    return going.slice(0, evictionsNeeded ?? going.length).map(({ pod }) => `pod/${pod.name}`);
  });
  return [...new Set(names)];
}

function isMet({ thresholds }: SignalExplanation): boolean {
  return thresholds.some(({ phase }) => phase === 'waiting' || phase === 'due');
}

function notesOn({ refused, explanation, semantics }: PressureSurvey): readonly string[] {
  const met = explanation.signals.filter(isMet);
  const isDisk = met.some(({ signal }) => pressureSignals[signal].filesystem !== null);
  return [
    ...(refused === null ? [] : [`the configuration of its kubelet could not be read: ${refused}`]),
    ...(met.length > 0
      ? ['pods are evicted one at a time; how long a threshold has been met is unknown']
      : []),
    ...(isDisk && semantics !== 'precise'
      ? ['a kubelet removes unused images and dead containers first']
      : []),
  ];
}
