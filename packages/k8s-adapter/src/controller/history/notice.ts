// The notices about the departures that the leader keeps.
import type { Failure } from '../../proto/answer.ts';

/** The reports about the memory of departures that a leader keeps. */
export type HistoryNotice =
  /** The departures that leaders before us have kept were read, and are kept from now on. */
  | {
      readonly kind: 'historyKept';
      readonly departures: number;
      /** `NAMESPACE/NAME` of ConfigMaps whose time is to come, or whose number no leader has come to. */
      readonly notBelieved: readonly string[];
    }
  /** It cannot be read or written: it is in memory only. Reported once for as long as it goes on alike. */
  | {
      readonly kind: 'historyNotKept';
      /** `NAMESPACE/NAME` of the ConfigMap. */
      readonly object: string;
      readonly failure: Failure;
    };
