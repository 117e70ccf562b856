// The course of evictions: asked for, refused, held and done, with their reasons.
import {
  describeReason,
  formatTaint,
  type Outcome,
  type PodExplanation,
  type PodRef,
  type Reason,
  type Toleration,
} from '@taintmgr/core';
import { describeDeviceCause } from '@taintmgr/core/devices';
import { describeCount, type LimitHit, limitId } from '@taintmgr/core/policy';
import { describePressureReason } from '@taintmgr/core/pressure';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import type { Notice, PressureNotice, UpstreamDeviceNotice } from '@taintmgr/k8s-adapter';
import type {
  DeadlineTrack,
  EvictionTrack,
  FailureTrack,
  PodOnNode,
  RecordedReason,
  Recording,
  RefusalTrack,
} from '@taintmgr/page';

type How = EvictionTrack['how'];
type NamedPod = Pick<PodRef, 'namespace' | 'name' | 'uid' | 'nodeName'>;

const byDrain = 'its node is drained';

/** The facts about a pod beside its name. */
interface KnownPod extends Pick<EvictionTrack, 'workload' | 'arrivedAt'> {
  /** True for a pod that was leaving at the beginning. */
  readonly wasLeaving: boolean;
}

/** Records what the controller does about pods during a run. */
export class EvictionLog {
  readonly evictions: EvictionTrack[] = [];
  readonly deadlines: Open<DeadlineTrack>[] = [];
  readonly refusals: Open<RefusalTrack>[] = [];
  readonly failures: FailureTrack[] = [];
  readonly #open = new Map<string, Open<DeadlineTrack>>();
  /** Deadlines of pods that were gone before anybody had said why, by their uid. */
  readonly #unanswered = new Map<string, Open<DeadlineTrack>>();
  /** The way in which a failed try was removing pods, by their uid. */
  readonly #tried = new Map<string, How>();
  readonly #evictedPods = new Set<string>();
  readonly #refused = new Map<string, Open<RefusalTrack>>();
  readonly #knownOf: (uid: string) => KnownPod;
  readonly #startsAt: Instant;
  readonly #holds = new HoldLog();
  readonly #reasons = new Map<string, RecordedReason>();

  /** Times count from `startsAt`. */
  constructor(knownOf: (uid: string) => KnownPod, startsAt: Instant) {
    this.#knownOf = knownOf;
    this.#startsAt = startsAt;
  }

  /** Pods that were held back. */
  get holds(): readonly HoldTrack[] {
    return this.#holds.holds;
  }

  /** True where a pause holds any pod, as far as is known. */
  get hasPaused(): boolean {
    return this.#holds.hasPaused;
  }

