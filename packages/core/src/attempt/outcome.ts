// Outcomes of commands, in the words that all machines share.
import type { Instant, Millis } from '../kernel/time.ts';
import type { Budget } from '../model/budget.ts';

/** The end of a command, as far as its sender knows. */
export type Outcome =
  /** The API server accepted it; or what was asked is so, and stays so `until` then, where that is known. */
  | { readonly kind: 'done'; readonly until?: Instant }
  /** The target is gone, or is another object of the same name (404, 409 on the uid). */
  | { readonly kind: 'gone' }
  /** A disruption budget refuses it now (429 with cause DisruptionBudget). */
  | {
      readonly kind: 'blocked';
      readonly message: string;
      readonly retryAfter: Millis | null;
      /** The budget and its numbers, where the API server names them. */
      readonly budget?: BudgetNumbers | null;
      /** The same budget, read right after the refusal; null: it could not be read; left out: it was not. */
      readonly found?: Budget | null;
    }
  /**
   * A live read right before found the pod or the taint other than the command has it. `takenOver`:
   * another run of the same drain continues it.
   */
  | {
      readonly kind: 'changed';
      readonly message: string;
      readonly until?: Instant;
      readonly takenOver?: true;
    }
  /** Everything else: refused, overloaded, unreachable. `status` is null without an answer. */
  | {
      readonly kind: 'failed';
      readonly status: number | null;
      /** The first cause the API server names, e.g. NamespaceTerminating. */
      readonly cause?: string;
      readonly message: string;
      readonly retryAfter: Millis | null;
    };

/** True when a command ended without success. */
export function isSetback(outcome: Outcome): outcome is Setback {
  return outcome.kind !== 'done' && outcome.kind !== 'gone';
}

/** The time the API server asks us to wait; null: it names none. */
export function retryAfterOf(outcome: Outcome): Millis | null {
  return 'retryAfter' in outcome ? outcome.retryAfter : null;
}

/** Why an attempt ended without success; the outcome as it came. */
export type Setback = Extract<Outcome, { kind: 'blocked' | 'changed' | 'failed' }>;

/** The needs of a disruption budget and the pods it has. */
export interface BudgetNumbers {
  /** Name of the PodDisruptionBudget. */
  readonly name: string;
  /** Healthy pods that it requires. */
  readonly needs: number;
  /** Healthy pods that it has. */
  readonly has: number;
}
