import type { KubeObject } from '@taintmgr/sim-cluster';
import { selectedBy } from './evictions.ts';
import { Checker, type Evidence } from './evidence.ts';
import { readinessOf } from './lifecycle/node-rule.ts';
import { zoneOf } from './lifecycle/zones.ts';
import type { State } from './object-history.ts';
import { isHandedOver } from './objects.ts';
import { endOfSecond, type NoExecuteTaint, noExecuteTaints, toleratedMs } from './taint-rule.ts';
import { isSurelyLate, keptStarts, latestBinding, taintsWrittenAt } from './taint-starts.ts';
import { clockTime, policyFor } from './terms.ts';

/**
 * The checker of overdue pods: past its deadline every pod terminates within a bound once nothing
 * is wrong any more. A taint that names no time may be taken to begin as late as the client first
 * had the chance to see it in peace; from then on that holds across all its lives.
 */
export class OverdueChecker extends Checker<Evidence> {
  /** By node uid, taint and appearance: the latest that the start can be. */
  readonly #finalStarts = new Map<string, number>();
  /** True if the client keeps the pod, as its own last replica. */
  readonly #isLast: (pod: KubeObject) => boolean;
  readonly #calm: { readonly from: number; readonly to: number }[] = [];

  constructor(evidence: Evidence, isLast: (pod: KubeObject) => boolean) {
    super(evidence);
    this.#isLast = isLast;
  }

  /** Called at the end of a time since `calmSince` in which client and API worked undisturbed. */
  atRest(calmSince: number): void {
    const now = this.evidence.api.clock.now();
    this.#calm.push({ from: calmSince, to: now });
    const pods = this.evidence.api.list('pods');
    const { recoveryMs } = this.evidence.terms;
    for (const pod of pods) {
      const evidence = this.#overdue(now, calmSince, pod, recoveryMs + this.#queueMs(pods.length));
      if (evidence !== null) this.evidence.report({ invariant: 'overdue', at: now, evidence });
    }
  }

  /** The same of all namespaces but one, where requests go wrong: the others go within such a time. */
  atRestBeside(calmSince: number, namespace: string, withinMs: number): void {
    const now = this.evidence.api.clock.now();
    const invariant = 'waits for another namespace';
    for (const pod of this.evidence.api.list('pods')) {
      if (pod.metadata.namespace === namespace) continue;
      const evidence = this.#overdue(now, calmSince, pod, withinMs);
      if (evidence !== null) this.evidence.report({ invariant, at: now, evidence });
    }
  }

  /** Says that the pod should have left; null: it should not. */
  #overdue(now: number, calmSince: number, pod: KubeObject, withinMs: number): string | null {
    const { history, terms, pauses, policies, storedPauses } = this.evidence;
    const { deletionTimestamp, uid = '', namespace, name } = pod.metadata;
    const node = history.node(pod.spec.nodeName ?? '').at(-1);
    if (deletionTimestamp !== undefined || !node?.object || this.#isLast(pod)) return null;
    const namespaces = history.namespace(namespace ?? '');
    if (terms.takeover && !isHandedOver(namespaces.at(-1)?.object ?? null)) return null;
    if (terms.mayStop && !isSurelyLate(this.evidence, pod, node, this.#runs())) return null;
    const states = history.pod(uid);
    const bound = latestBinding(pod, states);
    const holds = [policies.firstHeldAt, storedPauses.firstAt].flatMap((at) => at ?? []);
    const held = Math.max(0, calmSince - Math.min(...holds));
    const paused = pauses.total(now) + held;
    const runsSince = terms.holdsFullDisruption ? this.#aliveSince(node.object) : 0;
    const deadlines = noExecuteTaints(node.object).map((taint) => {
      const { minTaintAgeMs } = policyFor(terms, taint.key);
      const latest = this.#latestStart(now, calmSince, pod, node, taint);
      const start = paused + Math.max(runsSince, latest);
      const boundEnd = endOfSecond(bound) + paused;
      return Math.max(start + minTaintAgeMs, Math.max(start, boundEnd) + toleratedMs(pod, taint));
    });
    const deadline = Math.min(Number.POSITIVE_INFINITY, ...deadlines);
    const dueAt = deadline + this.#budgetWait(pod, node);
    // A change of pod or node may have made it due only then.
    const changedAt = Math.max(
      lastChange(history.node(pod.spec.nodeName), ({ metadata, spec }) => [
        metadata.uid,
        spec?.taints,
      ]),
      lastChange(states, ({ spec }) => [spec.nodeName, spec.tolerations]),
      terms.takeover ? lastChange(namespaces, (object) => isHandedOver(object)) : 0,
    );
    const since = Math.max(dueAt, calmSince, changedAt);
    const latest = since + withinMs;
    if (latest > now) return null;
    return `pod ${namespace}/${name} (${uid.slice(0, 8)}) is still there; deadline ${clockTime(deadline)}, calm since ${clockTime(calmSince)}, at the latest ${clockTime(latest)}`;
  }

  /** The lives of the client that are not over, as far as its requests show. */
  #runs(): readonly number[] {
    const calls = this.evidence.apiHistory.calls.all;
    return [...new Set(calls.slice(-200).map(({ run }) => run))];
  }

  /** Since when there has been the same ready node in the zone of this one; Infinity: there is none. */
  #aliveSince(node: KubeObject): number {
    const { history } = this.evidence;
    const zone = zoneOf(node);
    const sinces = history.nodeNames.map((name) => {
      const states = history.node(name);
      const dead = states.findLastIndex(
        ({ object }) => !object || zoneOf(object) !== zone || readinessOf(object) !== 'True',
      );
      return states[dead + 1]?.at ?? Number.POSITIVE_INFINITY;
    });
    return Math.min(...sinces);
  }

