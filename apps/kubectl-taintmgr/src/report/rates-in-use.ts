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

interface Wait {
  readonly since: Instant;
  readonly everyMs: number;
}

/** The rates for which pods wait, by the names of their limits. */
function waitsFor({ policies, waiting }: KnownRates): ReadonlyMap<string, Wait> {
  const waits = new Map<string, Wait>();
  for (const { name, limits } of policies) {
    for (const rule of limits) {
      if (rule.podsPerSecond === undefined || rule.nodes) continue;
      const everyMs = 1000 / rule.podsPerSecond;
      for (const { pod, node, dueAt } of waiting) {
        const id = `${scopeFor(rule, pod, node)} policy=${name}`;
        const since = Math.min(dueAt, waits.get(id)?.since ?? dueAt);
        waits.set(id, { since, everyMs });
      }
    }
  }
  return waits;
}

function scopeFor({ per }: LimitRule, pod: Pod, node: Node): string {
  return scopesOf(pod, node).find((scope) => scope === per || scope.startsWith(`${per}=`)) ?? per;
}

/** The first of the instants at even intervals that is not over. */
function nextAfter(now: Instant, at: Instant, everyMs: number): Instant {
  return at >= now ? at : at + Math.ceil((now - at) / everyMs) * everyMs;
}
