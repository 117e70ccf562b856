// Who evicts for NoExecute taints here, as commands ask it.
import type { Config } from '@taintmgr/core/model';
import { type Instant, parseTime } from '@taintmgr/core/time';
import { type Actor, actorOf } from '../evictors/actor.ts';
import { type DutyVerdict, type Evictors, isFresh, withEvidence } from '../evictors/judge.ts';
import { type TaintEvictors, taintEvictors } from '../evictors/verdict-words.ts';
import { drainMarksFeature, lastReplicaFeature } from '../kinds/taint-manager.ts';
import type { PodFacts } from './facts.ts';
import type { ServiceAccount } from './rights.ts';
import {
  accountOf,
  type HeldZone,
  lastOf,
  type OwnSettings,
  publishedSettings,
  type RateInUse,
  settingsInFlags,
  type TaintManager,
  taintController,
} from './taint-managers.ts';

/** Who acts on NoExecute taints here, and how. */
export interface Evictor extends Actor {
  /** True when taintmgr-controller asks budgets; null: not visible. */
  readonly asksBudgets: boolean | null;
  /**
   * True when taintmgr-controller leaves the pods of a drain's taint to the drain; left out: false.
   */
  readonly heedsDrains?: boolean;
  /**
   * True when it evicts where namespaces are taken over, and kube-controller-manager elsewhere;
   * left out: false.
   */
  readonly takesOver?: true;
  /** Limits whose rates are in use, as its leader publishes them; left out: not known. */
  readonly rates?: readonly RateInUse[];
  /** The zones that it holds, as its leader publishes them; left out: none, or not known. */
  readonly heldZones?: readonly HeldZone[];
  /** The settings of taintmgr-controller, where it acts; left out: unknown. */
  readonly settings?: OwnSettings;
  /** comparesNumbers is an assumption, from what the API server stores; left out: it is not. */
  readonly assumesNumbers?: true;
  /**
   * The answer assumes that Lt and Gt count for taintmgr-controller; left out: the present settings
   * apply.
   */
  readonly asIfNumbersCount?: true;
  /** The pod of its leader, where that keeps its last ready replica; left out: it does not. */
  readonly ownPod?: NonNullable<Config['ownPod']>;
  /**
   * The record of the last leader of taintmgr-controller, where it does not act; left out: none.
   */
  readonly left?: Pick<TaintManager, 'pauseRecords' | 'policies'>;
}

interface Reader {
  taintManagers(): Promise<readonly TaintManager[]>;
  podObject(namespace: string, name: string): Promise<unknown>;
}

