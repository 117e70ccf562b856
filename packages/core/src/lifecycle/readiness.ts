// Marks the pods of unreachable nodes as not ready.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { Outcome } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import { readyOf } from '../model/node.ts';
import { type Pod, podRef } from '../model/pod.ts';
import type { StoreView } from '../store.ts';
import type { LifecycleCommand } from './command.ts';
import type { LifecycleConfig } from './config.ts';
import { podNotReadyEvent } from './node-events.ts';
import { markPause } from './readiness-pauses.ts';
import type { HoldReason } from './reason.ts';

const waits = { confirmationWaitMs: 10_000, retryWaitMsMin: 200, retryWaitMsMax: 30_000 };

/**
 * Marks pods not ready whose node has become unreachable, so that no traffic goes there. A kubelet that
 * says itself that its node is not ready is alive and answers for its pods; nothing here marks a pod
 * ready again: its kubelet does when it is back.
 */
export class ReadinessMarker {
  readonly #store: StoreView;
  readonly #config: LifecycleConfig;
  readonly #holdOn: (nodeName: string) => HoldReason | null;
  readonly #writes: KeyedWrites;

  /** `holdOn`: why the zone of a node is held; null: it is not. */
  constructor(
    store: StoreView,
    config: LifecycleConfig,
    holdOn: (nodeName: string) => HoldReason | null,
  ) {
    this.#store = store;
    this.#config = config;
    this.#holdOn = holdOn;
    this.#writes = new KeyedWrites({
      ...waits,
      prefix: 'readiness',
      max: config.writesInFlightMax,
    });
  }

  /** All pods of the node may be concerned. */
  noticeNode(now: Instant, nodeName: string): void {
    if (!this.#isUnreachable(nodeName)) return;
    for (const pod of this.#store.podsOn(nodeName)) this.notice(now, pod);
  }

  /** The pod may be concerned. */
  notice(now: Instant, pod: Pod): void {
    const { uid } = pod;
    if (this.#writes.isUnderWay(uid)) return;
    if (!this.#isWanted(pod)) this.forget(uid);
    else if (this.#writes.dueAt(uid) === null) this.#writes.postpone(uid, now);
  }

  forget(uid: string): void {
    this.#writes.forget(uid);
  }

  nextWake(): Instant | null {
    return this.#writes.nextWake();
  }

  /** The commands that are due. Pods that may not be marked wait until their node is noticed again. */
  write(now: Instant): readonly LifecycleCommand[] {
    const commands: LifecycleCommand[] = [];
    for (const uid of this.#writes.takeDue(now)) {
      const pod = this.#store.pod(uid);
      if (!pod || !this.#isWanted(pod) || !this.#mayMark(pod)) continue;
      commands.push({ kind: 'markPodNotReady', id: this.#writes.begin(uid), pod: podRef(pod) });
    }
    return commands;
  }

  /** Takes a result; null when it is not one of ours. */
  settle(now: Instant, id: string, outcome: Outcome): readonly LifecycleCommand[] | null {
    const ended = this.#writes.settle(now, id, outcome);
    if (!ended) return null;
    const { key: uid, failures, at } = ended;
    const pod = this.#store.pod(uid);
    if (!pod || outcome.kind === 'gone') {
      this.forget(uid);
      return [];
    }
    if (outcome.kind === 'done') return [podNotReadyEvent(pod)];
    // Heard of meanwhile: that is no failure.
    if (outcome.kind !== 'failed') return [];
    const failed = { target: podRef(pod), attempt: failures, outcome, at };
    return [{ kind: 'report', report: { kind: 'podMarkFailed', ...failed } }];
  }

  /** Whether pauses and the zone of its node let a pod be marked. */
  #mayMark(pod: Pod): boolean {
    if (this.#config.observes || markPause(this.#store, pod)) return false;
    if (this.#config.podReadiness === 'atOnce') return true;
    const hold = this.#holdOn(pod.nodeName);
    return hold === null || hold.code === 'ZoneStopped' || hold.code === 'RateZero';
  }

  #isWanted({ ready, nodeName }: Pod): boolean {
    return ready === 'True' && this.#isUnreachable(nodeName);
  }

  #isUnreachable(nodeName: string): boolean {
    return readyOf(this.#store.node(nodeName)?.conditions)?.status === 'Unknown';
  }
}