  notice(at: number, notice: Notice | PressureNotice | UpstreamDeviceNotice): void {
    if (notice.kind === 'commandFinished') {
      const { pod, kind, because } = notice.command;
      const how = kind === 'evictPod' ? 'evict' : 'delete';
      const reasons = because.map((reason) => this.#reason(reason));
      this.#finished(at, pod, how, reasons, notice.outcome);
    } else if (notice.kind === 'evictionFinished') {
      const { pod, because } = notice.command;
      const texts = because.map(describePressureReason);
      const { outcome } = notice;
      this.#finished(at, pod, 'pressure', [], outcome, texts);
    } else if (notice.kind === 'deviceEvictionFinished') {
      const { pod, because } = notice.command;
      const texts = because.map((cause) =>
        relativeText(describeDeviceCause(cause), this.#startsAt),
      );
      this.#finished(at, pod, 'delete', [], notice.outcome, texts);
    }
    if (notice.kind !== 'report') return;
    const { report } = notice;
    if (report.kind === 'queued') {
      const { pod, hit } = report;
      this.#holds.hold(at, pod.uid, this.#named(pod), heldByLimit(hit));
    } else if (report.kind === 'deadline') {
      const { pod, to, because, unanswered = false } = report;
      const tried = unanswered ? this.#tried.get(pod.uid) : undefined;
      if (tried) {
        // The request had no answer, and the pod leaves: that request is taken to have removed it.
        const reasons = because.map((reason) => this.#reason(reason));
        this.#finished(at, pod, tried, reasons, { kind: 'done' });
        return;
      }
      this.#close(at, pod.uid, to === null ? 'cancelled' : 'moved');
      if (to !== null) this.#begin(at, pod, to, because);
      else this.#holds.release(at, pod.uid);
    }
  }

  /** Follows a pause that holds a pod through its explanation: no report mentions it. */
  followPause(at: number, { pod, decision }: PodExplanation): void {
    const holder = decision.kind === 'pause' ? heldByPause(decision.because) : null;
    if (!holder) this.#holds.release(at, pod.uid, 'pause');
    else {
      const text = relativeText(holder.text, this.#startsAt);
      this.#holds.hold(at, pod.uid, this.#named(pod), { ...holder, text });
    }
  }

  /** The deadline of a pod as an explanation has it, for engines that do not report deadlines. */
  follow(at: number, { pod, decision }: PodExplanation): void {
    const open = this.#open.get(pod.uid);
    const to = decision.kind === 'evict' ? decision.deadline : null;
    if (to === null) this.#close(at, pod.uid, 'cancelled');
    else if (open?.dueAt !== this.#secondsOf(to)) {
      this.#close(at, pod.uid, 'moved');
      this.#begin(at, pod, to, decision.because);
    }
  }

  /** A drain has asked for it; the controller has no part in that. */
  drainAttempted(at: number, pod: NamedPod, outcome: Outcome): void {
    this.#finished(at, pod, 'evict', [], outcome, [byDrain]);
  }

  /** A pod is no more. Where it had no time to stop, the answer to its eviction comes only now. */
  gone(at: number, uid: string): void {
    const open = this.#open.get(uid);
    if (open) this.#unanswered.set(uid, open);
    this.#close(at, uid, 'cancelled');
    this.#holds.release(at, uid);
  }

  #secondsOf(instant: Instant): number {
    return (instant - this.#startsAt) / 1000;
  }

  #begin(at: number, pod: PodRef, to: number, because: readonly Reason[]): void {
    const times = { setAt: at, dueAt: this.#secondsOf(to), endedAt: null };
    const reasons = because.map((reason) => this.#reason(reason));
    const texts = reasons.map(({ text }) => text);
    const end = 'pending' as const;
    const track = { ...this.#named(pod), ...times, end, because: texts, reasons };
    this.#open.set(pod.uid, track);
    this.deadlines.push(track);
  }

  #close(at: number, uid: string, end: DeadlineTrack['end']): void {
    const open = this.#open.get(uid);
    if (!open) return;
    this.#open.delete(uid);
    open.endedAt = at;
    open.end = end;
  }

  #evicted(at: number, uid: string): void {
    const track = this.#open.get(uid) ?? this.#unanswered.get(uid);
    this.#unanswered.delete(uid);
    this.#open.delete(uid);
    if (!track) return;
    track.endedAt ??= at;
    // A deadline that is now is not reported: another taint came, which the pod does not tolerate.
    track.end = track.dueAt > track.endedAt ? 'moved' : 'evicted';
  }

  /** Most reasons are those of many pods. */
  #reason(reason: Reason): RecordedReason {
    const recorded = recordedReason(reason, this.#startsAt);
    const key = JSON.stringify(recorded);
    const known = this.#reasons.get(key);
    if (!known) this.#reasons.set(key, recorded);
    return known ?? recorded;
  }

  #finished(
    at: number,
    pod: NamedPod,
    how: How,
    reasons: readonly RecordedReason[],
    outcome: Outcome,
    because: readonly string[] = reasons.map(({ text }) => text),
  ): void {
    // Whatever came of it, it was let through.
    this.#holds.release(at, pod.uid);
    if (outcome.kind === 'done') {
      this.#evicted(at, pod.uid);
      const { arrivedAt, wasLeaving } = this.#knownOf(pod.uid);
      // kube-controller-manager deletes pods again that terminate already.
      if (wasLeaving || this.#evictedPods.has(pod.uid)) return;
      this.#evictedPods.add(pod.uid);
      this.evictions.push({ at, ...this.#named(pod), arrivedAt, how, because, reasons });
    } else if (outcome.kind === 'blocked') {
      this.#refuse(at, pod, budgetOf(outcome), outcome.message);
    } else if (outcome.kind === 'failed') {
      this.#tried.set(pod.uid, how);
      this.failures.push({ at, ...this.#named(pod), message: outcome.message });
    }
  }

  #refuse(at: number, pod: NamedPod, budgetName: string, message: string): void {
    const budget = `${pod.namespace}/${budgetName}`;
    const key = `${pod.uid} ${budget}`;
    const known = this.#refused.get(key);
    if (known) {
      known.lastAt = at;
      known.count++;
      known.message = message;
      return;
    }
    const track = { ...this.#named(pod), budget, firstAt: at, lastAt: at, count: 1, message };
    this.#refused.set(key, track);
    this.refusals.push(track);
  }

  #named({ namespace, name, uid, nodeName }: NamedPod): PodOnNode {
    return { namespace, pod: name, node: nodeName, workload: this.#knownOf(uid).workload };
  }
}

/** The API server names the budget apart only where it counts pods, else in its words. */
function budgetOf({ budget, message }: Extract<Outcome, { kind: 'blocked' }>): string {
  return budget?.name ?? /disruption budget (\S+)/.exec(message)?.[1] ?? '';
}

type HoldTrack = Recording['holds'][number];
/** The limit, pause or budget that holds a pod. */
type Holder = Pick<HoldTrack, 'kind' | 'name' | 'tripped' | 'text'>;

/** Records them. */
class HoldLog {
  readonly holds: Open<HoldTrack>[] = [];
  readonly #open = new Map<string, Open<HoldTrack>>();

  /** True where a pause holds any pod, as far as is known. */
  get hasPaused(): boolean {
    for (const { kind } of this.#open.values()) if (kind === 'pause') return true;
    return false;
  }

  /** A pod of that uid is held back from now on, by this alone. */
  hold(at: number, uid: string, pod: PodOnNode, holder: Holder): void {
    const open = this.#open.get(uid);
    if (open && open.kind === holder.kind && open.name === holder.name) {
      open.tripped = holder.tripped;
      open.text = holder.text;
      return;
    }
    this.release(at, uid);
    const track = { ...pod, ...holder, from: at, until: null };
    this.#open.set(uid, track);
    this.holds.push(track);
  }

  /** Releases a pod from the holds of a kind, or of all kinds. */
  release(at: number, uid: string, kind: Holder['kind'] | null = null): void {
    const open = this.#open.get(uid);
    if (!open || (kind !== null && open.kind !== kind)) return;
    open.until = at;
    this.#open.delete(uid);
  }
}

/** A limit that keeps a pod waiting. */
function heldByLimit(hit: LimitHit): Holder {
  return {
    ...{ kind: 'limit', name: limitId(hit), tripped: hit.tripped },
    text: hit.limit === 'record' ? 'what it has counted cannot be stored' : textOf(hit),
  };
}

function textOf({ limit, tripped, count }: LimitHit): string {
  const what = tripped ? 'has tripped' : 'is used up';
  return `${limit} ${what}${count ? `: ${describeCount(count)}` : ''}`;
}

/** A pause that keeps a pod where it is; null: it is none. */
function heldByPause(because: readonly Reason[]): Holder | null {
  const reason = because.find(({ code }) => code === 'Paused');
  if (reason?.code !== 'Paused') return null;
  const { pause, zone } = reason;
  return { kind: 'pause', name: zone ?? pause, tripped: false, text: describeReason(reason) };
}

/** A reason whose times count from the beginning. */
function recordedReason(reason: Reason, startsAt: Instant): RecordedReason {
  const toleration = 'toleration' in reason ? reason.toleration : null;
  const seconds = toleration?.tolerationSeconds ?? null;
  return {
    code: reason.code,
    text: relativeText(describeReason(reason), startsAt),
    taint: 'taint' in reason ? formatTaint(reason.taint) : null,
    toleration: toleration && tolerationText(toleration),
    tolerationSeconds: seconds === null ? null : Number(seconds),
    policy: 'policy' in reason ? (policyOf(reason) ?? null) : null,
  };
}

/** A mark of a policy, or only its name. */
function policyOf({ policy }: { readonly policy?: { readonly name: string } }): string | undefined {
  return policy?.name;
}

/** `key=value:effect`, `key:effect`, `all taints` */
function tolerationText({ key, operator, value, effect }: Toleration): string {
  if (!key) return 'all taints';
  const isEqual = operator !== 'Exists' && value;
  const shown = isEqual ? `${key}=${value}` : key;
  return effect ? `${shown}:${effect}` : shown;
}

const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Instants of the calendar as times after the beginning, as all others are. */
export function relativeText(text: string, startsAt: Instant): string {
  return text.replace(instant, (found) => formatDuration(Date.parse(found) - startsAt));
}

/** A track that is still being written. */
export type Open<Track> = { -readonly [Key in keyof Track]: Track[Key] };
