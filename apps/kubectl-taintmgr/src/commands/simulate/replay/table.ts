// The answer of `simulate --replay` as json and as a table.
import type { Command, Event } from '@taintmgr/core';
import { formatDuration, formatTimeMillis, parseTime } from '@taintmgr/core/time';
import { count } from '../../../render/count.ts';
import { printable } from '../../../render/printable.ts';
import { renderTable, type TableOptions } from '../../../render/table.ts';
import { apiVersion } from '../../../report/documents.ts';
import { shownName } from '../result/lines.ts';
import type { Difference, MemberDifference } from './difference.ts';
import type { Replay } from './replay.ts';
import { targetText } from './target.ts';

/** Of the members that differ so many are shown. */
const membersShown = 10;
/** Characters of one value. */
const valueShown = 100;

/** The answer as json and yaml have it. */
export function replayDocument(replay: Replay): object {
  const { file, head, events, commands, end, threw, difference, explanations } = replay;
  return {
    apiVersion,
    kind: 'Replay',
    file,
    recorded: { version: head.version, startedAt: head.startedAt, end },
    semantics: head.engine.semantics,
    events,
    commands: Object.fromEntries(commands),
    threw: threw ?? undefined,
    same: difference === null,
    difference: difference
      ? { ...difference, at: formatTimeMillis(difference.at), explanations }
      : null,
  };
}

/** The answer for a person. */
export function replayTable(replay: Replay, { headers }: TableOptions): string {
  const { commands, difference } = replay;
  const rows = Array.from(commands, ([kind, number]) => [kind, String(number)]);
  const table = renderTable(headers ? ['COMMAND', 'TIMES'] : null, rows);
  const parts = [
    headline(replay),
    rows.length > 0 ? table : '',
    difference ? differenceText(replay, difference) : sameText(replay),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function headline({ file, head, lastAt }: Replay): string {
  const startedAt = parseTime(head.startedAt);
  const length = startedAt === null || lastAt === null ? 0 : lastAt - startedAt;
  const { version, engine } = head;
  const { semantics = 'precise' } = engine;
  const rules = shownName({ name: semantics, semantics });
  return printable(
    `${formatDuration(length)} of ${file} from ${head.startedAt}, recorded by ${version}, by the rules of ${rules}`,
  );
}

function sameText({ events, commands, threw }: Replay): string {
  const sum = Array.from(commands.values()).reduce((one, other) => one + other, 0);
  const stopped = threw === null ? '' : `\nThen as now the engine stops: ${printable(threw)}`;
  return `${count(events, 'event')}, ${count(sum, 'command')}: this build does the same${stopped}`;
}

function differenceText({ file, explanations, events }: Replay, difference: Difference): string {
  const { line, step, at, event, recorded, replayed, members } = difference;
  const lines = [
    `${count(events, 'event')} the same, then a difference: event ${step} at ${formatTimeMillis(at)} (${file}:${line})`,
    `  event:      ${eventText(event)}`,
    `  recorded:   ${answerText(recorded)}`,
    `  this build: ${answerText(replayed)}`,
    ...members.slice(0, membersShown).map((member) => `    ${memberText(member)}`),
    ...(members.length > membersShown ? [`    and ${members.length - membersShown} more`] : []),
    ...explanations.map((text) => `  reason:     ${text}`),
  ];
  return lines.map(printable).join('\n');
}

function eventText(event: Event): string {
  return `${event.kind} ${targetText(event)}`.trimEnd();
}

function answerText(answer: Command | string | null): string {
  if (answer === null) return 'nothing';
  if (typeof answer === 'string') return `stops: ${answer}`;
  const report = answer.kind === 'report' ? ` ${answer.report.kind}` : '';
  return `${answer.kind}${report} ${targetText(answer)}${codesOf(answer)}`.trimEnd();
}

/** The names of the reasons, as they stand in the command. */
function codesOf(command: Command): string {
  const because: unknown = 'because' in command ? command.because : null;
  const reasons: readonly { readonly code?: unknown }[] = Array.isArray(because) ? because : [];
  const codes = reasons.map(({ code }) => String(code));
  return codes.length === 0 ? '' : `, because of ${codes.join(', ')}`;
}

function memberText({ path, recorded, replayed }: MemberDifference): string {
  return `${path}: ${valueText(recorded)}, now ${valueText(replayed)}`;
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > valueShown ? `${text.slice(0, valueShown)}...` : text;
}
