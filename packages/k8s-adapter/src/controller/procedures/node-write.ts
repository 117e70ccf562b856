// A command about a node as requests, guarded by what was read.

import { type NodeCommand, readyOf, type Taint, type TaintName } from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import {
  type Answer,
  type Failure,
  failureOf,
  succeeded,
  valueToWriteBack,
} from '../../proto/answer.ts';
import type { ApiRequest } from '../../proto/api-request.ts';
import {
  leaseFromJson,
  nodeFromJson,
  ownedTaintsAnnotation,
  podFromJson,
} from '../../proto/convert.ts';
import { isMissing } from '../../proto/denial.ts';
import { asList, asRecord, asText, type JsonRecord } from '../../proto/json.ts';
import {
  getNodeLeaseRequest,
  getNodeRequest,
  isTaintObject,
  putNodeStatusRequest,
  setLabelsRequest,
  setTaintsRequest,
  type TaintObject,
} from '../../proto/node-requests.ts';
import { getPodRequest, putPodStatusRequest } from '../../proto/pod-requests.ts';
import { changed, failedBy, finish, type StateStep, send } from '../task.ts';

type ChangeTaints = Extract<NodeCommand, { kind: 'changeTaints' }>;
type SetConditions = Extract<NodeCommand, { kind: 'setNodeConditions' }>;
type MarkPod = Extract<NodeCommand, { kind: 'markPodNotReady' | 'markPodLost' }>;

/** Which request of a command about a node is under way. */
export type NodeWriteState =
  | { readonly kind: 'ReadingNode'; readonly command: ChangeTaints | SetConditions }
  | { readonly kind: 'ReadingLease'; readonly command: SetConditions; readonly node: JsonRecord }
  | { readonly kind: 'ReadingPod'; readonly command: MarkPod; readonly confirm: boolean }
  | { readonly kind: 'ReadingPodsNode'; readonly command: MarkPod; readonly pod: JsonRecord }
  | { readonly kind: 'Writing'; readonly command: NodeCommand };

export type NodeWriteStep = StateStep<NodeWriteState>;

/**
 * The first request of a command. Whatever replaces something as a whole (taints, a status) is read
 * first and written with the resourceVersion of what was read, so that no change of anybody else is
 * ever overwritten. With `confirm`, a pod is marked only if its node is still unreachable.
 */
export function beginNodeWrite(command: NodeCommand, confirm = false): NodeWriteStep {
  switch (command.kind) {
    case 'changeTaints':
      return send(
        { kind: 'ReadingNode', command },
        getNodeRequest(command.node.name, !command.fresh),
      );
    case 'setNodeConditions':
      return send({ kind: 'ReadingNode', command }, getNodeRequest(command.node.name));
    case 'setNodeLabels':
      return write(command, setLabelsRequest(command.node.name, command.labels));
    case 'markPodNotReady':
    case 'markPodLost': {
      const looksAgain = confirm && command.kind === 'markPodNotReady' && !command.blind;
      const state = { kind: 'ReadingPod', command, confirm: looksAgain } as const;
      return send(state, getPodRequest(command.pod));
    }
  }
}

/** Takes the answer to the request under way. */
export function continueNodeWrite(
  state: NodeWriteState,
  answer: Answer,
  now: Instant,
): NodeWriteStep {
  if (!succeeded(answer)) return afterFailure(state, failureOf(answer));
  // Nobody looks at the answer to a write, and to read it takes its time.
  const object = state.kind === 'Writing' ? {} : asRecord(valueToWriteBack(answer));
  switch (state.kind) {
    case 'ReadingNode': {
      const { command } = state;
      return command.kind === 'changeTaints'
        ? afterNode(command, object)
        : afterUnreachableNode(command, object);
    }
    case 'ReadingLease':
      return afterLease(state.command, state.node, leaseFromJson(object).renewedAt);
    case 'ReadingPod':
      return afterPod(state, object, now);
    case 'ReadingPodsNode': {
      const ready = readyOf(nodeFromJson(object).conditions);
      if (ready?.status !== 'Unknown') return finish(changed('its node has been heard of'));
      return markPod(state.command, state.pod, now);
    }
    case 'Writing':
      return finish({ kind: 'done' });
  }
}

/** A lease that is not there is as good as one that names no time. */
function afterFailure(state: NodeWriteState, failure: Failure): NodeWriteStep {
  const { status } = failure;
  if (status === 404 && state.kind === 'ReadingLease') {
    return afterLease(state.command, state.node, null);
  }
  if (isMissing(failure)) return finish({ kind: 'gone' });
  const { command } = state;
  if (status === 409 && state.kind === 'Writing' && command.kind === 'changeTaints') {
    // The node of the cache was behind, by an annotation of ours as often as not: read it itself.
    if (!command.fresh) return beginNodeWrite({ ...command, fresh: true });
  }
  return finish(failedBy(failure));
}

