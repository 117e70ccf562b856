// What the leader says of itself in its TaintManager.
import { drainMarksFeature } from '@taintmgr/core/policy';
import { formatTime, type Instant } from '@taintmgr/core/time';
import type { Notice, PublishOptions, StatedStatus } from '@taintmgr/k8s-adapter';
import type { Checked } from '../flags/checks.ts';
import { settingsInForce } from '../flags/in-force.ts';
import type { Choices } from '../flags/resolve.ts';
import type { OverlapWatch } from '../overlap/watch.ts';
import type { ProcessStats } from '../stats/process-stats.ts';
import type { RunningController } from '../stats/running-controller.ts';
import { version } from '../version.ts';

/** What is published of this process while it leads. */
export class PublishedStatus {
  /** Pods evicted since we lead. */
  #evicted = 0;
  readonly #choices: Choices;
  readonly #checked: Checked;
  readonly #stats: ProcessStats;
  readonly #overlaps: Pick<OverlapWatch, 'others'> | null;

  constructor(
    choices: Choices,
    checked: Checked,
    stats: ProcessStats,
    overlaps: Pick<OverlapWatch, 'others'> | null,
  ) {
    this.#choices = choices;
    this.#checked = checked;
    this.#stats = stats;
    this.#overlaps = overlaps;
  }

  /** How it is published; `identity`: who this replica is. */
  options(identity: string): PublishOptions {
    const name = taintManagerName(this.#choices.settings.resourceName);
    return { name, identity, status: (now) => this.#at(now) };
  }

  observe(notice: Notice): void {
    if (notice.kind === 'elected' && notice.held) this.#evicted = 0;
    if (notice.kind === 'commandFinished' && notice.outcome.kind === 'done') this.#evicted += 1;
  }

  #at(now: Instant): StatedStatus {
    const { controllers, pressure } = this.#checked;
    const { running, leadership } = this.#stats;
    const { standsBackFor } = leadership;
    return {
      version,
      settings: settingsInForce(this.#choices, pressure !== null),
      controllers: controllers.enabled,
      features: featuresOf(this.#choices, this.#checked),
      ...(running && this.#seenBy(running, now)),
      evictors: this.#overlaps?.others ?? [],
      conditions:
        standsBackFor === null
          ? []
          : [
              {
                type: 'StandingBack',
                status: 'True',
                reason: 'ControllersOverlap',
                message: standsBackFor,
              },
            ],
    };
  }

  #seenBy(running: RunningController, now: Instant): Partial<StatedStatus> {
    const { pods, ...counts } = running.counts();
    const knowsAllPods = running.podScope() === 'all';
    const tripped = running.limits(now).filter((limit) => limit.tripped);
    return {
      zones: running.zones(now).map(({ name, state, ready, notReady, rate }) => {
        return { name, ...(state && { state }), nodes: ready + notReady, notReady, rate };
      }),
      counts: { ...counts, ...(knowsAllPods && { pods }), evicted: this.#evicted },
      trippedLimits: tripped.map(({ id, since }) => {
        return { name: id, ...(since !== null && { since: formatTime(since) }) };
      }),
      pauses: running.pauses(),
    };
  }
}

/** kube-controller-manager's rules know of no drains. */
function featuresOf({ settings }: Choices, { controllers }: Checked): readonly string[] {
  const isPrecise = settings.semantics === 'precise';
  const evicts = controllers.enabled.includes('taint-eviction-controller');
  return isPrecise && evicts ? [drainMarksFeature] : [];
}

/** The TaintManager of the installation that holds the lease of this name. */
export function taintManagerName(lease: string): string {
  const suffix = '-controller';
  return lease.endsWith(suffix) ? lease.slice(0, -suffix.length) : lease;
}
