// Reads and writes the objects of takeover.

import { setTimeout } from 'node:timers/promises';
import { formatDuration, formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  type ApiRequest,
  installedOptions,
  installedVersion,
  type TakeoverManifest,
  takeoverDrift,
  takeoverLabel,
  takeoverManager,
  takeoverManifests,
  takeoverPath,
  takeoverVersion,
} from '@taintmgr/k8s-adapter';
import {
  ifThere,
  isFresh,
  namespacePath,
  namespacesPath,
  type PodName,
  podPathOf,
  readTaintManagers,
  type TaintManager,
} from '@taintmgr/k8s-adapter/survey';

/** A heartbeat counts for the policies for this time. */
export const windowMs: Millis = 60_000;

/** The policies as they are installed. */
interface Policies {
  /** The users that they exempt; empty: the policies do not exist. */
  readonly users: readonly string[];
  readonly version: string | null;
  /** The differences from the policies that this program would install, in words. */
  readonly drift: readonly string[];
}

export interface TakeoverState {
  /** The time of the API server. */
  readonly now: Instant;
  /** The leader whose heartbeat counts for the policies; null: none. */
  readonly manager: TaintManager | null;
  readonly policies: Policies;
  /** Namespaces with the label, in order. */
  readonly namespaces: readonly string[];
  /** The namespaces whose label has another value, which counts for nothing, as `name=value`. */
  readonly mislabelled: readonly string[];
}

const someone = { manager: 'taintmgr', users: [''] };

