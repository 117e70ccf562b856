// Plays losses in copies of one cluster, one after the other, in any thread.
import type { Millis } from '@taintmgr/core/time';
import { countBy, rulesOf } from '@taintmgr/k8s-adapter/command-line';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile } from '@taintmgr/k8s-adapter/manifests';
import type {
  BudgetSummary,
  JobSummary,
  Loss,
  LossBudget,
  LossWorkload,
  Recording,
  Summary,
  WorkloadSummary,
} from '@taintmgr/page';
import { withSummary } from '../result/documents.ts';
import { medianOf, sameAs, typicalSummary } from '../result/draws.ts';
import { type FailIf, type Judged, parseFailIf } from '../result/fail-if.ts';
import { readEvents, type Script } from '../script/script.ts';
import { type ScriptTexts, scriptFrom } from '../script/script-texts.ts';
import { type SourceData, sourceOf } from '../source/handover.ts';
import type { ClusterSource } from '../source/source.ts';
import { Beginning, type RunOptions, type Semantics } from '../stage/run.ts';
import { type Audience, watched } from '../watched.ts';
import type { PlannedLoss } from './plan.ts';

/** The data common to all losses, in a form that can be passed to another thread. */
export interface LossJob {
  readonly source: SourceData;
  readonly script: ScriptTexts;
  readonly semantics: Semantics;
  readonly policies: readonly PolicyObject[];
  readonly seed: number;
  /** The number of seeds to play, starting with `seed`. */
  readonly seeds: number;
  readonly until: Millis;
  /** The conditions of --fail-if. */
  readonly failIf: readonly string[];
  readonly allowsUnknown: boolean;
}

/** The results without a loss. */
export type Baseline = Pick<
  Summary,
  'totals' | 'evictions' | 'unplaced' | 'workloads' | 'budgets' | 'jobs'
>;

/** A run, with the kept part. */
interface Draw extends Judged {
  readonly recording: Pick<Recording, 'unplaced'>;
  /** The number of pods that a budget keeps on the lost nodes, by the name of the budget. */
  readonly blocked: ReadonlyMap<string, number>;
}

export class LossPlayer {
  readonly #job: LossJob;
  readonly #source: ClusterSource;
  readonly #script: Script;
  readonly #conditions: readonly FailIf[];
  #beginning: Beginning | null = null;

  /** `source`: the one that is there already; left out: it is built of the data of the job. */
  constructor(job: LossJob, source: ClusterSource = sourceOf(job.source)) {
    const { script, semantics, failIf, allowsUnknown } = job;
    [this.#job, this.#source] = [job, source];
    this.#script = scriptFrom(script);
    const runs = { names: [rulesOf(semantics)] };
    this.#conditions = failIf.map((text) =>
      parseFailIf(text, { ...runs, mustName: false, allowsUnknown }),
    );
  }

