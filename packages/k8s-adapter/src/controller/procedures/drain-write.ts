// Writes of a NodeDrain: on its nodes, and on its own object, which is kept until the drain is undone.
import type { Command, Outcome } from '@taintmgr/core';
import { formatTime, type Millis } from '@taintmgr/core/time';
import {
  type CordonAndTaint,
  cordoning,
  type NodeChanges,
  tainting,
} from '../../drain/cordon-and-taint.ts';
import { drainableNode, type NodeChange, patchNodeRequest } from '../../drain/node-change.ts';
import { isMarkOf, type NodeUndone, undoing, untainting } from '../../drain/undo.ts';
import { ending, renewing } from '../../drain/working-mark.ts';
import { policyKinds } from '../../kinds/kinds.ts';
import { drainFinalizer } from '../../kinds/node-drain.ts';
import { answerValue, dateHeader } from '../../proto/answer.ts';
import { asList, asRecord, asText } from '../../proto/json.ts';
import {
  type ApiRequest,
  getNodeRequest,
  getRequest,
  objectRequest,
  patchConditionsRequest,
  patchRequest,
  policiesPath,
  withQuery,
} from '../../proto/requests.ts';
import {
  type Circumstances,
  changed,
  done,
  failedUnasked,
  gone,
  readModifyWrite,
  type Steps,
  type Task,
  write,
} from '../task.ts';

type WriteDrainNode = Extract<Command, { kind: 'writeDrainNode' }>;
type GuardDrain = Extract<Command, { kind: 'guardDrain' }>;
type DeleteDrain = Extract<Command, { kind: 'deleteDrain' }>;
type RestartRollout = Extract<Command, { kind: 'restartRollout' }>;
type SetDrainConditions = Extract<Command, { kind: 'setDrainConditions' }>;

type DrainWrite = WriteDrainNode | GuardDrain | DeleteDrain | RestartRollout;

/** A drain has written on a node, or on its object, or could not. */
export interface DrainWriteNotice {
  readonly kind: 'drainWriteFinished';
  readonly command: DrainWrite;
  readonly outcome: Outcome;
  readonly took: Millis;
  /** The changes made on a node, and those that undoing has left there. */
  readonly written: WrittenOnNode;
}

/** The outcome of writing on a node, by the wanted write; empty: nothing was found out. */
type WrittenOnNode = Partial<NodeChanges & NodeUndone>;

/** The one who drains. */
export interface Drainer {
  /** In metadata.managedFields. */
  readonly fieldManager: string;
  /** As marks say it; '': unknown. */
  readonly by: string;
}

const fieldManager = 'taintmgr-controller';
const controller: Drainer = { fieldManager, by: fieldManager };
const conflictsMax = 5;

export function drainNodeWriting(
  command: WriteDrainNode,
  drainer: Drainer = controller,
): Task<DrainWriteNotice> {
  let written: WrittenOnNode = {};
  const change = changeOf(command, drainer);
  const steps = nodeChanging(command.nodeName, change, drainer.fieldManager, (result = {}) => {
    written = result;
  });
  return drainWriteTask(command, steps, () => written);
}

/** Makes a drain's change to a node as it was read; `heard` gets the result of the change. */
export function nodeChanging<T>(
  nodeName: string,
  change: NodeChange<T>,
  fieldManager: string,
  heard: (result: T) => void,
): Steps {
  return readModifyWrite(
    () => getNodeRequest(nodeName),
    (found, wall) => {
      const node = drainableNode(answerValue(found));
      const next = change(node, dateHeader(found.headers) ?? wall);
      if (next.kind === 'refused') {
        const { message, takenOver } = next;
        return { ...changed(message), ...(takenOver && { takenOver }) };
      }
      heard(next.result);
      return next.patch ? patchNodeRequest(node, next.patch, fieldManager) : done;
    },
    conflictsMax,
  );
}

