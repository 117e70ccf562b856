// Carries out each command of the engine: evictions, and writes to nodes and to records.
import type { Command, LimitCommand, NodeCommand, Outcome } from '@taintmgr/core';
import type { Millis } from '@taintmgr/core/time';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import type { LeaseName } from '../../proto/lease-requests.ts';
import {
  type Circumstances,
  changed,
  ended,
  failedUnasked,
  type Procedures,
  type Task,
} from '../task.ts';
import { drainAsking } from './drain-question.ts';
import {
  type Drainer,
  type DrainWriteNotice,
  drainConditionsSetting,
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
import { nodeWrite } from './node-write.ts';
import {
  type KeepTaintStarts,
  keepTaintStarts,
  type MarkRefused,
  type Removal,
  type RemovePodOptions,
  removePod,
  type UnmarkNotice,
  unmarking,
} from './pod-removal.ts';
import { rolloutRestarting } from './rollout-restart.ts';

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
  /** The start of a node's taints was written down, or not. */
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
  | MarkRefused
  | UnmarkNotice
  | DrainWriteNotice
  | EvictionRequestNotice
  | LimitRecordNotice;

export interface EngineProcedureOptions {
  /** Grace period and dry run of every eviction. */
  readonly removal?: RemovePodOptions;
  /** Where what limits have counted is kept; left out: nowhere. */
  readonly limitsLease?: LeaseName;
  /** The one who writes drains on nodes; left out: taintmgr-controller. */
  readonly drainer?: Drainer;
}

/** Carries out all that the engine wants done. */
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
    keepTaintStarts: keepingStarts,
    unmarkPod: unmarking,
    readLimits: record,
    keepLimits: record,
    recordLimitEvent: (command) =>
      limits ? { kind: 'event', event: limits.event(command) } : { kind: 'nothing' },
    writeDrainNode: (command) => drainNodeWriting(command, drainer),
    guardDrain: drainGuarding,
    deleteDrain: drainDeleting,
    setDrainConditions: drainConditionsSetting,
    askForDrain: drainAsking,
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
    ...{ kind: 'task', id: command.id, steps: ended(outcome) },
    ended: () => ({ kind: 'limitRecordFailed', command, lease: '', outcome }),
  };
}

function removing(
  command: Removal,
  { wall, isStale }: Circumstances,
  options: RemovePodOptions,
): Task<EngineNotice> {
  const confirm = command.confirm || isStale(command.pod.nodeName);
  return {
    ...{ kind: 'task', id: command.id, deposed: deposedRemoval },
    steps: removePod(command, wall, options, confirm),
    begun: { kind: 'commandSent', command },
    ended: (outcome, took) => ({ kind: 'commandFinished', command, outcome, took }),
  };
}

/** A request that was hung up may have been carried out: limits go on counting its pod. */
function deposedRemoval(message: string, isHungUp: boolean): Outcome {
  return isHungUp ? failedUnasked(message) : changed(message);
}

function keepingStarts(command: KeepTaintStarts): Task<EngineNotice> {
  return {
    ...{ kind: 'task', id: command.id, deposed: changed, steps: keepTaintStarts(command) },
    ended: (outcome) => ({ kind: 'taintStartsKept', command, outcome }),
  };
}

/** A write that may not go on has failed, and not `changed`: to the engine that is a sign of life of the node. */
function writing(command: NodeCommand, { isStale }: Circumstances): Task<EngineNotice> {
  const confirm = 'pod' in command && isStale(command.pod.nodeName);
  return {
    ...{ kind: 'task', id: command.id, steps: nodeWrite(command, confirm) },
    ended: (outcome, took) => ({ kind: 'nodeWriteFinished', command, outcome, took }),
  };
}

/**
 * The source of Events about nodes, and about pods on their account, in upstream's own word. Our
 * name as the reporter is written beside it, so that the account may change its own and no other's.
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
