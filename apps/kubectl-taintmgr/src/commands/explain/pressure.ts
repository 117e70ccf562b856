// Explains how near nodes are to evictions under pressure: explain pressure.
import type { NodeCondition } from '@taintmgr/core';
import {
  type ComparatorName,
  type ConditionExplanation,
  createPressureMachine,
  describePressureReason,
  formatThreshold,
  type PodInOrder,
  type PressureExplanation,
  type PressureSemantics,
  type PressureSettingsInput,
  parseEvictionFlag,
  pressureSignals,
  readSummary,
  resolvePressureSettings,
  type Signal,
  type SignalExplanation,
  type ThresholdState,
} from '@taintmgr/core/pressure';
import { formatDuration, formatTime, type Instant } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  getNodeRequest,
  nodeFromJson,
  ownConditionType,
  podsPath,
  pressureNodeFromJson,
  pressurePodFromJson,
  summaryRequest,
} from '@taintmgr/k8s-adapter';
import {
  count,
  pressureRulesOf,
  pressureRulesWords,
  pressureSemanticsOf,
  printable,
  UsageError,
} from '@taintmgr/k8s-adapter/command-line';
import { ago, apiVersion, deadline, none, soon, time } from '@taintmgr/k8s-adapter/explain';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/registry.ts';
import { wordOf } from '../../cli/values.ts';
import { type Answer, printAnswer, readFormat } from '../../render/printer.ts';
import {
  type Column,
  type Field,
  renderColumns,
  renderFields,
  type TableOptions,
} from '../../render/table.ts';
import type { PressureFlags } from './flags.ts';

