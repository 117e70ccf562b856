// Who refused a request: admission, which may answer with any status, or the API server itself.
import { webhookDenial } from '@taintmgr/core';
import type { Failure } from './answer.ts';

/** Whether a webhook or a policy refused, whatever the status: that says nothing of the object. */
export function isDeniedByAdmission({ message }: Failure): boolean {
  return byPolicy.test(message) || webhookDenial(message) !== null;
}

/** A policy chooses among 401, 403, 413 and 422. The end of a long sentence may have been cut off. */
const byPolicy = /^\S+ "[^"]*" is forbidden: ValidatingAdmissionPolicy '/;

/** Whether the API server says that there is no such object. */
export function isMissing(failure: Failure): boolean {
  return failure.status === 404 && !isDeniedByAdmission(failure);
}
