// The eviction of one pod as requests, and how a pod that stays loses its mark.
import {
  type BudgetNumbers,
  type Command,
  confirmEviction,
  type Outcome,
  type Reason,
} from '@taintmgr/core';
import { confirmDeviceTaint } from '@taintmgr/core/devices';
import { isTaintReason, takeoverProgram } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import {
  answerValue,
  type Failure,
  failureOf,
  isDeniedByAdmission,
  succeeded,
} from '../../proto/answer.ts';
import { budgetFromJson, nodeFromJson, podFromJson } from '../../proto/convert.ts';
import {
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '../../proto/convert-devices.ts';
import { claimPath, type DevicePaths, getTaintSourceRequest } from '../../proto/device-requests.ts';
import { disruptionOf } from '../../proto/disruption-target.ts';
import { asRecord, asText } from '../../proto/json.ts';
import {
  type ApiRequest,
  annotateNodeRequest,
  type DeletionOptions,
  deletePodRequest,
  evictPodRequest,
  getBudgetRequest,
  getNodeRequest,
  getPodRequest,
  getRequest,
  markDisruptedRequest,
  type RemovalOptions,
  unmarkDisruptedRequest,
} from '../../proto/requests.ts';
import {
  formatStarts,
  taintStartsAnnotation,
  taintStartsManager,
} from '../../proto/taint-starts.ts';
import {
  call,
  changed,
  done,
  failedBy,
  gone,
  readModifyWrite,
  type Steps,
  type Task,
} from '../task.ts';

/** The commands that make a pod leave. */
export type Removal = Extract<Command, { kind: 'deletePod' | 'evictPod' }>;

/** The command that writes on a node since when its taints count. */
export type KeepTaintStarts = Extract<Command, { kind: 'keepTaintStarts' }>;

type DeletePod = Extract<Command, { kind: 'deletePod' }>;
type EvictPod = Exclude<Removal, DeletePod>;
type Blocked = Extract<Outcome, { kind: 'blocked' }>;

/** The way commands are carried out. */
export interface RemovePodOptions extends RemovalOptions {
  /** True if tolerations with Lt and Gt count, as in the engine's configuration. */
  readonly comparisonOperators?: boolean;
  /** True if pods go that a drain at work may evict itself; left out: they do not. */
  readonly ignoresDrains?: boolean;
  /**
   * The paths at which the sources of device taints are read again; left out: no pod leaves because
   * of devices.
   */
  readonly devices?: DevicePaths;
}

/** The pod goes without the condition DisruptionTarget, and why. */
export interface MarkRefused {
  readonly kind: 'markRefused';
  readonly command: Removal;
  readonly message: string;
}

/**
 * Removes a pod. With `confirm`, pod and node are read first, and the pod is removed only if what decided
 * still holds; without, the uid in each request guards it.
 */
export function* removePod(
  command: Removal,
  wall: Instant,
  options: RemovePodOptions,
  confirm = false,
): Steps<Outcome, MarkRefused> {
  let now = wall;
  if (confirm && !(command.kind === 'deletePod' && command.guard === 'name')) {
    const found = yield* lookAgain(command, options);
    if (found.outcome) return found.outcome;
    now = found.wall;
  }
  return command.kind === 'evictPod'
    ? yield* evict(command, options)
    : yield* markAndDelete(command, now, options);
}

/**
 * The same pod still has to be there, not being deleted by others, and its node as bad as before.
 */
function* lookAgain(
  command: Removal,
  options: RemovePodOptions,
): Steps<{ outcome: Outcome | null; wall: Instant }> {
  const { comparisonOperators = false, ignoresDrains = false } = options;
  let { answer, wall } = yield* call(getPodRequest(command.pod));
  if (!succeeded(answer)) return { outcome: outcomeOf('ReadingPod', failureOf(answer)), wall };
  const pod = podFromJson(answerValue(answer));
  if (pod.uid !== command.pod.uid || pod.deletionTimestamp !== null) return { outcome: gone, wall };
  const tainted = taintedIn(command.because);
  if (tainted) return yield* lookAtDevice(command, tainted, wall, options);
  ({ answer, wall } = yield* call(getNodeRequest(command.pod.nodeName)));
  if (!succeeded(answer)) return { outcome: outcomeOf('ReadingNode', failureOf(answer)), wall };
  const node = nodeFromJson(answerValue(answer));
  // A drain's own mark is no reason to leave its pods to it.
  const isOfDrain = 'ofDrain' in command && command.ofDrain === true;
  const rules = { comparisonOperators, ignoresDrains: ignoresDrains || isOfDrain };
  const change = confirmEviction(command.because, pod, node, rules);
  return { outcome: change === null ? null : changed(change), wall };
}

/** A reason that a device has given. */
type DeviceReason = Extract<Reason, { device?: unknown }>;

/** The reason that decided, where a device gave it; null: it did not. */
function taintedIn([decisive]: readonly Reason[]): Required<DeviceReason> | null {
  const isOfDevice = decisive !== undefined && 'device' in decisive && decisive.device;
  return isOfDevice ? (decisive as Required<DeviceReason>) : null;
}

/** The claim has to hold the device for the pod still, and the taint has to be as it was. */
function* lookAtDevice(
  { pod }: Removal,
  { device: tainted, taint }: Required<DeviceReason>,
  wall: Instant,
  { devices }: RemovePodOptions,
): Steps<{ outcome: Outcome | null; wall: Instant }> {
  const { claim: name, source } = tainted;
  const path = devices ? claimPath(devices, pod.namespace, name) : null;
  const asking = devices ? getTaintSourceRequest(devices, source) : null;
  if (path === null || asking === null) {
    return { outcome: changed('devices cannot be read any more'), wall };
  }
  const claim = yield* readIfThere(getRequest(path));
  if ('outcome' in claim) return claim;
  const isGone = claim.value === null;
  const found = isGone ? claim : yield* readIfThere(asking);
  if ('outcome' in found) return found;
  const put = found.value;
  const change = confirmDeviceTaint(
    { pod, tainted, taint },
    {
      claim: claim.value === null ? null : resourceClaimFromJson(claim.value),
      rule: source.kind === 'rule' && put !== null ? deviceTaintRuleFromJson(put) : null,
      slice: source.kind === 'slice' && put !== null ? resourceSliceFromJson(put) : null,
    },
  );
  return { outcome: change === null ? null : changed(change), wall: found.wall };
}

type ReadAgain =
  | { readonly value: unknown; readonly wall: Instant }
  | { readonly outcome: Outcome; readonly wall: Instant };

/** Null as value: it is gone. */
function* readIfThere(request: ApiRequest): Steps<ReadAgain> {
  const { answer, wall } = yield* call(request);
  if (succeeded(answer)) return { value: answerValue(answer), wall };
  const failure = failureOf(answer);
  return failure.status === 404 ? { value: null, wall } : { outcome: failedBy(failure), wall };
}

function* markAndDelete(
  command: DeletePod,
  now: Instant,
  options: RemovePodOptions,
): Steps<Outcome, MarkRefused> {
  const { pod, generation, guard, unmarked } = command;
  let notice: MarkRefused | null = null;
  if (!unmarked) {
    const wanted = 'metadata';
    const forDevice = taintedIn(command.because) !== null;
    const asked = { ...options, guard, wanted, forDevice } as const;
    const { answer } = yield* call(markDisruptedRequest(pod, generation, now, asked));
    if (!succeeded(answer)) {
      const failure = failureOf(answer);
      const isUnmarked = meaningOf('MarkingDisrupted', failure) === 'unmarked';
      // kube-controller-manager deletes no pod that it could not mark.
      if (!isUnmarked || guard === 'name') return outcomeOf('MarkingDisrupted', failure);
      notice = { kind: 'markRefused', command, message: failure.message };
    }
  }
  const asked = { ...removalOptions(command, options), guard, wanted: 'metadata' } as const;
  const { answer } = yield* call(deletePodRequest(pod, asked), notice);
  return succeeded(answer) ? done : outcomeOf('Deleting', failureOf(answer));
}

function* evict(command: EvictPod, options: RemovePodOptions): Steps {
  const { pod, readsBudget } = command;
  const { answer } = yield* call(evictPodRequest(pod, removalOptions(command, options)));
  if (succeeded(answer)) return done;
  const outcome = outcomeOf('Evicting', failureOf(answer));
  const isRead = outcome.kind === 'blocked' && readsBudget === true;
  return isRead ? { ...outcome, found: yield* readBudget(command, outcome) } : outcome;
}

/** The refusal names the budget; null: it names none, or the budget cannot be read. */
function* readBudget(
  { pod }: EvictPod,
  { message }: Blocked,
): Steps<NonNullable<Blocked['found']> | null> {
  const [, name] = namedBudget.exec(message) ?? [];
  if (name === undefined) return null;
  const { answer } = yield* call(getBudgetRequest(pod.namespace, name));
  return succeeded(answer) ? budgetFromJson(answerValue(answer)) : null;
}

const namedBudget = /(?:^The disruption budget |^poddisruptionbudgets?\.policy ")([a-z0-9.-]+)/;

/** Writes on the node since when its taints count. */
export function* keepTaintStarts(command: KeepTaintStarts): Steps {
  const { answer } = yield* call(keepStartsRequest(command));
  return succeeded(answer) ? done : outcomeOf('KeepingStarts', failureOf(answer));
}

function keepStartsRequest(command: KeepTaintStarts): ApiRequest {
  const { nodeName: name, nodeUid: uid, starts, pauses, taintsWrittenAt } = command;
  const value = formatStarts(starts, taintsWrittenAt, pauses);
  return annotateNodeRequest({ name, uid }, taintStartsAnnotation, value, taintStartsManager);
}

/** The command's own request precedes the general options. */
function removalOptions(command: Removal, options: RemovePodOptions): DeletionOptions {
  const { gracePeriodSeconds } = command;
  return gracePeriodSeconds === null ? options : { ...options, gracePeriodSeconds };
}

type UnmarkPod = Extract<Command, { kind: 'unmarkPod' }>;

/** The condition is gone, or could not be taken away. */
export interface UnmarkNotice {
  readonly kind: 'podUnmarked';
  readonly command: UnmarkPod;
  readonly outcome: Outcome;
}

/**
 * Takes the condition DisruptionTarget away that we have set on a pod which does not go any more.
 * The condition is written only as it was read: a program that has marked the pod meanwhile has its
 * own reason.
 */
export function unmarking(command: UnmarkPod): Task<UnmarkNotice> {
  return {
    ...{ kind: 'task', id: command.id, deposed: changed, steps: unmark(command) },
    ended: (outcome) => ({ kind: 'podUnmarked', command, outcome }),
  };
}

function* unmark({ pod }: UnmarkPod): Steps {
  const outcome = yield* readModifyWrite(
    () => getPodRequest(pod),
    (found) => {
      const object = asRecord(answerValue(found));
      const { uid, resourceVersion, deletionTimestamp } = asRecord(object.metadata);
      if (uid !== pod.uid || deletionTimestamp !== undefined) return gone;
      const mark = disruptionOf(object);
      const isOurs = isTaintReason(mark?.reason) && mark?.manager === takeoverProgram;
      if (!isOurs) return changed('the condition is not ours any more');
      return unmarkDisruptedRequest(pod, asText(resourceVersion));
    },
  );
  const isBehind = outcome.kind === 'failed' && outcome.status === 409;
  return isBehind ? changed(outcome.message) : outcome;
}

/** The outcome of a request that was not accepted. */
export function outcomeOf(request: RemovalRequest, failure: Failure): Outcome {
  const meaning = meaningOf(request, failure);
  if (meaning === 'gone') return gone;
  if (meaning === 'changed') return changed('its node is gone');
  if (meaning !== 'blocked') {
    const cause = failure.causes[0]?.reason;
    return { ...failedBy(failure), ...(cause && { cause }) };
  }
  const message = budgetCause(failure)?.message || failure.message;
  const { retryAfter } = failure;
  return { kind: 'blocked', message, retryAfter, budget: budgetNumbers(message) };
}

/**
 * The meaning of a refusal for the command; `unmarked`: go on without the condition; `changed`: what
 * decided does not hold any more.
 */
type Meaning = 'gone' | 'changed' | 'blocked' | 'unmarked' | 'failed';

/** A request of a removal, by its purpose. */
type RemovalRequest =
  | 'ReadingPod'
  | 'ReadingNode'
  | 'MarkingDisrupted'
  | 'Deleting'
  | 'Evicting'
  | 'KeepingStarts';

interface Refusal {
  readonly requests: readonly RemovalRequest[];
  readonly statuses: readonly number[];
  readonly where: (failure: Failure) => boolean;
  readonly means: Meaning;
}

const everyRequest = [
  'ReadingPod',
  'MarkingDisrupted',
  'Deleting',
  'Evicting',
  'KeepingStarts',
] as const;
const always = (): boolean => true;

/** First match counts; what no row names has failed and may be tried again. */
const refusals: readonly Refusal[] = [
  { requests: ['ReadingNode'], statuses: [404], where: always, means: 'changed' },
  { requests: everyRequest, statuses: [404], where: always, means: 'gone' },
  { requests: everyRequest, statuses: [409], where: isOtherUid, means: 'gone' },
  {
    requests: ['MarkingDisrupted', 'KeepingStarts'],
    statuses: [422],
    where: isOtherUid,
    means: 'gone',
  },
  // A role without pods/status, a condition that is not valid: no reason to keep the pod.
  { requests: ['MarkingDisrupted'], statuses: [400, 403, 422], where: always, means: 'unmarked' },
  // An overloaded server also says 429, but names no budget.
  {
    requests: ['Evicting'],
    statuses: [429],
    where: (failure) => budgetCause(failure) !== undefined,
    means: 'blocked',
  },
  // A budget that waits for too many evictions to come about, or whose numbers are impossible.
  {
    requests: ['Evicting'],
    statuses: [403],
    where: ({ message }) => byBudget.test(message),
    means: 'blocked',
  },
];

/** The pod is the requested one: only the Eviction API forbids something about a budget. */
const byBudget = /^poddisruptionbudgets?\.policy "[^"]*" is forbidden: /;

/** The meaning of a refusal: the first row of the table that names the request and its status. */
function meaningOf(request: RemovalRequest, failure: Failure): Meaning {
  // Admission answers with any status, 404 and 409 too: its message is not about the pod.
  if (isDeniedByAdmission(failure)) return request === 'MarkingDisrupted' ? 'unmarked' : 'failed';
  const refusal = refusals.find(
    ({ requests, statuses, where }) =>
      requests.includes(request) &&
      failure.status !== null &&
      statuses.includes(failure.status) &&
      where(failure),
  );
  return refusal?.means ?? 'failed';
}

/**
 * Tells whether the name belongs to another pod by now. DELETE and eviction say so in words only, in two
 * forms (API layer and storage layer); a status patch names the field.
 */
function isOtherUid({ message, causes }: Failure): boolean {
  return (
    /UID in (the )?precondition/i.test(message) ||
    causes.some(({ field }) => field === 'metadata.uid')
  );
}

function budgetCause({ causes }: Failure): Failure['causes'][number] | undefined {
  return causes.find(({ reason }) => reason === 'DisruptionBudget');
}

const budgetText = /disruption budget (\S+) needs (\d+) healthy pods and has (\d+) currently/;

/** The numbers in the API server's sentence, where it gives them. */
function budgetNumbers(message: string): BudgetNumbers | null {
  const [, name, needs, has] = budgetText.exec(message) ?? [];
  return name === undefined ? null : { name, needs: Number(needs), has: Number(has) };
}
