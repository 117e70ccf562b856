import type { Command, Instant, Millis, NodeCommand, Outcome } from '@taintmgr/core';
import type { Random } from './backoff.ts';
import { Calls, type FinishedCall } from './calls.ts';
import type { ClusterEvent } from './event-requests.ts';
import type { ExchangeInput } from './exchange.ts';
import {
  beginExecution,
  continueExecution,
  type ExecuteOptions,
  type ExecutionState,
  type KeepTaintStarts,
  type Removal,
  type Step,
} from './execute.ts';
import {
  beginNodeWrite,
  continueNodeWrite,
  type NodeWriteState,
  type NodeWriteStep,
} from './execute-node.ts';
import { Recorder, type RecorderEffect, type RecorderNotice } from './recorder.ts';
import type { ApiRequest } from './request.ts';

/** The engine's wish for a Kubernetes Event. */
export type EventCommand = Extract<Command, { kind: 'recordEvent' | 'recordNodeEvent' }>;

/** Whose Events about nodes, and about pods on their account, these are: upstream's own word. */
const lifecycleComponent = 'node-controller';

const leadsNoMore = 'this replica leads no more';

export type ExecutorEffect =
  | { readonly kind: 'send'; readonly id: string; readonly request: ApiRequest }
  | { readonly kind: 'abort'; readonly id: string }
  /** The engine is to be told. */
  | { readonly kind: 'result'; readonly id: string; readonly outcome: Outcome }
  | { readonly kind: 'notice'; readonly notice: ExecutorNotice };

export type ExecutorNotice =
  | { readonly kind: 'commandSent'; readonly command: Removal }
  | {
      readonly kind: 'commandFinished';
      readonly command: Removal;
      readonly outcome: Outcome;
      readonly took: Millis;
    }
  /** It was written down, or not, since when a node's taints count. */
  | {
      readonly kind: 'taintStartsKept';
      readonly command: KeepTaintStarts;
      readonly outcome: Outcome;
    }
  /** A write to a node, or to a pod on its account, has ended. */
  | {
      readonly kind: 'nodeWriteFinished';
      readonly command: NodeCommand;
      readonly outcome: Outcome;
      readonly took: Millis;
    }
  /** The pod goes without the condition DisruptionTarget, and why. */
  | { readonly kind: 'markRefused'; readonly command: Removal; readonly message: string }
  | RecorderNotice;

interface Execution {
  readonly kind: 'execution';
  readonly state: ExecutionState;
  readonly since: Instant;
}

interface NodeWrite {
  readonly kind: 'nodeWrite';
  readonly state: NodeWriteState;
  readonly since: Instant;
}

type Purpose = Execution | NodeWrite;

/**
 * Turns commands into requests and answers into outcomes. Removals begin at once: how many are
 * under way is the engine's decision. Kubernetes Events are the recorder's, and best effort.
 */
export class Executor {
  #effects: ExecutorEffect[] = [];
  #serial = 0;
  #stopped = false;
  #leads = true;
  readonly #calls = new Calls<Purpose>();
  readonly #recorder: Recorder;
  readonly #options: ExecuteOptions;

  constructor(component: string, options: ExecuteOptions, random: Random) {
    this.#recorder = new Recorder({ component, random });
    this.#options = options;
  }

  /** Whether nothing is under way. */
  get idle(): boolean {
    return this.#calls.size === 0 && this.#recorder.idle;
  }

  /** Whether the request is one of its own, and under way. */
  owns(id: string): boolean {
    return this.#calls.has(id) || this.#recorder.owns(id);
  }