  /** Plays the cluster without any loss. Throws FaultyFile, UsageError, and the reason of Ctrl-C. */
  async baseline(audience: Audience, onStart: RunOptions['onStart']): Promise<Baseline> {
    const summary = typical(await this.#draws(null, audience, onStart));
    const { totals, evictions, unplaced, workloads, budgets, jobs } = summary;
    return { totals, evictions, unplaced, workloads, budgets, jobs };
  }

  /** Conditions of --fail-if that are about nothing in it. Throws UsageError. */
  check(run: Judged): void {
    for (const condition of this.#conditions) condition.check(run);
  }

  /** Plays a loss; one that cannot be played says why. Throws the reason of Ctrl-C. */
  async play(planned: PlannedLoss, baseline: Baseline, interrupt: AbortSignal): Promise<Loss> {
    try {
      const draws = await this.#draws(planned, { live: null, interrupt });
      const limits = this.#conditions.map((condition) =>
        condition.judge(draws.map((run) => [run])),
      );
      return { ...lossOf(planned, draws, baseline), ...(limits.length > 0 && { limits }) };
    } catch (error) {
      if (interrupt.aborted && error === interrupt.reason) throw error;
      return failedLoss(planned, reasonOf(error));
    }
  }

  async #draws(
    planned: PlannedLoss | null,
    audience: Audience,
    onStart?: RunOptions['onStart'],
  ): Promise<readonly Draw[]> {
    const { seed, seeds, until, semantics, policies } = this.#job;
    const source = this.#source;
    const lost = planned ? readEvents('--each', planned.event, until) : [];
    const script = { ...this.#script, events: [...this.#script.events, ...lost] };
    const draws: Draw[] = [];
    for (let draw = seed; draw < seed + seeds; draw++) {
      const options = {
        ...{ source, script, semantics, policies, until, seed: draw },
        beginning: this.#beginningOf(draw),
        ...(onStart && draw === seed && { onStart }),
      };
      const what = seeds > 1 ? `without a loss: seed ${draw}: ` : 'without a loss: ';
      const { summary, recording } = withSummary(await watched(options, what, audience), until);
      const { unplaced } = recording;
      const blocked = blockedIn(recording, new Set(planned?.nodes));
      draws.push({ name: rulesOf(semantics), summary, recording: { unplaced }, blocked });
    }
    return draws;
  }

  /** Of one seed there is one for all losses; those of many seeds would take too much memory. */
  #beginningOf(seed: number): Beginning {
    const options = { source: this.#source, script: this.#script, seed };
    if (this.#job.seeds > 1) return new Beginning({ ...options, runs: 1 });
    this.#beginning ??= new Beginning({ ...options, runs: Number.POSITIVE_INFINITY });
    return this.#beginning;
  }
}

function reasonOf(error: unknown): string {
  // The place in the event means nothing to the user, who has not written the event.
  if (error instanceof FaultyFile)
    return error.faults.join('; ').replaceAll(/--each:\d+:\d+: /g, '');
  return error instanceof Error ? error.message : String(error);
}

/** With no figures, as there was no run of it. */
export function failedLoss(planned: PlannedLoss, why: string): Loss {
  return {
    ...planned,
    failed: why,
    evictions: 0,
    podMinutesLost: 0,
    unplaced: { pods: 0, atOnceMax: 0, atEnd: 0 },
    refusals: 0,
    blocked: 0,
    workloads: [],
    budgets: [],
  };
}

/** Pods that were refused an eviction and are there at the end, by the budget that refused last. */
function blockedIn(
  { pods, refusals }: Recording,
  nodes: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const stay = new Set(
    pods.flatMap(({ namespace, pod, node, until, states }) => {
      const isLeaving = states.at(-1)?.state === 'stopping';
      return nodes.has(node) && until === null && !isLeaving ? [`${namespace}/${pod}`] : [];
    }),
  );
  const kept = new Map(
    refusals.flatMap(({ namespace, pod, node, budget }) => {
      const name = `${namespace}/${pod}`;
      return nodes.has(node) && stay.has(name) ? [[name, budget] as const] : [];
    }),
  );
  return countBy([...kept.values()]);
}

function typical(draws: readonly Draw[]): Summary {
  const summary = typicalSummary(draws.map((draw) => draw.summary));
  if (!summary) throw new RangeError('no run was played');
  return summary;
}

/** The results of a loss, with only the workloads, budgets and jobs that the loss makes worse. */
function lossOf(planned: PlannedLoss, draws: readonly Draw[], baseline: Baseline): Loss {
  const summary = typical(draws);
  const { totals, evictions, refusals, unplaced, workloads, budgets } = summary;
  const jobs = summary.jobs.filter((one) => isDisturbed(one, sameAs(one, baseline.jobs)));
  const harmed = workloads.filter((one) => isHarmed(one, sameAs(one, baseline.workloads)));
  const blockedBy = (name: string): number => {
    return medianOf(draws.map(({ blocked }) => blocked.get(name) ?? 0));
  };
  const broken = budgets.filter((one) => isBroken(one, sameAs(one, baseline.budgets)));
  const ofBudgets = broken.map((budget): LossBudget => {
    return { ...budget, blocked: blockedBy(`${budget.namespace}/${budget.name}`) };
  });
  return {
    ...planned,
    failed: null,
    evictions,
    podMinutesLost: totals.podMinutesLost,
    unplaced: beyond(unplaced, baseline.unplaced),
    refusals,
    blocked: ofBudgets.reduce((sum, { blocked = 0 }) => sum + blocked, 0),
    workloads: harmed.map((one) => lossWorkload(one, draws)).sort(worstWorkloadFirst),
    budgets: ofBudgets.sort(
      (one, other) => other.belowMax - one.belowMax || other.refusals - one.refusals,
    ),
    ...(jobs.length > 0 && { jobs }),
  };
}

/** The pods without room beyond those that have none without the loss either. */
function beyond(
  { pods, atOnceMax, atEnd }: Summary['unplaced'],
  before: Summary['unplaced'],
): Summary['unplaced'] {
  return {
    pods: Math.max(0, pods - before.pods),
    atOnceMax: Math.max(0, atOnceMax - before.atOnceMax),
    atEnd: Math.max(0, atEnd - before.atEnd),
  };
}

/** Shorter times are not shown. */
const leastMinutes = 0.05;

function isHarmed(one: WorkloadSummary, before: WorkloadSummary | undefined): boolean {
  if (!before) return one.downMax + one.evictions > 0;
  return (
    one.downMax > before.downMax ||
    one.podMinutesLost > before.podMinutesLost + leastMinutes ||
    one.evictions > before.evictions
  );
}

function isDisturbed(one: JobSummary, before: JobSummary | undefined): boolean {
  if (!before) return one.evictions + one.failures > 0;
  return (
    one.evictions > before.evictions ||
    one.failures > before.failures ||
    one.newPods > before.newPods
  );
}

function isBroken(one: BudgetSummary, before: BudgetSummary | undefined): boolean {
  if (!before) return one.belowMax + one.refusals > 0;
  return (
    one.belowMax > before.belowMax ||
    one.belowSeconds > before.belowSeconds ||
    one.refusals > before.refusals
  );
}

function lossWorkload(one: WorkloadSummary, draws: readonly Draw[]): LossWorkload {
  const { kind, namespace, name, unknown, wanted, evictions } = one;
  const { downMax, downWorstWanted, downSeconds, outageSeconds, podMinutesLost, downAtEnd } = one;
  const id = `${kind} ${namespace}/${name}`;
  const unplacedAtEnd = draws.map(({ recording }) => {
    // A pod that is Pending before the loss does not count.
    return recording.unplaced.filter(
      ({ workload, from, until }) => workload === id && from > 0 && until === null,
    ).length;
  });
  return {
    ...{ kind, namespace, name, ...(unknown && { unknown }), wanted },
    ...{
      downMax,
      downWorstWanted,
      downSeconds,
      outageSeconds,
      podMinutesLost,
      downAtEnd,
      evictions,
    },
    unplacedAtEnd: medianOf(unplacedAtEnd),
  };
}

/** A DaemonSet has no other place for its pods: whatever else is harmed comes first. */
function worstWorkloadFirst(one: LossWorkload, other: LossWorkload): number {
  const isBound = ({ kind }: LossWorkload): number => (kind === 'DaemonSet' ? 1 : 0);
  return isBound(one) - isBound(other) || other.podMinutesLost - one.podMinutesLost;
}
