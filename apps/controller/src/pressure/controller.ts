// Runs the node pressure agent beside the loop of the engine while this replica leads.
import type { PressureConfig } from '@taintmgr/core';
import type { MayAct, PressureNotice, Transport } from '@taintmgr/k8s-adapter';
import type { Settings } from '../flags/settings.ts';
import type { Logger } from '../log/logger.ts';
import type { Meter } from '../metrics/meter.ts';
import { type RunningPressure, runPressureAgent } from './agent.ts';
import type { KubeletsConfig } from './kubelets.ts';
import { pressureLine } from './log.ts';
import { pressureMetrics } from './metrics.ts';

export interface PressureControllerOptions {
  readonly config: Partial<PressureConfig>;
  readonly settings: Settings;
  /** Null: nodes are asked through the API server. */
  readonly kubelets: KubeletsConfig | null;
  readonly meter: Meter;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** node-pressure-controller with its log and metrics. It acts while this replica is elected. */
export class PressureController {
  readonly #options: PressureControllerOptions;
  readonly #count: (notice: PressureNotice) => void;
  #running: RunningPressure | null = null;
  /** Null: nobody has said; it acts as it was configured. */
  #elected: boolean | null = null;

  constructor(options: PressureControllerOptions) {
    const { settings, meter } = options;
    this.#options = options;
    this.#count = pressureMetrics(meter, { dryRun: settings.dryRun !== 'none' });
  }

  /** Runs until the signal is aborted and what is under way has ended; acts only while it may. */
  run(transport: Transport, mayAct: MayAct): Promise<void> {
    const { config, settings, kubelets, signal } = this.#options;
    const log = this.#options.log.child({ controller: 'node-pressure-controller' });
    return runPressureAgent({
      transport,
      kubelets,
      mayAct,
      config,
      removal: settings.nodePressureMode,
      protobuf: settings.kubeApiContentType === 'application/vnd.kubernetes.protobuf',
      pollPeriodMs: settings.summaryPeriod,
      pollsPerSecond: settings.summaryRate,
      signal,
      onNotice: (notice, now) => {
        // The loop beside it says the same of the clocks.
        if (notice.kind === 'clockStepped' || notice.kind === 'serverClockMoved') return;
        this.#count(notice);
        const { level, message, fields } = pressureLine(notice, now);
        log[level](fields, message);
      },
      onStart: (running) => {
        this.#running = running;
        if (this.#elected !== null) running.lead(this.#elected);
      },
    });
  }

  /** Whether this replica has been elected. */
  elect(held: boolean): void {
    this.#elected = held;
    this.#running?.lead(held);
  }
}
