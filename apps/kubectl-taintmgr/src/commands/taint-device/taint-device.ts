// Taints devices in a safe way: None first, who would go, a question, counted again, NoExecute: taint-device.
import { setTimeout } from 'node:timers/promises';
import { formatTaint } from '@taintmgr/core';
import { selectsAllDevices } from '@taintmgr/core/devices';
import { formatDuration, formatTime, type Instant, parseTime } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  type DevicePaths,
  deviceTaintRuleFromJson,
  listRequest,
} from '@taintmgr/k8s-adapter/client';
import { choicesText, count, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { apiVersion, asOf } from '@taintmgr/k8s-adapter/explain';
import {
  ClusterReader,
  type DeviceEvictor,
  deviceEvictor,
  devicePaths,
  hiddenText,
  jobEnds,
  type RuleObject,
  rulesPathOf,
  surveyDevices,
} from '@taintmgr/k8s-adapter/survey';
import { agrees, refuseUnasked } from '../../cli/agreement.ts';
import { type DryRun, readDryRun } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import {
  changeRule,
  createRule,
  evictionCondition,
  type RuleChange,
  readRule,
  ruleMark,
  ruleReference,
} from '../../cluster/device-rules.ts';
import { type Format, printAnswer, readFormat } from '../../render/printer.ts';
import {
  devicePodDocument,
  devicePodsText,
  nameOf,
  renderDevicePods,
  selectorText,
} from '../../report/devices.ts';
import type { TaintDeviceFlags } from './flags.ts';
import { forecastRule, type RuleForecast, risksOf } from './forecast.ts';
import { manifestOf, readRequest, type TaintRequest } from './request.ts';

/** A run of the command. */
interface Work {
  readonly invocation: Invocation<TaintDeviceFlags>;
  readonly request: TaintRequest;
  readonly format: Format;
  readonly dryRun: DryRun;
  readonly client: ApiClient;
  readonly paths: DevicePaths;
  /** Where rules are. */
  readonly path: string;
  readonly evictor: DeviceEvictor;
}

/** `taint-device TARGET [TAINT]`. */
export async function run(
  invocation: Invocation<TaintDeviceFlags>,
  target: string,
  taint: string | undefined,
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const dryRun = readDryRun(flags.dryRun, ['none', 'server', 'client'], output);
  const request = readRequest(target, taint, flags);
  // A write is final: Ctrl-C counts between two requests only, so that the result is never in doubt.
  const calm = { flags, output, interrupt: new AbortController().signal };
  return await withConnection(calm, async ({ client }) => {
    const reader = new ClusterReader(client);
    const paths = await devicePaths(reader);
    const path = rulesPathOf(paths);
    if (!paths) throw new TypeError('rules are served, so there are paths');
    const before = request.kind === 'rule' ? await ruleThere(client, path, request.name) : null;
    const managers = reader.taintManagers();
    const [survey, evictors] = await Promise.all([
      surveyDevices(reader, paths),
      reader.evictors(managers),
    ]);
    const evictor = deviceEvictor(await managers, evictors, survey);
    const work = { invocation, request, format, dryRun, client, paths, path, evictor };
    if (before?.spec.taint.effect === 'NoExecute') return await snooze(work, before);
    return await taintSafely(work, before);
  });
}

async function ruleThere(client: ApiClient, path: string, name: string): Promise<RuleObject> {
  const rule = await readRule(client, path, name);
  if (!rule) {
    throw new UsageError(
      `there is no DeviceTaintRule ${name}; kubectl get devicetaintrules lists them`,
    );
  }
  const { effect } = rule.spec.taint;
  if (effect === 'NoExecute' || effect === 'None') return rule;
  throw new UsageError(
    `devicetaintrule/${name} has the effect ${effect}, which keeps new pods away: want a rule with None or NoExecute`,
  );
}

/**
 * Writes the effect None first, shows the pods that would leave, asks the user, counts again, and writes
 * NoExecute.
 */
async function taintSafely(work: Work, before: RuleObject | null): Promise<ExitCode> {
  const { invocation, request, dryRun } = work;
  const { flags, output, interrupt } = invocation;
  const isMeant = request.effect === 'NoExecute';
  const mustAsk = isMeant && dryRun === 'none' && flags.yes !== true;
  if (mustAsk) refuseUnasked();
  const planned = before ?? plannedRule(work);
  const isAll = selectsAllDevices(deviceTaintRuleFromJson(planned).selector);
  if (isAll && !flags.allDevices) {
    throw new UsageError(
      `devicetaintrule/${planned.metadata.name} selects every device of every driver; to taint them all, add --all-devices`,
    );
  }
  const first = await forecast(work, planned);
  refuseNowhere(work, first, planned);
  if (isMeant) refuseMany(first, flags.maxPods, 'nothing was changed');
  if (interrupt.aborted) return stopped(work, 'nothing was changed');
  if (dryRun !== 'none') return await tryOnly(work, planned, before, first);
  const rule = before ?? (await makePreview(work, planned));
  const seen = await upstreamCount(work, rule);
  await show(work, first, seen);
  const leave = leftText(rule.metadata.name, isAll);
  if (!isMeant) return await finish(work, { rule: seen, forecast: first, hint: leave });
  for (const text of risksOf(first, work.evictor)) warn(output, text);
  if (interrupt.aborted) return stopped(work, leave);
  if (mustAsk) {
    const answer = await agrees(questionText(first), interrupt);
    if (answer === null) return stopped(work, leave);
    if (!answer) throw new UsageError(leave);
  }
  const second = await forecast(work, rule);
  refuseGrown(first, second, leave);
  refuseMany(second, flags.maxPods, leave);
  if (interrupt.aborted) return stopped(work, leave);
  // The shown forecast decides, whatever has happened to the rule since.
  return await execute(work, rule, before, { forecast: second, leave });
}

/** The new rule as it is before the API server has seen it. */
function plannedRule({ request, path }: Work): RuleObject {
  if (request.kind !== 'new') throw new TypeError('a rule that is there was read');
  return manifestOf(request, versionOf(path), 'None') as RuleObject;
}

/** `resource.k8s.io/v1` */
function versionOf(path: string): string {
  return path.split('/').slice(2, 4).join('/');
}

/** The pods that would leave, as the cluster is now. Throws UsageError where they may not be read. */
async function forecast(work: Work, rule: RuleObject): Promise<RuleForecast> {
  const { client, paths, invocation } = work;
  const reader = new ClusterReader(client);
  const survey = await surveyDevices(reader, paths);
  const vital = survey.hidden.filter((one) => one === 'pods' || one === 'resourceclaims');
  if (vital.length > 0) {
    throw new UsageError(
      `the pods that would leave are unknown: ${hiddenText(vital)}; none is evicted`,
    );
  }
  const since = survey.at + (invocation.flags.snooze ?? 0);
  return await withJobs(reader, forecastRule(survey, rule, since));
}

/** An evicted pod counts as failed for its Job. */
async function withJobs(
  reader: ClusterReader,
  found: Omit<RuleForecast, 'jobEnds'>,
): Promise<RuleForecast> {
  const pods = found.going.map(({ facts }) => facts.pod);
  return { ...found, jobEnds: await jobEnds(reader, pods) };
}

function refuseNowhere(
  { request }: Work,
  { published, allocated, free }: RuleForecast,
  rule: RuleObject,
): void {
  // Without slices the devices are unknown.
  if (request.kind === 'rule' || published > 0 || allocated > 0 || free === null) return;
  throw new UsageError(
    `no ResourceSlice has a device of ${selectorText(request)}, and no claim holds one: nothing was changed (${rule.metadata.name} would taint nothing)`,
  );
}

function refuseMany({ going }: RuleForecast, most: number, then: string): void {
  if (going.length <= most) return;
  const names = choicesText(going.map(nameOf));
  throw new UsageError(
    `${count(going.length, 'pod')} would leave (${names}), and --max-pods is ${most}; ${then}`,
  );
}

function refuseGrown(first: RuleForecast, second: RuleForecast, leave: string): void {
  const [shown, now] = [first.going.length, second.going.length];
  if (now <= shown) return;
  throw new UsageError(`${count(now, 'pod')} would leave now, and ${shown} were shown; ${leave}`);
}

/** --dry-run: nothing is written. */
async function tryOnly(
  work: Work,
  planned: RuleObject,
  before: RuleObject | null,
  first: RuleForecast,
): Promise<ExitCode> {
  const { request, dryRun, client, path, invocation } = work;
  const { snooze } = invocation.flags;
  const change = changeFor(
    request.effect,
    before,
    snooze === undefined ? null : Date.now() + snooze,
  );
  let rule = withChange(planned, change);
  if (dryRun === 'server' && before)
    rule = await changeRule(client, path, before, { ...change, isDryRun: true });
  else if (dryRun === 'server') rule = await createRule(client, path, rule, true);
  await show(work, first, null);
  for (const text of risksOf(first, work.evictor)) warn(invocation.output, text);
  return await finish(work, { rule, forecast: first, hint: null });
}

/**
 * The change that turns a rule into the wanted one. The mark of an existing rule records its earlier content.
 */
function changeFor(
  effect: 'NoExecute' | 'None',
  before: RuleObject | null,
  timeAdded: Instant | null,
): RuleChange {
  return {
    effect,
    ...(timeAdded !== null && { timeAdded }),
    ...(before && { mark: markFor(before) }),
  };
}

function markFor({ metadata, spec }: RuleObject): string {
  return metadata.annotations?.[ruleMark] ?? spec.taint.effect;
}

/** As the rule would be; for those who print it. */
function withChange(rule: RuleObject, { effect, timeAdded }: RuleChange): RuleObject {
  const taint = {
    ...rule.spec.taint,
    ...(effect && { effect }),
    ...(timeAdded !== undefined && { timeAdded: formatTime(timeAdded) }),
  };
  return { ...rule, spec: { ...rule.spec, taint } };
}

async function makePreview(work: Work, planned: RuleObject): Promise<RuleObject> {
  const rule = await createRule(work.client, work.path, planned, false);
  say(work, `${ruleReference(rule.metadata.name)} created with effect None: it evicts no pods`);
  return rule;
}

const lookEveryMs = 200;

/** The rule once kube-controller-manager has counted, or when that takes too long. */
async function upstreamCount(
  { client, path, invocation }: Work,
  rule: RuleObject,
): Promise<RuleObject> {
  const { flags, interrupt } = invocation;
  const last = performance.now() + flags.timeout;
  for (let seen = rule; ; ) {
    const condition = evictionCondition(seen);
    if (condition && condition.observedGeneration === seen.metadata.generation) return seen;
    if (performance.now() >= last || interrupt.aborted) return seen;
    await setTimeout(lookEveryMs, undefined, { signal: interrupt }).catch(() => undefined);
    seen = (await readRule(client, path, rule.metadata.name)) ?? seen;
  }
}

/**
 * Shows the pods that would leave, and the report of kube-controller-manager; `rule`: as it was read; null:
 * kube-controller-manager does not know the rule.
 */
async function show(work: Work, first: RuleForecast, rule: RuleObject | null): Promise<void> {
  const { flags } = work.invocation;
  const options = {
    wide: work.format.kind === 'table' && work.format.wide,
    headers: flags.headers !== false,
    width: work.invocation.output.widthOut,
    paint: work.invocation.output.paintOut,
  };
  if (first.pods.length > 0) {
    say(work, renderDevicePods(first.pods, first.at, options));
    say(work, '');
  }
  say(
    work,
    `${count(first.published, 'published device')}, ${first.allocated} allocated; ${devicePodsText(first.pods)}`,
  );
  if (rule) say(work, upstreamText(work, rule));
}

function upstreamText({ evictor, invocation }: Work, rule: RuleObject): string {
  const condition = evictionCondition(rule);
  const who = 'kube-controller-manager';
  if (condition && condition.observedGeneration === rule.metadata.generation) {
    return `${who} says: ${condition.message || condition.reason}`;
  }
  if (evictor.actsOnRules === true) {
    return `${who} has not counted within ${formatDuration(invocation.flags.timeout)}`;
  }
  return `${who} has written no status within ${formatDuration(invocation.flags.timeout)}: rules seem to be ignored here (feature gate DRADeviceTaintRules off, or no device-taint-eviction-controller?)`;
}

/** For a person: among the data where that is a table. */
function say({ format, invocation: { output } }: Work, text: string): void {
  if (format.kind === 'table') output.out(text);
  else output.err(text);
}

function questionText({ going }: RuleForecast): string {
  const names = choicesText(going.map(nameOf));
  return `Evict ${going.length === 0 ? 'every pod that comes to use these devices' : `${count(going.length, 'pod')} (${names})`}?`;
}

function leftText(name: string, isAll: boolean): string {
  const flag = isAll ? ' --all-devices' : '';
  return `devicetaintrule/${name} stays with effect None and evicts no pods; to continue: kubectl taintmgr taint-device devicetaintrule/${name}${flag}; to undo: kubectl taintmgr undo devicetaintrule/${name}`;
}

function stopped({ invocation: { output } }: Work, leave: string): ExitCode {
  output.err(`interrupted; ${leave}`);
  return exitCode.interrupted;
}

/** Writes NoExecute to the rule that was shown, and to no other. */
async function execute(
  work: Work,
  rule: RuleObject,
  before: RuleObject | null,
  { forecast: last, leave }: { readonly forecast: RuleForecast; readonly leave: string },
): Promise<ExitCode> {
  const { client, path, invocation } = work;
  const { snooze } = invocation.flags;
  const timeAdded = snooze === undefined ? null : (await serverTime(client, path)) + snooze;
  const { name } = rule.metadata;
  const written = await change(work, rule, changeFor('NoExecute', before, timeAdded), leave);
  const hint = `to undo: kubectl taintmgr undo devicetaintrule/${name}; to follow: kubectl taintmgr explain devicetaintrule ${name}`;
  return await finish(work, { rule: written, forecast: last, hint });
}

/** By the API server's clock, which fills timeAdded too. */
async function serverTime(client: ApiClient, path: string): Promise<Instant> {
  const { serverTime: at } = await client.ask(listRequest(path.slice(0, path.lastIndexOf('/'))));
  return at ?? Date.now();
}

/** Changes the rule that was shown. Throws UsageError where that is refused; `then`: what holds in that case. */
async function change(
  { client, path }: Work,
  rule: RuleObject,
  wanted: RuleChange,
  then: string,
): Promise<RuleObject> {
  const { name, uid, generation } = rule.metadata;
  try {
    return await changeRule(client, path, rule, wanted);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const now = await readRule(client, path, name);
    if (!now) throw new UsageError(`devicetaintrule/${name} was deleted meanwhile`);
    if (now.metadata.uid !== uid || now.metadata.generation !== generation) {
      throw new UsageError(
        `another client changed devicetaintrule/${name} meanwhile; look at it again`,
      );
    }
    throw new UsageError(`it was not written: ${error.failure.message}; ${then}`);
  }
}

/** Moves timeAdded of a rule that evicts. */
async function snooze(work: Work, rule: RuleObject): Promise<ExitCode> {
  const { client, path, dryRun, invocation } = work;
  const { name } = rule.metadata;
  const length = invocation.flags.snooze;
  if (length === undefined) {
    throw new UsageError(
      `devicetaintrule/${name} has the effect NoExecute already; --snooze moves its deadlines, and kubectl taintmgr undo devicetaintrule/${name} takes it back`,
    );
  }
  const added = parseTime(rule.spec.taint.timeAdded ?? '') ?? (await serverTime(client, path));
  const later = { timeAdded: added + length };
  const written =
    dryRun === 'client'
      ? withChange(rule, later)
      : await change(
          work,
          rule,
          { ...later, isDryRun: dryRun === 'server' },
          'its deadlines stay as they are',
        );
  const reader = new ClusterReader(client);
  const survey = await surveyDevices(reader, work.paths);
  const then = await withJobs(reader, forecastRule(survey, written, added + length));
  await show(work, then, null);
  return await finish(work, { rule: written, forecast: then, hint: null });
}

/** The end of the change to the rule. */
interface Ending {
  readonly rule: RuleObject;
  readonly forecast: RuleForecast;
  readonly hint: string | null;
}

async function finish(work: Work, { rule, forecast: last, hint }: Ending): Promise<ExitCode> {
  const { format, invocation, evictor, dryRun } = work;
  const { output, flags } = invocation;
  const condition = evictionCondition(rule);
  const answer = {
    document: {
      apiVersion,
      kind: 'DeviceTaintReport',
      ...asOf(last.at, 0),
      rule: withoutManagers(rule),
      dryRun: dryRun !== 'none',
      devices: { published: last.published, allocated: last.allocated, free: last.free },
      evict: last.going.length,
      upstream: condition && {
        ...condition,
        current: condition.observedGeneration === rule.metadata.generation,
      },
      risks: risksOf(last, evictor),
      pods: last.pods.map((pod) => devicePodDocument(pod, last.at)),
    },
    rows: last.pods.map((pod) => devicePodDocument(pod, last.at)),
    names: [ruleReference(rule.metadata.name)],
    table: () => doneText(work, rule, last),
  };
  output.write(await printAnswer(answer, format, flags.headers !== false, output));
  if (hint !== null) output.err(`hint: ${hint}`);
  return exitCode.done;
}

/** As kubectl prints objects. */
function withoutManagers({ metadata, ...rule }: RuleObject): object {
  const { managedFields: _, ...rest } = metadata;
  return { ...rule, metadata: rest };
}

const dryTexts: Readonly<Record<DryRun, string>> = {
  none: '',
  server: ' (server dry run)',
  client: ' (dry run)',
};

/** `devicetaintrule.resource.k8s.io/x taints health=bad:NoExecute: 2 pods leave` */
function doneText(work: Work, rule: RuleObject, { going }: RuleForecast): string {
  const { key, value = '', effect, timeAdded } = rule.spec.taint;
  const isWritten = effect === 'NoExecute' && work.dryRun === 'none';
  const leave = going.length === 1 ? 'leaves' : 'leave';
  const doubt = isWritten && !isHeeded(work, rule) ? ', if a controller follows rules here' : '';
  const then = `${count(going.length, 'pod')} ${isWritten ? leave : 'would leave'}${doubt}`;
  const what = effect === 'NoExecute' ? then : `a preview, ${then}`;
  const added = parseTime(timeAdded ?? '');
  const isLater = added !== null && added > Date.now() + 1000;
  const from = isLater ? `, counted from ${formatTime(added)}` : '';
  const taint = formatTaint({ key, value, effect });
  const dry = dryTexts[work.dryRun];
  return `${ruleReference(rule.metadata.name)} taints ${taint}${dry}: ${what}${from}`;
}

/** True where a controller was seen to act on rules. */
function isHeeded({ evictor: { ours, actsOnRules } }: Work, rule: RuleObject): boolean {
  return ours !== null || actsOnRules === true || evictionCondition(rule) !== null;
}
