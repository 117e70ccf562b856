// EvictionRequests for pods that go for a taint by a policy with the action Request.
import type { Outcome } from '../../attempt/outcome.ts';
import type { Event } from '../../event.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import { taintEviction } from '../../model/eviction-request.ts';
import type { Pod } from '../../model/pod.ts';
import type { OwnReplicas } from '../../own-replicas.ts';
import type { StoreView } from '../../store.ts';
import type { Attempts } from '../attempts.ts';
import type { Decider } from '../decider.ts';
import type { MachineCommand } from '../eviction-command.ts';
import { requestedEvent } from '../pod-events.ts';
import type { Reason } from '../reason.ts';
import { EvictionRequests } from './eviction-requests.ts';

/** The time that a pod's responder has, as in a NodeDrain without a setting. */
const timeoutMs: Millis = 3_600_000;
/** The interval at which a requested pod is looked at: lists come less often. */
const lookEveryMs: Millis = 1_000;

/** The surroundings of requests. */
interface TaintRequestSite {
  readonly store: StoreView;
  readonly decider: Decider;
  readonly attempts: Attempts;
  readonly replicas: OwnReplicas;
  readonly emit: (command: MachineCommand) => void;
}

/**
 * A due pod is requested first where the acting policy says so, and leaves by pods/eviction where
 * the request has no effect. Without such a policy nothing is read or written.
 */
export class TaintRequests {
  readonly #site: TaintRequestSite;
  /** Null: no policy ever had the action. */
  #requests: EvictionRequests | null = null;
  #now: Instant = Number.NEGATIVE_INFINITY;

  constructor(site: TaintRequestSite) {
    this.#site = site;
  }

  /** The policies have changed. Requests of a policy that is gone are taken back. */
  followPolicies(now: Instant): void {
    if (this.#requests) return;
    if (!this.#site.store.policies().some(({ action }) => action === 'Request')) return;
    this.#requests = new EvictionRequests(now, {
      store: this.#site.store,
      gate: { holdOf: () => null },
      prefix: 'eviction-requests/',
      drain: { uid: taintEviction },
      timeoutMs,
      max: 0,
      isGoing: (uid) => this.#isGoing(uid),
    });
  }

  /** The reason why a due pod waits for others, and the time of the next look; null: evict it. */
  holdOf(
    now: Instant,
    pod: Pod,
    because: readonly Reason[],
  ): { readonly hold: string; readonly until: Instant } | null {
    const requests = this.#requests;
    if (!requests || !asksFirst(because)) return null;
    const wasOpen = requests.isOpen(pod.uid);
    const hold = requests.holdOf(now, pod);
    if (hold === null) return null;
    if (requests.isOpen(pod.uid)) {
      this.#site.replicas.requested(pod.uid);
      if (!wasOpen) this.#site.emit(requestedEvent(pod, because));
    }
    return { hold, until: now + lookEveryMs };
  }

  hear(event: Extract<Event, { kind: 'evictionRequests' }>): void {
    if (event.drain === '') this.#requests?.hear(event);
  }

  answered(now: Instant, id: string, outcome: Outcome): void {
    this.#requests?.settle(now, id, outcome);
  }

  /** The pod is gone. */
  gone({ uid }: Pod): void {
    this.#requests?.forget(uid);
  }

  /** The reads and writes that are due. */
  take(now: Instant): readonly MachineCommand[] {
    this.#now = now;
    const taken = this.#requests?.take(now) ?? [];
    const of = { drain: '', uid: taintEviction };
    return taken.map((one) => (one.kind === 'recordEvent' ? one : { ...one, ...of }));
  }

  nextWake(): Instant | null {
    return this.#requests?.nextWake() ?? null;
  }

  /** A terminating pod leaves by its responder: nothing is called off. */
  #isGoing(uid: string): boolean {
    const { store, decider, attempts } = this.#site;
    const pod = store.pod(uid);
    if (!pod || pod.deletionTimestamp !== null) return pod !== null;
    const decision = decider.decideOnce(pod, attempts.get(uid));
    if (decision.kind !== 'evict' || !asksFirst(decision.because)) return false;
    return decision.deadline <= store.clock.wall(this.#now);
  }
}

/** True where the acting policy asks the pod's responder first. */
function asksFirst([decisive]: readonly Reason[]): boolean {
  return decisive !== undefined && 'policy' in decisive && decisive.policy?.action === 'Request';
}
