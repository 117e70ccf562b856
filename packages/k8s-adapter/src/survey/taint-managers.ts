// The statuses that leaders of taintmgr-controller publish, and the settings in the flags of one.

import { defaultConfig } from '@taintmgr/core/model';
import { type Instant, parseTime } from '@taintmgr/core/time';
import type { ApiClient } from '../client/client.ts';
import { type Installation, installationOf, isFresh } from '../evictors/judge.ts';
import { type ReadSettings, readSettings } from '../evictors/settings.ts';
import { policyApiVersion } from '../kinds/kinds.ts';
import { type PolicyObject, readManifest } from '../kinds/manifest.ts';
import type { PublishedShadow, TaintManagerStatus } from '../kinds/taint-manager.ts';
import { type PauseRecord, recordsIn } from '../manifests/pause-records.ts';
import { listRequest } from '../proto/requests.ts';
import { ApiError } from '../transport/errors.ts';

/** A policy of the controller's --policy files. */
interface PublishedPolicy {
  readonly kind: string;
  readonly name: string;
  /** Null: there was no room for it, or it cannot be read. */
  readonly object: PolicyObject | null;
}

/** A limit with a rate that is in use. */
export interface RateInUse {
  /** As limits are called. */
  readonly id: string;
  /** When it lets one pod go, or could have. */
  readonly oneAt: Instant;
}

/** A zone whose pods stay, as it is down as a whole. */
export interface HeldZone {
  /** As region/zone. */
  readonly name: string;
  readonly since: Instant;
}

/** The status of one installation. */
export interface TaintManager extends Installation {
  /** The version of the program. */
  readonly version: string;
  /** By the names of their flags, or of fields of the configuration file. */
  readonly settings: Readonly<Record<string, string>>;
  /** The policies of its files, which the cluster does not have. */
  readonly policies: readonly PublishedPolicy[];
  /** The features that other programs may count on. */
  readonly features: readonly string[];
  /** The limits that have tripped, as `resume` takes them; left out: none. */
  readonly trippedLimits?: readonly string[];
  /** Limits with a rate that is in use, and when each lets one pod go, or could have; left out: none. */
  readonly rates?: readonly RateInUse[];
  /** The zones whose pods stay as they are down as a whole, and since when; left out: none. */
  readonly heldZones?: readonly HeldZone[];
  /**
   * The pauses that it has seen: a new leader gives back the time of those that are gone; left out:
   * none.
   */
  readonly pauseRecords?: readonly PauseRecord[];
  /** The score of other evictors, in a dry run; null: it keeps no score. */
  readonly shadow: PublishedShadow | null;
  /** The conditions of something that is not as it should be, as it says. */
  readonly troubles: readonly string[];
  /** Its status of takeover; left out: none. */
  readonly takeover?: NonNullable<TaintManagerStatus['takeover']> | undefined;
}

export const taintManagersPath = '/apis/taintmgr.dev/v1alpha1/taintmanagers';

/** The controller that evicts for taints, among the controllers that run. */
export const taintController = 'taint-eviction-controller';

/** The controller that evicts from nodes under pressure. */
export const pressureController = 'node-pressure-controller';

/** The statuses that leaders publish. */
export interface PublishedManagers {
  readonly managers: readonly TaintManager[];
  /** The API server's time: heartbeats are dated by it, and our clock may be wrong. */
  readonly now: Instant;
}

/**
 * Reads the statuses of all installations; empty where the kind is not served. Throws ApiError and
 * ConnectionError.
 */
export async function readTaintManagers(client: ApiClient): Promise<PublishedManagers> {
  try {
    const { value, serverTime } = await client.ask(listRequest(taintManagersPath));
    return { managers: taintManagersIn(itemsIn(value)), now: serverTime ?? Date.now() };
  } catch (error) {
    if (!(error instanceof ApiError) || error.failure.status !== 404) throw error;
    return { managers: [], now: Date.now() };
  }
}

function itemsIn(list: unknown): readonly unknown[] {
  const items = typeof list === 'object' && list !== null && 'items' in list ? list.items : null;
  return Array.isArray(items) ? items : [];
}

/** Reads the published statuses; objects without a status say nothing. */
export function taintManagersIn(objects: readonly unknown[]): readonly TaintManager[] {
  return objects.flatMap((object) => {
    const read = readManifest(object, 0);
    if (read.kind === 'refused' || read.value.kind !== 'TaintManager') return [];
    const { name, status } = read.value.value;
    if (status === null) return [];
    const { version = '', settings = {}, conditions = [], policies = [] } = status;
    const { takeover, shadow = null } = status;
    const { features = [], rates = [], zones = [], trippedLimits = [] } = status;
    return [
      {
        ...installationOf(name, status),
        ...{ version, settings, features, takeover, shadow },
        policies: policies.map(publishedPolicy),
        trippedLimits: trippedLimits.map((limit) => limit.name),
        rates: rates.flatMap(({ name: id, oneAt }) => {
          const at = parseTime(oneAt);
          return at === null ? [] : [{ id, oneAt: at }];
        }),
        heldZones: zones.flatMap(({ name: zone, heldSince }) => {
          const since = heldSince === undefined ? null : parseTime(heldSince);
          return since === null ? [] : [{ name: zone, since }];
        }),
        pauseRecords: recordsIn(object),
        troubles: conditions
          .filter(({ type, status: is }) => type !== 'Leading' && is === 'True')
          .map(({ type, message }) => `${type}: ${message}`),
      },
    ];
  });
}