export async function readState(client: ApiClient): Promise<TakeoverState> {
  const { managers, now } = await readTaintManagers(client);
  const [policy, readiness, binding, readinessBinding] = await Promise.all(
    takeoverManifests(someone).map((manifest) => ifThere(() => client.get(takeoverPath(manifest)))),
  );
  // Either of the two policies may be missing: both contain the options.
  const options = installedOptions(policy ?? readiness, binding ?? readinessBinding);
  const live = [policy, readiness, binding, readinessBinding];
  const named = managers.filter(({ name }) => options === null || name === options.manager);
  const labelled = await client.list(namespacesPath, { labelSelector: takeoverLabel.key });
  const namespaces = labelled
    .filter((one) => !isEnding(one))
    .map((one) => ({ name: nameOf(one), value: labelValue(one) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const isMeant = ({ value }: { readonly value: string }): boolean => value === takeoverLabel.value;
  return {
    now,
    manager: named.find(({ takeover }) => takeover?.enabled) ?? named[0] ?? null,
    policies: {
      users: options?.users ?? [],
      version: installedVersion(policy),
      drift: takeoverManifests(options ?? someone).flatMap((wanted, i) => driftOf(live[i], wanted)),
    },
    namespaces: namespaces.filter(isMeant).map(({ name }) => name),
    mislabelled: namespaces
      .filter((one) => !isMeant(one) && one.value !== 'disabled')
      .map(({ name, value }) => `${name}=${value}`),
  };
}

/** The reasons why nothing is refused here at present; none: requests are refused. */
export function obstaclesIn({ manager, now, policies }: TakeoverState): readonly string[] {
  const found: string[] = [];
  if (manager === null)
    found.push('no taintmgr-controller publishes its status here: start it with --takeover');
  else if (manager.takeover === undefined) {
    found.push(
      `${manager.name} ${manager.settings.takeover === 'true' ? outdated : withoutTakeover}`,
    );
  } else if (manager.takeover.enabled !== true && standsBack(manager) !== null) {
    found.push(`${manager.name} stands by: ${standsBack(manager)}`);
  } else if (manager.takeover.enabled !== true) {
    const why = (manager.takeover.drift ?? []).join('; ') || 'the policies are not in force';
    found.push(`${manager.name} has not begun to take over: ${why}`);
  }
  if (manager && !isFresh(manager, now))
    found.push(`${manager.name} ${lastHeartbeat(manager, now)}`);
  const isNowhere = policies.drift.length === 4 && policies.version === null;
  return [...found, ...(isNowhere ? [nowhere] : policies.drift)];
}

const withoutTakeover = 'does not take over: start taintmgr-controller with --takeover';
const outdated =
  'cannot say that it takes over, as its definition here is older than taintmgr-controller: kubectl taintmgr install crds';

/** The reason why it stands by, in its own words; null: it does not. */
function standsBack({ troubles }: TaintManager): string | null {
  const kind = 'StandingBack: ';
  const found = troubles.find((text) => text.startsWith(kind));
  return found === undefined ? null : found.slice(kind.length);
}

const nowhere = 'the admission policies of takeover are not installed';

/** The command that mends them, for each way to install them. */
const mend = 'run kubectl apply -k deploy/takeover, or helm upgrade';

/** True if the leader decides about taints of devices too; else kube-controller-manager does. */
export function holdsDevices({ manager }: TakeoverState): boolean {
  return manager?.takeover?.deviceTaints === true;
}

/** An old heartbeat still counts for the policies for this time; 0: it does not. */
export function graceOf({ manager, now, policies }: TakeoverState): Millis {
  if (manager?.takeover?.enabled !== true || policies.drift.length > 0) return 0;
  return Math.max(0, (manager.renewedAt ?? 0) + windowMs - now);
}

/** `last wrote its status 3m ago`. */
export function lastHeartbeat({ renewedAt, isResigned }: TaintManager, now: Instant): string {
  if (isResigned) return 'has stopped leading';
  if (renewedAt === null) return 'never wrote its status';
  return `last wrote its status ${formatDuration(Math.max(0, now - renewedAt))} ago`;
}

/** A sentence about the policies. */
export function policiesText({ version, drift }: Policies): string {
  if (version === null) return `not installed; ${mend}`;
  if (drift.length > 0) return `version ${version}, outdated or changed; ${mend}`;
  return `version ${version}, unchanged`;
}

function driftOf(live: unknown, wanted: TakeoverManifest): readonly string[] {
  const differences = takeoverDrift(live ?? null, wanted);
  const isNewer = Number(installedVersion(live)) > Number(takeoverVersion);
  // A newer controller's policies are no fault; this program is old.
  return isNewer ? [] : differences.map(({ text }) => text);
}

interface Named {
  readonly metadata: {
    readonly name: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

function nameOf(object: unknown): string {
  return (object as Named).metadata.name;
}

function labelValue(object: unknown): string {
  return (object as Named).metadata.labels?.[takeoverLabel.key] ?? '';
}

function isEnding(object: unknown): boolean {
  return (object as Named).metadata.deletionTimestamp !== undefined;
}

/** The options of a write. */
interface WriteOptions {
  /** The API server judges, and changes nothing. */
  readonly dryRun?: boolean;
  /** The user to impersonate; left out: none. */
  readonly as?: string;
}

/** The labels of a namespace that is taken over. */
export const optedIn = { [takeoverLabel.key]: takeoverLabel.value };

/** Puts the label on a namespace, or takes it off. */
export function labelRequest(name: string, isOn: boolean, options: WriteOptions = {}): ApiRequest {
  const labels = { [takeoverLabel.key]: isOn ? takeoverLabel.value : null };
  return patch('merge-patch', namespacePath(name), { metadata: { labels } }, options);
}

/** The reason why a pod leaves. */
export type MarkedFor = 'node' | 'device';

/** By kube-controller-manager 1.36.2. */
const marks: Readonly<Record<MarkedFor, { readonly reason: string; readonly message: string }>> = {
  node: {
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  },
  device: {
    reason: 'DeletionByDeviceTaintManager',
    message: 'Device Taint manager: deleting due to NoExecute taint',
  },
};

/**
 * The mark that kube-controller-manager sets before it deletes a pod. Only a test stores it: with `dryRun`
 * the API server only says if it would.
 */
function markRequest(
  pod: PodName,
  at: Instant,
  taintOf: MarkedFor,
  options: WriteOptions = {},
): ApiRequest {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    ...marks[taintOf],
    lastTransitionTime: formatTime(at),
  };
  const body = { status: { conditions: [condition] } };
  return patch('strategic-merge-patch', `${podPathOf(pod)}/status`, body, {
    ...options,
    dryRun: true,
  });
}

type PatchKind = 'merge-patch' | 'strategic-merge-patch';

function patch(
  kind: PatchKind,
  path: string,
  body: object,
  { dryRun, as }: WriteOptions,
): ApiRequest {
  const query = `fieldManager=${takeoverManager}${dryRun ? '&dryRun=All' : ''}`;
  const headers = {
    accept: 'application/json',
    'content-type': `application/${kind}+json`,
    ...(as !== undefined && { 'impersonate-user': as }),
  };
  return { method: 'PATCH', path: `${path}?${query}`, headers, body: JSON.stringify(body) };
}

/** The answer of the API server to the mark of a pod. */
type MarkAnswer =
  /** The policy refuses it: kube-controller-manager would not go on. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The API server would store it: kube-controller-manager would delete the pod. */
  | { readonly kind: 'taken' }
  /** Another obstacle refuses it; nothing is known. */
  | { readonly kind: 'failed'; readonly message: string; readonly status: number | null };

const byPolicy = "ValidatingAdmissionPolicy 'taintmgr-takeover'";

/** Asks by a server-side dry run of the very patch; `as`: as another user. */
export async function askToMark(
  client: ApiClient,
  pod: PodName,
  at: Instant,
  as?: string,
  taintOf: MarkedFor = 'node',
): Promise<MarkAnswer> {
  try {
    await client.send(markRequest(pod, at, taintOf, as === undefined ? {} : { as }));
    return { kind: 'taken' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { message, status } = error.failure;
    return message.includes(byPolicy)
      ? { kind: 'refused', message }
      : { kind: 'failed', message, status };
  }
}

const lookEveryMs: Millis = 200;

/**
 * The answer as soon as the mark is refused, or the last one when the time is over: policies and
 * labels act some time after they were written.
 */
export async function untilRefused(
  client: ApiClient,
  pod: PodName,
  at: () => Instant,
  timeout: Millis,
  as?: string,
): Promise<MarkAnswer> {
  const end = performance.now() + timeout;
  for (;;) {
    const answer = await askToMark(client, pod, at(), as);
    if (answer.kind !== 'taken' || performance.now() >= end) return answer;
    await setTimeout(lookEveryMs);
  }
}
