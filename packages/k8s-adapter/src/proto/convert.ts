// API objects as the core's Node and Pod.
import type {
  DaemonSet,
  LabelSelector,
  Labels,
  Lease,
  Namespace,
  NodeCondition,
  Taint,
  Toleration,
} from '@taintmgr/core';
import type { PodClaim } from '@taintmgr/core/devices';
import type { Budget } from '@taintmgr/core/drain';
import { type Node, type Owner, type Pod, zoneName } from '@taintmgr/core/model';
import type { Instant } from '@taintmgr/core/time';
import { disruptionOf } from './disruption-target.ts';
import { drainMarkNames, drainMarksAnnotation, workingDrains } from './drain-annotation.ts';
import {
  asInteger,
  asList,
  asRecord,
  asText,
  isRecord,
  type JsonRecord,
  parseJson,
} from './json.ts';
import {
  believedStarts,
  pastPauses,
  taintStartsAnnotation,
  taintsWrittenAt,
  taintsWrittenBy,
  timeFromJson,
} from './taint-starts.ts';

/** The marks that distinguish one state of one object from another. */
export interface Identity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';
/** On a node: when the machine itself goes, RFC 3339. */
const deadlineAnnotation = 'taintmgr.dev/deadline';
/** On a pod: `false` asks to be left alone. */
const evictAnnotation = 'taintmgr.dev/evict';
const safeToEvictAnnotation = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
const doNotDisruptAnnotation = 'karpenter.sh/do-not-disrupt';
/** On a node: the taints that rules of ours put on, as JSON of `key:effect` to the rule's name. */
export const ownedTaintsAnnotation = 'taintmgr.dev/owned-taints';

const defaultGraceSeconds = 30;
/** The number nearest to the largest int64. */
const int64Edge = 2 ** 63;
/** Of nearly every node. */
const noTaints: readonly Taint[] = [];

/**
 * Reads each immutable value once. Such values come from a server in the same process, which keeps
 * what many objects have in common as one value.
 */
function onceEach<T>(read: (value: unknown) => T): (value: unknown) => T {
  const known = new WeakMap<object, { readonly read: T }>();
  return (value) => {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return read(value);
    const before = known.get(value);
    if (before) return before.read;
    const now = { read: read(value) };
    known.set(value, now);
    return now.read;
  };
}

/** Reads the metadata of any API object; null without the name and uid that every one has. */
export function identityOf(value: unknown): Identity | null {
  const metadata = asRecord(asRecord(value).metadata);
  const identity = {
    namespace: asText(metadata.namespace),
    name: asText(metadata.name),
    uid: asText(metadata.uid),
    resourceVersion: asText(metadata.resourceVersion),
  };
  return identity.name === '' || identity.uid === '' ? null : identity;
}

/** Reads a v1 Node. Never throws: a field of a wrong type is read as an absent one. */
export function nodeFromJson(value: unknown): Node {
  return readNode(value);
}

const readNode = onceEach((value: unknown): Node => {
  const object = asRecord(value);
  const metadata = asRecord(object.metadata);
  const annotations = asRecord(metadata.annotations);
  const writtenAt = taintsWrittenAt(metadata.managedFields);
  const taintStarts = believedStarts(annotations[taintStartsAnnotation], writtenAt);
  const past = pastPauses(annotations[taintStartsAnnotation]);
  const name = asText(metadata.name);
  const labels = sharedLabels(labelsFrom(metadata.labels), name);
  const { spec, status } = { spec: asRecord(object.spec), status: asRecord(object.status) };
  const owned = asText(annotations[ownedTaintsAnnotation]);
  const ownedTaints = owned === '' ? {} : labelsFrom(parseJson(owned));
  const usual: Node = {
    name,
    uid: asText(metadata.uid),
    taints: taintsFrom(spec.taints),
    labels,
    zone: sharedText(zoneName(labels)),
    unschedulable: spec.unschedulable === true,
    createdAt: timeFromJson(metadata.creationTimestamp),
    conditions: asList(status.conditions).map(conditionFromJson),
    deadline: timeFromJson(annotations[deadlineAnnotation]),
    taintsWrittenAt: writtenAt,
  };
  const writer = usual.taints.length > 0 ? taintsWrittenBy(metadata.managedFields) : null;
  const special: Partial<Node> = {
    ...(writer !== null && { taintsWrittenBy: writer }),
    ...(annotations[doNotDisruptAnnotation] === 'true' && { doNotDisrupt: true }),
    ...(taintStarts && { taintStarts }),
    ...(past.length > 0 && { pastPauses: past }),
    ...(Object.keys(ownedTaints).length > 0 && { ownedTaints }),
    ...drainsFrom(annotations),
  };
  // Most have none of it, and an object with room for all of it is half as large again.
  return Object.keys(special).length === 0 ? usual : { ...usual, ...special };
});

