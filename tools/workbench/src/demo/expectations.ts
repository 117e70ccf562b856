import type { KubeObject } from '@taintmgr/sim-cluster';

/** What becomes of a pod whose node was tainted or became unreachable. */
export type Fate =
  /** `after` seconds, counted from the taint; with a budget, when that allows. */
  | { readonly kind: 'evicted'; readonly after: number; readonly budget?: true }
  /** An eviction was pending and was called off. */
  | { readonly kind: 'calledOff' }
  | { readonly kind: 'kept' };

interface Entry {
  readonly name: string;
  readonly nodeName: string;
  readonly expected: Fate;
  /** Instant of the taint. */
  readonly since: number;
}

export interface Result {
  readonly ok: boolean;
  readonly name: string;
  readonly nodeName: string;
  readonly expected: string;
  readonly happened: string;
}

/** How late an eviction may be on a busy machine, and where a budget has to be waited for. */
const lateMsMax = 3000;
const lateWithBudgetMsMax = 15_000;

/**
 * Compares what has to happen with what happened. The expectation is recorded when a node is tainted,
 * by a rule for each workload; what happened is read from the API server's own history: which pods
 * began to terminate, and which Events there are.
 */
export class Expectations {
  readonly #entries = new Map<string, Entry>();
  readonly #evictedAt = new Map<string, number>();
  readonly #calledOff = new Set<string>();

  /** Writes down the fate of a pod; a later fate replaces an earlier one. */
  expect(pod: KubeObject, expected: Fate, since: number): void {
    const { uid = '', namespace, name } = pod.metadata;
    const nodeName: string = pod.spec.nodeName;
    this.#entries.set(uid, { name: `${namespace}/${name}`, nodeName, expected, since });
  }

  /** Takes what the API server stored. */
  observe(resource: string, object: KubeObject, now: number): void {
    const { uid = '', deletionTimestamp } = object.metadata;
    if (resource === 'pods' && deletionTimestamp && !this.#evictedAt.has(uid)) {
      this.#evictedAt.set(uid, now);
    }
    const isCancel = String(object.message).startsWith('Cancelling deletion of Pod');
    if (resource === 'events' && isCancel) this.#calledOff.add(object.involvedObject.uid);
  }

  /** Whether every eviction and every call-off that is expected has been seen. */
  get isComplete(): boolean {
    return [...this.#entries].every(([uid, { expected }]) => {
      if (expected.kind === 'evicted') return this.#evictedAt.has(uid);
      return expected.kind === 'kept' || this.#calledOff.has(uid);
    });
  }

  /** One result for each pod, in the order of the expectations. */
  results(): readonly Result[] {
    return Array.from(this.#entries, ([uid, entry]) => this.#judge(uid, entry));
  }

  #judge(uid: string, { name, nodeName, expected, since }: Entry): Result {
    const evictedAt = this.#evictedAt.get(uid);
    const wait = evictedAt === undefined ? null : evictedAt - since;
    const happened = wait === null ? (this.#calledOff.has(uid) ? 'called off' : 'kept') : 'evicted';
    const ok = happened === kindText[expected.kind] && isInTime(expected, wait);
    return {
      ok,
      name,
      nodeName,
      expected: expectedText(expected),
      happened: wait === null ? happened : afterText(wait / 1000),
    };
  }
}

const kindText = { evicted: 'evicted', calledOff: 'called off', kept: 'kept' } as const;

function isInTime(expected: Fate, wait: number | null): boolean {
  if (expected.kind !== 'evicted' || wait === null) return true;
  const lateMs = wait - expected.after * 1000;
  return lateMs >= 0 && lateMs <= (expected.budget ? lateWithBudgetMsMax : lateMsMax);
}

function expectedText(expected: Fate): string {
  if (expected.kind !== 'evicted') return kindText[expected.kind];
  return expected.budget ? 'evicted when its budget allows' : afterText(expected.after);
}

function afterText(seconds: number): string {
  return seconds < 0.1 ? 'evicted at once' : `evicted after ${Number(seconds.toFixed(1))} s`;
}