type Published = NonNullable<TaintManagerStatus['policies']>[number];

function publishedPolicy({ kind, name, spec, since }: Published): PublishedPolicy {
  const metadata = { name, ...(since !== undefined && { creationTimestamp: since }) };
  const manifest = { apiVersion: policyApiVersion, kind, metadata, spec: specIn(spec) };
  const judged = readManifest(manifest, 0);
  return { kind, name, object: judged.kind === 'allowed' ? judged.value : null };
}

/** Text that is no JSON is no spec. */
function specIn(text: string | undefined): unknown {
  try {
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The last evictor, where none evicts any more: a new leader uses its record; null: there was none.
 */
export function lastOf(managers: readonly TaintManager[], now: Instant): TaintManager | null {
  const evicting = managers.filter(({ shadow, controllers }) => {
    return shadow === null && controllers.includes(taintController);
  });
  if (evicting.some((manager) => isFresh(manager, now))) return null;
  const [last] = [...evicting].sort((a, b) => (b.renewedAt ?? 0) - (a.renewedAt ?? 0));
  return last ?? null;
}

/** True if an installation evicts from nodes under pressure, by its own status. */
export function evictsUnderPressure(manager: TaintManager, now: Instant): boolean {
  const { controllers, shadow } = manager;
  return shadow === null && controllers.includes(pressureController) && isFresh(manager, now);
}

/** The settings of taintmgr-controller, as far as they are known. */
export interface OwnSettings extends ReadSettings {
  /** The mode for pods without a policy; null: not visible. */
  readonly mode: ReadSettings['engine']['mode'] | null;
  /** The policies of its --policy files; null: it has some, and they are unknown. */
  readonly policies: readonly PublishedPolicy[] | null;
  /** True when it watches nodes and taints those that fail. */
  readonly watchesNodes: boolean;
  /** True when it acts beside other programs that do the same work. */
  readonly allowsOverlap: boolean;
}

const lifecycle = 'node-lifecycle-controller';

/** The settings that its leader publishes; null: none. */
export function publishedSettings({
  settings,
  controllers,
  policies,
}: TaintManager): OwnSettings | null {
  const read = readSettings(settings);
  const { mode } = read.engine;
  if (!mode) return null;
  const watchesNodes = controllers.includes(lifecycle);
  return { ...read, mode, policies, watchesNodes, allowsOverlap: isOverlapAllowed(settings) };
}

interface ControllerPod {
  readonly spec?: {
    readonly serviceAccountName?: string;
    readonly containers?: readonly {
      readonly command?: readonly string[];
      readonly args?: readonly string[];
    }[];
  };
}

function specOf(pod: unknown): ControllerPod['spec'] {
  return ((pod ?? {}) as ControllerPod).spec;
}

/** The name of the service account of its pod; null: the pod is not to be seen. */
export function accountOf(pod: unknown): string | null {
  return specOf(pod)?.serviceAccountName ?? null;
}

/** The settings in the flags of its pod; null: the pod is not visible. A file may say more. */
export function settingsInFlags(pod: unknown): OwnSettings | null {
  const spec = specOf(pod);
  if (!spec) return null;
  const words = (spec.containers ?? []).flatMap(({ command = [], args = [] }) => {
    return [...command, ...args];
  });
  const flags = flagsIn(words);
  // The controller runs, so it could use them; settings that are unknown here have nothing to do
  // with evictions.
  const read = { ...readSettings(flags), unusable: [] };
  const byDefault = flags.config === undefined ? defaultConfig.mode : null;
  const controllers = (flags.controllers ?? '*').split(',');
  const watchesNodes =
    controllers.includes(lifecycle) ||
    (controllers.includes('*') && !controllers.includes(`-${lifecycle}`));
  const policies = flags.policy === undefined ? [] : null;
  const mode = read.engine.mode ?? byDefault;
  return { ...read, mode, policies, watchesNodes, allowsOverlap: isOverlapAllowed(flags) };
}

function isOverlapAllowed(settings: Readonly<Record<string, string>>): boolean {
  return settings['allow-overlap'] === 'true';
}

/** The flags among the words of a command line, by their names; of one given twice the last. */
function flagsIn(words: readonly string[]): Readonly<Record<string, string>> {
  const entries = words.flatMap((word, index): (readonly [string, string])[] => {
    const [, name, value] = /^--([a-z0-9-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) return [];
    const next = words[index + 1] ?? '';
    return [[name, value ?? (next === '' || next.startsWith('-') ? 'true' : next)]];
  });
  return Object.fromEntries(entries);
}
