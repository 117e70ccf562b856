// Explains the taints of a device or a rule that taints devices, and the pods that they evict: explain
// device, explain devicetaintrule.
import { formatTaint, type Taint } from '@taintmgr/core';
import {
  type DeviceId,
  type DeviceSelector,
  type DeviceTaint,
  type DeviceTaintRule,
  type DeviceTaintSource,
  describeTaintSource,
  formatDevice,
  parseDevice,
} from '@taintmgr/core/devices';
import { formatTime } from '@taintmgr/core/time';
import { lastWriteOf } from '@taintmgr/k8s-adapter/client';
import { choicesText, count, printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  apiVersion,
  asOf,
  deviceAdvice,
  none,
  taintDocument,
  time,
} from '@taintmgr/k8s-adapter/explain';
import {
  ClusterReader,
  type DeviceEvictor,
  type DeviceSurvey,
  deviceEvictor,
  devicePaths,
  hiddenText,
  jobEnds,
  noDevicesText,
  surveyDevices,
} from '@taintmgr/k8s-adapter/survey';
import type { OutputFlags } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { ruleMark } from '../../cluster/device-rules.ts';
import { printAnswer, readFormat } from '../../render/printer.ts';
import { type Column, type Field, renderColumns, renderFields } from '../../render/table.ts';
import {
  agoOrIn,
  brokenBudgets,
  type DevicePod,
  deviceEvictorText,
  devicePodDocument,
  devicePodsField,
  goes,
  heedlessness,
  podsOnDevices,
  renderDevicePods,
  selectorText,
} from '../../report/devices.ts';
import type { DeviceSubject } from './flags.ts';

/** `explain device DRIVER/POOL/DEVICE` and `explain devicetaintrule NAME`. */
export async function explainDevices(
  subject: DeviceSubject,
  name: string,
  invocation: Invocation<OutputFlags>,
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const id = subject === 'device' ? readDevice(name) : null;
  const format = await readFormat(flags.output);
  return await withConnection(invocation, async ({ client }) => {
    const reader = new ClusterReader(client);
    const paths = await devicePaths(reader);
    if (!paths) throw new UsageError(noDevicesText);
    const managers = reader.taintManagers();
    const [survey, evictors] = await Promise.all([
      surveyDevices(reader, paths),
      reader.evictors(managers),
    ]);
    const evictor = deviceEvictor(await managers, evictors, survey);
    const told = id ? tellDevice(id, survey, evictor) : tellRule(name, survey, evictor);
    output.write(
      await printAnswer(answerOf(told, survey), format, flags.headers !== false, output),
    );
    const going = told.pods.filter(goes).map(({ facts }) => facts.pod);
    for (const text of brokenBudgets(told.pods)) warn(output, text);
    for (const text of await jobEnds(reader, going)) warn(output, text);
    for (const note of deviceAdvice(sourcesOf(told.pods))) output.err(`Note: ${printable(note)}`);
    for (const message of reader.refused) warn(output, `not everything could be read: ${message}`);
    return exitCode.done;
  });
}

/** The sources of the taints on the devices of leaving pods. */
function sourcesOf(pods: readonly DevicePod[]): readonly DeviceTaintSource[] {
  return pods.filter(goes).flatMap(({ verdict }) => {
    return verdict.at === null ? [] : verdict.causes.map(({ source }) => source);
  });
}

