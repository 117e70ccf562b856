// What held pods back that were to go: limits and pauses, pod by pod.
import { describeReason, type Reason } from '@taintmgr/core';
import { describeCount, type LimitHit, limitId } from '@taintmgr/core/policy';
import type { Open, PodName } from './pod-name.ts';

/** What holds a pod back. */
interface Holder {
  readonly kind: 'limit' | 'pause';
  /** As `status` and `resume` name it: `zone=r/a policy=all`, or the name of a pause. */
  readonly name: string;
  /** Whether it is a limit that has tripped: it stays shut until somebody resumes. */
  readonly tripped: boolean;
  readonly text: string;
}

/** A pod that was held back; times are in seconds after the beginning. */
export interface HoldTrack extends PodName, Holder {
  readonly from: number;
  /** Null: to the end. */
  readonly until: number | null;
}

/** Records them. */
export class HoldLog {
  readonly holds: Open<HoldTrack>[] = [];
  readonly #open = new Map<string, Open<HoldTrack>>();

  /** Whether a pause holds any pod, as far as is known. */
  get hasPaused(): boolean {
    for (const { kind } of this.#open.values()) if (kind === 'pause') return true;
    return false;
  }

  /** A pod of that uid is held back from now on, by this alone. */
  hold(at: number, uid: string, pod: PodName, holder: Holder): void {
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

  /** It is held back no more; by what else than a kind stays. */
  release(at: number, uid: string, kind: Holder['kind'] | null = null): void {
    const open = this.#open.get(uid);
    if (!open || (kind !== null && open.kind !== kind)) return;
    open.until = at;
    this.#open.delete(uid);
  }
}

/** A limit that keeps a pod waiting. */
export function heldByLimit(hit: LimitHit): Holder {
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
export function heldByPause(because: readonly Reason[]): Holder | null {
  const reason = because.find(({ code }) => code === 'Paused');
  if (reason?.code !== 'Paused') return null;
  const { pause, zone } = reason;
  return { kind: 'pause', name: zone ?? pause, tripped: false, text: describeReason(reason) };
}
