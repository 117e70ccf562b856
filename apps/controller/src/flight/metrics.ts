import { Counter, Gauge, type Registry } from 'prom-client';
import { describing } from '../metrics/metric.ts';
import type { FlightRecorder } from './recorder.ts';

/** Metrics of the flight recorder: how much is recorded, how much is missing. */
export function flightMetrics(registry: Registry, recorder: FlightRecorder): void {
  const describe = describing(registry);
  new Gauge({
    ...describe(
      'taintmgr_flight_record_active',
      '1: what happens is written to the flight record.',
    ),
    collect() {
      this.set(recorder.active ? 1 : 0);
    },
  });
  new Gauge({
    ...describe('taintmgr_flight_record_bytes', 'Size of the flight record.'),
    collect() {
      this.set(recorder.size);
    },
  });
  new Counter({
    ...describe(
      'taintmgr_flight_record_lost_total',
      'Events missing in the flight record, because it was full or could not be written.',
    ),
    collect() {
      this.reset();
      this.inc(recorder.lost);
    },
  });
}
