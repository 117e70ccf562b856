// Commands about a node as requests, guarded by the version that was read.

import {
  type NodeCommand,
  type Outcome,
  readyOf,
  type Taint,
  type TaintName,
} from '@taintmgr/core';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { failureOf, succeeded, valueToWriteBack } from '../../proto/answer.ts';
import {
  nodeFromJson,
  nodeLeaseFromJson,
  ownedTaintsAnnotation,
  podFromJson,
} from '../../proto/convert.ts';
import { asList, asRecord, asText, type JsonRecord } from '../../proto/json.ts';
import {
  type ApiRequest,
  getNodeLeaseRequest,
  getNodeRequest,
  getPodRequest,
  isTaintObject,
  putNodeStatusRequest,
  putPodStatusRequest,
  setLabelsRequest,
  setTaintsRequest,
  type TaintObject,
} from '../../proto/requests.ts';
import {
  call,
  changed,
  done,
  failedBy,
  gone,
  readModifyWrite,
  refusal,
  type Steps,
  write,
} from '../task.ts';

type ChangeTaints = Extract<NodeCommand, { kind: 'changeTaints' }>;
type SetConditions = Extract<NodeCommand, { kind: 'setNodeConditions' }>;
type MarkPod = Extract<NodeCommand, { kind: 'markPodNotReady' | 'markPodLost' }>;

/**
 * An object that is replaced as a whole (taints, a status) is read first and written with the
 * resourceVersion of the reading, so that no change of others is ever overwritten. With `confirm`,
 * a pod is marked only if its node is still unreachable.
 */
export function nodeWrite(command: NodeCommand, confirm = false): Steps {
  switch (command.kind) {
    case 'changeTaints':
      return changeTaints(command);
    case 'setNodeConditions':
      return setConditions(command);
    case 'setNodeLabels':
      return write(setLabelsRequest(command.node.name, command.labels));
    case 'markPodNotReady':
    case 'markPodLost':
      return markPod(command, confirm && command.kind === 'markPodNotReady' && !command.blind);
  }
}

/**
 * The node of the cache may be behind, often by an annotation of ours: then the node itself is
 * read.
 */
function changeTaints(command: ChangeTaints): Steps {
  const { node, fresh = false } = command;
  return readModifyWrite(
    (conflicts) => getNodeRequest(node.name, !fresh && conflicts === 0),
    (found) => taintsRequest(command, asRecord(valueToWriteBack(found))),
    fresh ? 0 : 1,
  );
}

function taintsRequest(command: ChangeTaints, object: JsonRecord): ApiRequest | Outcome {
  const { node, seen, add, remove, owned } = command;
  const { uid, conditions = [] } = nodeFromJson(object);
  if (uid !== node.uid) return gone;
  const ready = conditions.find(({ type }) => type === 'Ready')?.status ?? null;
  if (seen !== undefined && ready !== seen) {
    return changed(`Ready is ${ready ?? 'not there'} by now`);
  }
  const before = asList(asRecord(object.spec).taints).filter(isTaintObject);
  const kept = before.filter((taint) => !includes(remove, taint));
  const added = add.map(taintObject);
  const replaced = kept.map((taint) => added.find((other) => includes([taint], other)) ?? taint);
  const left = command.overwrite ? replaced : kept;
  const taints = [...left, ...added.filter((taint) => !includes(kept, taint))];
  const isSame = JSON.stringify(taints) === JSON.stringify(before);
  if (isSame && owned === undefined) return done;
  const note =
    owned === undefined ? {} : { [ownedTaintsAnnotation]: owned && JSON.stringify(owned) };
  const { resourceVersion } = asRecord(object.metadata);
  return setTaintsRequest(node.name, asText(resourceVersion), taints, note);
}

function* setConditions(command: SetConditions): Steps {
  const { node, seen, leaseRenewedAt } = command;
  const { answer } = yield* call(getNodeRequest(node.name));
  if (!succeeded(answer)) return refusal(answer);
  const object = asRecord(valueToWriteBack(answer));
  const { uid, conditions = [] } = nodeFromJson(object);
  if (uid !== node.uid) return gone;
  const ready = conditions.find(({ type }) => type === 'Ready');
  const isAsSeen =
    ready?.status === seen?.status && (ready?.heartbeatAt ?? null) === (seen?.heartbeatAt ?? null);
  if (!isAsSeen) return changed('its kubelet has reported');
  if (leaseRenewedAt !== undefined) {
    const lease = yield* readLease(node.name);
    if (lease.outcome) return lease.outcome;
    if (lease.renewedAt !== leaseRenewedAt) return changed('its lease has been renewed');
  }
  return yield* write(conditionsRequest(command, object));
}

/** A lease that is not there is as good as one that names no time. */
function* readLease(name: string): Steps<{ renewedAt: Instant | null; outcome?: Outcome }> {
  const { answer } = yield* call(getNodeLeaseRequest(name));
  if (succeeded(answer)) {
    return { renewedAt: nodeLeaseFromJson(asRecord(valueToWriteBack(answer))).renewedAt };
  }
  const failure = failureOf(answer);
  return failure.status === 404
    ? { renewedAt: null }
    : { renewedAt: null, outcome: failedBy(failure) };
}

/** The last word of the kubelet on itself stays in each condition; the rest is ours. */
function conditionsRequest(command: SetConditions, node: JsonRecord): ApiRequest {
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
  return putNodeStatusRequest(command.node.name, body);
}

/** A pod that has nothing to be marked is as good as gone: there is nothing to report either. */
function* markPod(command: MarkPod, confirm: boolean): Steps {
  const { pod } = command;
  let { answer, wall } = yield* call(getPodRequest(pod));
  if (!succeeded(answer)) return refusal(answer);
  const object = asRecord(valueToWriteBack(answer));
  if (podFromJson(object).uid !== pod.uid) return gone;
  if (confirm) {
    ({ answer, wall } = yield* call(getNodeRequest(pod.nodeName)));
    if (!succeeded(answer)) return refusal(answer);
    const ready = readyOf(nodeFromJson(asRecord(valueToWriteBack(answer))).conditions);
    if (ready?.status !== 'Unknown') return changed('its node has reported');
  }
  const status = asRecord(object.status);
  const isLost = command.kind === 'markPodLost';
  const changes = isLost ? nodeLostStatus(status, command.message) : notReady(status, wall);
  if (!changes) return isLost ? done : gone;
  const body = { ...object, status: { ...status, ...changes } };
  return yield* write(putPodStatusRequest(pod, body));
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
