// The notices about the departures that the leader keeps.
import type { Failure } from '../../proto/answer.ts';

/** The reports about the memory of departures that a leader keeps. */
export type HistoryNotice =
  /** The departures that leaders before us have kept were read, and are kept from now on. */
  | {
      readonly kind: 'historyKept';
      readonly departures: number;
      /**
       * `NAMESPACE/NAME` of ConfigMaps with a time in the future, or with a number that no leader
       * has reached.
       */
      readonly notBelieved: readonly string[];
    }
  /**
   * The record cannot be read or written: it is in memory only. Reported once for as long as the
   * failure stays the same.
   */
  | {
      readonly kind: 'historyNotKept';
      /** `NAMESPACE/NAME` of the ConfigMap. */
      readonly object: string;
      readonly failure: Failure;
    };