function afterNode(command: ChangeTaints, object: JsonRecord): NodeWriteStep {
  const { node, seen, add, remove, owned } = command;
  const { uid, conditions = [] } = nodeFromJson(object);
  if (uid !== node.uid) return finish({ kind: 'gone' });
  const ready = conditions.find(({ type }) => type === 'Ready')?.status ?? null;
  if (seen !== undefined && ready !== seen)
    return finish(changed(`Ready is ${ready ?? 'not there'} by now`));
  const before = asList(asRecord(object.spec).taints).filter(isTaintObject);
  const kept = before.filter((taint) => !includes(remove, taint));
  const added = add.map(taintObject);
  const replaced = kept.map((taint) => added.find((other) => includes([taint], other)) ?? taint);
  const left = command.overwrite ? replaced : kept;
  const taints = [...left, ...added.filter((taint) => !includes(kept, taint))];
  const isSame = JSON.stringify(taints) === JSON.stringify(before);
  if (isSame && owned === undefined) return finish({ kind: 'done' });
  const note =
    owned === undefined ? {} : { [ownedTaintsAnnotation]: owned && JSON.stringify(owned) };
  return write(command, setTaintsRequest(node.name, resourceVersionOf(object), taints, note));
}

function afterUnreachableNode(command: SetConditions, object: JsonRecord): NodeWriteStep {
  const { node, seen, leaseRenewedAt } = command;
  const { uid, conditions = [] } = nodeFromJson(object);
  if (uid !== node.uid) return finish({ kind: 'gone' });
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (
    ready?.status !== seen?.status ||
    (ready?.heartbeatAt ?? null) !== (seen?.heartbeatAt ?? null)
  ) {
    return finish(changed('its kubelet has reported'));
  }
  if (leaseRenewedAt === undefined) return writeConditions(command, object);
  return send({ kind: 'ReadingLease', command, node: object }, getNodeLeaseRequest(node.name));
}

function afterLease(
  command: SetConditions,
  node: JsonRecord,
  renewedAt: Instant | null,
): NodeWriteStep {
  if (renewedAt !== command.leaseRenewedAt) return finish(changed('its lease has been renewed'));
  return writeConditions(command, node);
}

/** What the kubelet said of itself last stays in each condition; the rest is ours. */
function writeConditions(command: SetConditions, node: JsonRecord): NodeWriteStep {
  const status = asRecord(node.status);
  const before = asList(status.conditions).map(asRecord);
  const changes = command.conditions.map(({ type, status, reason, message, ...times }) => ({
    type,
    status,
    ...(times.heartbeatAt !== null && { lastHeartbeatTime: formatTime(times.heartbeatAt) }),
    ...(times.transitionAt !== null && { lastTransitionTime: formatTime(times.transitionAt) }),
    reason,
    message,
  }));
  const merged = before.map((condition) => {
    const { lastHeartbeatTime = undefined } = condition;
    const change = changes.find(({ type }) => type === condition.type);
    return change ? { ...condition, ...change, lastHeartbeatTime } : condition;
  });
  const isNew = ({ type }: { type: string }): boolean => !before.some((old) => old.type === type);
  const conditions = [...merged, ...changes.filter(isNew)];
  const body = { ...node, status: { ...status, conditions } };
  return write(command, putNodeStatusRequest(command.node.name, body));
}

function afterPod(
  { command, confirm }: Extract<NodeWriteState, { kind: 'ReadingPod' }>,
  pod: JsonRecord,
  now: Instant,
): NodeWriteStep {
  if (podFromJson(pod).uid !== command.pod.uid) return finish({ kind: 'gone' });
  if (!confirm) return markPod(command, pod, now);
  return send({ kind: 'ReadingPodsNode', command, pod }, getNodeRequest(command.pod.nodeName));
}

/** A pod that has nothing to be marked is as good as gone: there is nothing to report either. */
function markPod(command: MarkPod, pod: JsonRecord, now: Instant): NodeWriteStep {
  const status = asRecord(pod.status);
  const changes =
    command.kind === 'markPodLost'
      ? nodeLostStatus(status, command.message)
      : notReady(status, now);
  if (!changes) return finish({ kind: command.kind === 'markPodLost' ? 'done' : 'gone' });
  const body = { ...pod, status: { ...status, ...changes } };
  return write(command, putPodStatusRequest(command.pod, body));
}

/** Reason and message of the condition stay, as kube-controller-manager leaves them. */
function notReady(status: JsonRecord, now: Instant): JsonRecord | null {
  const before = asList(status.conditions).map(asRecord);
  const ready = before.find(({ type }) => type === 'Ready');
  if (!ready || ready.status === 'False') return null;
  const change = { status: 'False', lastTransitionTime: formatTime(now) };
  const conditions = before.map((old) => (old === ready ? { ...old, ...change } : old));
  return { conditions };
}

function nodeLostStatus({ reason }: JsonRecord, message: string): JsonRecord | null {
  return reason === 'NodeLost' ? null : { reason: 'NodeLost', message };
}

function taintObject({ key, value, effect, timeAdded }: Taint): TaintObject {
  const time = timeAdded === null ? {} : { timeAdded: formatTime(timeAdded) };
  return { key, ...(value !== '' && { value }), effect, ...time };
}

/** Two taints are the same taint when key and effect agree. */
function includes(taints: readonly TaintName[], { key, effect }: TaintName): boolean {
  return taints.some((other) => other.key === key && other.effect === effect);
}

function resourceVersionOf(object: JsonRecord): string {
  return asText(asRecord(object.metadata).resourceVersion);
}

function write(command: NodeCommand, request: ApiRequest): NodeWriteStep {
  return send({ kind: 'Writing', command }, request);
}
