// The answer of `explain pressure` as a table.
import {
  type ComparatorName,
  type ConditionExplanation,
  describePressureReason,
  formatThreshold,
  type PodInOrder,
  pressureSignals,
  resolvePressureSettings,
  type Signal,
  type SignalExplanation,
  type ThresholdState,
} from '@taintmgr/core/pressure';
import { formatDuration } from '@taintmgr/core/time';
import { ownConditionType } from '@taintmgr/k8s-adapter';
import { count } from '../../../render/count.ts';
import { printable } from '../../../render/printable.ts';
import type { Paint, Tone } from '../../../render/style.ts';
import { type Column, renderColumns, type TableOptions } from '../../../render/table.ts';
import { ago, none, soon } from '../../../report/words.ts';
import type { PressureSurvey } from './survey.ts';

const sources = {
  kubelet: 'from its kubelet',
  flags: 'from the flags',
  defaults: "a kubelet's defaults (its own could not be read)",
} as const;

/** The answer to `explain pressure`: the node, its signals, and who would go in which order. */
export function renderPressure(
  survey: PressureSurvey,
  shown: readonly SignalExplanation[],
  paint: Paint,
  options: TableOptions,
): string {
  const { signals } = survey.explanation;
  const head = options.headers ? [...pressureHead(survey), ''] : [];
  if (signals.length === 0) return [...head, 'No thresholds.'].join('\n');
  const orders = shown.flatMap((one) => [
    '',
    ...(options.headers ? [orderHead(one)] : []),
    renderOrder(one, options),
  ]);
  return [...head, renderSignals(survey, paint, options), ...orders].join('\n');
}

function pressureHead(survey: PressureSurvey): readonly string[] {
  const { source, semantics, explanation } = survey;
  const { node, layout, doubts } = explanation;
  const held = explanation.conditions.map((one) => conditionText(one, survey));
  return [
    `Name:         ${printable(node.name)}`,
    `Thresholds:   ${sources[source]}, by the rules of ${semantics}`,
    `File systems: ${layout === null ? 'unknown' : layouts[layout]}`,
    ...lines('Conditions:  ', held),
    ...lines(
      'Doubts:      ',
      doubts.map((reason) => printable(describePressureReason(reason))),
    ),
  ];
}

/** How a condition stands, the kubelet's or ours, and what will become of it. */
function conditionText(
  { type, holds, clearsAt }: ConditionExplanation,
  { at, conditions, settings }: PressureSurvey,
): string {
  const said = [type, ownConditionType(type)].flatMap(
    (name) => conditions.find((condition) => condition.type === name)?.status ?? [],
  );
  const isTrue = said.includes('True');
  const text = `${type}=${isTrue ? 'True' : (said[0] ?? 'Unknown')}`;
  if (holds && isTrue) return `${text}, clears ${soon((clearsAt ?? at) - at)} at the earliest`;
  const period = formatDuration(resolvePressureSettings(settings).transitionPeriodMs);
  if (holds) return `${text}, True by these thresholds until ${period} after none is met`;
  return isTrue ? `${text}, clears within ${period}: no threshold is met` : text;
}

const layouts = {
  single: 'a single one',
  dedicatedImages: 'images and writable layers share one of their own',
  splitImages: 'images have one of their own',
} as const;

function lines(head: string, texts: readonly string[]): readonly string[] {
  return texts.map((text, index) => `${index === 0 ? head : ' '.repeat(head.length)} ${text}`);
}

function renderSignals(
  { at, explanation: { signals } }: PressureSurvey,
  paint: Paint,
  options: TableOptions,
): string {
  const states = signals.flatMap(({ thresholds }) => thresholds);
  const tone = ({ phase }: ThresholdState): Tone => tones[phase];
  return renderColumns(signalColumns(at), states, options, { head: 'STATE', tone, paint });
}

const tones = { unknown: 'warning', clear: 'calm', waiting: 'soon', due: 'urgent' } as const;

