import type { Command, Instant, LimitCommand, Millis, NodeCommand, Outcome } from '@taintmgr/core';
import type { Answer } from '../proto/answer.ts';
import type { ClusterEvent } from '../proto/event-requests.ts';
import type { LeaseName } from '../proto/lease-requests.ts';
import {
  type Errand,
  type ErrandEffect,
  type ErrandOptions,
  Errands,
  type Turn,
} from './errands.ts';
import type { RecorderNotice } from './event-recorder.ts';
import { type LimitRecordNotice, LimitRecords } from './procedures/limit-record.ts';
import { beginNodeWrite, continueNodeWrite, type NodeWriteStep } from './procedures/node-write.ts';
import {
  beginExecution,
  continueExecution,
  type ExecuteOptions,
  type KeepTaintStarts,
  type Removal,
  type Step,
} from './procedures/pod-removal.ts';

/** The engine's wish for a Kubernetes Event. */
export type EventCommand = Extract<Command, { kind: 'recordEvent' | 'recordNodeEvent' }>;

/** Whose Events about nodes, and about pods on their account, these are: upstream's own word. */
const lifecycleComponent = 'node-controller';

export type ExecutorEffect = ErrandEffect<ExecutorNotice>;

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
  | LimitRecordNotice
  | RecorderNotice;

/** How commands are carried out, and who tells of it. */
export interface ExecutorOptions extends ErrandOptions {
  readonly removal: ExecuteOptions;
  /** Where what limits have counted is kept; left out: nowhere. */
  readonly limitsLease?: LeaseName;
}

/**
 * Turns the engine's commands into requests and answers into outcomes. Kubernetes Events are the
 * recorder's, and best effort.
 */
export class Executor extends Errands<ExecutorNotice> {
  readonly #options: ExecuteOptions;
  readonly #limits: LimitRecords | null;

  constructor({ removal, limitsLease, ...options }: ExecutorOptions) {
    super(options);
    this.#options = removal;
    this.#limits = limitsLease ? new LimitRecords(limitsLease) : null;
  }

  /** Begins a command; with `confirm`, a removal reads pod and node first. */
  execute(
    now: Instant,
    command: Exclude<Command, { kind: 'report' }>,
    confirm = false,
  ): readonly ExecutorEffect[] {
    switch (command.kind) {
      case 'recordEvent':
      case 'recordNodeEvent':
        return this.record(now, clusterEvent(command));
      case 'keepTaintStarts':
        return this.begin(now, keepingStarts(command, this.wall(now), this.#options));
      case 'deletePod':
      case 'evictPod': {
        const notice = { kind: 'commandSent', command } as const;
        return this.begin(now, removing(command, this.wall(now), this.#options, confirm), notice);
      }
      case 'readLimits':
      case 'keepLimits':
        return this.begin(now, this.#limits?.errand(command) ?? nowhere(command));
      case 'recordLimitEvent':
        return this.#limits ? this.record(now, this.#limits.event(command)) : [];
      default:
        return this.begin(now, writing(command, confirm));
    }
  }
}

/** After a standstill what decided may have changed; it is another replica's to find out. */
function decidedElsewhere(message: string): Outcome {
  return { kind: 'changed', message };
}

function nowhere(command: LimitCommand): Errand<ExecutorNotice> {
  const message = 'no Lease is named to keep what limits have counted';
  const outcome = { kind: 'failed', status: null, message, retryAfter: null } as const;
  return {
    id: command.id,
    first: { kind: 'finished', outcome, refusal: null },
    deposed: decidedElsewhere,
    ended: () => ({ kind: 'limitRecordFailed', command, lease: '', outcome }),
    outlastsStop: false,
  };
}

function removing(
  command: Removal,
  wall: Instant,
  options: ExecuteOptions,
  confirm: boolean,
): Errand<ExecutorNotice> {
  return {
    id: command.id,
    first: removalTurn(command, beginExecution(command, wall, options, confirm), options),
    deposed: decidedElsewhere,
    ended: (outcome, took) => ({ kind: 'commandFinished', command, outcome, took }),
    outlastsStop: false,
  };
}

function keepingStarts(
  command: KeepTaintStarts,
  wall: Instant,
  options: ExecuteOptions,
): Errand<ExecutorNotice> {
  return {
    id: command.id,
    first: removalTurn(null, beginExecution(command, wall, options), options),
    deposed: decidedElsewhere,
    ended: (outcome) => ({ kind: 'taintStartsKept', command, outcome }),
    outlastsStop: false,
  };
}

function removalTurn(
  removal: Removal | null,
  step: Step,
  options: ExecuteOptions,
): Turn<ExecutorNotice> {
  if (step.kind === 'finished') return { ...step, refusal: null };
  const { state, request, refusal } = step;
  const isUnmarked = refusal !== null && removal !== null;
  return {
    kind: 'send',
    request,
    onAnswer: (answer, wall) =>
      removalTurn(removal, continueExecution(state, answer, wall, options), options),
    notice: isUnmarked ? { kind: 'markRefused', command: removal, message: refusal } : null,
  };
}

function writing(command: NodeCommand, confirm: boolean): Errand<ExecutorNotice> {
  return {
    id: command.id,
    first: writingTurn(beginNodeWrite(command, confirm)),
    // Not `changed`: to the engine that is a sign of life of the node.
    deposed: (message) => ({ kind: 'failed', status: null, message, retryAfter: null }),
    ended: (outcome, took) => ({ kind: 'nodeWriteFinished', command, outcome, took }),
    outlastsStop: false,
  };
}

function writingTurn(step: NodeWriteStep): Turn<ExecutorNotice> {
  if (step.kind === 'finished') return { ...step, refusal: null };
  const { state, request } = step;
  const onAnswer = (answer: Answer, wall: Instant): Turn<ExecutorNotice> =>
    writingTurn(continueNodeWrite(state, answer, wall));
  return { kind: 'send', request, onAnswer, notice: null };
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
