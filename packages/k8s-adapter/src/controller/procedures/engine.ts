// How each command of the engine is carried out: evictions, and writes to nodes and to records.
import type { Command, LimitCommand, NodeCommand, Outcome } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import type { LeaseName } from '../../proto/lease-requests.ts';
import {
  type Circumstances,
  changed,
  failedUnasked,
  finish,
  type Procedures,
  stepsFrom,
  type Task,
} from '../task.ts';
import { conditionsSetting } from './drain-conditions.ts';
import { drainAsking } from './drain-question.ts';
import {
  type Drainer,
  type DrainWriteNotice,
  drainDeleting,
  drainGuarding,
  drainNodeWriting,
} from './drain-write.ts';
import {
  type EvictionRequestNotice,
  evictionRequestsReading,
  evictionRequestWriting,
} from './eviction-requests.ts';
import { type LimitRecordNotice, LimitRecords } from './limit-record.ts';
import { beginNodeWrite, continueNodeWrite } from './node-write.ts';
import {
  beginExecution,
  continueExecution,
  type ExecuteOptions,
  type KeepTaintStarts,
  type Removal,
} from './pod-removal.ts';
import { rolloutRestarting } from './rollout-restart.ts';
import { type UnmarkNotice, unmarking } from './unmark-pod.ts';

/** A notice of what became of a command of the engine. */
export type EngineNotice =
  | Extract<Command, { kind: 'report' }>
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
  | UnmarkNotice
  | DrainWriteNotice
  | EvictionRequestNotice
  | LimitRecordNotice;

export interface EngineProcedureOptions {
  /** Grace period and dry run of every eviction. */
  readonly removal?: ExecuteOptions;
  /** Where what limits have counted is kept; left out: nowhere. */
  readonly limitsLease?: LeaseName;
  /** Who writes drains on nodes; left out: taintmgr-controller. */
  readonly drainer?: Drainer;
}

/** What the engine wants done, and how that is done. */
export function engineProcedures(
  options: EngineProcedureOptions = {},
): Procedures<Command, EngineNotice> {
  const { removal = {}, limitsLease, drainer } = options;
  const limits = limitsLease ? new LimitRecords(limitsLease) : null;
  const remove = (command: Removal, given: Circumstances): Task<EngineNotice> =>
    removing(command, given, removal);
  const record = (command: LimitCommand): Task<EngineNotice> =>
    limits?.task(command) ?? nowhere(command);
  return {
    deletePod: remove,
    evictPod: remove,
    keepTaintStarts: (command, { wall }) => keepingStarts(command, wall, removal),
    unmarkPod: unmarking,
    readLimits: record,
    keepLimits: record,
    recordLimitEvent: (command) =>
      limits ? { kind: 'event', event: limits.event(command) } : { kind: 'nothing' },
    writeDrainNode: (command) => drainNodeWriting(command, drainer),
    guardDrain: drainGuarding,
    deleteDrain: drainDeleting,
    setDrainConditions: conditionsSetting,
    askForDrain: (command, { wall }) => drainAsking(command, wall),
    restartRollout: rolloutRestarting,
    readEvictionRequests: evictionRequestsReading,
    writeEvictionRequest: evictionRequestWriting,
    changeTaints: writing,
    setNodeConditions: writing,
    setNodeLabels: writing,
    markPodNotReady: writing,
    markPodLost: writing,
    recordEvent: (command) => {
      const event = podEvent(command);
      return { kind: 'event', event: command.reporter ? { ...event, ...lifecycle } : event };
    },
    recordNodeEvent: (command) => ({
      ...{ kind: 'event', event: { ...nodeEvent(command), ...lifecycle } },
    }),
    report: (command) => ({ kind: 'notice', notice: command }),
  };
}

function nowhere(command: LimitCommand): Task<EngineNotice> {
  const outcome = failedUnasked('no Lease is named to keep what limits have counted');
  return {
    ...{ kind: 'task', id: command.id, deposed: changed, outlastsStop: false },
    first: finish(outcome),
    ended: () => ({ kind: 'limitRecordFailed', command, lease: '', outcome }),
  };
}

function removing(
  command: Removal,
  { wall, isStale }: Circumstances,
  options: ExecuteOptions,
): Task<EngineNotice> {
  const confirm = command.confirm || isStale(command.pod.nodeName);
  return {
    ...{ kind: 'task', id: command.id, deposed: deposedRemoval, outlastsStop: false },
    first: stepsFrom(
      beginExecution(command, wall, options, confirm),
      (state, answer, now) => continueExecution(state, answer, now, options),
      (message) => ({ kind: 'markRefused', command, message }),
    ),
    begun: { kind: 'commandSent', command },
    ended: (outcome, took) => ({ kind: 'commandFinished', command, outcome, took }),
  };
}

/** A request that was hung up may have been carried out: limits go on counting its pod. */
function deposedRemoval(message: string, isHungUp: boolean): Outcome {
  return isHungUp ? failedUnasked(message) : changed(message);
}

function keepingStarts(
  command: KeepTaintStarts,
  wall: Instant,
  options: ExecuteOptions,
): Task<EngineNotice> {
  return {
    ...{ kind: 'task', id: command.id, deposed: changed, outlastsStop: false },
    first: stepsFrom(beginExecution(command, wall, options), (state, answer, now) =>
      continueExecution(state, answer, now, options),
    ),
    ended: (outcome) => ({ kind: 'taintStartsKept', command, outcome }),
  };
}

function writing(command: NodeCommand, { isStale }: Circumstances): Task<EngineNotice> {
  const confirm = 'pod' in command && isStale(command.pod.nodeName);
  return {
    // Not `changed`: to the engine that is a sign of life of the node.
    ...{ kind: 'task', id: command.id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom(beginNodeWrite(command, confirm), continueNodeWrite),
    ended: (outcome, took) => ({ kind: 'nodeWriteFinished', command, outcome, took }),
  };
}

/**
 * Whose Events about nodes, and about pods on their account, these are: upstream's own word for the source.
 * That we report them is said beside it, so that the account may change its own and no other's.
 */
const lifecycle = { component: 'node-controller' };

type PodEvent = Extract<Command, { kind: 'recordEvent' }>;

/** An Event about a pod, as both machines ask for it. */
export function podEvent(
  command: Pick<PodEvent, 'pod' | 'type' | 'reason' | 'message'>,
): ClusterEvent {
  const { pod, type, reason, message } = command;
  const { namespace, name, uid } = pod;
  const subject = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
  return { subject, type, reason, message };
}

/** An Event about a node, as both machines ask for it. */
export function nodeEvent({
  node,
  type,
  reason,
  message,
}: Pick<
  Extract<Command, { kind: 'recordNodeEvent' }>,
  'node' | 'type' | 'reason' | 'message'
>): ClusterEvent {
  const subject = { apiVersion: 'v1', kind: 'Node', namespace: '', ...node };
  return { subject, type, reason, message };
}
