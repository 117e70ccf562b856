import { countBy, mostOf } from '../../../render/count.ts';
import type { JobTrack } from '../record/jobs.ts';
import type { BudgetTrack, Recording, UnplacedTrack } from '../record/recorder.ts';
import type { Step } from '../record/timelines.ts';
import type { WorkloadTrack } from '../record/workloads.ts';
import { type Cause, causesOf } from './causes.ts';
import { type Downtime, downtimeOf, tenths, thousandths } from './downtime.ts';
import { type EvictionLoop, loopsOf } from './loops.ts';

/** How bad it got for a workload: what was really down, and what Kubernetes had noticed of it. */
export interface WorkloadSummary extends Downtime {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Pods it wanted at the end. */
  readonly wanted: number;
  /** The most pods that Kubernetes counted as missing at once. */
  readonly unavailableMax: number;
  /** The largest share of them, in percent of what was wanted then. */
  readonly unavailablePercentMax: number;
  /** When those were the most; null: never any. */
  readonly worstAt: number | null;
  /** How long there were some, in all. */
  readonly unavailableSeconds: number;
  readonly evictions: number;
}

/** What became of a disruption budget. */
export interface BudgetSummary {
  readonly namespace: string;
  readonly name: string;
  /** Evictions that it refused, every attempt counted. */
  readonly refusals: number;
  /** How long fewer pods were healthy than it asks for. */
  readonly belowSeconds: number;
  /** How many fewer, at most. */
  readonly belowMax: number;
}

/** What became of a Job that had not ended at the beginning. */
export interface JobSummary {
  readonly namespace: string;
  readonly name: string;
  readonly evictions: number;
  /** Pods that were made during the run. */
  readonly newPods: number;
  /** Pods whose failure counted during the run. */
  readonly failures: number;
  /** `Complete`, or `Failed` and the reason: `Failed: BackoffLimitExceeded`; null: it goes on. */
  readonly end: string | null;
  /** When that was decided. */
  readonly endedAt: number | null;
}

/** What a run comes down to. */
export interface Summary {
  readonly evictions: number;
  /** Pods that came back to where they were evicted from, again and again. */
  readonly loops: readonly EvictionLoop[];
  /** What kept pods from leaving, or from coming back. */
  readonly causes: readonly Cause[];
  /** Evictions that failed otherwise than by a budget. */
  readonly failures: number;
  readonly refusals: number;
  /** Nodes that had a NoExecute taint they did not begin with. */
  readonly nodesTainted: number;
  /** Pods that fitted on no node: all of them, the most at once, those at the end. */
  readonly unplaced: { readonly pods: number; readonly atOnceMax: number; readonly atEnd: number };
  readonly workloads: readonly WorkloadSummary[];
  readonly budgets: readonly BudgetSummary[];
  readonly jobs: readonly JobSummary[];
}

/** Counts what was recorded up to `end`, in seconds. */
export function summarize(recording: Recording, end: number): Summary {
  const { evictions, failures, refusals, nodes, unplaced, workloads, budgets, jobs } = recording;
  const evicted = countBy(evictions.map(({ workload }) => workload ?? ''));
  const gone = new Set(evictions.map(({ namespace, pod }) => `${namespace}/${pod}`));
  const refused = new Map<string, number>();
  for (const { budget, count } of refusals) refused.set(budget, (refused.get(budget) ?? 0) + count);
  return {
    evictions: evictions.length,
    loops: loopsOf(evictions),
    causes: causesOf(recording),
    failures: failures.length,
    refusals: refusals.reduce((sum, { count }) => sum + count, 0),
    nodesTainted: nodes.filter(({ states }) => {
      const [first, ...later] = states.map(({ taints }) => taints.filter(isNoExecute));
      return later.some((taints) => taints.some((taint) => !first?.includes(taint)));
    }).length,
    unplaced: {
      pods: unplaced.length,
      atOnceMax: mostAtOnce(unplaced),
      atEnd: unplaced.filter(({ until }) => until === null).length,
    },
    workloads: workloads.map((track) => workloadSummary(track, evicted, end)),
    budgets: budgets.map((track) => budgetSummary(track, refused, end)),
    jobs: jobs.map((track) => jobSummary(track, gone)),
  };
}

function isNoExecute(taint: string): boolean {
  return taint.endsWith(':NoExecute');
}

function workloadSummary(
  track: WorkloadTrack,
  evicted: ReadonlyMap<string, number>,
  end: number,
): WorkloadSummary {
  const { kind, namespace, name, states } = track;
  let worst = { missing: 0, at: null as number | null };
  let share = 0;
  for (const { at, wanted, ready } of states) {
    const missing = Math.max(0, wanted - ready);
    if (missing > worst.missing) worst = { missing, at };
    if (missing > 0) share = Math.max(share, (100 * missing) / wanted);
  }
  return {
    kind,
    namespace,
    name,
    wanted: states.at(-1)?.wanted ?? 0,
    unavailableMax: worst.missing,
    unavailablePercentMax: tenths(share),
    worstAt: worst.at,
    unavailableSeconds: secondsIn(states, end, ({ wanted, ready }) => ready < wanted),
    ...downtimeOf(track, end),
    evictions: evicted.get(`${kind} ${namespace}/${name}`) ?? 0,
  };
}

function budgetSummary(
  { namespace, name, states }: BudgetTrack,
  refused: ReadonlyMap<string, number>,
  end: number,
): BudgetSummary {
  return {
    namespace,
    name,
    refusals: refused.get(`${namespace}/${name}`) ?? 0,
    belowSeconds: secondsIn(states, end, ({ healthy, desired }) => healthy < desired),
    belowMax: mostOf(
      states.map(({ healthy, desired }) => desired - healthy),
      0,
    ),
  };
}

function jobSummary(
  { namespace, name, states, pods }: JobTrack,
  evicted: ReadonlySet<string>,
): JobSummary {
  const last = states.at(-1);
  const ended = states.find(({ end }) => end !== null);
  return {
    namespace,
    name,
    evictions: pods.filter(({ pod }) => evicted.has(`${namespace}/${pod}`)).length,
    newPods: pods.filter(({ from }) => from > 0).length,
    failures: Math.max(0, (last?.failed ?? 0) - (states[0]?.failed ?? 0)),
    end: ended?.end ?? null,
    endedAt: ended?.at ?? null,
  };
}

/** How long states of a kind lasted, in all. */
function secondsIn<State extends object>(
  states: readonly Step<State>[],
  end: number,
  isMeant: (state: State) => boolean,
): number {
  const seconds = states.map((state, index) => {
    return isMeant(state) ? (states[index + 1]?.at ?? end) - state.at : 0;
  });
  return thousandths(seconds.reduce((sum, one) => sum + one, 0));
}

/** Of pods with and without a node: the most without one at any instant. */
export function mostAtOnce(tracks: readonly Pick<UnplacedTrack, 'from' | 'until'>[]): number {
  const changes = tracks.flatMap(({ from, until }) => {
    const begin: readonly [number, number] = [from, 1];
    return until === null ? [begin] : [begin, [until, -1] as const];
  });
  // Those that end at an instant make room for those that begin.
  changes.sort(([a, one], [b, other]) => a - b || one - other);
  let [now, most] = [0, 0];
  for (const [, change] of changes) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}
