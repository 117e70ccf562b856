// How a NodeDrain is carried out on its nodes, and how it is kept until it is undone.
import type { Command, Outcome } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  type CordonAndTaint,
  cordoning,
  type NodeChanges,
  tainting,
} from '../../drain/cordon-and-taint.ts';
import { guardRequest, nodeDrainPath } from '../../drain/guard.ts';
import { drainableNode, type NodeChange, patchNodeRequest } from '../../drain/node-change.ts';
import { isMarkOf, type NodeUndone, undoing, untainting } from '../../drain/undo.ts';
import { ending, renewing } from '../../drain/working-mark.ts';
import { type Answer, dateHeader, failureOf, succeeded } from '../../proto/answer.ts';
import { getRequest, objectRequest } from '../../proto/api-request.ts';
import { isMissing } from '../../proto/denial.ts';
import { asRecord, parseJson } from '../../proto/json.ts';
import { getNodeRequest } from '../../proto/node-requests.ts';
import {
  changed,
  failedBy,
  failedUnasked,
  finish,
  type StateStep,
  send,
  stepsFrom,
  type Task,
} from '../task.ts';

type WriteDrainNode = Extract<Command, { kind: 'writeDrainNode' }>;
type GuardDrain = Extract<Command, { kind: 'guardDrain' }>;
type DeleteDrain = Extract<Command, { kind: 'deleteDrain' }>;
type RestartRollout = Extract<Command, { kind: 'restartRollout' }>;

/** A drain has written on a node, or on its object, or could not. */
export interface DrainWriteNotice {
  readonly kind: 'drainWriteFinished';
  readonly command: WriteDrainNode | GuardDrain | DeleteDrain | RestartRollout;
  readonly outcome: Outcome;
  readonly took: Millis;
  /** What it has changed on a node, and what undoing has left there. */
  readonly written: WrittenOnNode;
}

/** What writing on a node came to, by what was to be written; empty: nothing was found out. */
type WrittenOnNode = Partial<NodeChanges & NodeUndone>;

/** Who drains. */
export interface Drainer {
  /** In metadata.managedFields. */
  readonly fieldManager: string;
  /** As marks say it; '': nobody knows. */
  readonly by: string;
}

const fieldManager = 'taintmgr-controller';
const controller: Drainer = { fieldManager, by: fieldManager };
const conflictsMax = 5;

interface State {
  readonly kind: 'reading' | 'writing';
  readonly conflicts: number;
}

/**
 * The node is read, and written only as it was read: refused with 409 because somebody else was
 * quicker, it is read and looked at again.
 */
export function drainNodeWriting(
  command: WriteDrainNode,
  drainer: Drainer = controller,
): Task<DrainWriteNotice> {
  let written: WrittenOnNode = {};
  const read = (conflicts: number): StateStep<State> =>
    send<State>({ kind: 'reading', conflicts }, getNodeRequest(command.nodeName));
  const resume = (state: State, answer: Answer, wall: Instant): StateStep<State> => {
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      if (isMissing(failure)) return finish({ kind: 'gone' });
      const isBehind = failure.status === 409 && state.kind === 'writing';
      if (isBehind && state.conflicts < conflictsMax) return read(state.conflicts + 1);
      return finish(failedBy(failure));
    }
    if (state.kind === 'writing') return finish({ kind: 'done' });
    const node = drainableNode(parseJson(answer.body));
    const at = dateHeader(answer.headers) ?? wall;
    const change = changeOf(command, drainer)(node, at);
    if (change.kind === 'refused') {
      const { message, takenOver } = change;
      return finish({ ...changed(message), ...(takenOver && { takenOver }) });
    }
    written = change.result ?? {};
    if (!change.patch) return finish({ kind: 'done' });
    const request = patchNodeRequest(node, change.patch, drainer.fieldManager);
    return send<State>({ ...state, kind: 'writing' }, request);
  };
  return {
    ...{ kind: 'task', id: command.id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom(read(0), resume),
    ended: (outcome, took) => ({ kind: 'drainWriteFinished', command, outcome, took, written }),
  };
}

/** What becomes of the node; the names that drains of this controller go by are those of their objects. */
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
  const resume = (state: 'reading' | 'writing', answer: Answer): StateStep<typeof state> => {
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      return finish(isMissing(failure) ? { kind: 'gone' } : failedBy(failure));
    }
    if (state === 'writing') return finish({ kind: 'done' });
    const object = parseJson(answer.body);
    if (asRecord(asRecord(object).metadata).uid !== uid) return finish({ kind: 'gone' });
    const request = guardRequest(object, isGuarded, fieldManager);
    return request ? send<'reading' | 'writing'>('writing', request) : finish({ kind: 'done' });
  };
  return {
    ...{ kind: 'task', id: command.id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom(
      send<'reading' | 'writing'>('reading', getRequest(nodeDrainPath(drain))),
      resume,
    ),
    ended: (outcome, took) => ({ kind: 'drainWriteFinished', command, outcome, took, written: {} }),
  };
}

/** The object is read, and deleted only as it was read: somebody may have edited it. */
export function drainDeleting(command: DeleteDrain): Task<DrainWriteNotice> {
  const { drain, uid, generation } = command;
  const path = nodeDrainPath(drain);
  const resume = (state: 'reading' | 'writing', answer: Answer): StateStep<typeof state> => {
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      return finish(isMissing(failure) ? { kind: 'gone' } : failedBy(failure));
    }
    if (state === 'writing') return finish({ kind: 'done' });
    const metadata = asRecord(asRecord(parseJson(answer.body)).metadata);
    if (metadata.uid !== uid) return finish({ kind: 'gone' });
    if (metadata.deletionTimestamp !== undefined) return finish({ kind: 'done' });
    if (metadata.generation !== generation) return finish(failedUnasked('it was edited'));
    const preconditions = { uid, resourceVersion: metadata.resourceVersion };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
    return send<'reading' | 'writing'>('writing', objectRequest('DELETE', path, body));
  };
  return {
    ...{ kind: 'task', id: command.id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom(send<'reading' | 'writing'>('reading', getRequest(path)), resume),
    ended: (outcome, took) => ({ kind: 'drainWriteFinished', command, outcome, took, written: {} }),
  };
}
