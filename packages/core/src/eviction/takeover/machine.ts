// Takeover: what we do for pods that kube-controller-manager would delete, beside deciding about them.
import { KeyedWrites } from '../../attempt/keyed-writes.ts';
import type { AttemptState } from '../../attempt/state.ts';
import type { Event } from '../../event.ts';
import { earliest, type Instant, type Millis } from '../../kernel/time.ts';
import type { Machine } from '../../machine.ts';
import { type Pod, podRef } from '../../model/pod.ts';
import { isTakenOver, takeoverProgram } from '../../policy/takeover.ts';
import type { Change, StoreView } from '../../store.ts';
import type { MachineCommand } from '../command.ts';
import type { EvictionConfig } from '../config.ts';
import type { EvictionMachine } from '../eviction-machine.ts';
import { type SparedCount, SparedPods } from './spared.ts';
import { heldEvent } from './text.ts';

/** How takeover is going. */
export interface TakeoverCounts {
  /** The namespaces that were handed over, by name. */
  readonly namespaces: readonly string[];
  /** Of those in which pods were spared since we lead. */
  readonly spared: ReadonlyMap<string, SparedCount>;
}

/** Between two looks at a pod that bears our mark and may yet go. */
const lookMs: Millis = 5_000;
const waits = { confirmationWaitMs: 10_000, retryWaitMsMin: 200, retryWaitMsMax: 30_000 };

/**
 * Beside the eviction machine, in a cluster whose kube-controller-manager evicts too.
 *
 * Theory of operation. In namespaces that were handed over the API server refuses kube-controller-manager
 * the mark that it puts on a pod before it deletes it. This machine does what follows from that:
 *
 * - A pod whose time has come by kube-controller-manager's rules and that is not on its way by ours
 *   was spared. It gets one Event that says who decides, why it stays and until when.
 * - A pod that we delete is marked too, otherwise than by kube-controller-manager. Where an eviction of
 *   ours was called off after the mark was set, the mark is taken away: the pod does not go.
 *
 * It decides nothing: what holds a pod is read from the eviction machine.
 */
export class TakeoverMachine implements Machine<MachineCommand> {
  readonly #store: StoreView;
  readonly #eviction: EvictionMachine;
  readonly #spared: SparedPods;
  readonly #marks: KeyedWrites;
  #synced = false;
  #leader: boolean;
  #now: Instant = Number.NEGATIVE_INFINITY;

  constructor(store: StoreView, eviction: EvictionMachine, config: EvictionConfig) {
    this.#store = store;
    this.#eviction = eviction;
    this.#leader = config.leader;
    this.#spared = new SparedPods(config);
    this.#marks = new KeyedWrites({ ...waits, prefix: 'unmark', max: config.evictionsInFlightMax });
  }

  /** Called after the eviction machine took the same. */
  handle(now: Instant, event: Event, changes: readonly Change[]): readonly MachineCommand[] {
    this.#now = now;
    for (const change of changes) this.#follow(now, change);
    switch (event.kind) {
      case 'synced':
        this.#synced = true;
        return [];
      case 'leadership':
        if (event.held && !this.#leader) this.#spared.restart();
        this.#leader = event.held;
        return [];
      case 'result':
        this.#marks.settle(now, event.id, event.outcome);
        return [];
      case 'tick':
        return this.#mayAct ? [...this.#noteSpared(now), ...this.#unmark(now)] : [];
      default:
        return [];
    }
  }

  nextWake(): Instant | null {
    if (!this.#mayAct) return null;
    return earliest([this.#spared.nextWake(this.#now), this.#marks.nextWake()]);
  }

  counts(): TakeoverCounts {
    const namespaces = [...this.#store.namespaces()]
      .filter(([, labels]) => isTakenOver(labels))
      .map(([name]) => name)
      .sort();
    return { namespaces, spared: this.#spared.counts() };
  }

  get #mayAct(): boolean {
    return this.#synced && this.#leader;
  }

  #follow(now: Instant, change: Change): void {
    switch (change.kind) {
      case 'node': {
        const wasTainted = change.previous?.taints.some(({ effect }) => effect === 'NoExecute');
        if (!wasTainted && this.#eviction.taintsOf(change.name).length === 0) return;
        for (const pod of this.#store.podsOn(change.name)) this.#followPod(now, pod);
        return;
      }
      case 'pod':
        this.#followPod(now, change.pod);
        return;
      case 'podGone':
        this.#forget(change.previous.uid);
        return;
      case 'namespace':
        for (const pod of this.#store.pods())
          if (pod.namespace === change.name) this.#followPod(now, pod);
        return;
      default: // no matter of what is refused
    }
  }

  #followPod(now: Instant, pod: Pod): void {
    if (!isTakenOver(this.#store.namespaceLabels(pod.namespace))) {
      this.#forget(pod.uid);
      return;
    }
    this.#spared.follow(now, pod, this.#eviction.taintsOf(pod.nodeName));
    if (bearsOurMark(pod)) this.#marks.notice(now, pod.uid);
    else if (this.#marks.dueAt(pod.uid) !== null) this.#marks.forget(pod.uid);
  }

  #forget(uid: string): void {
    this.#spared.forget(uid);
    this.#marks.forget(uid);
  }

  /** One Event about each pod that was spared. */
  #noteSpared(now: Instant): readonly MachineCommand[] {
    const commands: MachineCommand[] = [];
    const wall = (at: Instant): Instant => this.#store.clock.wall(at);
    for (const uid of this.#spared.takeDue(now)) {
      const pod = this.#store.pod(uid);
      if (!pod) continue;
      const state = this.#eviction.attemptOn(pod);
      if (isOnItsWay(state)) this.#spared.postpone(now, uid);
      else {
        this.#spared.spare(now, uid);
        commands.push(heldEvent(pod, this.#eviction.decisionOn(pod), state, wall));
      }
    }
    return commands;
  }

  /** Takes our mark from pods that do not go any more, or not yet. */
  #unmark(now: Instant): readonly MachineCommand[] {
    const commands: MachineCommand[] = [];
    for (const uid of this.#marks.takeDue(now)) {
      const pod = this.#store.pod(uid);
      if (!pod || !bearsOurMark(pod)) continue;
      if (isCalledOff(this.#eviction.attemptOn(pod))) {
        commands.push({ kind: 'unmarkPod', id: this.#marks.begin(uid), pod: podRef(pod) });
      } else this.#marks.postpone(uid, now + lookMs);
    }
    return commands;
  }
}

/** Whether the pod has the mark that goes before a deletion, and we have set it. */
function bearsOurMark({ disruption, deletionTimestamp }: Pod): boolean {
  const { reason, manager } = disruption ?? {};
  const isOurs = reason === 'DeletionByTaintManager' && manager === takeoverProgram;
  return isOurs && deletionTimestamp === null;
}

function isOnItsWay(state: AttemptState | null): boolean {
  return state?.kind === 'requested' || state?.kind === 'accepted';
}

/** A request that failed is made again, and needs its mark. */
function isCalledOff(state: AttemptState | null): boolean {
  return state === null || state.kind === 'waiting' || state.kind === 'paused';
}
