// The headline of the page: for each run how long pods of the worst workload are down, how many at most, and how many are evicted.
import type { PageInput, RunDocument, WorkloadSummary } from '../simulation.ts';
import { worstOf } from './sentence.ts';
import { duration } from './words.ts';
import { indexOf, longerDown, shortName, workloadKey } from './workloads.ts';

type Detail = readonly [number: string, text: string];

/** The figures of one run. */
export interface Figure {
  /** Null: there is but this run. */
  readonly variant: string | null;
  /** `10m20s` */
  readonly time: string;
  /** The difference of the time from that of the first run: `−6m36s`; ''. */
  readonly difference: string;
  /** Below the time, a number and its unit: `30 of 30`, `pods down at once`; `81`, `evictions`. */
  readonly details: readonly Detail[];
}

export interface Headline {
  /** The caption of the times. */
  readonly caption: string;
  /** In the order of runs; none: no pod is ever down. */
  readonly figures: readonly Figure[];
}

export function headlineOf(input: PageInput): Headline {
  const worst = worstOf(input);
  const isCalm = input.runs.every(({ summary }) => summary.workloads.every(isUp));
  if (!worst || isCalm) return { caption: '', figures: [] };
  const key = workloadKey(worst);
  const of = (run: RunDocument): WorkloadSummary | null => indexOf(run).summaries.get(key) ?? null;
  const first = input.runs.slice(0, 1).map(of)[0] ?? null;
  const figures = input.runs.map((run, index): Figure => {
    const own = of(run);
    return {
      variant: input.runs.length > 1 ? run.name : null,
      time: duration(own?.downSeconds ?? 0),
      difference: own && index > 0 ? longerDown(run, own, first) : '',
      details: [podsOf(own), evictionsOf(run.summary.evictions)],
    };
  });
  return { caption: `Time with pods of ${shortName(worst)} down`, figures };
}

function isUp({ downMax }: WorkloadSummary): boolean {
  return downMax === 0;
}

function podsOf(own: WorkloadSummary | null): Detail {
  if (!own) return ['0', 'pods: not there'];
  if (isUp(own)) return [`0 of ${own.wanted}`, 'pods down'];
  const end = own.overAt === null ? 'pods down, not over at the end' : 'pods down at once';
  return [`${own.downMax} of ${own.downWorstWanted}`, end];
}

function evictionsOf(evictions: number): Detail {
  return [String(evictions), evictions === 1 ? 'eviction' : 'evictions'];
}
