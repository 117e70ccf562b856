import type { Meter } from './meter.ts';

/** How the flight recorder is doing. */
export interface FlightStats {
  readonly active: boolean;
  /** Bytes. */
  readonly size: number;
  /** Events that are missing. */
  readonly lost: number;
}

/** Metrics of the flight recorder: how much is recorded, how much is missing. */
export function flightMetrics(meter: Meter, recorder: FlightStats): void {
  meter.reading(
    'taintmgr_flight_record_active',
    '1: what happens is written to the flight record.',
    () => recorder.active,
  );
  meter.reading('taintmgr_flight_record_bytes', 'Size of the flight record.', () => recorder.size);
  meter.totals(
    'taintmgr_flight_record_lost_total',
    'Events missing in the flight record, because it was full or could not be written.',
    [],
    () => [[{}, recorder.lost]],
  );
}
