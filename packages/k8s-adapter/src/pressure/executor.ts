import type { Instant, Millis, Outcome, PressureCommand } from '@taintmgr/core';
import { type Answer, failureOf, succeeded } from '../proto/answer.ts';
import type { Random } from '../proto/backoff.ts';
import { Calls, type FinishedCall } from '../proto/calls.ts';
import type { ClusterEvent } from '../proto/event-requests.ts';
import type { ExchangeInput } from '../proto/exchange.ts';
import { Recorder, type RecorderEffect, type RecorderNotice } from '../proto/recorder.ts';
import type { ApiRequest } from '../proto/request.ts';
import { ownCondition } from './conditions.ts';
import {
  beginEviction,
  continueEviction,
  type EvictionState,
  type EvictionStep,
  type EvictUnderPressure,
  type PressureRemoval,
} from './eviction.ts';
import { setConditionsRequest } from './requests.ts';

/** How commands are carried out. */
export interface PressureExecutorOptions {
  /** Who Kubernetes Events come from. */
  readonly component: string;
  readonly random: Random;
  readonly removal: PressureRemoval;
}

/** The command that changes conditions of a node. */
export type SetPressureConditions = Extract<PressureCommand, { kind: 'setPressureConditions' }>;

export type PressureExecutorEffect =
  | { readonly kind: 'send'; readonly id: string; readonly request: ApiRequest }
  | { readonly kind: 'abort'; readonly id: string }
  /** The machine is to be told. */
  | { readonly kind: 'result'; readonly id: string; readonly outcome: Outcome }
  | { readonly kind: 'notice'; readonly notice: PressureExecutorNotice };

export type PressureExecutorNotice =
  | { readonly kind: 'evictionSent'; readonly command: EvictUnderPressure }
  | {
      readonly kind: 'evictionFinished';
      readonly command: EvictUnderPressure;
      readonly outcome: Outcome;
      readonly took: Millis;
      /** Why the pod went without the status that a kubelet gives it; null: it has it. */
      readonly refusal: string | null;
    }
  | {
      readonly kind: 'conditionsWritten';
      readonly command: SetPressureConditions;
      readonly outcome: Outcome;
    }
  | RecorderNotice;

interface Evicting {
  readonly kind: 'evicting';
  readonly state: EvictionState;
  readonly since: Instant;
}

interface WritingConditions {
  readonly kind: 'writingConditions';
  readonly command: SetPressureConditions;
}

type Purpose = Evicting | WritingConditions;

/** Nobody but its kubelet can clear a node of images and dead containers. */
const reclaimRefusal = 'images and containers of a node can only be cleared away on the node';

/**
 * Turns the machine's commands into requests and answers into outcomes. Everything begins at once:
 * how much is under way is the machine's decision.
 */
export class PressureExecutor {
  #effects: PressureExecutorEffect[] = [];
  #serial = 0;
  #stopped = false;
  readonly #calls = new Calls<Purpose>();
  readonly #recorder: Recorder;
  readonly #removal: PressureRemoval;

  constructor({ component, random, removal }: PressureExecutorOptions) {
    this.#recorder = new Recorder({ component, random });
    this.#removal = removal;
  }

  /** Whether nothing is under way. */
  get idle(): boolean {
    return this.#calls.size === 0 && this.#recorder.idle;
  }

