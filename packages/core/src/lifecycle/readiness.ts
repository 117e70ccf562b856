// Marks the pods of unreachable nodes as not ready.
import type { Outcome } from '../attempt/outcome.ts';
import { nextAttempt } from '../attempt/retry.ts';
import { InFlight } from '../kernel/inflight.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant } from '../kernel/time.ts';
import { readyOf } from '../model/node.ts';
import { type Pod, podRef } from '../model/pod.ts';
import type { StoreView } from '../store.ts';
import type { LifecycleCommand } from './command.ts';
import type { LifecycleConfig } from './config.ts';
import { podNotReadyEvent } from './node-events.ts';

/** Wait for the watch to show what was written. */
const echoWaitMs = 10_000;
const retryWait = { retryWaitMsMin: 200, retryWaitMsMax: 30_000 };

/**
 * Marks pods not ready whose node has become unreachable, so that no traffic goes there. A kubelet that
 * says itself that its node is not ready is alive and answers for its pods; nothing here marks a pod
 * ready again: its kubelet does when it is back.
 */
export class ReadinessMarker {
  readonly #store: StoreView;
  readonly #mayMark: (nodeName: string) => boolean;
  readonly #inFlight: InFlight;
  readonly #due = new Schedule();
  readonly #failures = new Map<string, number>();
  readonly #writing = new Set<string>();

  constructor(
    store: StoreView,
    { writesInFlightMax }: LifecycleConfig,
    mayMark: (nodeName: string) => boolean,
  ) {
    this.#store = store;
    this.#mayMark = mayMark;
    this.#inFlight = new InFlight('readiness', writesInFlightMax);
  }

  /** All pods of the node may be concerned. */
  noticeNode(now: Instant, nodeName: string): void {
    if (!this.#isUnreachable(nodeName)) return;
    for (const pod of this.#store.podsOn(nodeName)) this.notice(now, pod);
  }

  /** The pod may be concerned. */
  notice(now: Instant, pod: Pod): void {
    const { uid, nodeName } = pod;
    if (this.#writing.has(uid)) return;
    if (pod.ready !== 'True' || !this.#isUnreachable(nodeName)) this.forget(uid);
    else if (this.#due.at(uid) === null) this.#due.set(uid, now);
  }

  forget(uid: string): void {
    this.#due.cancel(uid);
    this.#failures.delete(uid);
    this.#writing.delete(uid);
  }

  nextWake(): Instant | null {
    return this.#inFlight.hasRoom ? this.#due.next() : null;
  }

  /** The commands that are due. Pods that may not be marked wait until their node is noticed again. */
  write(now: Instant): readonly LifecycleCommand[] {
    const commands: LifecycleCommand[] = [];
    while (this.#inFlight.hasRoom) {
      const uid = this.#due.takeDue(now);
      if (uid === null) break;
      const pod = this.#store.pod(uid);
      if (pod?.ready !== 'True' || !this.#isUnreachable(pod.nodeName)) continue;
      if (!this.#mayMark(pod.nodeName)) continue;
      this.#writing.add(uid);
      const id = this.#inFlight.start(uid);
      commands.push({ kind: 'markPodNotReady', id, pod: podRef(pod) });
    }
    return commands;
  }

  /** Takes a result; null when it is not one of ours. */
  settle(now: Instant, id: string, outcome: Outcome): readonly LifecycleCommand[] | null {
    const uid = this.#inFlight.finish(id);
    if (uid === null) return null;
    this.#writing.delete(uid);
    const pod = this.#store.pod(uid);
    if (!pod || outcome.kind === 'gone') {
      this.forget(uid);
      return [];
    }
    if (outcome.kind === 'done') {
      this.#failures.delete(uid);
      this.#due.set(uid, now + echoWaitMs);
      return [podNotReadyEvent(pod)];
    }
    const failures = (this.#failures.get(uid) ?? 0) + 1;
    this.#failures.set(uid, failures);
    const at = nextAttempt(now, uid, failures, retryWait, outcome);
    this.#due.set(uid, at);
    // Heard of meanwhile: that is no failure.
    if (outcome.kind !== 'failed') return [];
    const failed = { target: podRef(pod), attempt: failures, outcome, at };
    return [{ kind: 'report', report: { kind: 'podMarkFailed', ...failed } }];
  }

  #isUnreachable(nodeName: string): boolean {
    return readyOf(this.#store.node(nodeName)?.conditions)?.status === 'Unknown';
  }
}
