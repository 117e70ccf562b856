// The requests that make the pods of a drain leave, and what their answers mean.

import { accepted, setBack } from '../attempt/attempt.ts';
import { type Blocker, blockerOf } from '../attempt/blocker.ts';
import { escalationOf, methodFor, podCommand, type Terms } from '../attempt/delete-or-evict.ts';
import { isSetback, type Outcome, type Setback } from '../attempt/outcome.ts';
import { Pace } from '../attempt/pace.ts';
import type { PodCommand, RecordPodEvent } from '../attempt/pod-command.ts';
import { evictionEvent } from '../eviction/pod-events.ts';
import type { Reason } from '../eviction/reason.ts';
import type { Instant } from '../kernel/time.ts';
import type { Pod, PodRef } from '../model/pod.ts';
import type { StoreView } from '../store.ts';
import type { DrainConfig } from './config.ts';
import { claimAfter, departureOf } from './departure.ts';
import { finishBy } from './finishing.ts';
import type { DrainNodes } from './nodes.ts';
import type { PodGate } from './pod-gate.ts';
import type { DrainPods } from './pods.ts';
import type { DrainNote, DrainPod } from './state.ts';

const never = Number.POSITIVE_INFINITY;
/** The budget of a pod that is refused again and again is read so often. */
const budgetReadEveryTries = 4;

/** What makes a pod leave, and tells of it. */
export type PodRequest = PodCommand<Reason> | RecordPodEvent<Reason>;

/** What the requests are about. */
export interface RequestSite {
  readonly store: StoreView;
  readonly nodes: DrainNodes;
  readonly pods: DrainPods;
  readonly gate: PodGate;
  readonly note: (note: DrainNote) => void;
}

/** Sends what makes a pod leave, and moves it by what comes of it. */
export class DrainRequests {
  readonly #config: DrainConfig;
  readonly #site: RequestSite;
  readonly #pace: Pace;

  constructor(config: DrainConfig, site: RequestSite) {
    this.#config = config;
    this.#site = site;
    this.#pace = new Pace('drain', config.requestsInFlightMax);
  }

  /** From when on one more may be sent about a pod of a namespace; null: not before an answer. */
  roomAt(namespace: string): Instant | null {
    return this.#pace.roomAt(namespace);
  }

  send(now: Instant, pod: Pod, known: DrainPod): readonly PodRequest[] {
    const { because, due } = known;
    const { budgets } = this.#config;
    const method = methodFor(now, known.budgetsAsked, pod, this.#terms(pod, due));
    const id = this.#pace.start(now, pod.uid, pod.namespace);
    this.#site.gate.sent(now, pod);
    const sent = this.#site.pods.put(
      pod,
      { kind: 'requested', id },
      {
        tries: known.tries + 1,
        begunAt: known.begunAt ?? now,
        deleted: method.kind === 'delete',
        awaitsAnswer: true,
        hold: null,
      },
    );
    if (method.escalated && budgets.kind === 'deleteAfter') {
      this.#site.note({ kind: 'podEscalated', pod: sent, waitedMs: budgets.afterMs });
    }
    const asked = podCommand(id, pod, method, false, because);
    const readsBudget = this.#config.isUnattended && readsBudgetAt(known);
    const command: typeof asked = {
      ...asked,
      ofDrain: true,
      ...(asked.kind === 'evictPod' && readsBudget && { readsBudget: true }),
    };
    return known.tries === 0 ? [evictionEvent(pod, because), command] : [command];
  }

  /** The pod for which another try is to be made; null: none is, or it was no answer to one of these. */
  answered(now: Instant, id: string, outcome: Outcome): PodRef | null {
    const { pods } = this.#site;
    const uid = this.#pace.finish(now, id, outcome);
    const before = uid === null ? null : pods.get(uid);
    if (uid === null || !before) return null;
    this.#site.gate.answered(uid, outcome);
    const claim = claimAfter(before.claim, outcome);
    const known = pods.put(before.pod, before.state, { claim, awaitsAnswer: false });
    if (known.vanishedAt !== null) this.gone(known.vanishedAt, known);
    if (known.vanishedAt !== null || known.state.kind !== 'requested') return null;
    if (isSetback(outcome)) {
      this.#setBack(now, known, outcome);
      return known.pod;
    }
    if (outcome.kind === 'gone') this.gone(now, known);
    else pods.put(known.pod, accepted(now, this.#config));
    return null;
  }

  gone(now: Instant, known: DrainPod): void {
    const { uid } = known.pod;
    const isReplaced = this.#site.gate.isReplaced?.(uid) === true;
    const departure = departureOf(known, this.#config.leaving.has(uid), isReplaced);
    const pod = this.#site.pods.put(known.pod, { kind: 'gone', at: now, departure });
    const took = pod.begunAt === null ? null : now - pod.begunAt;
    this.#site.note({ kind: 'podGone', pod, took, departure });
  }

  /** A pod should have gone since it was due, not before its node's turn came or its time to finish was over. */
  #terms(pod: Pod, due: Instant | null): Terms {
    const { budgets, gracePeriodSeconds, waitCompleted } = this.#config;
    const begunAt = this.#site.nodes.phases.begunAt(pod.nodeName);
    const since = finishBy(pod, waitCompleted, begunAt) ?? begunAt ?? never;
    const deadline = Math.max(due ?? since, since);
    return { deadline, budgets, gracePeriodSeconds, nodeEnd: null };
  }

  /** Between two looks at a budget it means what it did. */
  #blockerOf({ pod, blocker: before }: DrainPod, setback: Setback): Blocker {
    const blocker = blockerOf(setback, this.#site.store.pod(pod.uid));
    const isUnread = setback.kind === 'blocked' && setback.found === undefined;
    if (!isUnread || !this.#config.isUnattended) return blocker;
    return { ...blocker, verdict: before?.code === 'Budget' ? before.verdict : 'unknown' };
  }

  #setBack(now: Instant, known: DrainPod, setback: Setback): void {
    const { store, pods, note } = this.#site;
    const { uid } = known.pod;
    const { once, budgets } = this.#config;
    const blocker = this.#blockerOf(known, setback);
    // A budget may be relaxed.
    const isFinal =
      blocker.code !== 'Budget' &&
      blocker.verdict === 'never' &&
      (blocker.code === 'Denied' || budgets.kind !== 'deleteAfter');
    if (once || isFinal) {
      const pod = pods.put(known.pod, { kind: 'givenUp' }, { blocker });
      note({ kind: 'podGivenUp', pod, blocker });
      return;
    }
    const seen = store.pod(uid);
    const escalateAt = seen && escalationOf(seen, this.#terms(seen, known.due));
    const { state, ...changed } = setBack(now, uid, known, setback, escalateAt, this.#config);
    const pod = pods.put(known.pod, state, { ...changed, blocker });
    note({ kind: 'podSetBack', pod, blocker });
  }
}

/** A budget that has not been counted yet says something else soon. */
function readsBudgetAt({ tries, blocker }: DrainPod): boolean {
  return tries % budgetReadEveryTries === 0 || blocker?.verdict === 'resolves';
}