  /** When a call runs out of time, or Events go on; null when nothing is under way. */
  nextWake(): Instant | null {
    const [calls, events] = [this.#calls.nextWake(), this.#recorder.nextWake()];
    return calls === null || events === null ? (calls ?? events) : Math.min(calls, events);
  }

  /** Begins a command. */
  execute(
    now: Instant,
    command: Exclude<PressureCommand, { kind: 'pressureReport' }>,
  ): readonly PressureExecutorEffect[] {
    if (this.#stopped) return [];
    switch (command.kind) {
      case 'evictUnderPressure':
        this.#notice({ kind: 'evictionSent', command });
        this.#step(now, now, command, beginEviction(command));
        break;
      case 'setPressureConditions': {
        const request = setConditionsRequest(command.node, command.conditions.map(ownCondition));
        this.#send(now, request, { kind: 'writingConditions', command });
        break;
      }
      case 'reclaimNode': {
        const failed = { kind: 'failed', status: null, retryAfter: null } as const;
        const outcome = { ...failed, message: reclaimRefusal };
        this.#effects.push({ kind: 'result', id: command.id, outcome });
        break;
      }
      default:
        this.#take(this.#recorder.record(now, clusterEvent(command)));
    }
    return this.#drain();
  }

  /** Takes what is heard; input of other requests than its own is ignored. */
  receive(now: Instant, input: ExchangeInput): readonly PressureExecutorEffect[] {
    // After a standstill of this process an answer may have lain here for long: it is too late.
    this.#expire(now);
    this.#take(this.#recorder.receive(now, input));
    const call = this.#calls.take(input);
    if (!call) return this.#drain();
    // Such an answer was cut off by us, not ended by the server.
    if (input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: call.id });
    this.#finished(now, call);
    return this.#drain();
  }

  /** Gives up the calls whose time is up. */
  tick(now: Instant): readonly PressureExecutorEffect[] {
    this.#expire(now);
    this.#take(this.#recorder.tick(now));
    return this.#drain();
  }

  /** From now on nothing begins; evictions under way come to their end, with their status. */
  stop(): void {
    this.#stopped = true;
    this.#recorder.stop();
  }

  #expire(now: Instant): void {
    for (const call of this.#calls.expire(now)) {
      this.#effects.push({ kind: 'abort', id: call.id });
      this.#finished(now, call);
    }
  }

  #finished(now: Instant, { purpose, answer }: FinishedCall<Purpose>): void {
    if (purpose.kind === 'evicting') {
      const { state, since } = purpose;
      const step = continueEviction(state, answer, now, this.#removal);
      this.#step(now, since, state.command, step);
      return;
    }
    const { command } = purpose;
    const outcome = conditionsOutcome(answer);
    this.#notice({ kind: 'conditionsWritten', command, outcome });
    this.#effects.push({ kind: 'result', id: command.id, outcome });
  }

  #step(now: Instant, since: Instant, command: EvictUnderPressure, step: EvictionStep): void {
    if (step.kind === 'send') {
      this.#send(now, step.request, { kind: 'evicting', state: step.state, since });
      return;
    }
    const { outcome, refusal } = step;
    this.#notice({ kind: 'evictionFinished', command, outcome, took: now - since, refusal });
    this.#effects.push({ kind: 'result', id: command.id, outcome });
  }

  #send(now: Instant, request: ApiRequest, purpose: Purpose): void {
    this.#serial += 1;
    const id = `pressure/${this.#serial}`;
    this.#calls.begin(now, id, purpose);
    this.#effects.push({ kind: 'send', id, request });
  }

  #take(effects: readonly RecorderEffect[]): void {
    this.#effects.push(...effects);
  }

  #notice(notice: PressureExecutorNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }

  #drain(): readonly PressureExecutorEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

/** A node that is another one by now has no need of the condition: 422 names the uid. */
function conditionsOutcome(answer: Answer): Outcome {
  if (succeeded(answer)) return { kind: 'done' };
  const { status, message, retryAfter } = failureOf(answer);
  if (status === 404) return { kind: 'gone' };
  return { kind: 'failed', status, message, retryAfter };
}

type EventCommand = Extract<PressureCommand, { kind: 'recordPressureEvent' | 'recordNodeEvent' }>;

function clusterEvent(command: EventCommand): ClusterEvent {
  const { type, reason, message } = command;
  if (command.kind === 'recordNodeEvent') {
    const subject = { apiVersion: 'v1', kind: 'Node', namespace: '', ...command.node };
    return { subject, type, reason, message };
  }
  const { pod, annotations } = command;
  const { namespace, name, uid } = pod;
  const subject = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
  const hasAny = Object.keys(annotations).length > 0;
  return { subject, type, reason, message, ...(hasAny && { annotations }) };
}
