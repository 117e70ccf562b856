// The eviction of one pod as requests, and what each answer means for it.
import {
  type BudgetNumbers,
  type Command,
  confirmEviction,
  type Outcome,
  type Pod,
} from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import {
  type Answer,
  answerValue,
  type Failure,
  failureOf,
  succeeded,
} from '../../proto/answer.ts';
import type { ApiRequest } from '../../proto/api-request.ts';
import { budgetFromJson, nodeFromJson, podFromJson } from '../../proto/convert.ts';
import { isDeniedByAdmission } from '../../proto/denial.ts';
import { annotateNodeRequest, getNodeRequest } from '../../proto/node-requests.ts';
import {
  type DeletionOptions,
  deletePodRequest,
  evictPodRequest,
  getBudgetRequest,
  getPodRequest,
  markDisruptedRequest,
  type RemovalOptions,
} from '../../proto/pod-requests.ts';
import {
  formatStarts,
  taintStartsAnnotation,
  taintStartsManager,
} from '../../proto/taint-starts.ts';
import { changed, failedBy, finish, type StateStep, send } from '../task.ts';

/** The commands that make a pod leave. */
export type Removal = Extract<Command, { kind: 'deletePod' | 'evictPod' }>;

/** The command that writes on a node since when its taints count. */
export type KeepTaintStarts = Extract<Command, { kind: 'keepTaintStarts' }>;

type DeletePod = Extract<Command, { kind: 'deletePod' }>;
type EvictPod = Exclude<Removal, DeletePod>;
type Blocked = Extract<Outcome, { kind: 'blocked' }>;

/** Which request of a command is under way. */
export type ExecutionState =
  | { readonly kind: 'ReadingPod'; readonly command: Removal }
  | { readonly kind: 'ReadingNode'; readonly command: Removal; readonly pod: Pod }
  | { readonly kind: 'MarkingDisrupted' | 'Deleting'; readonly command: DeletePod }
  | { readonly kind: 'Evicting'; readonly command: EvictPod }
  | { readonly kind: 'ReadingBudget'; readonly refused: Blocked }
  | { readonly kind: 'KeepingStarts'; readonly command: KeepTaintStarts };

/** How commands are carried out. */
export interface ExecuteOptions extends RemovalOptions {
  /** Whether tolerations with Lt and Gt count, as in the engine's configuration. */
  readonly comparisonOperators?: boolean;
  /** Whether pods go that a drain at work may evict itself; left out: they do not. */
  readonly ignoresDrains?: boolean;
}

/** `refusal`: why the pod goes without the condition DisruptionTarget; null where it has it. */
type Step = StateStep<ExecutionState>;

/**
 * The first request of a command. With `confirm`, pod and node are read before a pod is removed,
 * and it is removed only if what decided still holds; without, the uid in each request guards it.
 */
export function beginExecution(
  command: Removal | KeepTaintStarts,
  now: Instant,
  options: ExecuteOptions,
  confirm = false,
): Step {
  if (command.kind === 'keepTaintStarts') {
    return send({ kind: 'KeepingStarts', command }, keepStartsRequest(command));
  }
  const byName = command.kind === 'deletePod' && command.guard === 'name';
  if (!confirm || byName) return beginRemoval(command, now, options);
  return send({ kind: 'ReadingPod', command }, getPodRequest(command.pod));
}

/** Takes the answer to the request under way. */
export function continueExecution(
  state: ExecutionState,
  answer: Answer,
  now: Instant,
  options: ExecuteOptions,
): Step {
  if (state.kind === 'ReadingBudget') {
    const found = succeeded(answer) ? budgetFromJson(answerValue(answer)) : null;
    return finish({ ...state.refused, found });
  }
  if (!succeeded(answer)) return afterFailure(state, failureOf(answer), options);
  switch (state.kind) {
    case 'ReadingPod':
      return afterPod(state.command, podFromJson(answerValue(answer)));
    case 'ReadingNode': {
      const { command, pod } = state;
      const node = nodeFromJson(answerValue(answer));
      const { comparisonOperators = false, ignoresDrains = false } = options;
      // A drain's own mark is no reason to leave its pods to it.
      const isOfDrain = 'ofDrain' in command && command.ofDrain === true;
      const confirmed = { comparisonOperators, ignoresDrains: ignoresDrains || isOfDrain };
      const change = confirmEviction(command.because, pod, node, confirmed);
      return change === null ? beginRemoval(command, now, options) : finish(changed(change));
    }
    case 'MarkingDisrupted':
      return remove(state.command, options, null);
    default:
      return finish({ kind: 'done' });
  }
}

function beginRemoval(command: Removal, now: Instant, options: ExecuteOptions): Step {
  const { pod } = command;
  if (command.kind === 'evictPod') {
    return send(
      { kind: 'Evicting', command },
      evictPodRequest(pod, removalOptions(command, options)),
    );
  }
  const { generation, guard } = command;
  if (command.unmarked) return remove(command, options, null);
  const wanted = 'metadata';
  const request = markDisruptedRequest(pod, generation, now, { ...options, guard, wanted });
  return send({ kind: 'MarkingDisrupted', command }, request);
}

/** The very pod has to be there still, and not on its way out by somebody else's hand. */
function afterPod(command: Removal, pod: Pod): Step {
  if (pod.uid !== command.pod.uid || pod.deletionTimestamp !== null)
    return finish({ kind: 'gone' });
  return send({ kind: 'ReadingNode', command, pod }, getNodeRequest(command.pod.nodeName));
}

