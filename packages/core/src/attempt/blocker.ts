// Reads setbacks: the thing that holds a pod back, and whether waiting helps.
import {
  type Budget,
  isShut,
  type OperatorSign,
  operatorOf,
  operatorSignOf,
} from '../model/budget.ts';
import type { Pod } from '../model/pod.ts';
import type { Setback } from './outcome.ts';

/** The thing that holds back an eviction that is due. */
type BlockerCode =
  | 'Budget'
  | 'TwoBudgets'
  | 'Denied'
  /** An admission webhook keeps the request for itself, and may be moving the pod. */
  | 'Intercepted'
  | 'Overloaded'
  | 'ServerError'
  | 'Unreachable'
  | 'ViewChanged'
  /** The pod's owner recreates it on the node from which it is evicted. */
  | 'Returned';

/** Says whether waiting helps. */
export type BlockerVerdict =
  /** The blocker disappears without intervention. */
  | 'resolves'
  /** The blocker may disappear when others act: pods become ready, a workload is scaled up. */
  | 'needsTime'
  /**
   * Another program removes the pod in its own way: the pod's operator, or the owner of a webhook.
   */
  | 'othersAct'
  /**
   * An operator may act, or may intend to keep the pod: ask the operator before changing anything.
   */
  | 'askOperator'
  /** The eviction is stuck until a person changes something. */
  | 'never'
  /** The budget that refuses could not be read. */
  | 'unknown';

/** The thing that holds back an eviction that is due, and whether waiting helps. */
export interface Blocker {
  /** The blocker as a word, for programs. */
  readonly code: BlockerCode;
  /** Says if waiting helps. */
  readonly verdict: BlockerVerdict;
  /** The API server's own words, or those of the connection. */
  readonly message: string;
}

/**
 * Reads a setback, of this pod where that is known. Two budgets on one pod are a 500 of the API server, known by
 * its message alone.
 */
export function blockerOf(setback: Setback, pod: Pod | null = null): Blocker {
  const { message } = setback;
  switch (setback.kind) {
    case 'blocked': {
      const { found } = setback;
      const sign = found ? operatorSignOf(found, pod ? [pod] : []) : null;
      return { code: 'Budget', verdict: budgetVerdict(found, sign), message };
    }
    case 'changed':
      return { code: 'ViewChanged', verdict: 'resolves', message };
    case 'failed':
      return { ...failureBlocker(setback), message };
  }
}

/**
 * The verdict on a budget that refuses, for the program that waits. Null: the budget could not be
 * read; undefined: the budget was not read. A budget that could not be counted is broken,
 * regardless of its owner.
 */
export function budgetVerdict(
  budget: Budget | null | undefined,
  operatorSign: OperatorSign | null,
): BlockerVerdict {
  if (budget === null) return 'unknown';
  if (!budget) return 'needsTime';
  if (!isShut(budget)) return budget.upToDate ? 'needsTime' : 'resolves';
  const isBroken = budget.refusal?.reason === 'SyncFailed';
  if (isBroken) return 'never';
  if (operatorOf(budget)) return 'othersAct';
  return operatorSign ? 'askOperator' : 'never';
}

/** True when a budget or a webhook was asked and holds the pod back for now: nothing is wrong. */
export function isHeld(blocker: Blocker): boolean {
  return isBudget(blocker) || blocker.code === 'Intercepted';
}

/** True when disruption budgets hold it back, and deleting the pod would not ask them. */
export function isBudget({ code }: Blocker): boolean {
  return code === 'Budget' || code === 'TwoBudgets';
}

const denials: readonly number[] = [400, 401, 403, 405, 422];

function failureBlocker({
  status,
  cause,
  message,
}: Extract<Setback, { kind: 'failed' }>): Omit<Blocker, 'message'> {
  if (status === null) return { code: 'Unreachable', verdict: 'resolves' };
  // Regardless of the status: each webhook has another (400, 403, 429, 500).
  if (webhookDenial(message)) return { code: 'Intercepted', verdict: 'othersAct' };
  // The namespace takes its pods along.
  if (cause === 'NamespaceTerminating') return { code: 'ServerError', verdict: 'resolves' };
  if (denials.includes(status)) return { code: 'Denied', verdict: 'never' };
  if (status === 429) return { code: 'Overloaded', verdict: 'resolves' };
  return /more than one PodDisruptionBudget/.test(message)
    ? { code: 'TwoBudgets', verdict: 'never' }
    : { code: 'ServerError', verdict: 'resolves' };
}

/** True when the request may have taken effect: no answer came, or the server failed. */
export function isUncertain(setback: Setback): boolean {
  if (setback.kind !== 'failed' || isHeld(blockerOf(setback))) return false;
  return setback.status === null || setback.status >= 500;
}

/** True when the API server has asked the budgets; one that is unreachable or overloaded has not. */
export function isAnswered({ code }: Blocker): boolean {
  return code !== 'Unreachable' && code !== 'Overloaded' && code !== 'ViewChanged';
}

/** An admission webhook refused. */
export interface WebhookDenial {
  /** Name of the webhook in its configuration. */
  readonly webhook: string;
  /** Its own words; '': it gave none. */
  readonly words: string;
}

/** A ValidatingAdmissionPolicy refused. */
export interface PolicyDenial {
  /** Name of the ValidatingAdmissionPolicy. */
  readonly policy: string;
  /** Name of the ValidatingAdmissionPolicyBinding. */
  readonly binding: string;
  /** The words of the policy. */
  readonly words: string;
}

const policySentence =
  /^\S+ "[^"]*" is forbidden: ValidatingAdmissionPolicy '([^']*)' with binding '([^']*)' denied request: (.*)$/s;

/** Reads the API server's sentence about a policy that refused, whatever the status. Null: no policy did. */
export function policyDenial(message: string): PolicyDenial | null {
  const [, policy, binding = '', words = ''] = policySentence.exec(message) ?? [];
  return policy === undefined ? null : { policy, binding, words };
}

const denial = /^admission webhook "([^"]*)" denied the request(?:: | without explanation$)(.*)$/s;

/**
 * Reads the API server's sentence, which is the same for every webhook whatever status it answers
 * with. Null: no webhook refused. A webhook that cannot be reached has not refused.
 */
export function webhookDenial(message: string): WebhookDenial | null {
  const [, webhook, words = ''] = denial.exec(message) ?? [];
  return webhook === undefined ? null : { webhook, words };
}
