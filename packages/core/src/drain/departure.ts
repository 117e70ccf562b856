// Who made a pod go: the drain, another controller, or somebody by hand.
import { isUncertain } from '../attempt/blocker.ts';
import type { Outcome } from '../attempt/outcome.ts';
import type { Disruption } from '../model/pod.ts';
import type { DrainConfig } from './config.ts';
import type { Claim, Departure, DrainPod, ForeignDeletion } from './state.ts';

const taintDeletion = 'DeletionByTaintManager';

/** The claim on a pod after a further request has ended so. */
export function claimAfter(claim: Claim, outcome: Outcome): Claim {
  switch (outcome.kind) {
    case 'done':
      return 'sure';
    // It is not there, or nothing was asked of it: that says nothing of the requests before.
    case 'gone':
    case 'changed':
      return claim;
    // The Eviction API refuses none that terminates: those before were not accepted either.
    case 'blocked':
      return 'none';
    case 'failed':
      return isUncertain(outcome) && claim !== 'sure' ? 'possible' : claim;
  }
}

/**
 * The deletion that a mark names, where another controller evicts for taints; null: none does.
 * `isOurs`: we have asked to delete the pod, and so have marked it ourselves. A partner deletes it for
 * another taint.
 */
export function taintDeletionOf(
  { reason, manager }: Disruption,
  isOurs: boolean,
  { fieldManager, partners }: Pick<DrainConfig, 'fieldManager' | 'partners'>,
): ForeignDeletion | null {
  if (reason !== taintDeletion) return null;
  const isKnown = manager !== null && [fieldManager, ...partners].includes(manager);
  if (manager === null ? isOurs : isKnown) return null;
  return { kind: 'foreign', manager, reason };
}

/**
 * Who made it go, now that it is gone; `wasLeaving`: it was about to before the drain began. `isReplaced`: its
 * workload was asked to put another pod in its place.
 */
export function departureOf(
  { taken, claim, disruption }: DrainPod,
  wasLeaving: boolean,
  isReplaced: boolean,
): Departure {
  if (taken) return taken;
  if (claim !== 'none') return { kind: 'ours' };
  if (wasLeaving) return { kind: 'earlier' };
  if (isReplaced && disruption === null) return { kind: 'replaced' };
  const { manager = null, reason = null } = disruption ?? {};
  return { kind: 'foreign', manager, reason };
}
