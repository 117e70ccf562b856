// Replays a flight record: decides again, and says where the decisions differ.
import { isDeepStrictEqual } from 'node:util';
import {
  type Command,
  type Config,
  createEngine,
  defaultConfig,
  describeReason,
  type Engine,
  type Event,
  type NodeExplanation,
  type PodExplanation,
  type Subject,
} from '@taintmgr/core';
import {
  defaultLifecycleConfig,
  describeHold,
  describeLifecycleReason,
} from '@taintmgr/core/lifecycle';
import { formatDuration, formatTimeMillis, type Instant, parseTime } from '@taintmgr/core/time';
import {
  type FlightEnd,
  type FlightHead,
  type FlightStep,
  redactCommand,
} from '@taintmgr/k8s-adapter';
import { count, modeWords, printable, rulesOf, spelled } from '@taintmgr/k8s-adapter/command-line';
import { apiVersion } from '@taintmgr/k8s-adapter/explain';
import { FaultyFile } from '@taintmgr/k8s-adapter/manifests';
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import { warn } from '../../../cli/output.ts';
import type { Invocation } from '../../../cli/registry.ts';
import { version } from '../../../cli/version.ts';
import { type FlightLine, readFlight } from '../../../cluster/flight.ts';
import { printAnswer, readFormat } from '../../../render/printer.ts';
import { renderTable, type TableOptions, wrapped } from '../../../render/table.ts';
import type { SimulateFlags } from '../flags.ts';

/** `simulate --replay`: plays a flight record, and says what this build does differently. */
export async function replayCommand(
  { flags, output, interrupt }: Invocation<SimulateFlags>,
  file: string,
): Promise<ExitCode> {
  const format = await readFormat(flags.output);
  const played = await replay(file, interrupt);
  const { difference, head, unknown } = played;
  const answer = {
    document: replayDocument(played),
    rows: Array.from(played.commands, ([kind, times]) => ({ kind, times })),
    names: [],
    table: (options: TableOptions) => replayTable(played, options),
  };
  output.write(await printAnswer(answer, format, flags.headers !== false, output));
  const note = noteOf(played);
  if (note !== null) warn(output, note);
  for (const name of unknown) {
    warn(output, `engine.${printable(name)}: this build has no such setting, and plays without it`);
  }
  if (difference && head.version !== version) {
    output.err(`Note: recorded by ${printable(head.version)}; this is ${version}`);
  }
  return difference ? exitCode.different : exitCode.done;
}

/** A note on the end of the recording; null: in order. */
function noteOf({ file, end, cutLine, difference }: Replay): string | null {
  if (difference) return null;
  switch (end) {
    case 'stopped':
      return null;
    case 'full':
      return `${file} ends because it was full; what came after is not in it`;
    case 'open':
      return `${file} ends without saying so: it was still being written, or its writer was killed`;
    case 'cut':
      return `${file}:${cutLine}: the last line is cut off; all before it was played`;
  }
}

/** A flight record, played again with the engine of this build. */
interface Replay {
  readonly file: string;
  readonly head: FlightHead;
  /** Settings in the head that this build does not have. */
  readonly unknown: readonly string[];
  readonly events: number;
  /** By kind, in the order of their first; those up to the difference. */
  readonly commands: ReadonlyMap<Command['kind'], number>;
  readonly lastAt: Instant | null;
  /** The end of the recording: `cut` within a line, `open` after a whole one. */
  readonly end: FlightEnd['end'] | 'cut' | 'open';
  /** The line that was cut off; null: none. */
  readonly cutLine: number | null;
  /** The error that stopped the engine then, and now; null: it did not stop. */
  readonly threw: string | null;
  /** Null: every command is the same. */
  readonly difference: Difference | null;
  /** The explanations of this build for the pods and nodes that differ. */
  readonly explanations: readonly string[];
}

/**
 * Gives the engine the recorded events, and compares its commands, up to the first difference.
 * Throws FaultyFile and UsageError, and the reason of `interrupt` once it is aborted.
 */
async function replay(file: string, interrupt: AbortSignal): Promise<Replay> {
  const lines = readFlight(file);
  const first = await lines.next();
  const head = headOf(file, first.value);
  const known = knownSettings(head);
  const playback = new Playback(engineOf(file, known.config));
  for await (const line of lines) {
    interrupt.throwIfAborted();
    playback.take(line);
    if (playback.difference) break;
  }
  const { events, commands, lastAt, end, cutLine, threw, difference } = playback;
  const explanations = difference ? explanationsOf(playback.engine, difference) : [];
  const { unknown } = known;
  return {
    file,
    head,
    unknown,
    events,
    commands,
    lastAt,
    end,
    cutLine,
    threw,
    difference,
    explanations,
  };
}