function afterFailure(state: ExecutionState, failure: Failure, options: ExecuteOptions): Step {
  const meaning = classify(state.kind, failure);
  if (state.kind === 'MarkingDisrupted' && meaning === 'unmarked') {
    // kube-controller-manager deletes no pod that it could not mark.
    if (state.command.guard === 'name') return finish(refused(failure, false));
    return remove(state.command, options, failure.message);
  }
  if (meaning === 'gone') return finish({ kind: 'gone' });
  if (meaning === 'changed') return finish(changed('its node is gone'));
  const outcome = refused(failure, meaning === 'blocked');
  const isRead = state.kind === 'Evicting' && state.command.readsBudget === true;
  return outcome.kind === 'blocked' && isRead
    ? readBudget(state.command, outcome)
    : finish(outcome);
}

/** The refusal names the budget. */
function readBudget({ pod }: EvictPod, refused: Blocked): Step {
  const [, name] = namedBudget.exec(refused.message) ?? [];
  if (name === undefined) return finish({ ...refused, found: null });
  return send({ kind: 'ReadingBudget', refused }, getBudgetRequest(pod.namespace, name));
}

const namedBudget = /(?:^The disruption budget |^poddisruptionbudgets?\.policy ")([a-z0-9.-]+)/;

/** The outcome of a DELETE or of an eviction that was not accepted. */
export function removalOutcome(request: 'Deleting' | 'Evicting', failure: Failure): Outcome {
  const meaning = classify(request, failure);
  return meaning === 'gone' ? { kind: 'gone' } : refused(failure, meaning === 'blocked');
}

function refused(failure: Failure, isBlocked: boolean): Outcome {
  if (!isBlocked) {
    const cause = failure.causes[0]?.reason;
    return { ...failedBy(failure), ...(cause && { cause }) };
  }
  const message = budgetCause(failure)?.message || failure.message;
  const { retryAfter } = failure;
  return { kind: 'blocked', message, retryAfter, budget: budgetNumbers(message) };
}

/**
 * What a refusal means for the command; `unmarked`: go on without the condition; `changed`: what
 * decided does not hold any more.
 */
type Meaning = 'gone' | 'changed' | 'blocked' | 'unmarked' | 'failed';

interface Refusal {
  readonly states: readonly ExecutionState['kind'][];
  readonly statuses: readonly number[];
  readonly where: (failure: Failure) => boolean;
  readonly means: Meaning;
}

const everyState = [
  'ReadingPod',
  'MarkingDisrupted',
  'Deleting',
  'Evicting',
  'KeepingStarts',
] as const;
const always = (): boolean => true;

/** First match counts; what no row names has failed and may be tried again. */
const refusals: readonly Refusal[] = [
  { states: ['ReadingNode'], statuses: [404], where: always, means: 'changed' },
  { states: everyState, statuses: [404], where: always, means: 'gone' },
  { states: everyState, statuses: [409], where: isOtherUid, means: 'gone' },
  {
    states: ['MarkingDisrupted', 'KeepingStarts'],
    statuses: [422],
    where: isOtherUid,
    means: 'gone',
  },
  // A role without pods/status, a condition that is not valid: no reason to keep the pod.
  { states: ['MarkingDisrupted'], statuses: [400, 403, 422], where: always, means: 'unmarked' },
  // An overloaded server also says 429, but names no budget.
  {
    states: ['Evicting'],
    statuses: [429],
    where: (failure) => budgetCause(failure) !== undefined,
    means: 'blocked',
  },
  // A budget that waits for too many evictions to come about, or whose numbers are impossible.
  {
    states: ['Evicting'],
    statuses: [403],
    where: ({ message }) => byBudget.test(message),
    means: 'blocked',
  },
];

/** The pod is what was asked for: only the Eviction API forbids something about a budget. */
const byBudget = /^poddisruptionbudgets?\.policy "[^"]*" is forbidden: /;

function classify(state: ExecutionState['kind'], failure: Failure): Meaning {
  // Admission answers with any status, 404 and 409 too: what it says is not about the pod.
  if (isDeniedByAdmission(failure)) return state === 'MarkingDisrupted' ? 'unmarked' : 'failed';
  const refusal = refusals.find(
    ({ states, statuses, where }) =>
      states.includes(state) &&
      failure.status !== null &&
      statuses.includes(failure.status) &&
      where(failure),
  );
  return refusal?.means ?? 'failed';
}

/**
 * Whether the name belongs to another pod by now. DELETE and eviction say so in words only, in two
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

function keepStartsRequest(command: KeepTaintStarts): ApiRequest {
  const { nodeName: name, nodeUid: uid, starts, pauses, taintsWrittenAt } = command;
  const value = formatStarts(starts, taintsWrittenAt, pauses);
  return annotateNodeRequest({ name, uid }, taintStartsAnnotation, value, taintStartsManager);
}

function remove(command: DeletePod, options: ExecuteOptions, refusal: string | null): Step {
  const { pod, guard } = command;
  const asked = { ...removalOptions(command, options), guard, wanted: 'metadata' } as const;
  return send({ kind: 'Deleting', command }, deletePodRequest(pod, asked), refusal);
}

/** What the command asks for goes before what holds for all. */
function removalOptions(command: Removal, options: ExecuteOptions): DeletionOptions {
  const { gracePeriodSeconds } = command;
  return gracePeriodSeconds === null ? options : { ...options, gracePeriodSeconds };
}
