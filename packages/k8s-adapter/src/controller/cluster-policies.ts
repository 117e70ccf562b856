// Policies, taint rules and pauses of the cluster, as sources of the loop.
import type { Event } from '@taintmgr/core';
import {
  type EvictionPause,
  type PolicyObject,
  policyKinds,
  readManifest,
} from '@taintmgr/core/policy';
import { policyEvent } from '../manifests/events.ts';
import { apartFromPods, type Source } from '../pod-watch/source.ts';
import { identityOf } from '../proto/convert.ts';
import { policiesPath } from '../proto/list-requests.ts';
import { Reflector, type ReflectorEffect, type ReflectorOptions } from '../proto/reflector.ts';

/** The kinds that say what is to be done. */
const kinds = ['EvictionPolicy', 'NodeTaintRule', 'EvictionPause'] as const;
type Kind = (typeof kinds)[number];

/** An object of the cluster; `object` is null where it cannot be read, or must not be. */
interface Found {
  readonly name: string;
  readonly object: PolicyObject | null;
  readonly faults: readonly string[];
}

type Shared = Pick<ReflectorOptions<unknown>, 'random' | 'watch'>;

export interface ClusterPolicyOptions extends Shared {
  /** Those of files: an object of the cluster with the same name does not count. */
  readonly files: readonly PolicyObject[];
  /** Why an object that is right cannot be followed by this process; null: it can. */
  readonly unable: (object: PolicyObject) => string | null;
}

/**
 * A source for each kind. A cluster that does not serve a kind has none of it. An EvictionPolicy or
 * an EvictionPause that cannot be read may be what keeps pods: all evictions are held while it is
 * there, by a pause that carries its name. A NodeTaintRule that cannot be read stays as it was.
 */
export function clusterPolicies(options: ClusterPolicyOptions): readonly Source[] {
  return kinds.map((kind) => apartFromPods(sourceOf(kind, options)));
}

function sourceOf(kind: Kind, { files, unable, ...shared }: ClusterPolicyOptions): Source {
  const resource = policyKinds[kind].plural;
  const inFiles = new Set(files.flatMap((one) => (one.kind === kind ? [one.value.name] : [])));
  const reflector = new Reflector<Found>({
    ...shared,
    resource,
    path: policiesPath(resource),
    selectors: {},
    mayBeAbsent: true,
    project: (value) => {
      const found = read(kind, value, unable);
      return inFiles.has(found.name) ? null : found;
    },
  });
  /** Those that hold evictions because they cannot be read. */
  const holding = new Set<string>();
  return {
    handle: (now, input) =>
      reflector.handle(now, input).flatMap((effect) => eventsOf(kind, effect, holding)),
    nextWake: () => reflector.nextWake(),
    status: () => [{ resource, state: reflector.state, heardAt: reflector.aliveAt }],
    isCutOff: () => reflector.heardAt !== null && !reflector.hears,
    heardAt: () => reflector.heardAt,
  };
}

function read(kind: Kind, value: unknown, unable: ClusterPolicyOptions['unable']): Found {
  const name = identityOf(value)?.name ?? '';
  // Items of a list come without them from some servers.
  const manifest = { apiVersion: 'taintmgr.dev/v1alpha1', kind, ...Object(value) };
  const judged = readManifest(manifest, 0);
  if (judged.kind === 'refused') {
    return { name, object: null, faults: judged.faults.map(({ text }) => text) };
  }
  const why = unable(judged.value);
  return { name, object: why === null ? judged.value : null, faults: why === null ? [] : [why] };
}

type Effect = ReturnType<Source['handle']>[number];

function eventsOf(
  kind: Kind,
  effect: ReflectorEffect<Found>,
  holding: Set<string>,
): readonly Effect[] {
  if (effect.kind !== 'upsert' && effect.kind !== 'delete') return [effect];
  const name = effect.kind === 'upsert' ? effect.item.name : effect.name;
  const released: Effect[] = holding.delete(name)
    ? [{ kind: 'pauseDelete', name: pauseName(kind, name) }]
    : [];
  if (effect.kind === 'delete') return [goneEvent(kind, name), ...released];
  const { object, faults } = effect.item;
  if (object) {
    const event = policyEvent(object);
    return event ? [event, ...released] : released;
  }
  const isHeld = kind !== 'NodeTaintRule';
  const notice = { kind: 'unreadable', object: `${kind} "${name}"`, faults, isHeld } as const;
  const report: Effect = { kind: 'notice', notice };
  if (!isHeld) return [report];
  holding.add(name);
  return [{ kind: 'pauseUpsert', pause: pauseWhileUnreadable(kind, name, faults) }, report];
}

/** No object of the cluster has such a name. */
function pauseName(kind: Kind, name: string): string {
  return `${kind}/${name}`;
}

/** What holds all evictions while an object cannot be followed: it may be what keeps pods. */
export function pauseWhileUnreadable(
  kind: Kind,
  name: string,
  faults: readonly string[],
): EvictionPause {
  return {
    name: pauseName(kind, name),
    uid: '',
    scope: { zones: [], nodes: null, taintKeys: [], namespaces: [] },
    readiness: false,
    deadlines: true,
    reason: `${kind} "${name}" cannot be followed: ${faults.join('; ')}`,
    until: null,
    since: 0,
  };
}

function goneEvent(kind: Kind, name: string): Event {
  switch (kind) {
    case 'EvictionPolicy':
      return { kind: 'policyDelete', name };
    case 'NodeTaintRule':
      return { kind: 'taintRuleDelete', name };
    case 'EvictionPause':
      return { kind: 'pauseDelete', name };
  }
}
