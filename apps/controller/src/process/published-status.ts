// The status that the leader publishes in its TaintManager.
import { describeReason } from '@taintmgr/core';
import { formatTime, formatTimeMillis, type Instant } from '@taintmgr/core/time';
import {
  type ApiRequest,
  type Notice,
  type PublishOptions,
  pauseRecords,
  type StatedStatus,
  taintManagersPath,
  takeoverVersion,
} from '@taintmgr/k8s-adapter';
import {
  drainMarksFeature,
  lastReplicaFeature,
  type TaintManagerStatus,
} from '@taintmgr/k8s-adapter/kinds';
import type { FilePolicy } from '@taintmgr/k8s-adapter/manifests';
import type { Checked } from '../flags/checks.ts';
import { type ControllerName, controllerNames } from '../flags/controllers.ts';
import { settingsInForce } from '../flags/in-force.ts';
import type { Choices } from '../flags/resolve.ts';
import type { Settings } from '../flags/settings.ts';
import type { OverlapWatch } from '../overlap/watch.ts';
import { publishedShadow } from '../shadow/published.ts';
import type { Shadow } from '../shadow/shadow.ts';
import type { ProcessStats, RunningController, TakeoverScore } from '../stats/process-stats.ts';
import { version } from '../version.ts';

/** The others that were seen to evict; null: this replica does not look. */
interface Seen {
  readonly overlaps: Pick<OverlapWatch, 'others' | 'conditions'> | null;
  readonly shadow: Pick<Shadow, 'report'> | null;
}

/** The status that is published of this process while it leads. */
export class PublishedStatus {
  /** Pods evicted since we lead. */
  #evicted = 0;
  readonly #choices: Choices;
  readonly #policies: NonNullable<StatedStatus['policies']>;
  readonly #checked: Checked;
  readonly #stats: ProcessStats;
  readonly #seen: Seen;

  constructor(choices: Choices, checked: Checked, stats: ProcessStats, seen: Seen) {
    this.#choices = choices;
    this.#policies = publishedPolicies(choices.filePolicies);
    this.#checked = checked;
    this.#stats = stats;
    this.#seen = seen;
  }