export function drainWriteTask(
  command: DrainWrite,
  steps: Steps,
  written: () => WrittenOnNode = () => ({}),
): Task<DrainWriteNotice> {
  return {
    ...{ kind: 'task', id: command.id, steps },
    ended: (outcome, took) => ({
      ...{ kind: 'drainWriteFinished', command, outcome, took, written: written() },
    }),
  };
}

/** The change to make of the node; the names that drains of this controller go by are those of their objects. */
function changeOf(
  { drain, uid, taint, write }: WriteDrainNode,
  { by }: Drainer,
): NodeChange<WrittenOnNode | undefined> {
  const wanted = (cordon: boolean): CordonAndTaint => {
    return { id: drain, run: uid, by, taint, cordon };
  };
  switch (write.kind) {
    case 'cordon':
      return cordoning(wanted(true));
    case 'taint':
      return tainting(wanted(write.cordon), write.before);
    case 'renew':
      return renewing({ run: uid, taint });
    case 'end':
      return ending({ run: uid, taint }, write.isDrained);
    case 'untaint':
      return untainting(isMarkOf(drain));
    case 'undo':
      return undoing(isMarkOf(drain));
  }
}

/** The finalizer is put on, or taken off, as the object was read; others' finalizers stay. */
export function drainGuarding(command: GuardDrain): Task<DrainWriteNotice> {
  const { drain, uid, isGuarded } = command;
  const steps = readModifyWrite(
    () => getRequest(nodeDrainPath(drain)),
    (found) => {
      const object = answerValue(found);
      if (asRecord(asRecord(object).metadata).uid !== uid) return gone;
      return guardRequest(object, isGuarded, fieldManager) ?? done;
    },
  );
  return drainWriteTask(command, steps);
}

/** The object is deleted only as it was read: it may have been edited meanwhile. */
export function drainDeleting(command: DeleteDrain): Task<DrainWriteNotice> {
  const { drain, uid, generation } = command;
  const path = nodeDrainPath(drain);
  const steps = readModifyWrite(
    () => getRequest(path),
    (found) => {
      const metadata = asRecord(asRecord(answerValue(found)).metadata);
      if (metadata.uid !== uid) return gone;
      if (metadata.deletionTimestamp !== undefined) return done;
      if (metadata.generation !== generation) return failedUnasked('it was edited');
      const preconditions = { uid, resourceVersion: metadata.resourceVersion };
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
      return objectRequest('DELETE', path, body);
    },
  );
  return drainWriteTask(command, steps);
}

/** The conditions of a node by which a NodeDrain says how far it is. */
export function drainConditionsSetting(
  { id, node, conditions }: SetDrainConditions,
  { wall }: Circumstances,
): Task<never> {
  const at = formatTime(wall);
  const times = { lastHeartbeatTime: at, lastTransitionTime: at };
  const written = conditions.map((one) => ({ ...one, ...times }));
  return { kind: 'task', id, steps: write(patchConditionsRequest(node, written, fieldManager)) };
}

/** Where a NodeDrain is. */
export function nodeDrainPath(name: string): string {
  return `${policiesPath(policyKinds.NodeDrain.plural)}/${encodeURIComponent(name)}`;
}

/**
 * Puts the finalizer on a NodeDrain as it was read, or takes it off; others' finalizers stay. Null: it
 * is so already.
 */
export function guardRequest(
  object: unknown,
  isGuarded: boolean,
  fieldManager: string,
): ApiRequest | null {
  const { name, resourceVersion, finalizers: listed } = asRecord(asRecord(object).metadata);
  const before = asList(listed).map(asText);
  if (before.includes(drainFinalizer) === isGuarded) return null;
  const others = before.filter((one) => one !== drainFinalizer);
  const finalizers = isGuarded ? [...others, drainFinalizer] : others;
  const target = withQuery(nodeDrainPath(asText(name)), { fieldManager });
  return patchRequest('merge', target, { metadata: { resourceVersion, finalizers } });
}