function headOf(file: string, line: FlightLine | undefined): FlightHead {
  if (line?.kind === 'head') return line.head;
  throw new FaultyFile([
    `${file}:1: the file is empty, want a recording of taintmgr-controller --flight-record`,
  ]);
}

/** The settings that this build has; another build may have recorded others. */
function knownSettings({ engine }: FlightHead): {
  readonly config: Partial<Config>;
  readonly unknown: readonly string[];
} {
  const unknown: string[] = [];
  const only = <T extends object>(path: string, given: T, known: object): T => {
    const kept = Object.entries(given).filter(([name]) => {
      if (Object.hasOwn(known, name)) return true;
      unknown.push(`${path}${name}`);
      return false;
    });
    return Object.fromEntries(kept) as T;
  };
  const config = only('', engine, defaultConfig);
  const { lifecycle, mode } = config;
  const word = spelled(String(mode), modeWords)?.word;
  if (word !== undefined) Object.assign(config, { mode: word });
  // Values of another kind are for the engine to refuse.
  if (typeof lifecycle !== 'object' || lifecycle === null) return { config, unknown };
  const ofLifecycle = only('lifecycle.', lifecycle, defaultLifecycleConfig);
  return { config: { ...config, lifecycle: ofLifecycle }, unknown };
}

function engineOf(file: string, config: Partial<Config>): Engine {
  try {
    return createEngine(config);
  } catch (error) {
    // The values may be of any kind, and the engine looks for those that its types allow.
    const fault =
      error instanceof RangeError
        ? error.message.replace(/^config\./, 'engine.')
        : `engine: no engine can be made of it: ${error}`;
    throw new FaultyFile([`${file}:1: ${fault}`]);
  }
}

/** The part that has been played. */
class Playback {
  events = 0;
  lastAt: Instant | null = null;
  end: Replay['end'] = 'open';
  cutLine: number | null = null;
  threw: string | null = null;
  difference: Difference | null = null;
  readonly commands = new Map<Command['kind'], number>();
  readonly engine: Engine;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  take(line: FlightLine): void {
    if (line.kind === 'end') this.end = line.end;
    else if (line.kind === 'cut') {
      this.end = 'cut';
      this.cutLine = line.line;
    } else if (line.kind === 'step') {
      const { step } = line;
      const answer = answerOf(this.engine, step.at, step.event);
      this.difference = differenceOf(line.line, step, answer);
      this.lastAt = step.at;
      if (this.difference) return;
      this.events++;
      this.threw = answer.threw;
      for (const { kind } of answer.commands) {
        this.commands.set(kind, (this.commands.get(kind) ?? 0) + 1);
      }
    }
  }
}

/** An engine that stops is an answer too: a recording of a crash is played to its end. */
function answerOf(engine: Engine, at: Instant, event: Event): EngineAnswer {
  try {
    return { commands: engine.handle(at, event), threw: null };
  } catch (error) {
    return { commands: [], threw: String(error) };
  }
}

/** The explanations of this build's engine for the pods and nodes that differ. */
function explanationsOf(engine: Engine, difference: Difference): readonly string[] {
  const { at, recorded, replayed } = difference;
  const subjects = new Map<string, Subject>();
  for (const command of [recorded, replayed]) {
    const subject = subjectOf(command);
    if (subject) subjects.set(JSON.stringify(subject), subject);
  }
  return Array.from(subjects.values(), (subject) => {
    const answer = engine.explain(at, subject);
    const name = subject.kind === 'pod' ? `${subject.namespace}/${subject.name}` : subject.name;
    if (answer === null) return `${subject.kind} ${name} is not known`;
    return answer.kind === 'pod' ? podText(name, answer) : nodeText(name, answer);
  });
}

function subjectOf(command: Command | string | null): Subject | null {
  if (command === null || typeof command === 'string') return null;
  const { pod, node } = targetOf(command);
  if (pod) return { kind: 'pod', namespace: pod.namespace, name: pod.name };
  return node === null ? null : { kind: 'node', name: node };
}

function podText(name: string, { decision, attempt, pod }: PodExplanation): string {
  const reasons = decision.because.map(describeReason).join('; ');
  const due = decision.kind === 'evict' ? ` at ${formatTimeMillis(decision.deadline)}` : '';
  const stage = attempt === null ? '' : `, ${attempt.kind}`;
  return `pod ${name} on ${pod.nodeName || 'no node'}: ${decision.kind}${due}${stage}: ${reasons}`;
}

function nodeText(name: string, { health, zone }: NodeExplanation): string {
  const reasons = health?.because.map(describeLifecycleReason).join('; ') || 'nothing to say';
  const hold = zone?.hold ? `, ${describeHold(zone.hold)}` : '';
  const place = zone ? ` (zone ${zone.name || '<none>'}: ${zone.state ?? 'Unknown'}${hold})` : '';
  return `node ${name}: ${reasons}${place}`;
}