function signalColumns(at: number): readonly Column<ThresholdState>[] {
  const amount = ({ threshold }: ThresholdState, value: number | null | undefined): string =>
    amountText(threshold.signal, value ?? null);
  return [
    ['SIGNAL', ({ threshold }) => threshold.signal],
    ['AVAILABLE', (state) => amount(state, state.sample?.available)],
    ['CAPACITY', (state) => amount(state, state.sample?.capacity)],
    ['THRESHOLD', ({ threshold }) => formatThreshold(threshold).slice(threshold.signal.length)],
    ['GRACE', ({ threshold: { gracePeriodMs: ms } }) => (ms === 0 ? 'hard' : formatDuration(ms))],
    ['STATE', (state) => stateText(state, at)],
    ['ENDS AT', (state) => amount(state, state.clearAt)],
    ['MEASURED', ({ sample }) => (sample?.time == null ? none : ago(at, sample.time)), 'wide'],
  ];
}

/** `Waiting, due in 30s` */
function stateText({ phase, dueAt }: ThresholdState, at: number): string {
  const text = phase.charAt(0).toUpperCase() + phase.slice(1);
  return phase === 'waiting' && dueAt !== null ? `${text}, due ${soon(dueAt - at)}` : text;
}

function orderHead({ signal, thresholds, evictionsNeeded }: SignalExplanation): string {
  const isMet = thresholds.some(({ phase }) => phase === 'waiting' || phase === 'due');
  if (!isMet) return `Eviction order if ${signal} falls below its threshold:`;
  if (evictionsNeeded === null) return `Eviction order for ${signal}; all of them are not enough:`;
  return `Eviction order for ${signal}; ${count(evictionsNeeded, 'pod')} would be enough:`;
}

function renderOrder({ signal, order }: SignalExplanation, options: TableOptions): string {
  if (order.length === 0) return 'No pods on this node.';
  const amount = (value: number | null): string => amountText(signal, value);
  const going = order.filter(({ refusal }) => refusal === null);
  const ifGoing = (cell: (one: PodInOrder) => string) => (one: PodInOrder) =>
    one.refusal === null ? cell(one) : '-';
  const columns: readonly Column<PodInOrder>[] = [
    ['ORDER', ifGoing((one) => String(going.indexOf(one) + 1))],
    ['NAMESPACE', ({ pod }) => pod.namespace],
    ['POD', ({ pod }) => pod.name],
    ['USED', ({ used }) => amount(used)],
    ['REQUESTED', ({ requested }) => amount(requested)],
    ['FREES', ifGoing(({ used }) => amount(used))],
    ['AVAILABLE AFTER', ifGoing(({ availableAfter }) => amount(availableAfter))],
    ['PRIORITY', ({ pod }) => String(pod.priority), 'wide'],
    ['GRACE', ({ gracePeriodSeconds: { hard, soft } }) => `${hard}s hard, ${soft}s soft`, 'wide'],
    ['BECAUSE', becauseText],
  ];
  return renderColumns(columns, order, options);
}

/** What puts a pod before the next one, by the names of the comparators. */
const comparatorTexts: Readonly<Record<ComparatorName, string>> = {
  qosClass: 'its QoS class goes first',
  unmeasuredFirst: 'its usage is unknown',
  measuredFirst: 'its usage is known',
  exceedsRequest: 'uses more than it requested',
  priority: 'has a lower priority than the next',
  usageOverRequest: 'uses more beyond its request than the next',
  usage: 'uses more than the next',
  name: 'by name: equal to the next in all else',
};

function becauseText({ refusal, decidedBy }: PodInOrder): string {
  if (refusal) return `stays: ${describePressureReason(refusal)}`;
  return decidedBy === null ? none : comparatorTexts[decidedBy];
}

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

/** Bytes as people read them, `1.5Gi`; whatever is counted in pieces as it is. */
function amountText(signal: Signal, value: number | null): string {
  if (value === null || !Number.isFinite(value)) return none;
  const { resource } = pressureSignals[signal];
  if (resource === 'inodes' || resource === 'pids') return String(value);
  const power = Math.min(
    units.length - 1,
    Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(value))) / 10)),
  );
  const scaled = value / 1024 ** power;
  return `${Number(scaled.toFixed(1))}${units[power]}`;
}
