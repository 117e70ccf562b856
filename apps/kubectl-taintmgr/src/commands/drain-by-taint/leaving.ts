import type { Blocker, Command, Event, Instant, Pod, PodRef } from '@taintmgr/core';

/** A pod that is to go, and how far it is. */
export interface LeavingPod {
  readonly pod: PodRef;
  /** When it came on the list. */
  readonly since: Instant;
  readonly state:
    | { readonly kind: 'waiting'; readonly until: Instant }
    | { readonly kind: 'evicting' }
    | { readonly kind: 'held'; readonly attempts: number; readonly blocker: Blocker }
    | { readonly kind: 'terminating' };
}

/** A pod that went. */
export interface GonePod {
  readonly pod: PodRef;
  readonly took: number;
}

/** Which pods are to go and which have gone, read from what the engine is told and commands. */
export class LeavingPods {
  readonly #leaving = new Map<string, LeavingPod>();
  #gone = 0;

  get gone(): number {
    return this.#gone;
  }

  list(): readonly LeavingPod[] {
    return [...this.#leaving.values()];
  }

  /** Takes an event; the pod that went with it, if so. */
  event(now: Instant, event: Event): GonePod | null {
    if (event.kind === 'podUpsert') this.#terminating(now, event.pod);
    if (event.kind !== 'podDelete') return null;
    const leaving = this.#leaving.get(event.uid);
    if (!leaving) return null;
    this.#leaving.delete(event.uid);
    this.#gone += 1;
    return { pod: leaving.pod, took: now - leaving.since };
  }

  /** Takes a command the engine gave. */
  command(now: Instant, command: Command): void {
    if (command.kind === 'evictPod') this.#set(now, command.pod, { kind: 'evicting' });
    if (command.kind !== 'report') return;
    const { report } = command;
    if (report.kind !== 'retry' && report.kind !== 'deadline') return;
    if (report.kind === 'retry') {
      const { attempt, blocker } = report;
      this.#set(now, report.pod, { kind: 'held', attempts: attempt, blocker });
    } else if (report.to !== null) {
      this.#set(now, report.pod, { kind: 'waiting', until: report.to });
    } else if (this.#leaving.get(report.pod.uid)?.state.kind !== 'terminating') {
      this.#leaving.delete(report.pod.uid);
    }
  }

  #terminating(now: Instant, pod: Pod): void {
    if (pod.deletionTimestamp !== null) this.#set(now, pod, { kind: 'terminating' });
  }

  #set(now: Instant, pod: PodRef, state: LeavingPod['state']): void {
    const since = this.#leaving.get(pod.uid)?.since ?? now;
    this.#leaving.set(pod.uid, { pod, since, state });
  }
}
