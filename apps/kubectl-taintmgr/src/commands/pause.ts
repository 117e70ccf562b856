// Makes a pause that holds evictions: pause.
import { type Namespace, selects } from '@taintmgr/core';
import { coversNamespace, type EvictionPause, isTakenOver } from '@taintmgr/core/policy';
import { formatDuration, formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import { type Evictors, taintEvictors } from '@taintmgr/k8s-adapter';
import { namespaceFromJson } from '@taintmgr/k8s-adapter/client';
import { choicesText, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { pausedText, zoneOf } from '@taintmgr/k8s-adapter/explain';
import { type ManifestFault, policyApiVersion, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import {
  ClusterReader,
  type Evictor,
  evictsBeside,
  evictsUnderPressure,
  type NodeFacts,
  pressureController,
  readEvictor,
  type TaintManager,
  zoneNames,
} from '@taintmgr/k8s-adapter/survey';
import { type DryRun, type OutputFlags, readDryRun } from '../cli/common-flags.ts';
import { withConnection } from '../cli/connection.ts';
import { type ExitCode, exitCode } from '../cli/exit.ts';
import { warn } from '../cli/output.ts';
import type { Invocation } from '../cli/registry.ts';
import { readLabelSelector } from '../cli/values.ts';
import { askForPauses, createPause, pauseReference } from '../cluster/pauses.ts';
import { type Format, printAnswer, readFormat } from '../render/printer.ts';

/** The command line of `pause`. */
export interface PauseFlags extends OutputFlags {
  readonly reason?: string | undefined;
  readonly until?: Instant | undefined;
  readonly for?: Millis | undefined;
  readonly zones?: readonly string[] | undefined;
  readonly nodeSelector?: string | undefined;
  readonly taintKeys?: readonly string[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly readiness?: true | undefined;
  /** Left out: as the definition has it, they are held. */
  readonly deadlines?: boolean | undefined;
  readonly dryRun: string;
}

/** `pause NAME`: holds evictions. */
export async function run(invocation: Invocation<PauseFlags>, name: string): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  const dryRun = readDryRun(flags.dryRun, ['none', 'server', 'client'], output);
  if (flags.namespace !== undefined) {
    const { namespace } = flags;
    throw new UsageError(
      `-n ${namespace}: a pause is in no namespace; to hold evictions of its pods only, give --namespaces ${namespace}`,
    );
  }
  // Whatever is wrong with the flags is said before anybody is asked.
  const local = Date.now();
  const meant = newPause(name, flags, local);
  if (dryRun === 'client') {
    refuseOver(meant, local);
    output.write(await printed(meant, meant.manifest, format, invocation, dryRun, local));
    return exitCode.done;
  }
  return await withConnection(invocation, async ({ client }) => {
    // The clock of the cluster counts.
    const now = (await askForPauses(client)) ?? local;
    const reader = new ClusterReader(client);
    const wanted = await placed(reader, name, flags, now);
    const made = await createPause(client, wanted.manifest, dryRun === 'server');
    output.write(await printed(wanted, made, format, invocation, dryRun, now));
    for (const text of await warnings(reader, wanted)) warn(output, text);
    return exitCode.done;
  });
}

/** The pause with its zones as nodes have them. Throws UsageError where it is for no node. */
async function placed(
  reader: ClusterReader,
  name: string,
  flags: PauseFlags,
  now: Instant,
): Promise<NewPause> {
  const looksAtNodes = flags.zones !== undefined || flags.nodeSelector !== undefined;
  const nodes = looksAtNodes ? await reader.ifAllowed(() => reader.nodes()) : null;
  const zones = nodes && flags.zones ? zonesMeant(flags.zones, nodes) : flags.zones;
  const wanted = newPause(name, { ...flags, zones }, now);
  refuseOver(wanted, now);
  if (nodes) refuseNowhere(wanted.pause, nodes);
  return wanted;
}

async function warnings(reader: ClusterReader, { pause }: NewPause): Promise<readonly string[]> {
  const managers = await reader.taintManagers();
  const evictors = await reader.evictors(Promise.resolve(managers));
  const read = {
    taintManagers: () => Promise.resolve(managers),
    podObject: (namespace: string, name: string) => reader.podObject(namespace, name),
  };
  const evictor = await readEvictor(evictors, read, reader.now());
  const takesOver = evictor.takesOver === true;
  const looksAtNamespaces = pause.scope.namespaces.length > 0 || takesOver;
  const namespaces = looksAtNamespaces ? await readNamespaces(reader) : null;
  const isLeftOut = takesOver && leavesOut(pause, namespaces);
  return [
    ...(namespaces === null ? [] : namespaceWarnings(pause, namespaces)),
    ...evictorWarnings(pause, evictors, evictor, isLeftOut),
    ...pressureWarnings(pause, managers, reader.now()),
  ];
}

/** Null: they may not be read. */
async function readNamespaces(reader: ClusterReader): Promise<readonly Namespace[] | null> {
  const objects = await reader.ifAllowed(() => reader.objects('/api/v1/namespaces'));
  return objects?.map(namespaceFromJson) ?? null;
}

const doneTexts: Readonly<Record<DryRun, readonly [done: string, is: string, are: string]>> = {
  none: ['created', 'is', 'are'],
  server: ['created (server dry run)', 'would be', 'would be'],
  client: ['created (dry run)', 'would be', 'would be'],
};

function printed(
  { pause }: NewPause,
  made: object,
  format: Format,
  { flags, output }: Invocation<PauseFlags>,
  dryRun: DryRun,
  now: Instant,
): Promise<string> {
  const reference = pauseReference(pause.name);
  const [done, is, are] = doneTexts[dryRun];
  const isOne = pause.readiness && !pause.deadlines;
  const { until } = pause;
  const end =
    until === null
      ? `until you run: kubectl taintmgr resume pause/${pause.name}`
      : `until ${formatTime(until)}, in ${formatDuration(until - now)}`;
  const answer = {
    document: made,
    rows: [made],
    names: [reference],
    table: () => `${reference} ${done}: ${pausedText(pause)} ${isOne ? is : are} held ${end}`,
  };
  return printAnswer(answer, format, flags.headers !== false, output);
}

/** A pause for the API server, and as the engine reads it. */
interface NewPause {
  readonly manifest: object;
  readonly pause: EvictionPause;
}

/** The pause that the flags ask for as of `now`. Throws UsageError. */
function newPause(name: string, flags: PauseFlags, now: Instant): NewPause {
  const {
    reason,
    readiness,
    deadlines,
    zones,
    taintKeys,
    namespaces,
    nodeSelector: selector,
  } = flags;
  const nodeSelector =
    selector === undefined ? undefined : readLabelSelector('--node-selector', selector);
  const scope = given({ zones, nodeSelector, taintKeys, namespaces });
  const until = endOf(flags, now);
  const manifest = {
    apiVersion: policyApiVersion,
    kind: 'EvictionPause',
    metadata: { name },
    spec: given({
      scope: Object.keys(scope).length > 0 ? scope : undefined,
      reason,
      readiness,
      deadlines,
      until: until === null ? undefined : formatTime(until),
    }),
  };
  const judged = readManifest(manifest, now);
  if (judged.kind === 'refused') throw new UsageError(judged.faults.map(faultText));
  if (judged.value.kind !== 'EvictionPause') throw new TypeError('what is made is a pause');
  return { manifest, pause: judged.value.value };
}

/** Throws UsageError where the pause is over at `now`. */
function refuseOver({ pause: { until } }: NewPause, now: Instant): void {
  if (until === null || until > now) return;
  const times = [until, now].map(formatTime);
  throw new UsageError(`--until: got ${times[0]}, want a time after ${times[1]}, which it is now`);
}

/** Rounds up to whole seconds. */
function endOf({ until, for: length }: PauseFlags, now: Instant): Instant | null {
  const end = until ?? (length === undefined ? null : now + length);
  return end === null ? null : Math.ceil(end / 1000) * 1000;
}

function given<T extends object>(fields: T): Partial<T> {
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(pairs) as Partial<T>;
}

const flagOf: Readonly<Record<string, string>> = {
  name: 'NAME',
  zones: '--zones',
  nodeSelector: '--node-selector',
  taintKeys: '--taint-keys',
  namespaces: '--namespaces',
  reason: '--reason',
  until: '--until, --for',
  spec: '--deadlines, --readiness',
};

/** The API server's words, behind the flag instead of the field that it fills. */
function faultText({ path, text }: ManifestFault): string {
  const flag = path.map((step) => flagOf[step]).findLast((one) => one !== undefined);
  const field = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  const plain = field.join('').slice(1);
  return flag === undefined
    ? text
    : text.replace(plain, () => flag).replace(`${plain} in body `, '');
}

/** The zones as nodes have them: `a` is every zone `region/a`. Throws UsageError where there is no such zone. */
function zonesMeant(wanted: readonly string[], nodes: readonly NodeFacts[]): readonly string[] {
  const known = [...new Set(nodes.map(zoneOf).filter((zone) => zone !== ''))].sort();
  const meant = wanted.flatMap((zone) => {
    if (known.includes(zone)) return [zone];
    const same = nodes.filter(({ node }) => zoneNames(node.labels ?? {}).includes(zone));
    if (same.length > 0) return same.map(zoneOf);
    const names = choicesText(known);
    throw new UsageError(`--zones: no node is in zone ${zone}; zones of this cluster: ${names}`);
  });
  return [...new Set(meant)];
}

/** Throws UsageError where no node is left that the pause is for. */
function refuseNowhere(
  { scope: { zones, nodes: selector } }: EvictionPause,
  nodes: readonly NodeFacts[],
): void {
  if (selector === null) return;
  const selected = nodes.filter(({ node }) => selects(selector, node.labels ?? {}));
  if (selected.length === 0) throw new UsageError('no node has the labels of --node-selector');
  if (zones.length === 0 || selected.some((one) => zones.includes(zoneOf(one)))) return;
  throw new UsageError('no node of --zones has the labels of --node-selector');
}

/** Namespaces that are not there. A name may have `*` in it, and the namespace may come later. */
function namespaceWarnings(
  { scope }: EvictionPause,
  namespaces: readonly Namespace[],
): readonly string[] {
  const names = namespaces.map(({ name }) => name);
  const isThere = (wanted: string): boolean =>
    names.some((name) => coversNamespace({ ...scope, namespaces: [wanted] }, name));
  return scope.namespaces
    .filter((wanted) => !isThere(wanted))
    .map((wanted) => `there is no namespace ${wanted}${didYouMean(wanted, names)}`);
}

/**
 * The controllers that evict here and ignore pauses; `isLeftOut`: the pause is for namespaces that are not
 * taken over.
 */
export function evictorWarnings(
  { deadlines }: EvictionPause,
  evictors: Evictors,
  evictor: Evictor,
  isLeftOut: boolean,
): readonly string[] {
  const beside = evictsBeside(evictors, evictor);
  const only = 'only taintmgr-controller follows pauses';
  const heedless = heedlessWarnings(evictor);
  if (evictor.takesOver) {
    if (!deadlines || !isLeftOut || !beside) return heedless;
    return [...heedless, `in namespaces that are not taken over ${beside.text}; ${only}`];
  }
  const answer = beside ?? taintEvictors(evictors);
  const isOurs = answer.kind === 'acts' && answer.agent === 'taintmgr-controller';
  return isOurs ? heedless : [...heedless, `${answer.text}; ${only}`];
}

/** Where taintmgr-controller runs so that it follows no pauses of the cluster. */
function heedlessWarnings({ settings }: Evictor): readonly string[] {
  if (!settings || settings.followsCluster) return [];
  const isUpstream = settings.engine.semantics === 'upstream-1.36';
  const flag = isUpstream ? '--semantics=kube-controller-manager' : '--cluster-policies=false';
  return [`taintmgr-controller runs with ${flag}, and follows no pauses of the cluster`];
}

/** True for a pause of pods in namespaces that are not taken over; null: the namespaces may not be read. */
export function leavesOut(
  { scope }: EvictionPause,
  namespaces: readonly Namespace[] | null,
): boolean {
  if (namespaces === null) return true;
  return namespaces.some(
    ({ name, labels }) => coversNamespace(scope, name) && !isTakenOver(labels),
  );
}

/**
 * Where node-pressure-controller runs: no pause keeps it from evicting, as none keeps a kubelet from it. A
 * pause that names taints is not about that.
 */
function pressureWarnings(
  { deadlines, scope }: EvictionPause,
  managers: readonly TaintManager[],
  now: Instant,
): readonly string[] {
  if (!deadlines || scope.taintKeys.length > 0) return [];
  const acting = managers.filter((manager) => evictsUnderPressure(manager, now));
  return acting.map(({ leader, name }) => {
    const who = `${pressureController} (${leader}, TaintManager ${name})`;
    return `${who} continues to evict from nodes that run out of memory, disk or processes, as kubelets do; pauses do not hold these evictions`;
  });
}
