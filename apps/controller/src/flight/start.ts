// Starts the flight recorder as the settings say.
import { type Config, resolveConfig, resolveLifecycleConfig } from '@taintmgr/core';
import { flightApiVersion } from '@taintmgr/k8s-adapter';
import type { Registry } from 'prom-client';
import type { Settings } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';
import { version } from '../version.ts';
import { flightMetrics } from './metrics.ts';
import { FlightRecorder } from './recorder.ts';

export interface FlightOptions {
  readonly settings: Settings;
  readonly engine: Partial<Config>;
  readonly registry: Registry;
  readonly log: Logger;
}

/** The flight recorder as it was chosen; null: nothing is to be recorded. */
export function startFlightRecorder(options: FlightOptions): FlightRecorder | null {
  const { settings, engine, registry, log } = options;
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
  flightMetrics(registry, recorder);
  return recorder;
}

/** With all defaults: those of the build that plays it may be others. */
function resolved(engine: Partial<Config>): Config {
  const config = resolveConfig(engine);
  return { ...config, lifecycle: config.lifecycle && resolveLifecycleConfig(config.lifecycle) };
}
