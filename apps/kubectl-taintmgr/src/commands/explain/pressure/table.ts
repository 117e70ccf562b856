// The answer of `explain pressure` as a table.
import {
  type ComparatorName,
  type ConditionExplanation,
  describePressureReason,
  formatDuration,
  formatThreshold,
  type PodInOrder,
  pressureSignals,
  resolvePressureSettings,
  type Signal,
  type SignalExplanation,
  type ThresholdState,
} from '@taintmgr/core';
import { ownConditionType } from '@taintmgr/k8s-adapter';
import { count } from '../../../render/count.ts';
import { printable } from '../../../render/printable.ts';
import type { TableOptions } from '../../../render/printer.ts';
import type { Paint } from '../../../render/style.ts';
import { renderTable } from '../../../render/table.ts';
import { none, soon } from '../../../report/words.ts';
import type { PressureSurvey } from './survey.ts';

const sources = {
  kubelet: 'from its kubelet',
  flags: 'from the flags',
  defaults: "a kubelet's defaults (its own could not be read)",
} as const;

const phases = {
  unknown: 'Unknown',
  clear: 'Clear',
  waiting: 'Waiting',
  due: 'Due',
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
  { wide, headers }: TableOptions,
): string {
  const states = signals.flatMap(({ thresholds }) => thresholds);
  const heads = ['SIGNAL', 'AVAILABLE', 'CAPACITY', 'THRESHOLD', 'GRACE', 'STATE', 'ENDS AT'];
  const rows = states.map((state) => signalRow(state, at, wide));
  const stateColumn = heads.indexOf('STATE');
  return renderTable(
    headers ? [...heads, ...(wide ? ['MEASURED'] : [])] : null,
    rows,
    (text, row, column) => {
      const phase = column === stateColumn ? states[row]?.phase : undefined;
      return phase === undefined ? text : paint(tones[phase], text);
    },
  );
}

const tones = { unknown: 'warning', clear: 'calm', waiting: 'soon', due: 'urgent' } as const;

function signalRow(
  { threshold, sample, phase, clearAt, dueAt }: ThresholdState,
  at: number,
  wide: boolean,
): readonly string[] {
  const { signal, gracePeriodMs } = threshold;
  const amount = (value: number | null | undefined): string => amountText(signal, value ?? null);
  const waits = phase === 'waiting' && dueAt !== null ? `, due ${soon(dueAt - at)}` : '';
  const measured =
    sample?.time == null ? none : `${formatDuration(Math.max(0, at - sample.time))} ago`;
  return [
    signal,
    amount(sample?.available),
    amount(sample?.capacity),
    formatThreshold(threshold).slice(signal.length),
    gracePeriodMs === 0 ? 'hard' : formatDuration(gracePeriodMs),
    phases[phase] + waits,
    amount(clearAt),
    ...(wide ? [measured] : []),
  ];
}

function orderHead({ signal, thresholds, evictionsNeeded }: SignalExplanation): string {
  const isMet = thresholds.some(({ phase }) => phase === 'waiting' || phase === 'due');
  if (!isMet) return `Eviction order if ${signal} falls below its threshold:`;
  if (evictionsNeeded === null) return `Eviction order for ${signal}; all of them are not enough:`;
  return `Eviction order for ${signal}; ${count(evictionsNeeded, 'pod')} would be enough:`;
}

function renderOrder(
  { signal, order }: SignalExplanation,
  { wide, headers }: TableOptions,
): string {
  if (order.length === 0) return 'No pods on this node.';
  const amount = (value: number | null): string => amountText(signal, value);
  let place = 0;
  const rows = order.map((one) => {
    const { pod, used, requested, refusal, availableAfter } = one;
    if (refusal === null) place += 1;
    return [
      refusal === null ? String(place) : '-',
      pod.namespace,
      pod.name,
      amount(used),
      amount(requested),
      refusal === null ? amount(used) : '-',
      refusal === null ? amount(availableAfter) : '-',
      ...(wide ? [String(pod.priority), graceText(one)] : []),
      becauseText(one),
    ];
  });
  const wideHeads = wide ? ['PRIORITY', 'GRACE'] : [];
  const heads = ['ORDER', 'NAMESPACE', 'POD', 'USED', 'REQUESTED', 'FREES', 'AVAILABLE AFTER'];
  return renderTable(headers ? [...heads, ...wideHeads, 'BECAUSE'] : null, rows);
}

function graceText({ gracePeriodSeconds: { hard, soft } }: PodInOrder): string {
  return `${hard}s hard, ${soft}s soft`;
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
