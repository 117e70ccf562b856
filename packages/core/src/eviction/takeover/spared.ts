// Which pods kube-controller-manager would have deleted that stay, because we decide about them.
import { Schedule } from '../../kernel/schedule.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import { TokenBucket } from '../../kernel/token-bucket.ts';
import type { Pod } from '../../model/pod.ts';
import { formatTaint } from '../../model/taint-spec.ts';
import type { MatchOptions, Toleration } from '../../model/toleration.ts';
import type { ObservedTaint } from '../taint-clock.ts';
import { upstreamWait } from '../upstream/wait.ts';

/** By then its five tries are over, and what we let go at once is on its way. */
const triesMs: Millis = 1_000;
/** Until a pod is looked at again that is on its way. */
const againMs: Millis = 1_000;
/** Found out about at once, and in a second: a node may have hundreds of pods. */
const [burst, perSecond] = [100, 20];

/** What kube-controller-manager goes by; where that stays, so does its timer. */
interface Followed {
  readonly taints: string;
  readonly tolerations: readonly Toleration[];
  readonly namespace: string;
  readonly isSpared: boolean;
}

/** How many pods of a namespace were spared since the start, and how many of them are there. */
export interface SparedCount {
  readonly spared: number;
  readonly held: number;
}

/** Keeps the timers that kube-controller-manager has for pods about which we decide. */
export class SparedPods {
  readonly #options: MatchOptions;
  readonly #followed = new Map<string, Followed>();
  /** When each is to be looked at that was not found to be spared. */
  readonly #looks = new Schedule();
  readonly #bucket = new TokenBucket(perSecond, burst);
  readonly #spared = new Map<string, number>();

  constructor(options: MatchOptions) {
    this.#options = options;
  }

  /** Takes in a pod, with the taints of its node. */
  follow(now: Instant, pod: Pod, observed: readonly ObservedTaint[]): void {
    const { uid, namespace, tolerations } = pod;
    if (observed.length === 0 || pod.deletionTimestamp !== null) {
      this.forget(uid);
      return;
    }
    const taints = observed.map(({ taint }) => formatTaint(taint)).join();
    const known = this.#followed.get(uid);
    if (known?.taints === taints && known.tolerations === tolerations) return;
    this.#followed.set(uid, { taints, tolerations, namespace, isSpared: false });
    const wait = upstreamWait(
      observed.map(({ taint }) => taint),
      tolerations,
      this.#options,
    );
    if (wait.kind === 'forever') this.#looks.cancel(uid);
    else this.#looks.set(uid, now + triesMs + (wait.kind === 'finite' ? wait.wait : 0));
  }

  forget(uid: string): void {
    this.#followed.delete(uid);
    this.#looks.cancel(uid);
  }

  nextWake(now: Instant): Instant | null {
    const next = this.#looks.next();
    return next === null ? null : Math.max(next, this.#bucket.readyAt(now));
  }

  /** The pods whose time has come by its rules, one by one. */
  *takeDue(now: Instant): Generator<string> {
    while (this.#bucket.readyAt(now) <= now) {
      const uid = this.#looks.takeDue(now);
      if (uid === null) return;
      yield uid;
    }
  }

  /** It is on its way; it may come back. */
  postpone(now: Instant, uid: string): void {
    this.#looks.set(uid, now + againMs);
  }

  /** It is there, and not on its way. */
  spare(now: Instant, uid: string): void {
    const followed = this.#followed.get(uid);
    if (!followed) return;
    this.#bucket.take(now);
    this.#followed.set(uid, { ...followed, isSpared: true });
    const { namespace } = followed;
    this.#spared.set(namespace, (this.#spared.get(namespace) ?? 0) + 1);
  }

  /** Counts from here on. */
  restart(): void {
    this.#spared.clear();
  }

  /** By namespace; those without any are left out. */
  counts(): ReadonlyMap<string, SparedCount> {
    const counts = new Map<string, SparedCount>();
    for (const [name, spared] of this.#spared) counts.set(name, { spared, held: 0 });
    for (const { namespace, isSpared } of this.#followed.values()) {
      const { spared, held } = counts.get(namespace) ?? { spared: 0, held: 0 };
      if (isSpared) counts.set(namespace, { spared, held: held + 1 });
    }
    return counts;
  }
}
