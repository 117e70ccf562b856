// The outcome of a DELETE or an eviction by its answer: gone, changed, failed, or blocked by a budget with its numbers.
import type { BudgetNumbers, Outcome } from '@taintmgr/core';
import type { Failure } from '../../proto/answer.ts';
import { isDeniedByAdmission } from '../../proto/answer-fault.ts';
import { changed, failedBy, gone } from '../task.ts';

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
 * What a refusal means for the command; `unmarked`: go on without the condition; `changed`: what
 * decided does not hold any more.
 */
type Meaning = 'gone' | 'changed' | 'blocked' | 'unmarked' | 'failed';

/** A request of a removal, by what it is sent for. */
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

/** The pod is what was asked for: only the Eviction API forbids something about a budget. */
const byBudget = /^poddisruptionbudgets?\.policy "[^"]*" is forbidden: /;

/** The meaning of a refusal: the first row of the table that names the request and its status. */
export function meaningOf(request: RemovalRequest, failure: Failure): Meaning {
  // Admission answers with any status, 404 and 409 too: what it says is not about the pod.
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