/** Taints of a node, or of a device. */
export function taintsFrom(value: unknown): readonly Taint[] {
  const taints = asList(value);
  return taints.length === 0 ? noTaints : taints.map(taintFromJson);
}

function drainsFrom(annotations: JsonRecord): Pick<Node, 'drains' | 'drainMarks'> {
  const value = annotations[drainMarksAnnotation];
  const [drains, drainMarks] = [workingDrains(value), drainMarkNames(value)];
  return {
    ...(drains.length > 0 && { drains }),
    ...(drainMarks.length > 0 && { drainMarks }),
  };
}

/**
 * Reads a coordination.k8s.io/v1 Lease of a node. Never throws: a field of a wrong type is read as
 * an absent one.
 */
export function nodeLeaseFromJson(value: unknown): Lease {
  const { metadata, spec } = asRecord(value);
  const renewedAt = timeFromJson(asRecord(spec).renewTime);
  return { nodeName: asText(asRecord(metadata).name), renewedAt };
}

/** Reads a v1 Namespace. Never throws: a field of a wrong type is read as an absent one. */
export function namespaceFromJson(value: unknown): Namespace {
  const { name, labels } = asRecord(asRecord(value).metadata);
  return { name: asText(name), labels: labelsFrom(labels) };
}

/** Reads an apps/v1 DaemonSet. Never throws: a field of a wrong type is read as an absent one. */
export function daemonSetFromJson(value: unknown): DaemonSet {
  const { metadata, spec } = asRecord(value);
  const { namespace, name, uid } = asRecord(metadata);
  const selector = selectorFrom(asRecord(asRecord(spec).selector));
  return { namespace: asText(namespace), name: asText(name), uid: asText(uid), selector };
}

/** Reads a v1 Pod. Never throws: a field of a wrong type is read as an absent one. */
export function podFromJson(value: unknown): Pod {
  const object = asRecord(value);
  const metadata = asRecord(object.metadata);
  const spec = asRecord(object.spec);
  const status = asRecord(object.status);
  const nodeName = asText(spec.nodeName);
  const owner = readOwner(metadata.ownerReferences);
  return {
    namespace: asText(metadata.namespace),
    name: asText(metadata.name),
    uid: asText(metadata.uid),
    nodeName,
    tolerations: readTolerations(spec.tolerations),
    boundAt: boundAt(status, timeFromJson(metadata.creationTimestamp)),
    deletionTimestamp: timeFromJson(metadata.deletionTimestamp),
    phase: asText(status.phase),
    generation: asInteger(metadata.generation) ?? 0,
    mirror: isMarkedMirror(metadata) && isNode(owner, nodeName),
    owner,
    gracePeriodSeconds: asInteger(spec.terminationGracePeriodSeconds) ?? defaultGraceSeconds,
    optedOut: asRecord(metadata.annotations)[evictAnnotation] === 'false',
    hasEmptyDir: asList(spec.volumes).some((volume) => isRecord(asRecord(volume).emptyDir)),
    ready: readyStatusOf(status),
    ...policyFieldsFrom(metadata, spec),
    ...disruptionFrom(object),
    ...claimsFrom(spec, status),
  };
}

/** Tells whether the metadata of a pod say that a kubelet shows a static pod by it; anybody who creates pods may say so. */
export function isMarkedMirror(metadata: JsonRecord): boolean {
  return Object.hasOwn(asRecord(metadata.annotations), mirrorAnnotation);
}

/**
 * A kubelet makes its node the controller of each mirror. If another client names a node as the
 * owner, the garbage collector deletes the pod, unless the client knows the uid of the node.
 */
function isNode(owner: Owner | null, name: string): boolean {
  return owner?.kind === 'Node' && owner.apiVersion === 'v1' && owner.name === name && name !== '';
}