/** `explain pressure NODE`: reads the usage there once, and explains the consequences. */
export async function run(invocation: Invocation<PressureFlags>, name: string): Promise<ExitCode> {
  const { flags, output } = invocation;
  const rules = wordOf(output, '--semantics', flags.semantics, pressureRulesWords);
  const signal = readSignal(flags.signal);
  const format = await readFormat(flags.output);
  return await withConnection(invocation, async (connection) => {
    const survey = await surveyPressure(connection.client, name, flags, pressureSemanticsOf(rules));
    const answer = answerOn(survey, signal);
    output.write(await printAnswer(answer, format, flags.headers !== false, output));
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

function answerOn(survey: PressureSurvey, signal: Signal | null): Answer {
  const shown = shownSignals(survey, signal);
  return {
    document: pressureDocument(survey),
    rows: shown.flatMap((one) => one.order.map((pod) => podInOrderDocument(pod, one.signal))),
    names: leaving(survey),
    table: (options) => renderPressure(survey, shown, options),
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

/** `pod/NAME` of the pods whose eviction would end the pressure. */
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

/** The answer of `explain pressure` as json and yaml. */
function pressureDocument(survey: PressureSurvey): object {
  const { at, source, semantics, explanation, conditions } = survey;
  const { node, doubts, layout, signals } = explanation;
  return {
    apiVersion,
    kind: 'PressureExplanation',
    metadata: { name: node.name, uid: node.uid },
    observedAt: formatTime(at),
    semantics: pressureRulesOf(semantics),
    thresholdsOf: source,
    filesystemLayout: layout ?? undefined,
    doubts: doubts.map((reason) => ({ code: reason.code, text: describePressureReason(reason) })),
    conditions: explanation.conditions.map(({ type, holds, clearsAt }) => {
      const own = ownConditionType(type);
      return {
        type,
        kubelet: conditions.find((condition) => condition.type === type)?.status,
        taintmgr: conditions.find((condition) => condition.type === own)?.status,
        expected: holds,
        clearsNotBefore: deadline(clearsAt),
      };
    }),
    signals: signals.map(signalDocument),
  };
}

/** One pod of an order, for custom-columns too. */
function podInOrderDocument(one: PodInOrder, signal: string): object {
  const { pod, used, requested, refusal, decidedBy, availableAfter, gracePeriodSeconds } = one;
  return {
    signal,
    namespace: pod.namespace,
    name: pod.name,
    uid: pod.uid,
    priority: pod.priority,
    used: used ?? undefined,
    requested,
    mayGo: refusal === null,
    because: refusal ? { code: refusal.code, text: describePressureReason(refusal) } : undefined,
    beforeTheNextBy: decidedBy ?? undefined,
    availableAfter: availableAfter ?? undefined,
    gracePeriodSeconds,
  };
}

function signalDocument({
  signal,
  sample,
  thresholds,
  order,
  evictionsNeeded,
}: SignalExplanation): object {
  return {
    signal,
    available: sample?.available,
    capacity: sample?.capacity,
    measuredAt: time(sample?.time ?? null),
    thresholds: thresholds.map(thresholdDocument),
    evictionsNeeded: evictionsNeeded ?? 'more than there are',
    order: order.map((one) => podInOrderDocument(one, signal)),
  };
}

function thresholdDocument(state: ThresholdState): object {
  const { threshold, phase, amount, clearAt, dueAt } = state;
  return {
    threshold: formatThreshold(threshold),
    gracePeriodSeconds: threshold.gracePeriodMs / 1000,
    phase,
    amount: amount ?? undefined,
    endsAt: clearAt ?? undefined,
    dueAt: phase === 'waiting' ? deadline(dueAt) : undefined,
  };
}

/** The source of the thresholds. */
type ThresholdSource = 'kubelet' | 'flags' | 'defaults';

/** The pressure on a node as it was read, and the conclusions from it. */
interface PressureSurvey {
  readonly at: Instant;
  readonly source: ThresholdSource;
  readonly semantics: PressureSemantics;
  readonly settings: PressureSettingsInput;
  /** The conditions of the node, the kubelet's and ours. */
  readonly conditions: readonly NodeCondition[];
  readonly explanation: PressureExplanation;
  /** The reason why the configuration of the kubelet could not be read; null: it was, or was not needed. */
  readonly refused: string | null;
}

/**
 * Reads a node, its pods, the usage there, and the thresholds of its kubelet where the flags name none. A
 * kubelet that does not answer is part of the explanation. Throws ApiError for a node that is not there and
 * for want of rights, ConnectionError, and RangeError for wrong thresholds.
 */
async function surveyPressure(
  client: ApiClient,
  name: string,
  flags: PressureFlags,
  semantics: PressureSemantics,
): Promise<PressureSurvey> {
  const node = await client.send(getNodeRequest(name));
  const pods = await client.list(podsPath, { fieldSelector: `spec.nodeName=${name}` });
  const { settings, source, refused } = await readSettings(client, name, flags);
  const machine = createPressureMachine({ semantics, settings, leader: false });
  const summary = await readOrFail(() => client.send(summaryRequest(name)));
  const at = Date.now();
  machine.handle(at, { kind: 'pressureNode', node: pressureNodeFromJson(node) });
  for (const pod of pods) {
    machine.handle(at, { kind: 'pressurePod', pod: pressurePodFromJson(pod) });
  }
  if (summary instanceof ApiError) {
    const { message } = summary.failure;
    machine.handle(at, { kind: 'observationFailed', nodeName: name, message });
  } else {
    machine.handle(at, { kind: 'observed', nodeName: name, observation: readSummary(summary) });
  }
  const explanation = machine.explain(at, name);
  if (!explanation) throw new Error(`node ${name} was read and is not known`);
  const { conditions = [] } = nodeFromJson(node);
  return { at, source, semantics, settings, conditions, explanation, refused };
}

interface ReadSettings {
  readonly settings: PressureSettingsInput;
  readonly source: ThresholdSource;
  readonly refused: string | null;
}

async function readSettings(
  client: ApiClient,
  name: string,
  flags: PressureFlags,
): Promise<ReadSettings> {
  const given = settingsOf(flags);
  if (given) return { settings: given, source: 'flags', refused: null };
  const path = `/api/v1/nodes/${encodeURIComponent(name)}/proxy/configz`;
  try {
    const answer = (await client.get(path)) as { kubeletconfig?: KubeletConfig } | null;
    return {
      settings: kubeletSettings(answer?.kubeletconfig ?? {}),
      source: 'kubelet',
      refused: null,
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { settings: {}, source: 'defaults', refused: error.failure.message };
  }
}

/** The thresholds of the flags; null where they name none. */
function settingsOf(flags: PressureFlags): PressureSettingsInput | null {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = flags;
  if (evictionHard === undefined && evictionSoft === undefined) return null;
  return {
    evictionHard: parseEvictionFlag(evictionHard ?? '', '<'),
    evictionSoft: parseEvictionFlag(evictionSoft ?? '', '<'),
    evictionSoftGracePeriod: parseEvictionFlag(evictionSoftGracePeriod ?? '', '='),
    evictionMinimumReclaim: parseEvictionFlag(evictionMinimumReclaim ?? '', '='),
  };
}

/** The fields of a KubeletConfiguration that matter; null is as good as nothing. */
type KubeletConfig = {
  readonly [Field in keyof PressureSettingsInput]?: PressureSettingsInput[Field] | null;
};

const kubeletFields = [
  'evictionHard',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionMinimumReclaim',
  'evictionPressureTransitionPeriod',
  'evictionMaxPodGracePeriod',
  'mergeDefaultEvictionSettings',
  'localStorageCapacityIsolation',
  'enforceNodeAllocatable',
] as const satisfies readonly (keyof PressureSettingsInput)[];

function kubeletSettings(config: KubeletConfig): PressureSettingsInput {
  return Object.fromEntries(
    kubeletFields.flatMap((field) => (config[field] == null ? [] : [[field, config[field]]])),
  );
}

/** The answer, or the error of a kubelet that does not give one; want of rights is thrown. */
async function readOrFail(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    const status = error instanceof ApiError ? (error.failure.status ?? 0) : 0;
    if (status >= 500) return error;
    throw error;
  }
}

const sources = {
  kubelet: 'from its kubelet',
  flags: 'from the flags',
  defaults: "a kubelet's defaults (its own could not be read)",
} as const;

/** The answer to `explain pressure`: the node, its signals, and who would go in which order. */
function renderPressure(
  survey: PressureSurvey,
  shown: readonly SignalExplanation[],
  options: TableOptions,
): string {
  const { signals } = survey.explanation;
  const head = options.headers ? [...pressureHead(survey, options), ''] : [];
  if (signals.length === 0) return [...head, 'No thresholds.'].join('\n');
  const orders = shown.flatMap((one) => [
    '',
    ...(options.headers ? [orderHead(one)] : []),
    renderOrder(one, options),
  ]);
  return [...head, renderSignals(survey, options), ...orders].join('\n');
}

function pressureHead(survey: PressureSurvey, options: TableOptions): readonly string[] {
  const { source, semantics, explanation } = survey;
  const { node, layout, doubts } = explanation;
  const held = explanation.conditions.map((one) => conditionText(one, survey));
  return renderFields(
    [
      ['Name', node.name],
      ...listed('Doubts', doubts.map(describePressureReason)),
      ...listed('Conditions', held),
      ['Thresholds', `${sources[source]}, by the rules of ${pressureRulesOf(semantics)}`],
      ['File systems', layout === null ? 'unknown' : layouts[layout]],
    ],
    options,
  );
}

/** The state of a condition, the kubelet's or ours, and its expected change. */
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

function listed(name: string, texts: readonly string[]): readonly Field[] {
  return texts.map((text, index) => [index === 0 ? name : '', text]);
}

function renderSignals(
  { at, explanation: { signals } }: PressureSurvey,
  options: TableOptions,
): string {
  const states = signals.flatMap(({ thresholds }) => thresholds);
  return renderColumns(signalColumns(at), states, options);
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
    ['STATE', (state) => stateText(state, at), { tone: ({ phase }) => tones[phase] }],
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
    ['POD', ({ pod }) => pod.name, { title: true }],
    ['USED', ({ used }) => amount(used)],
    ['REQUESTED', ({ requested }) => amount(requested)],
    ['FREES', ifGoing(({ used }) => amount(used))],
    ['AVAILABLE AFTER', ifGoing(({ availableAfter }) => amount(availableAfter))],
    ['PRIORITY', ({ pod }) => String(pod.priority), 'wide'],
    ['GRACE', ({ gracePeriodSeconds: { hard, soft } }) => `${hard}s hard, ${soft}s soft`, 'wide'],
    ['BECAUSE', becauseText, { below: 'because' }],
  ];
  return renderColumns(columns, order, options);
}

/** The reason that puts a pod before the next one, by the names of the comparators. */
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