  /** The time that all pods together may wait for the limits. */
  #queueMs(podCount: number): number {
    const { rates } = this.evidence.terms;
    return (podCount * 1000) / Math.min(...rates.map(({ podsPerSecond }) => podsPerSecond), 1000);
  }

  /** Budgets may hold a pod back: for ever, or until they are asked no more. */
  #budgetWait(pod: KubeObject, node: State): number {
    const budgets = this.evidence.api.list('poddisruptionbudgets', pod.metadata.namespace);
    if (!budgets.some((budget) => selectedBy(budget, pod))) return 0;
    const waits = noExecuteTaints(node.object).map(({ key }) => {
      const { mode, deleteAfterMs } = policyFor(this.evidence.terms, key);
      if (mode === 'delete') return 0;
      return mode === 'evict' ? Number.POSITIVE_INFINITY : deleteAfterMs;
    });
    return Math.max(0, ...waits);
  }

  /** When the taints of a node were last written while the client may not have seen it. */
  #writtenUnseenAt(nodeName: string): number {
    const states = this.evidence.history.node(nodeName);
    const writings = states.map((_, index) => taintsWrittenAt(states, index));
    const isSeen = (at: number): boolean =>
      this.#calm.some(({ from, to }) => from <= at && at <= to);
    return writings.findLast((at) => !isSeen(at)) ?? Number.NEGATIVE_INFINITY;
  }

  #latestStart(
    now: number,
    calmSince: number,
    pod: KubeObject,
    node: State,
    taint: NoExecuteTaint,
  ): number {
    const { starts, terms } = this.evidence;
    const appearedAt = starts.appearedAt(pod.spec.nodeName, node, taint);
    const seenAt = Math.max(appearedAt, calmSince);
    if (taint.timeAdded !== null) {
      const addedAt = endOfSecond(taint.timeAdded);
      return Math.max(addedAt, keptStarts(node)[taint.id] ?? addedAt);
    }
    const unseenAt = this.#writtenUnseenAt(pod.spec.nodeName);
    const key = `${node.object?.metadata.uid}/${taint.id}/${appearedAt}/${unseenAt}`;
    const start = Math.min(seenAt, this.#finalStarts.get(key) ?? Number.POSITIVE_INFINITY);
    // Only a pod that tolerates it for a while makes the client remember since when it counts.
    const isNeeded = toleratedMs(pod, taint) > 0 && Number.isFinite(toleratedMs(pod, taint));
    const wasBefore = latestBinding(pod, this.evidence.history.pod(pod.metadata.uid ?? '')) < start;
    if (isNeeded && wasBefore && seenAt + terms.recoveryMs < now) {
      this.#finalStarts.set(key, start);
    }
    return start;
  }
}

/** When what `part` takes from the object last changed. */
function lastChange(states: readonly State[], part: (object: KubeObject) => unknown): number {
  const texts = states.map(({ object }) => (object ? JSON.stringify(part(object)) : null));
  const same = texts.findLastIndex((text) => text !== texts.at(-1));
  return states[same + 1]?.at ?? 0;
}
