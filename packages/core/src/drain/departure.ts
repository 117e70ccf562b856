import { blockerOf } from '../attempt/blocker.ts';
import type { Outcome } from '../event.ts';
import type { Disruption } from '../model.ts';
import type { DrainPod } from './state.ts';

/** Who made a pod go: the drain, another controller, or somebody by hand. */
export type Departure =
  /** A request of ours, which was accepted. */
  | { readonly kind: 'ours' }
  /** It was on its way out before the drain began. */
  | { readonly kind: 'earlier' }
  | ForeignDeletion;

/** Somebody else deleted it. */
export interface ForeignDeletion {
  readonly kind: 'foreign';
  /** The program that marked it, by metadata.managedFields; null: nobody can tell. */
  readonly manager: string | null;
  /** What the mark says, e.g. `DeletionByTaintManager`; null: it has none. */
  readonly reason: string | null;
}

/** How far our requests to remove a pod have come. */
export type Claim =
  /** None was accepted. */
  | 'none'
  /** The answer to one was lost, or the server failed: it may have been accepted. */
  | 'possible'
  | 'sure';

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
    case 'failed': {
      const { code } = blockerOf(outcome);
      const isLost = code === 'Unreachable' || code === 'ServerError';
      return isLost && claim !== 'sure' ? 'possible' : claim;
    }
  }
}

/**
 * The deletion that a mark tells of, where somebody else evicts for taints; null: nobody does.
 * `isOurs`: we have asked to delete the pod, and so have marked it ourselves; `ownManager` is our name.
 */
export function taintDeletionOf(
  { reason, manager }: Disruption,
  isOurs: boolean,
  ownManager: string,
): ForeignDeletion | null {
  if (reason !== taintDeletion) return null;
  if (manager === null ? isOurs : manager === ownManager) return null;
  return { kind: 'foreign', manager, reason };
}

/** Who made it go, now that it is gone; `wasLeaving`: it was about to before the drain began. */
export function departureOf(
  { taken, claim, disruption }: DrainPod,
  wasLeaving: boolean,
): Departure {
  if (taken) return taken;
  if (claim !== 'none') return { kind: 'ours' };
  if (wasLeaving) return { kind: 'earlier' };
  const { manager = null, reason = null } = disruption ?? {};
  return { kind: 'foreign', manager, reason };
}