/** The fields that only policies look at; most pods leave some of it out. */
function policyFieldsFrom(metadata: JsonRecord, spec: JsonRecord): Partial<Pod> {
  const labels = readLabels(metadata.labels);
  const priority = asInteger(spec.priority) ?? 0;
  const priorityClassName = asText(spec.priorityClassName);
  const annotations = asRecord(metadata.annotations);
  return {
    ...(annotations[safeToEvictAnnotation] === 'false' && { unsafeToEvict: true }),
    ...(annotations[doNotDisruptAnnotation] === 'true' && { doNotDisrupt: true }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(priority !== 0 && { priority }),
    ...(priorityClassName !== '' && { priorityClassName }),
  };
}

function disruptionFrom(object: JsonRecord): Pick<Pod, 'disruption'> {
  const mark = disruptionOf(object);
  return mark ? { disruption: { reason: mark.reason, manager: mark.manager } } : {};
}

/** Nearly no pod has any. */
function claimsFrom(spec: JsonRecord, status: JsonRecord): Pick<Pod, 'claims'> {
  const { resourceClaims } = spec;
  const { resourceClaimStatuses, extendedResourceClaimStatus } = status;
  if (resourceClaims === undefined && extendedResourceClaimStatus === undefined) return {};
  const made = asList(resourceClaimStatuses).map(asRecord);
  const claims = asList(resourceClaims).map((value): PodClaim => {
    const { name, resourceClaimName } = asRecord(value);
    const own = asText(name);
    if (typeof resourceClaimName === 'string') {
      return { name: own, claim: resourceClaimName, origin: 'named' };
    }
    const claim = asText(made.find((one) => one.name === name)?.resourceClaimName);
    return { name: own, claim: claim === '' ? null : claim, origin: 'template' };
  });
  const extended = asText(asRecord(extendedResourceClaimStatus).resourceClaimName);
  if (extended !== '') claims.push({ name: extended, claim: extended, origin: 'extended' });
  return claims.length > 0 ? { claims } : {};
}

function readyStatusOf(status: JsonRecord): string | null {
  for (const value of asList(status.conditions)) {
    const { type, status: state } = asRecord(value);
    if (type === 'Ready') return asText(state);
  }
  return null;
}

function conditionFromJson(value: unknown): NodeCondition {
  const { type, status, reason, message, ...times } = asRecord(value);
  return {
    type: sharedText(asText(type)),
    status: sharedText(asText(status)),
    reason: sharedText(asText(reason)),
    message: sharedText(asText(message)),
    heartbeatAt: timeFromJson(times.lastHeartbeatTime),
    transitionAt: timeFromJson(times.lastTransitionTime),
  };
}

/** Labels, or anything else that is strings by strings; the rest is left out. */
function labelsFrom(value: unknown): Labels {
  const record = asRecord(value);
  const labels: Record<string, string> = {};
  for (const key of Object.keys(record)) {
    const text = record[key];
    if (typeof text !== 'string') continue;
    // Every key is one of the labels' own, whatever it is called.
    if (key === '__proto__') Object.defineProperty(labels, key, { value: text, enumerable: true });
    else labels[key] = text;
  }
  return labels;
}

const readLabels = onceEach(labelsFrom);

/**
 * There are as many nodes as there are, and few zones, architectures and kinds of machines. The
 * node's name is among the labels.
 */
function sharedLabels(labels: Labels, name: string): Labels {
  return Object.fromEntries(
    Object.entries(labels).map(([key, text]) => [key, text === name ? name : sharedText(text)]),
  );
}

/** Reads a label selector; an unknown expression is left out. */
export function selectorFrom({ matchLabels, matchExpressions }: JsonRecord): LabelSelector {
  const expressions = asList(matchExpressions).flatMap((value) => {
    const { key, operator, values } = asRecord(value);
    const known = operators.find((name) => name === operator);
    const texts = asList(values).map(asText);
    return known ? [{ key: asText(key), operator: known, values: texts }] : [];
  });
  return { matchLabels: labelsFrom(matchLabels), matchExpressions: expressions };
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

function taintFromJson(value: unknown): Taint {
  const taint = asRecord(value);
  return {
    key: asText(taint.key),
    value: asText(taint.value),
    effect: asText(taint.effect),
    timeAdded: timeFromJson(taint.timeAdded),
  };
}

function tolerationFromJson(value: unknown): Toleration {
  const toleration = asRecord(value);
  return {
    key: asText(toleration.key),
    operator: asText(toleration.operator),
    value: asText(toleration.value),
    effect: asText(toleration.effect),
    tolerationSeconds: tolerationSecondsFromJson(toleration.tolerationSeconds),
  };
}

/**
 * Reads a policy/v1 PodDisruptionBudget. Never throws: a field of a wrong type is read as an absent
 * one.
 */
export function budgetFromJson(value: unknown): Budget {
  const budget = asRecord(value);
  const [metadata, spec, status] = [budget.metadata, budget.spec, budget.status].map(asRecord);
  const count = (number: unknown): number => asInteger(number) ?? 0;
  const shut = asList(status?.conditions)
    .map(asRecord)
    .find((one) => one.type === 'DisruptionAllowed' && one.status === 'False');
  const [reason, message] = [asText(shut?.reason), asText(shut?.message)];
  const selector = spec?.selector;
  return {
    namespace: asText(metadata?.namespace),
    name: asText(metadata?.name),
    selector: isRecord(selector) ? selectorFrom(selector) : null,
    allowed: count(status?.disruptionsAllowed),
    healthy: count(status?.currentHealthy),
    desired: count(status?.desiredHealthy),
    expected: count(status?.expectedPods),
    unconfirmed: Object.keys(asRecord(status?.disruptedPods)).length,
    upToDate: count(status?.observedGeneration) >= count(metadata?.generation),
    alwaysEvictUnhealthy: spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow',
    refusal: message === '' ? null : { reason, message },
    owners: asList(metadata?.ownerReferences).map((one) => {
      const { apiVersion, kind, name } = asRecord(one);
      return { apiVersion: asText(apiVersion), kind: asText(kind), name: asText(name) };
    }),
    writers: asList(metadata?.managedFields).flatMap((one) => {
      const { manager, subresource } = asRecord(one);
      return asText(manager) === '' || asText(subresource) !== '' ? [] : [asText(manager)];
    }),
  };
}

/**
 * Held within int64, not within the safe integers: kube-controller-manager takes its largest number
 * for no limit, while fewer seconds may wrap around. A value beyond 2^53 was rounded when it was
 * parsed.
 */
function tolerationSecondsFromJson(value: unknown): number | null {
  if (typeof value !== 'number' || Number.isNaN(value)) return null;
  return Math.max(-int64Edge, Math.min(int64Edge, Math.trunc(value)));
}

export const readTolerations: (value: unknown) => readonly Toleration[] = onceEach(
  (value: unknown): readonly Toleration[] => asList(value).map(tolerationFromJson),
);

/**
 * The scheduler's binding leaves PodScheduled; a static pod has only the kubelet's startTime. With
 * neither it was bound when it was created, or the time is unknown. Never before that: a kubelet
 * whose clock is slow must not cost its pods the time that they are given.
 */
function boundAt(status: JsonRecord, createdAt: Instant | null): Instant | null {
  const written = writtenBinding(status);
  if (written === null || createdAt === null) return written ?? createdAt;
  return Math.max(written, createdAt);
}

function writtenBinding(status: JsonRecord): Instant | null {
  for (const value of asList(status.conditions)) {
    const condition = asRecord(value);
    if (condition.type !== 'PodScheduled' || condition.status !== 'True') continue;
    const scheduled = timeFromJson(condition.lastTransitionTime);
    if (scheduled !== null) return scheduled;
  }
  return timeFromJson(status.startTime);
}

const readOwner = onceEach((references: unknown): Owner | null => {
  for (const value of asList(references)) {
    const owner = asRecord(value);
    if (owner.controller !== true) continue;
    return {
      apiVersion: asText(owner.apiVersion),
      kind: asText(owner.kind),
      name: asText(owner.name),
    };
  }
  return null;
});

/** More are in use at a time in few clusters; beyond it all are forgotten, and found again. */
const textsMax = 4096;
/** Longer texts are seldom seen twice. */
const lengthMax = 128;

/** Knows only its readings, so sharing it changes nothing. */
const texts = new Map<string, string>();

/** The same text, as it was seen first. */
export function sharedText(text: string): string {
  if (text.length > lengthMax) return text;
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size >= textsMax) texts.clear();
  texts.set(text, text);
  return text;
}