  /** When a call runs out of time, or Events go on; null when nothing is under way. */
  nextWake(): Instant | null {
    const [calls, events] = [this.#calls.nextWake(), this.#recorder.nextWake()];
    return calls === null || events === null ? (calls ?? events) : Math.min(calls, events);
  }

  /** Begins a command; with `confirm`, a removal reads pod and node first. */
  execute(
    now: Instant,
    command: Exclude<Command, { kind: 'report' }>,
    confirm = false,
  ): readonly ExecutorEffect[] {
    if (this.#stopped) return [];
    switch (command.kind) {
      case 'recordEvent':
      case 'recordNodeEvent':
        this.#take(this.#recorder.record(now, clusterEvent(command)));
        break;
      case 'keepTaintStarts':
        this.#step(now, now, command, beginExecution(command, now, this.#options));
        break;
      case 'deletePod':
      case 'evictPod':
        this.#notice({ kind: 'commandSent', command });
        this.#step(now, now, command, beginExecution(command, now, this.#options, confirm));
        break;
      default:
        this.#stepNodeWrite(now, now, command, beginNodeWrite(command, confirm));
    }
    return this.#drain();
  }

  /** Takes what is heard; input of other requests than its own is ignored. */
  receive(now: Instant, input: ExchangeInput): readonly ExecutorEffect[] {
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
  tick(now: Instant): readonly ExecutorEffect[] {
    this.#expire(now);
    this.#take(this.#recorder.tick(now));
    return this.#drain();
  }

  /** Tells an Event that is not the engine's. */
  record(now: Instant, event: ClusterEvent): readonly ExecutorEffect[] {
    if (!this.#stopped) this.#take(this.#recorder.record(now, event));
    return this.#drain();
  }

  /**
   * Whether it may act. Removals and writes to nodes under way end before their next request when
   * it may not: after a standstill of this process, what decided may have changed, and another
   * replica may be at it.
   */
  lead(held: boolean): void {
    this.#leads = held;
  }

  /** From now on no request is sent; those under way come to their end. */
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
    if (purpose.kind === 'execution') {
      const { state, since } = purpose;
      this.#step(now, since, state.command, continueExecution(state, answer, now, this.#options));
      return;
    }
    const { state, since } = purpose;
    this.#stepNodeWrite(now, since, state.command, continueNodeWrite(state, answer, now));
  }

  #step(now: Instant, since: Instant, command: Removal | KeepTaintStarts, step: Step): void {
    if (step.kind === 'finished') {
      const { outcome } = step;
      if (command.kind === 'keepTaintStarts') {
        this.#notice({ kind: 'taintStartsKept', command, outcome });
      } else {
        this.#notice({ kind: 'commandFinished', command, outcome, took: now - since });
      }
      this.#effects.push({ kind: 'result', id: command.id, outcome });
      return;
    }
    if (this.#stopped) return;
    if (!this.#leads && command.kind !== 'keepTaintStarts') {
      const outcome = { kind: 'changed', message: leadsNoMore } as const;
      this.#step(now, since, command, { kind: 'finished', outcome });
      return;
    }
    const { state, request, refusal } = step;
    if (refusal !== null && command.kind !== 'keepTaintStarts') {
      this.#notice({ kind: 'markRefused', command, message: refusal });
    }
    this.#send(now, request, { kind: 'execution', state, since });
  }

  #stepNodeWrite(now: Instant, since: Instant, command: NodeCommand, step: NodeWriteStep): void {
    if (step.kind === 'finished') {
      const { outcome } = step;
      this.#notice({ kind: 'nodeWriteFinished', command, outcome, took: now - since });
      this.#effects.push({ kind: 'result', id: command.id, outcome });
      return;
    }
    if (this.#stopped) return;
    if (!this.#leads) {
      // Not `changed`: to the engine that is a sign of life of the node.
      const failure = { status: null, message: leadsNoMore, retryAfter: null };
      const outcome = { kind: 'failed', ...failure } as const;
      this.#stepNodeWrite(now, since, command, { kind: 'finished', outcome });
      return;
    }
    this.#send(now, step.request, { kind: 'nodeWrite', state: step.state, since });
  }

  #send(now: Instant, request: ApiRequest, purpose: Purpose): void {
    this.#serial += 1;
    const id = `call/${this.#serial}`;
    this.#calls.begin(now, id, purpose);
    this.#effects.push({ kind: 'send', id, request });
  }

  #take(effects: readonly RecorderEffect[]): void {
    this.#effects.push(...effects);
  }

  #notice(notice: ExecutorNotice): void {
    this.#effects.push({ kind: 'notice', notice });
  }

  #drain(): readonly ExecutorEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

/** The Event as it is told; what concerns nodes is told in upstream's name. */
function clusterEvent(command: EventCommand): ClusterEvent {
  const { type, reason, message } = command;
  if (command.kind === 'recordNodeEvent') {
    const subject = { apiVersion: 'v1', kind: 'Node', namespace: '', ...command.node };
    return { subject, type, reason, message, component: lifecycleComponent };
  }
  const { namespace, name, uid } = command.pod;
  const subject = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
  const event = { subject, type, reason, message };
  return command.reporter === 'lifecycle' ? { ...event, component: lifecycleComponent } : event;
}
