import type { Command } from '../command.ts';
import type { Config } from '../config.ts';
import type { Event } from '../event.ts';
import type { Decision } from '../eviction/decide.ts';
import { reasonOfCause } from '../eviction/device-taints.ts';
import { UpstreamEvictionMachine } from '../eviction/upstream/machine.ts';
import type { Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { Change, StoreView } from '../store.ts';
import { classify } from './classify.ts';

/** The decision of kube-controller-manager about a pod, and why it is not ours. */
export interface Comparison {
  /** The decision of kube-controller-manager. */
  readonly decision: Decision;
  /** Names in docs/differences.md; empty where both do the same at the same time. */
  readonly differences: readonly string[];
}

/**
 * kube-controller-manager as it would have run beside us, seeing what we see: every deletion it
 * sends succeeds, and none is carried out.
 */
export class SimulatedUpstream {
  readonly #store: StoreView;
  readonly #machine: UpstreamEvictionMachine;
  readonly #deviceTaints: boolean;
  /** Its decisions that were carried out, by the uid of the pod. */
  readonly #deletions = new Map<string, Extract<Decision, { kind: 'evict' }>>();

  constructor(store: StoreView, config: Config) {
    this.#store = store;
    this.#deviceTaints = config.deviceTaints;
    this.#machine = new UpstreamEvictionMachine(store, config, null);
  }

  handle(now: Instant, event: Event, changes: readonly Change[]): void {
    if (event.kind === 'result') return;
    this.#fireUntil(now);
    for (const change of changes) {
      if (change.kind === 'podGone') this.#deletions.delete(change.previous.uid);
    }
    this.#succeed(now, this.#machine.handle(now, event, changes));
  }

  /** Reads only. A timer that is due fires with the next event, as of when it was due. */
  compare(pod: Pod, ours: Decision): Comparison {
    const byNode = this.#deletions.get(pod.uid) ?? this.#machine.decisionOn(pod);
    const decision = this.#earlier(pod, byNode);
    return { decision, differences: classify(ours, decision) };
  }

  /** Of its two controllers the one that comes first acts; nothing of the one for devices is frozen. */
  #earlier(pod: Pod, byNode: Decision): Decision {
    const { devices } = this.#store;
    if (!this.#deviceTaints || !devices || pod.deletionTimestamp !== null) return byNode;
    const verdict = devices.verdictOf(pod);
    if (verdict.at === null) return byNode;
    if (byNode.kind === 'evict' && byNode.deadline <= verdict.at) return byNode;
    return { kind: 'evict', deadline: verdict.at, because: verdict.causes.map(reasonOfCause) };
  }

  /** kube-controller-manager would not have waited for our next event. */
  #fireUntil(now: Instant): void {
    const machine = this.#machine;
    for (let at = machine.nextWake(); at !== null && at < now; at = machine.nextWake()) {
      this.#succeed(at, machine.handle(at, { kind: 'tick' }, []));
    }
  }

  #succeed(now: Instant, commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.kind !== 'deletePod') continue;
      const { uid } = command.pod;
      if (!this.#deletions.has(uid)) {
        const deadline = this.#store.clock.wall(now);
        this.#deletions.set(uid, { kind: 'evict', deadline, because: command.because });
      }
      const result = { kind: 'result', id: command.id, outcome: { kind: 'done' } } as const;
      this.#succeed(now, this.#machine.handle(now, result, []));
    }
  }
}