/** Events of the last hour are there, or less. */
interface EventObject {
  readonly reason?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly involvedObject?: { readonly uid?: string; readonly name?: string };
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** The reason of the Events in which kube-controller-manager says that it evicts. */
export const upstreamEvictionReason = 'TaintManagerEviction';

/**
 * The same with Events by which kube-controller-manager says that it has evicted: a hint where nothing
 * proves what it does, and where only its administrator says it.
 */
export function withEvents(evictors: Evictors, events: readonly unknown[], now: Instant): Evictors {
  const by = (events as readonly EventObject[]).filter(({ reason, source, reportingComponent }) => {
    const component = source?.component ?? reportingComponent;
    return reason === upstreamEvictionReason && component === taintController;
  });
  const times = by.flatMap(({ lastTimestamp, eventTime }) => {
    return parseTime(lastTimestamp ?? eventTime ?? '') ?? [];
  });
  if (times.length === 0) return evictors;
  const pods = new Set(by.map(({ involvedObject }) => involvedObject?.uid ?? involvedObject?.name));
  const age = Math.max(0, now - Math.max(...times));
  return withEvidence(evictors, [{ kind: 'events', pods: pods.size, age }]);
}

/** True when neither its flags nor any observed action shows its behavior. */
export function isUnseen(evictors: Evictors): boolean {
  const { kind, evidence } = upstreamVerdict(evictors);
  return kind === 'unknown' || evidence.some((one) => one.kind === 'declared');
}

/**
 * Reads what `evictors` leave open: how our controller evicts, where it does. The leader's
 * published settings count before the flags of its pod, which may have others from a file or its
 * environment.
 */
export async function readEvictor(
  evictors: Evictors,
  reader: Reader,
  now: Instant = Date.now(),
): Promise<Evictor> {
  const actor = actorOf(evictors);
  if (evictors.taintmgr.kind !== 'acts') {
    const last = lastOf(await reader.taintManagers(), now);
    const asksBudgets = actor.name === 'nobody' ? false : null;
    return { ...actor, asksBudgets, ...(last && { left: last }) };
  }
  const leader = leaderIn(evictors.taintmgr);
  if (!leader) return { ...actor, asksBudgets: null };
  const { holder } = leader;
  const managers = await reader.taintManagers();
  const published = managers.find((one) => one.leader === holder && isFresh(one, now));
  const settings =
    (published && publishedSettings(published)) ?? settingsInFlags(await leaderPod(reader, leader));
  if (!settings) return { ...actor, asksBudgets: null };
  const since = published?.startedAt ?? leader.since;
  const heedsDrains = published?.features.includes(drainMarksFeature) === true;
  const keepsLast = published?.features.includes(lastReplicaFeature) === true;
  const { namespace } = leader;
  const ownPod = keepsLast && namespace !== null ? { namespace, name: podOf(holder) } : null;
  const isBeside = settings.engine.takeover && upstreamVerdict(evictors).kind !== 'doesNotAct';
  const evictor = withSettings(actor, settings, since);
  return {
    ...(isBeside ? takingOver(evictor, evictors) : evictor),
    ...(heedsDrains && { heedsDrains }),
    ...(ownPod && { ownPod }),
    ...(published?.rates && { rates: published.rates }),
    ...(published?.heldZones && { heldZones: published.heldZones }),
  };
}

/** Who leads taintmgr-controller. */
interface Leader {
  readonly holder: string;
  /** Where its lease is; null: it holds none. */
  readonly namespace: string | null;
  readonly since: Instant | null;
}

function leaderIn({ evidence }: DutyVerdict): Leader | null {
  for (const one of evidence) {
    if (one.kind === 'lease') {
      const { holder, namespace, acquiredAt } = one.lease;
      return { holder, namespace, since: acquiredAt };
    }
    if (one.kind === 'published') {
      return { holder: one.leader, namespace: null, since: one.startedAt };
    }
  }
  return null;
}

/** The user name of the leader of taintmgr-controller, by its pod; null: unknown. */
export async function leaderAccount(
  { taintmgr }: Evictors,
  reader: Pick<Reader, 'podObject'>,
): Promise<ServiceAccount | null> {
  const leader = taintmgr.kind === 'acts' ? leaderIn(taintmgr) : null;
  if (leader === null || leader.namespace === null) return null;
  const name = accountOf(await leaderPod(reader, leader));
  return name === null ? null : { namespace: leader.namespace, name };
}

/** A holder is called after its pod. */
async function leaderPod(
  reader: Pick<Reader, 'podObject'>,
  { holder, namespace }: Leader,
): Promise<unknown> {
  return namespace === null ? null : reader.podObject(namespace, podOf(holder));
}

function podOf(holder: string): string {
  return holder.replace(/_[^_]*$/, '');
}

/**
 * By kube-controller-manager's rules it keeps its timers in memory as kube-controller-manager does.
 */
function withSettings(actor: Actor, settings: OwnSettings, since: Instant | null): Evictor {
  const { mode, engine } = settings;
  if (engine.semantics !== 'upstream-1.36') {
    return { ...actor, settings, asksBudgets: mode === null ? null : mode !== 'delete' };
  }
  const upstreamSince = actor.name === 'both' ? actor.upstreamSince : since;
  const rules = 'kube-controller-manager';
  return { ...actor, settings, rules, upstreamSince, asksBudgets: false };
}

/** With --takeover each decides about its own pods. */
function takingOver(evictor: Evictor, evictors: Evictors): Evictor {
  const taintmgr = { ...evictors.taintmgr, kind: 'doesNotAct' } as const;
  const { upstreamSince } = actorOf({ ...evictors, taintmgr });
  const name = 'taintmgr-controller';
  return { ...evictor, name, rules: name, takesOver: true, upstreamSince };
}

/**
 * True when tolerations with Lt and Gt count for taintmgr-controller, or for
 * kube-controller-manager where taintmgr-controller does not act. By default they do not for ours:
 * where its settings are not to be seen they do not count.
 */
export function comparesNumbers({
  name,
  settings,
  comparesNumbers,
  asIfNumbersCount,
}: Evictor): boolean {
  if (asIfNumbersCount) return true;
  if (settings) return settings.engine.comparisonOperators === true;
  return name !== 'taintmgr-controller' && comparesNumbers === true;
}

/**
 * Where the flags of kube-controller-manager are not to be seen: whether Lt and Gt count for it, by the
 * tolerations of stored pods. An API server refuses such tolerations while its feature gate is off.
 */
export function assumingNumbers(evictor: Evictor, pods: readonly PodFacts[]): Evictor {
  if (evictor.comparesNumbers !== undefined) return evictor;
  const isStored = pods.some(({ pod }) =>
    pod.tolerations.some(({ operator }) => operator === 'Lt' || operator === 'Gt'),
  );
  return isStored ? { ...evictor, comparesNumbers: true, assumesNumbers: true } : evictor;
}

/** The evictor here if Lt and Gt count otherwise than assumed; null: it is known if they count. */
export function withOtherNumbers(evictor: Evictor): Evictor | null {
  const { settings, name, assumesNumbers, asIfNumbersCount, ...known } = evictor;
  if (settings || asIfNumbersCount) return null;
  if (name === 'taintmgr-controller') return { ...evictor, asIfNumbersCount: true };
  return assumesNumbers ? { ...known, name, comparesNumbers: false } : null;
}

/** The verdict on taint eviction by kube-controller-manager, with its evidence. */
export function upstreamVerdict({ upstream }: Evictors): DutyVerdict {
  return upstream['taint-eviction-controller'];
}

/**
 * The programs that evict, or may, beside a taintmgr-controller that acts nevertheless: it is
 * allowed to, or leaves the pods of namespaces that are not taken over to others. Null: none as far
 * as can be seen, and it would stand by beside them.
 */
export function evictsBeside(
  evictors: Evictors,
  { takesOver, settings }: Evictor,
): Exclude<TaintEvictors, { kind: 'nobody' }> | null {
  if (!takesOver && !settings?.allowsOverlap) return null;
  const taintmgr = { kind: 'doesNotAct', evidence: [] } as const;
  const answer = taintEvictors({ ...evictors, taintmgr });
  return answer.kind === 'nobody' ? null : answer;
}

/** True when only taintmgr-controller evicts. */
export function isOursAlone(evictors: Evictors): boolean {
  const answer = taintEvictors(evictors);
  return answer.kind === 'acts' && answer.agent === 'taintmgr-controller';
}
