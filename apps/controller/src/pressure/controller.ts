// node-pressure-controller: its loop, beside the one of the engine, with its log and metrics.
import { createPressureMachine, type PressureConfig } from '@taintmgr/core/pressure';
import {
  drive,
  type MayAct,
  PressureLoop,
  type PressureNotice,
  summariesFromKubelets,
  type Transport,
} from '@taintmgr/k8s-adapter';
import { watchesNode } from '../flags/pressure/config.ts';
import type { Settings } from '../flags/settings.ts';
import { dryRunLine } from '../log/line.ts';
import type { Logger } from '../log/logger.ts';
import type { Meter } from '../metrics/meter.ts';
import { pressureMetrics } from '../metrics/pressure.ts';
import type { KubeletsConfig } from './kubelets.ts';
import { pressureLine } from './log.ts';

export interface PressureControllerOptions {
  readonly config: Partial<PressureConfig>;
  readonly settings: Settings;
  /** Null: nodes are asked through the API server. */
  readonly kubelets: KubeletsConfig | null;
  readonly meter: Meter;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** node-pressure-controller. The controller acts while this replica is elected. */
export class PressureController {
  readonly #options: PressureControllerOptions;
  readonly #count: (notice: PressureNotice) => void;
  /** Null: it has not begun. */
  #lead: ((held: boolean) => void) | null = null;
  /** Null: there was no election yet; it acts as it was configured. */
  #elected: boolean | null = null;

  constructor(options: PressureControllerOptions) {
    const { settings, meter } = options;
    this.#options = options;
    this.#count = pressureMetrics(meter, { dryRun: settings.dryRun !== 'none' });
  }

  /**
   * Runs until the signal is aborted and the evictions under way have ended. `mayAct` is asked before
   * each request that changes something.
   */
  run(api: Transport, mayAct: MayAct): Promise<void> {
    const { config, settings, kubelets, signal } = this.#options;
    const log = this.#options.log.child({ controller: 'node-pressure-controller' });
    const loop = new PressureLoop({
      machine: createPressureMachine(config),
      random: Math.random,
      watches: watchesNode(config),
      removal: settings.nodePressureMode,
      mayAct,
      protobuf: settings.kubeApiContentType === 'application/vnd.kubernetes.protobuf',
      pollPeriodMs: settings.summaryPeriod,
      pollsPerSecond: settings.summaryRate,
    });
    return drive({
      loop,
      transport: kubelets
        ? summariesFromKubelets({ ...kubelets, api, addressOf: (node) => loop.kubeletOf(node) })
        : api,
      signal,
      patienceMs: Number.POSITIVE_INFINITY,
      onNotice: (notice, now) => {
        // The loop beside it says the same of the clocks.
        if (notice.kind === 'clockStepped' || notice.kind === 'serverClockMoved') return;
        this.#count(notice);
        const said = pressureLine(notice, now);
        const isDryRun = settings.dryRun !== 'none';
        const { level, message, fields } = isDryRun ? dryRunLine(said) : said;
        log[level](fields, message);
      },
      onStart: (send) => {
        this.#lead = (held) => send({ kind: 'leadership', held });
        if (this.#elected !== null) this.#lead(this.#elected);
      },
    });
  }

  /** Tells whether this replica has been elected. */
  elect(held: boolean): void {
    this.#elected = held;
    this.#lead?.(held);
  }
}
