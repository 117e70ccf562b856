// The ways in which a request for the removal of a pod fails.
import type { Setback } from '../../src/attempt/outcome.ts';
import type { Pod } from '../../src/model/pod.ts';

export const config = {
  retryWaitMsMin: 200,
  retryWaitMsMax: 10_000,
  blockedRetryWaitMs: 5_000,
  interceptedRetryWaitMs: 15_000,
  confirmationWaitMs: 30_000,
};

export const pod: Pod = {
  namespace: 'shop',
  name: 'web',
  uid: 'web',
  nodeName: 'n1',
  tolerations: [],
  boundAt: null,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 1,
  mirror: false,
  owner: null,
  hasEmptyDir: false,
  gracePeriodSeconds: 20,
};

const message = 'This pod has more than one PodDisruptionBudget, which is not supported.';

export const budget = {
  kind: 'blocked',
  message: 'needs 2',
  retryAfter: null,
} as const satisfies Setback;

export const twoBudgets = {
  kind: 'failed',
  status: 500,
  message,
  retryAfter: null,
} as const satisfies Setback;

export const crash = {
  kind: 'failed',
  status: 500,
  message: 'boom',
  retryAfter: null,
} as const satisfies Setback;

export const denied = {
  kind: 'failed',
  status: 403,
  message: 'no',
  retryAfter: null,
} as const satisfies Setback;

const denial = 'admission webhook "e.kubevirt.io" denied the request: it is being moved';

export const moved = {
  kind: 'failed',
  status: 429,
  message: denial,
  retryAfter: null,
} as const satisfies Setback;

export const lost = {
  kind: 'failed',
  status: null,
  message: 'reset',
  retryAfter: null,
} as const satisfies Setback;

export const changed = { kind: 'changed', message: 'another node' } as const satisfies Setback;
