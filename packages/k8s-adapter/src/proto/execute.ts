import type { Command, Instant, Outcome } from '@taintmgr/core';
import { type Answer, type Failure, failureOf, succeeded } from './answer.ts';
import {
  type ApiRequest,
  deletePodRequest,
  evictPodRequest,
  markDisruptedRequest,
  type RemovalOptions,
} from './request.ts';

/** The commands that are carried out against the API and answered with an Outcome. */
export type Removal = Extract<Command, { kind: 'deletePod' | 'evictPod' }>;

type DeletePod = Extract<Command, { kind: 'deletePod' }>;

/** Which request of a command is under way. */
export type ExecutionState =
  | { readonly kind: 'MarkingDisrupted' | 'Deleting'; readonly command: DeletePod }
  | { readonly kind: 'Evicting'; readonly command: Exclude<Removal, DeletePod> };

/** What comes next: another request, or the end. */
export type Step =
  | {
      readonly kind: 'send';
      readonly state: ExecutionState;
      readonly request: ApiRequest;
      /** Why the pod goes without the condition DisruptionTarget; null where it has it. */
      readonly refusal: string | null;
    }
  | { readonly kind: 'finished'; readonly outcome: Outcome };

/** The first request of a command. None reads the pod: the uid in each guards it. */
export function beginExecution(command: Removal, now: Instant, options: RemovalOptions): Step {
  const { pod } = command;
  if (command.kind === 'evictPod') {
    return send({ kind: 'Evicting', command }, evictPodRequest(pod, options));
  }
  const { generation, guard } = command;
  const request = markDisruptedRequest(pod, generation, now, { ...options, guard });
  return send({ kind: 'MarkingDisrupted', command }, request);
}

/** Takes the answer to the request under way. */
export function continueExecution(
  state: ExecutionState,
  answer: Answer,
  options: RemovalOptions,
): Step {
  const marking = state.kind === 'MarkingDisrupted';
  if (succeeded(answer)) return marking ? remove(state.command, options, null) : finish('done');
  const failure = failureOf(answer);
  const verdict = classify(state.kind, failure);
  if (marking && verdict === 'unmarked') return remove(state.command, options, failure.message);
  if (verdict === 'gone') return finish('gone');
  const { status, retryAfter } = failure;
  if (verdict === 'blocked') {
    const message = budgetCause(failure)?.message || failure.message;
    return { kind: 'finished', outcome: { kind: 'blocked', message, retryAfter } };
  }
  const { message } = failure;
  return { kind: 'finished', outcome: { kind: 'failed', status, message, retryAfter } };
}

/** What a refusal means for the command; `unmarked`: go on without the condition. */
type Verdict = 'gone' | 'blocked' | 'unmarked' | 'failed';

interface Rule {
  readonly states: readonly ExecutionState['kind'][];
  readonly statuses: readonly number[];
  readonly where: (failure: Failure) => boolean;
  readonly verdict: Verdict;
}

const everyState = ['MarkingDisrupted', 'Deleting', 'Evicting'] as const;
const always = (): boolean => true;

/** First match counts; what no rule names has failed and may be tried again. */
const rules: readonly Rule[] = [
  { states: everyState, statuses: [404], where: always, verdict: 'gone' },
  { states: everyState, statuses: [409], where: isOtherUid, verdict: 'gone' },
  { states: ['MarkingDisrupted'], statuses: [422], where: isOtherUid, verdict: 'gone' },
  // A role without pods/status, an admission webhook: no reason to keep the pod.
  { states: ['MarkingDisrupted'], statuses: [400, 403, 422], where: always, verdict: 'unmarked' },
  // An overloaded server also says 429, but names no budget.
  { states: ['Evicting'], statuses: [429], where: hasBudgetCause, verdict: 'blocked' },
];

function classify(state: ExecutionState['kind'], failure: Failure): Verdict {
  const rule = rules.find(
    ({ states, statuses, where }) =>
      states.includes(state) &&
      failure.status !== null &&
      statuses.includes(failure.status) &&
      where(failure),
  );
  return rule?.verdict ?? 'failed';
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

function hasBudgetCause(failure: Failure): boolean {
  return budgetCause(failure) !== undefined;
}

function budgetCause({ causes }: Failure): Failure['causes'][number] | undefined {
  return causes.find(({ reason }) => reason === 'DisruptionBudget');
}

function remove(command: DeletePod, options: RemovalOptions, refusal: string | null): Step {
  const { pod, guard } = command;
  return send({ kind: 'Deleting', command }, deletePodRequest(pod, { ...options, guard }), refusal);
}

function send(state: ExecutionState, request: ApiRequest, refusal: string | null = null): Step {
  return { kind: 'send', state, request, refusal };
}

function finish(kind: 'done' | 'gone'): Step {
  return { kind: 'finished', outcome: { kind } };
}
