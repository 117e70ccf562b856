// Starts the flight recorder as the settings say.
import { type Config, resolveConfig } from '@taintmgr/core';
import { resolveLifecycleConfig } from '@taintmgr/core/lifecycle';
import { flightApiVersion } from '@taintmgr/k8s-adapter';
import type { Settings } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';
import { flightMetrics } from '../metrics/flight.ts';
import type { Meter } from '../metrics/meter.ts';
import { version } from '../version.ts';
import { FlightRecorder } from './recorder.ts';

export interface FlightOptions {
  readonly settings: Settings;
  readonly engine: Partial<Config>;
  readonly meter: Meter;
  readonly log: Logger;
}

/** The flight recorder as it was chosen; null: nothing is to be recorded. */
export function startFlightRecorder(options: FlightOptions): FlightRecorder | null {
  const { settings, engine, meter, log } = options;
  const { flightRecord: path, flightRecordMaxsize, flightRecordMaxbackup, simulate } = settings;
  if (path === '') return null;
  const recorder = new FlightRecorder({
    path,
    sizeMax: flightRecordMaxsize * 2 ** 20,
    backups: flightRecordMaxbackup,
    head: {
      apiVersion: flightApiVersion,
      kind: 'FlightRecord',
      version,
      engine: resolved(engine),
      ...(simulate && { seed: settings.seed }),
    },
    onEnd: (why) =>
      log.warn({ file: path, why }, 'flight record stopped, evictions continue without it'),
  });
  flightMetrics(meter, recorder);
  return recorder;
}

/** With all defaults: those of the build that plays it may be others. */
function resolved(engine: Partial<Config>): Config {
  const config = resolveConfig(engine);
  return { ...config, lifecycle: config.lifecycle && resolveLifecycleConfig(config.lifecycle) };
}
