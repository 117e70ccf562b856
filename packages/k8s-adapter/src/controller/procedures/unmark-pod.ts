// Takes the condition DisruptionTarget away that we have set on a pod which does not go any more.
import type { Command, Outcome } from '@taintmgr/core';
import { takeoverProgram } from '@taintmgr/core/policy';
import { type Answer, failureOf, succeeded } from '../../proto/answer.ts';
import { isMissing } from '../../proto/denial.ts';
import { disruptionOf } from '../../proto/disruption.ts';
import { asRecord, asText, parseJson } from '../../proto/json.ts';
import { getPodRequest, unmarkDisruptedRequest } from '../../proto/pod-requests.ts';
import { changed, failedBy, finish, type StateStep, send, stepsFrom, type Task } from '../task.ts';

type UnmarkPod = Extract<Command, { kind: 'unmarkPod' }>;

/** The condition is gone, or could not be taken away. */
export interface UnmarkNotice {
  readonly kind: 'podUnmarked';
  readonly command: UnmarkPod;
  readonly outcome: Outcome;
}

type State = 'reading' | 'writing';

/**
 * The pod is read first, and written only as it was read: whoever has marked it meanwhile has a reason
 * of his own.
 */
export function unmarking(command: UnmarkPod): Task<UnmarkNotice> {
  const begin = send<State>('reading', getPodRequest(command.pod));
  return {
    ...{ kind: 'task', id: command.id, deposed: changed, outlastsStop: false },
    first: stepsFrom(begin, (state, answer) => afterAnswer(command, state, answer)),
    ended: (outcome) => ({ kind: 'podUnmarked', command, outcome }),
  };
}

function afterAnswer({ pod }: UnmarkPod, state: State, answer: Answer): StateStep<State> {
  if (!succeeded(answer)) {
    const failure = failureOf(answer);
    if (isMissing(failure)) return finish({ kind: 'gone' });
    return finish(failure.status === 409 ? changed(failure.message) : failedBy(failure));
  }
  if (state === 'writing') return finish({ kind: 'done' });
  const found = asRecord(parseJson(answer.body));
  const { uid, resourceVersion } = asRecord(found.metadata);
  if (uid !== pod.uid) return finish({ kind: 'gone' });
  if (asRecord(found.metadata).deletionTimestamp !== undefined) return finish({ kind: 'gone' });
  const mark = disruptionOf(found);
  const isOurs = mark?.reason === 'DeletionByTaintManager' && mark.manager === takeoverProgram;
  if (!isOurs) return finish(changed('the condition is not ours any more'));
  return send('writing', unmarkDisruptedRequest(pod, asText(resourceVersion)));
}
