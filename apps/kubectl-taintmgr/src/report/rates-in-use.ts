// How far limits with a rate are used up: by what the leader publishes, and by who waits.
import type { Node, Pod } from '@taintmgr/core';
import type { EvictionPolicy, LimitRecord, LimitRule } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import type { RateInUse } from '../cluster/taint-managers.ts';
import { scopesOf } from './limit-scopes.ts';

/** A pod that is due and has not gone. */
export interface WaitingPod {
  readonly pod: Pod;
  readonly node: Node;
  readonly dueAt: Instant;
}

/** What is known of rates. */
export interface KnownRates {
  readonly now: Instant;
  readonly policies: readonly EvictionPolicy[];
  readonly published: readonly RateInUse[];
  readonly waiting: readonly WaitingPod[];
}

/**
 * The record with the rates in it. Where pods wait, a rate lets them go one by one, at even intervals
 * from the last instant that is known of it; where nothing was published, from when the first of them
 * was due.
 */
export function withRates(record: LimitRecord, known: KnownRates): LimitRecord {
  const waits = waitsFor(known);
  const published = new Map(known.published.map(({ id, oneAt }) => [id, oneAt] as const));
  const entries = [...new Set([...published.keys(), ...waits.keys()])].map((id) => {
    const wait = waits.get(id);
    const oneAt = published.get(id) ?? wait?.since ?? known.now;
    const key = Object.keys(record).find((one) => one.startsWith(`${id}@`)) ?? `${id}@rate`;
    const counted = record[key] ?? { evicted: [], of: null, tripped: null };
    return [key, { ...counted, oneAt: wait ? nextAfter(known.now, oneAt, wait.everyMs) : oneAt }];
  });
  return { ...record, ...Object.fromEntries(entries) };
}

/**
 * Whether a pod that is due, and that budgets refuse, has had its turn: it takes nobody's place when it
 * asks again. Of a namespace the one that was due first goes first, and so does who is refused.
 */
export function hadTurn(one: WaitingPod, known: KnownRates): boolean {
  const { now, policies, published, waiting } = known;
  const isNext = waiting.every((other) => {
    return other.pod.namespace !== one.pod.namespace || isBefore(one, other);
  });
  if (!isNext) return false;
  const waits = waitsFor(known);
  return ratesOf(policies, one).every(({ id }) => {
    const wait = waits.get(id);
    if (!wait) return true;
    const oneAt = published.find((rate) => rate.id === id)?.oneAt ?? wait.since;
    return one.dueAt < nextAfter(now, oneAt, wait.everyMs) - wait.everyMs;
  });
}

function isBefore(one: WaitingPod, other: WaitingPod): boolean {
  return one.dueAt === other.dueAt ? one.pod.uid < other.pod.uid : one.dueAt < other.dueAt;
}

interface Wait {
  readonly since: Instant;
  readonly everyMs: number;
}

/** The rates for which pods wait, by the names of their limits. */
function waitsFor({ policies, waiting }: KnownRates): ReadonlyMap<string, Wait> {
  const waits = new Map<string, Wait>();
  for (const one of waiting) {
    for (const { id, everyMs } of ratesOf(policies, one)) {
      const since = Math.min(one.dueAt, waits.get(id)?.since ?? one.dueAt);
      waits.set(id, { since, everyMs });
    }
  }
  return waits;
}

/** The limits with a rate that a pod may count in. */
function ratesOf(
  policies: readonly EvictionPolicy[],
  { pod, node }: WaitingPod,
): readonly { readonly id: string; readonly everyMs: number }[] {
  return policies.flatMap(({ name, limits }) => {
    return limits.flatMap((rule) => {
      if (rule.podsPerSecond === undefined || rule.nodes) return [];
      const id = `${scopeFor(rule, pod, node)} policy=${name}`;
      return [{ id, everyMs: 1000 / rule.podsPerSecond }];
    });
  });
}

function scopeFor({ per }: LimitRule, pod: Pod, node: Node): string {
  return scopesOf(pod, node).find((scope) => scope === per || scope.startsWith(`${per}=`)) ?? per;
}

/** The first of the instants at even intervals that is still to come: who acts was there at its own. */
function nextAfter(now: Instant, at: Instant, everyMs: number): Instant {
  return at > now ? at : at + (Math.floor((now - at) / everyMs) + 1) * everyMs;
}