function readDevice(text: string): DeviceId {
  try {
    return parseDevice(text);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

/** The answer, before it is printed. */
interface Told {
  readonly kind: 'DeviceExplanation' | 'DeviceTaintRuleExplanation';
  readonly reference: string;
  readonly fields: readonly Field[];
  readonly document: object;
  /** Of a device. */
  readonly taints: readonly TaintRow[] | null;
  readonly pods: readonly DevicePod[];
}

interface TaintRow extends DeviceTaint {
  /** The last writer, by managedFields; '': unknown. */
  readonly by: string;
}

function answerOf(told: Told, survey: DeviceSurvey) {
  const { kind, reference, fields, document, taints, pods } = told;
  const { at, hidden } = survey;
  const documents = pods.map((pod) => devicePodDocument(pod, at));
  // Claims lead to pods.
  const unknown = hidden.filter((one) => one === 'resourceclaims' || one === 'pods');
  return {
    document: {
      apiVersion,
      kind,
      ...asOf(at, 0),
      ...document,
      ...(hidden.length > 0 && { notKnown: hidden }),
      pods: documents,
    },
    rows: documents,
    names: [reference, ...pods.filter(goes).map(({ facts }) => `pod/${facts.pod.name}`)],
    table: (options: Parameters<typeof renderDevicePods>[2]) => {
      const [name = ['', ''], ...others] = fields;
      const counts: Field =
        unknown.length > 0
          ? ['Pods', `not known: ${hiddenText(unknown)}`, 'warning']
          : devicePodsField(pods);
      const head = options.headers ? renderFields([name, counts, ...others], options) : [];
      const tables = [
        ...(taints && taints.length > 0 ? [renderColumns(taintColumns(at), taints, options)] : []),
        ...(pods.length > 0 ? [renderDevicePods(pods, at, options)] : []),
      ];
      return [...(head.length > 0 ? [head.join('\n')] : []), ...tables].join('\n\n');
    },
  };
}

function taintColumns(now: number): readonly Column<TaintRow>[] {
  return [
    ['TAINT', ({ taint }) => formatTaint(taint)],
    ['SET BY', ({ source }) => describeTaintSource(source)],
    ['ADDED', ({ taint: { timeAdded } }) => agoOrIn(timeAdded, now)],
    ['WRITTEN BY', ({ by }) => by || none],
  ];
}

function tellDevice(id: DeviceId, survey: DeviceSurvey, evictor: DeviceEvictor): Told {
  const { devices, hidden } = survey;
  const slices = devices.slicesOf(id);
  const claims = devices.claimsOf(id);
  const isSeen = slices.length > 0 || claims.length > 0;
  if (!isSeen && !hidden.includes('resourceslices')) throw new UsageError(nowhere(id, survey));
  const taints = devices.taintsOf(id).map((one) => ({ ...one, by: writerOf(one, survey) }));
  const holders = claims.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const published = slices.map(({ name }) => `ResourceSlice ${name}${onNode(name, survey)}`);
  const unpublished = hidden.includes('resourceslices')
    ? `not known: ${hiddenText(['resourceslices'])}`
    : 'no: only taints of rules count';
  const noTaints = hidden.some((one) => one !== 'pods') ? `not known: ${hiddenText(hidden)}` : none;
  return {
    kind: 'DeviceExplanation',
    reference: `device/${formatDevice(id)}`,
    fields: [
      ['Device', formatDevice(id)],
      ['Published', published.join(', ') || unpublished],
      [
        'Claims',
        hidden.includes('resourceclaims')
          ? `not known: ${hiddenText(['resourceclaims'])}`
          : choicesText(holders),
      ],
      ['Evicted by', deviceEvictorText(evictor)],
      ...(taints.length === 0 ? ([['Taints', noTaints]] as const) : []),
    ],
    document: {
      device: id,
      slices: slices.map(({ name }) => name),
      claims: claims.map(({ namespace, name }) => ({ namespace, name })),
      taints: taints.map(({ taint, source, by }) => ({
        ...taintDocument(taint),
        source,
        writtenBy: by || undefined,
      })),
    },
    taints,
    pods: podsOnDevices(survey, [id], heedlessness(evictor)),
  };
}

/** The writer of a taint: of a rule its taint, of a slice its devices. */
function writerOf({ source }: DeviceTaint, { rules, slices }: DeviceSurvey): string {
  const metadata =
    source.kind === 'rule' ? rules.get(source.name)?.metadata : slices.get(source.name)?.metadata;
  const field = source.kind === 'rule' ? 'f:taint' : 'f:devices';
  return lastWriteOf(field, metadata)?.by ?? '';
}

function onNode(slice: string, { slices }: DeviceSurvey): string {
  const node = slices.get(slice)?.spec.nodeName;
  return node === undefined ? '' : ` (node ${node})`;
}

/** No such device: those of its pool, else of its driver, else the drivers that there are. */
function nowhere({ driver, pool, device }: DeviceId, { devices }: DeviceSurvey): string {
  const all = devices.published();
  const ofDriver = all.filter((one) => one.driver === driver);
  const ofPool = ofDriver.filter((one) => one.pool === pool);
  const unique = (names: readonly string[]): string => choicesText([...new Set(names)].sort());
  const known =
    ofPool.length > 0
      ? `devices of pool ${pool}: ${unique(ofPool.map((one) => one.device))}`
      : ofDriver.length > 0
        ? `pools of driver ${driver}: ${unique(ofDriver.map((one) => one.pool))}`
        : `drivers: ${unique(all.map((one) => one.driver))}`;
  return `no ResourceSlice publishes device ${driver}/${pool}/${device}, and no claim holds it; ${known}`;
}

function tellRule(name: string, survey: DeviceSurvey, evictor: DeviceEvictor): Told {
  const { devices, rules, hidden, at } = survey;
  if (hidden.includes('devicetaintrules')) {
    throw new UsageError(`the rule is not known: ${hiddenText(['devicetaintrules'])}`);
  }
  const rule = devices.rule(name);
  const object = rules.get(name);
  if (!rule || !object) {
    throw new UsageError(
      `there is no DeviceTaintRule ${JSON.stringify(name)}; rules: ${choicesText([...rules.keys()])}`,
    );
  }
  const { published, allocated } = devices.reachOf(rule);
  const mark = object.metadata.annotations?.[ruleMark];
  const by = lastWriteOf('f:taint', object.metadata)?.by ?? '';
  const reach = {
    published: hidden.includes('resourceslices') ? null : published.length,
    allocated: hidden.includes('resourceclaims') ? null : allocated.length,
  };
  return {
    kind: 'DeviceTaintRuleExplanation',
    reference: `devicetaintrule.resource.k8s.io/${name}`,
    fields: [
      ['Name', name],
      ['Selects', `${selectorText(rule)}${rule.unreadSelection ? '' : reachText(reach)}`],
      ['Taint', ruleTaintText(rule.taint, by, at)],
      ...(mark === undefined
        ? []
        : ([['To undo', `kubectl taintmgr undo devicetaintrule/${name}`]] as const)),
      ['Evicted by', deviceEvictorText(evictor)],
      ['Progress', progressText(rule)],
    ],
    document: {
      name,
      selector: selectorDocument(rule.selector),
      taint: taintDocument(rule.taint),
      writtenBy: by || undefined,
      generation: rule.generation,
      devices: reach,
      progress: rule.progress && {
        ...rule.progress,
        transitionAt: time(rule.progress.transitionAt),
        current: rule.progress.observedGeneration === rule.generation,
      },
    },
    taints: null,
    pods: podsOnDevices(survey, allocated, heedlessness(evictor)),
  };
}

function reachText({
  published,
  allocated,
}: {
  readonly published: number | null;
  readonly allocated: number | null;
}): string {
  const devices =
    published === null ? 'published devices not known' : `${count(published, 'published device')}`;
  return `: ${devices}, ${allocated === null ? 'allocations not known' : `${allocated} allocated`}`;
}

function selectorDocument(selector: DeviceSelector | null): object | null {
  return (
    selector && Object.fromEntries(Object.entries(selector).filter(([, part]) => part !== null))
  );
}

function ruleTaintText(taint: Taint, by: string, now: number): string {
  const { timeAdded } = taint;
  const since =
    timeAdded === null ? '' : `   added ${agoOrIn(timeAdded, now)} (${formatTime(timeAdded)})`;
  return `${formatTaint(taint)}${since}${by === '' ? '' : `, by ${by}`}`;
}

/** The words of kube-controller-manager about a rule, and whether they are of its present spec. */
function progressText({ progress, generation }: DeviceTaintRule): string {
  if (!progress) return 'no status: kube-controller-manager has not looked at this rule';
  const { status, reason, message, observedGeneration } = progress;
  const said = `${reason || `EvictionInProgress ${status}`}${message === '' ? '' : `: ${message}`}`;
  if (observedGeneration === generation) return said;
  return `${said} (of an earlier spec: generation ${observedGeneration} of ${generation})`;
}
