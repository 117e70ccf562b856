import { TokenBucket } from '../limiter.ts';
import type { Pod, Taint } from '../model.ts';
import type { Instant } from '../time.ts';

/** What a limit counts by. */
export type LimitScope = 'total' | 'zone' | 'namespace' | 'node' | 'taint';

/** A limit on evictions. Each zone, namespace, node or taint key has a count of its own. */
export interface LimitRule {
  readonly per: LimitScope;
  /** Only for the zone, namespace, node or taint key of this name. Left out: for each. */
  readonly name?: string;
  /** At most so many evictions begin in a second, on average. */
  readonly podsPerSecond?: number;
  /** So many may begin at once after a pause; 1 or `podsPerSecond`, whichever is more. */
  readonly burst?: number;
  /** At most this share of the pods may be on their way out at one time; one always may. */
  readonly percent?: number;
  /** At the limit: wait for room, or stop until told to go on. */
  readonly onLimit: 'queue' | 'trip';
}

/** What is to be evicted, as limits see it. */
export interface Candidate {
  readonly pod: Pod;
  readonly zone: string;
  readonly taint: Taint | null;
}

/** What the governor counts pods with. */
export interface Census {
  /** Pods bound to nodes, in the whole or in one zone, namespace, node or under one taint key. */
  count(per: LimitScope, name: string): number;
}

/** Which limit says no. `name` is '' for the total. */
export interface LimitHit {
  readonly per: LimitScope;
  readonly name: string;
  readonly limit: 'podsPerSecond' | 'percent';
  /** It stays shut until evictions are resumed. */
  readonly tripped: boolean;
}

export type Admission =
  | { readonly kind: 'go' }
  /** `until`: when a token comes; null: when a pod has left, or evictions are resumed. */
  | { readonly kind: 'wait'; readonly until: Instant | null; readonly hit: LimitHit };

interface Gate {
  readonly rule: LimitRule;
  readonly name: string;
  readonly bucket: TokenBucket | null;
  readonly leaving: Set<string>;
  tripped: LimitHit | null;
}

/**
 * Lets evictions begin at the rate and in the number that the limits allow. Every rule that applies
 * has to agree; only then is anything counted.
 */
export class Governor {
  readonly #rules: readonly LimitRule[];
  readonly #census: Census;
  readonly #gates = new Map<string, Gate>();

  constructor(rules: readonly LimitRule[], census: Census) {
    this.#rules = rules;
    this.#census = census;
  }

  /** Asks for one eviction, and counts it if it may begin. */
  admit(now: Instant, candidate: Candidate): Admission {
    const gates = this.#gatesFor(candidate);
    for (const gate of gates) {
      const refusal = this.#refusal(now, gate, candidate.pod.uid);
      if (!refusal) continue;
      if (gate.rule.onLimit === 'trip') gate.tripped = { ...refusal.hit, tripped: true };
      return gate.tripped ? { kind: 'wait', until: null, hit: gate.tripped } : refusal;
    }
    for (const gate of gates) {
      if (!gate.leaving.has(candidate.pod.uid)) gate.bucket?.take(now);
      gate.leaving.add(candidate.pod.uid);
    }
    return { kind: 'go' };
  }

  /** The pod has left, or stays after all; whether that may have made room. */
  release(uid: string): boolean {
    let released = false;
    for (const gate of this.#gates.values()) released = gate.leaving.delete(uid) || released;
    return released;
  }

  /** Opens what tripped. */
  resume(): void {
    for (const gate of this.#gates.values()) gate.tripped = null;
  }

  /** What is shut until evictions are resumed. */
  tripped(): readonly LimitHit[] {
    return [...this.#gates.values()].flatMap(({ tripped }) => tripped ?? []);
  }

  /** An eviction that was admitted once is not counted again when it is tried again. */
  #refusal(
    now: Instant,
    { rule, name, bucket, leaving, tripped }: Gate,
    uid: string,
  ): Extract<Admission, { kind: 'wait' }> | null {
    if (leaving.has(uid)) return null;
    if (tripped) return { kind: 'wait', until: null, hit: tripped };
    const { per, percent } = rule;
    if (percent !== undefined && leaving.size > 0) {
      const most = Math.max(1, Math.floor((this.#census.count(per, name) * percent) / 100));
      const hit = { per, name, limit: 'percent', tripped: false } as const;
      if (leaving.size >= most) return { kind: 'wait', until: null, hit };
    }
    const readyAt = bucket?.readyAt(now) ?? now;
    const hit = { per, name, limit: 'podsPerSecond', tripped: false } as const;
    return readyAt > now ? { kind: 'wait', until: readyAt, hit } : null;
  }

  #gatesFor(candidate: Candidate): readonly Gate[] {
    return this.#rules.flatMap((rule, index) => {
      const name = nameIn(rule.per, candidate);
      if (name === null || (rule.name !== undefined && rule.name !== name)) return [];
      const key = `${index}/${name}`;
      const gate = this.#gates.get(key) ?? newGate(rule, name);
      this.#gates.set(key, gate);
      return [gate];
    });
  }
}

function newGate(rule: LimitRule, name: string): Gate {
  const { podsPerSecond } = rule;
  const burst = rule.burst ?? Math.max(1, Math.floor(podsPerSecond ?? 1));
  const bucket = podsPerSecond === undefined ? null : new TokenBucket(podsPerSecond, burst);
  return { rule, name, bucket, leaving: new Set(), tripped: null };
}

function nameIn(per: LimitScope, { pod, zone, taint }: Candidate): string | null {
  switch (per) {
    case 'total':
      return '';
    case 'zone':
      return zone;
    case 'namespace':
      return pod.namespace;
    case 'node':
      return pod.nodeName;
    case 'taint':
      return taint?.key ?? null;
  }
}