  /** The way it is published; `identity`: the name of this replica. */
  options(identity: string): PublishOptions & { readonly ofPolicies: boolean } {
    const { settings } = this.#choices;
    return {
      name: taintManagerOf(settings, this.#checked.controllers.enabled),
      identity,
      // Only the program that follows a policy reports its effect.
      ofPolicies: settings.dryRun === 'none' && goesByPolicies(this.#checked.controllers.enabled),
      status: (now) => this.#at(now),
    };
  }

  observe(notice: Notice): void {
    if (notice.kind === 'elected' && notice.held) this.#evicted = 0;
    if (notice.kind === 'commandFinished' && notice.outcome.kind === 'done') this.#evicted += 1;
  }

  /** In a dry run nothing is evicted. */
  #evictions(): { readonly evicted?: number } {
    return this.#choices.settings.dryRun === 'none' ? { evicted: this.#evicted } : {};
  }

  #at(now: Instant): StatedStatus {
    const { controllers, pressure } = this.#checked;
    const { running, takeover, leadership } = this.#stats;
    const acts = leadership.standsBackFor === null;
    const { overlaps, shadow } = this.#seen;
    const report = shadow?.report();
    return {
      version,
      settings: settingsInForce(this.#choices, pressure !== null),
      policies: this.#policies,
      controllers: controllers.enabled,
      features: featuresOf(this.#choices, this.#checked, this.#stats),
      ...(running && this.#seenBy(running, now)),
      evictors: overlaps?.others ?? [],
      ...(report && { shadow: publishedShadow(report) }),
      ...(takeover && { takeover: publishedTakeover(takeover, running, acts) }),
      conditions: this.#conditions(),
    };
  }

  /** The conditions that are not as usual. */
  #conditions(): StatedStatus['conditions'] {
    const { standsBackFor } = this.#stats.leadership;
    const isOverlap = standsBackFor === null ? [] : [standsBack(standsBackFor)];
    const marks = this.#seen.overlaps?.conditions ?? [];
    const last = this.#stats.running?.lastReplica() ?? null;
    const all = [...isOverlap, ...(last ? [lastReplica(last)] : []), ...marks];
    return this.#choices.settings.dryRun === 'none' ? all : [dryRun, ...all];
  }

  #seenBy(running: RunningController, now: Instant): Partial<StatedStatus> {
    const { pods, ...counts } = running.counts();
    const knowsAllPods = running.podScope() === 'all';
    const limits = running.limits(now);
    const pauses = running.pauses();
    const tripped = limits.filter((limit) => limit.tripped);
    return {
      zones: running.zones(now).map(({ name, state, ready, notReady, rate, hold }) => {
        const since = hold?.code === 'FullDisruptionHeld' ? formatTime(hold.since) : null;
        const held = since !== null && { heldSince: since };
        return { name, ...(state && { state }), nodes: ready + notReady, notReady, rate, ...held };
      }),
      counts: { ...counts, ...(knowsAllPods && { pods }), ...this.#evictions() },
      trippedLimits: tripped.map(({ id, since }) => {
        return { name: id, ...(since !== null && { since: formatTime(since) }) };
      }),
      rates: limits.flatMap(({ id, oneAt }) => {
        return oneAt === undefined ? [] : [{ name: id, oneAt: formatTimeMillis(oneAt) }];
      }),
      pauses: pauses.flatMap(({ pause, isOver }) => (isOver ? [] : [pause.name])),
      pauseRecords: pauseRecords(pauses.map(({ pause }) => pause)),
    };
  }
}

/** kube-controller-manager's rules know of no drains, and a dry run does nothing for them. */
function featuresOf(
  { settings, ownPod }: Choices,
  { controllers }: Checked,
  { ownPodIsMissing }: Pick<ProcessStats, 'ownPodIsMissing'>,
): readonly string[] {
  if (settings.dryRun !== 'none') return [];
  const evicts = controllers.enabled.includes('taint-eviction-controller');
  const leavesPods = settings.semantics === 'precise' && evicts;
  const keepsLast = ownPod !== null && !ownPodIsMissing;
  return [...(leavesPods ? [drainMarksFeature] : []), ...(keepsLast ? [lastReplicaFeature] : [])];
}

const dryRun = {
  type: 'DryRun',
  status: 'True',
  reason: 'NothingIsChanged',
  message: 'no pod is evicted: what would be is only compared with what others do',
} as const;

/** `pod taintmgr-system/controller-a on node n1: the last ready replica of ...` */
function lastReplica({
  pod: { namespace, name, nodeName },
  because,
}: NonNullable<ReturnType<RunningController['lastReplica']>>): StatedStatus['conditions'][number] {
  const why = because.map(describeReason).join('; ');
  const message = `pod ${namespace}/${name} on node ${nodeName}: ${why}`;
  return { type: 'LastReplica', status: 'True', reason: 'NoOtherReplicaReady', message };
}

function standsBack(message: string): StatedStatus['conditions'][number] {
  return { type: 'StandingBack', status: 'True', reason: 'ControllersOverlap', message };
}

/** True where the status of policies and drains is written; node pressure follows no policies. */
function goesByPolicies(controllers: readonly ControllerName[]): boolean {
  return controllers.some((name) => {
    return (
      name === 'taint-eviction-controller' ||
      name === 'node-lifecycle-controller' ||
      name === 'node-drain-controller'
    );
  });
}

/**
 * The TaintManager of this process. A dry run has a separate one: the other is the heartbeat of a program
 * that evicts, and must not beat while no program evicts.
 */
function taintManagerOf(
  { resourceName, dryRun }: Settings,
  controllers: readonly ControllerName[],
): string {
  if (dryRun === 'none') return taintManagerName(resourceName, controllers);
  return `${withoutSuffix(resourceName)}-shadow`;
}

/** Tells whether the request writes the TaintManager of a dry run, and nothing else. */
export function isOwnStatus(settings: Settings, { method, path, body }: ApiRequest): boolean {
  const name = taintManagerOf(settings, []);
  const [resource] = path.split('?');
  if (method === 'PATCH') return resource === `${taintManagersPath}/${name}/status`;
  if (method !== 'POST' || resource !== taintManagersPath || body === null) return false;
  return JSON.parse(body).metadata?.name === name;
}

/**
 * The TaintManager of the installation that holds the lease of this name and runs these controllers. Two
 * installations may have leases of one name in two namespaces where they share no controller: the first
 * controller, in the order in which there are any, tells them apart.
 */
export function taintManagerName(lease: string, controllers: readonly ControllerName[]): string {
  const name = withoutSuffix(lease);
  const first = controllerNames.find((one) => controllers.includes(one));
  const isMain = first === undefined || first === 'taint-eviction-controller';
  return isMain ? name : `${name}-${withoutSuffix(first)}`;
}

function withoutSuffix(name: string): string {
  const suffix = '-controller';
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

type PublishedPolicy = NonNullable<TaintManagerStatus['policies']>[number];

/** The number of characters in all, and of one policy. */
const specLengthMax = 8192;
const allLengthMax = 32_768;

/**
 * Each with its spec, in the order of the files, as long as there is room; after that the names alone.
 * Of a pause also since when it holds, which its file need not say.
 */
export function publishedPolicies(policies: readonly FilePolicy[]): readonly PublishedPolicy[] {
  let room = allLengthMax;
  return policies.map(({ object: { kind, value }, manifest }): PublishedPolicy => {
    const text = specText(manifest);
    const fits = text.length <= Math.min(room, specLengthMax);
    if (fits) room -= text.length;
    return {
      kind,
      name: value.name,
      ...(fits && { spec: text }),
      ...(kind === 'EvictionPause' && { since: formatTimeMillis(value.since) }),
    };
  });
}

function specText(manifest: unknown): string {
  const spec = manifest instanceof Object && 'spec' in manifest ? manifest.spec : {};
  return JSON.stringify(spec ?? {});
}

type PublishedTakeover = NonNullable<StatedStatus['takeover']>;

/**
 * `enabled` makes the policies refuse requests, so it is published from the first heartbeat on: otherwise no
 * pod would be spared while the leader begins. The policies are disabled again where the leader cannot begin
 * because they are wrong, or where it stands by for another program (`acts` is false). No program would evict
 * the pods that they still refuse.
 */
function publishedTakeover(
  score: TakeoverScore,
  running: RunningController | null,
  acts: boolean,
): PublishedTakeover {
  const { counts, policies } = running?.takeover() ?? {};
  const { isInForce = false, wasInForce = false, drift = [], fault = null } = policies ?? {};
  const isBeginning = drift.length === 0 && fault === null;
  const byNamespace = namesOf(score, counts?.spared).map((name) => {
    const { spared = 0, held = 0 } = counts?.spared.get(name) ?? {};
    const { evicted = 0, letThrough = 0 } = score.went.get(name) ?? {};
    return { name, spared, held, evicted, letThrough };
  });
  const sum = (of: 'spared' | 'held' | 'evicted' | 'letThrough'): number =>
    byNamespace.reduce((total, one) => total + one[of], 0);
  return {
    enabled: acts && (isInForce || wasInForce || isBeginning),
    deviceTaints: acts && (running?.decidesForDevices() ?? false),
    ...(isInForce && { policyVersion: takeoverVersion }),
    drift: fault === null ? drift : [...drift, fault],
    namespaces: counts?.namespaces.length ?? 0,
    ...{ spared: sum('spared'), held: sum('held') },
    ...{ evicted: sum('evicted'), letThrough: sum('letThrough') },
    byNamespace,
    ...(counts?.readinessHold && { holdReadiness: counts.readinessHold }),
  };
}

function namesOf(
  { went }: TakeoverScore,
  spared: ReadonlyMap<string, unknown> = new Map(),
): readonly string[] {
  return [...new Set([...spared.keys(), ...went.keys()])].sort();
}