/** The answer of an engine to one event: commands, or the error that stopped it. */
export interface EngineAnswer {
  readonly commands: readonly Command[];
  readonly threw: string | null;
}

/** The first thing that this build does differently from the record. */
interface Difference {
  /** In the file, from 1. */
  readonly line: number;
  readonly step: number;
  readonly at: Instant;
  readonly event: Event;
  /** The number of the command in the step, from 1; null: the engines stopped differently. */
  readonly command: number | null;
  readonly recorded: Command | string | null;
  readonly replayed: Command | string | null;
  /** Where both are the same kind of command: each member that is different. */
  readonly members: readonly MemberDifference[];
}

interface MemberDifference {
  /** `because[0].deadline` */
  readonly path: string;
  /** As JSON; undefined: it is not there. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** The first difference of a step; null: there is none. */
export function differenceOf(
  line: number,
  step: FlightStep,
  answer: EngineAnswer,
): Difference | null {
  const { at, event, commands: recorded = [], threw = null } = step;
  // As a recorder would have written them.
  const replayed: readonly Command[] = JSON.parse(
    JSON.stringify(answer.commands.map(redactCommand)),
  );
  const place = { line, step: step.step, at, event };
  const count = Math.max(recorded.length, replayed.length);
  for (let index = 0; index < count; index++) {
    const [one = null, other = null] = [recorded[index], replayed[index]];
    if (isDeepStrictEqual(one, other)) continue;
    const members = one && other && one.kind === other.kind ? membersOf('', one, other) : [];
    return { ...place, command: index + 1, recorded: one, replayed: other, members };
  }
  if (threw === answer.threw) return null;
  return { ...place, command: null, recorded: threw, replayed: answer.threw, members: [] };
}

function membersOf(path: string, one: unknown, other: unknown): readonly MemberDifference[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) {
    return [{ path, recorded: one, replayed: other }];
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Array.from(names).flatMap((name) => {
    const step = Array.isArray(one) ? `[${name}]` : `.${name}`;
    return membersOf(`${path}${step}`.replace(/^\./, ''), one[name], other[name]);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The pod or node of a command or an event. Of a recording anything may be missing. */
interface Target {
  readonly pod: { readonly namespace: string; readonly name: string } | null;
  readonly node: string | null;
}

type Value = Readonly<Record<string, unknown>>;

/** The pod or the node that it names, wherever its kind names one. */
function targetOf(value: Command | Event): Target {
  const { report, ...rest }: Value = { ...value };
  const { pod, node, lease, name, nodeName } = isValue(report) ? report : rest;
  const named = [node, lease].find(isValue);
  const texts = [named?.name, named?.nodeName, nodeName, name, node];
  return {
    pod: isPodName(pod) ? pod : null,
    node: texts.find((text) => typeof text === 'string') ?? null,
  };
}

/** `shop/db-0` or `node zone-a-1`; '' for other subjects. */
function targetText(value: Command | Event): string {
  const { pod, node } = targetOf(value);
  if (pod) return `${pod.namespace}/${pod.name}`;
  return node === null ? '' : `node ${node}`;
}

function isPodName(value: unknown): value is { namespace: string; name: string } {
  return isValue(value) && typeof value.namespace === 'string' && typeof value.name === 'string';
}

function isValue(value: unknown): value is Value {
  return typeof value === 'object' && value !== null;
}

/** The number of differing members that are shown. */
const membersShown = 10;
/** Characters of one value. */
const valueShown = 100;

/** The answer as json and yaml have it. */
function replayDocument(replay: Replay): object {
  const { file, head, events, commands, end, threw, difference, explanations } = replay;
  return {
    apiVersion,
    kind: 'Replay',
    file,
    recorded: { version: head.version, startedAt: head.startedAt, end },
    semantics: rulesOf(head.engine.semantics ?? 'precise'),
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
function replayTable(replay: Replay, { headers, width }: TableOptions): string {
  const { commands, difference } = replay;
  const rows = Array.from(commands, ([kind, number]) => [kind, String(number)]);
  const table = renderTable(headers ? ['COMMAND', 'TIMES'] : null, rows);
  const answer = difference ? differenceText(replay, difference) : sameText(replay);
  const fitting = (text: string): string =>
    text
      .split('\n')
      .map((line) => (width === null ? line : wrapped(line, '    ', width)))
      .join('\n');
  const parts = [fitting(answer), rows.length > 0 ? table : '', fitting(headline(replay))];
  return parts.filter((part) => part !== '').join('\n\n');
}

function headline({ file, head, lastAt }: Replay): string {
  const startedAt = parseTime(head.startedAt);
  const length = startedAt === null || lastAt === null ? 0 : lastAt - startedAt;
  const { version, engine } = head;
  const { semantics = 'precise' } = engine;
  const rules = rulesOf(semantics);
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
