// The result of a simulation in words: the pods that are down, the time, and the act that preceded it.
import type { PageInput, RunDocument, Totals, WorkloadSummary } from '../simulation.ts';
import { actText } from './acts.ts';
import { clock, count, duration } from './words.ts';
import { byHarm, indexOf, isHarmed, longerDown, shortName, workloadKey } from './workloads.ts';

/**
 * The workload that the page begins with: the most harmed of those that are down, before those that were
 * equally down at the beginning; null: no workload is down.
 */
export function worstOf(input: PageInput): WorkloadSummary | null {
  const all = byHarm(input);
  const down = all.filter((one) => isDown(input, one));
  return down.find((one) => isMoreDown(input, one)) ?? down[0] ?? all[0] ?? null;
}

/** True where in a run more of its pods are down at some time than at the beginning. */
function isMoreDown({ runs }: PageInput, workload: WorkloadSummary): boolean {
  const key = workloadKey(workload);
  return runs.some((run) => {
    const { summaries, tracks } = indexOf(run);
    const track = tracks.get(key);
    const atFirst = (track?.states[0]?.wanted ?? 0) - (track?.serving[0]?.pods ?? 0);
    return (summaries.get(key)?.downMax ?? 0) > Math.max(0, atFirst);
  });
}

/** The sentence beside the figures: the act that preceded it, and the time. */
export function sentenceOf(input: PageInput): string {
  const [run, ...others] = input.runs;
  const worst = worstOf(input);
  if (!run || !worst) return 'There is nothing in this cluster that could be down.';
  if (!isDown(input, worst)) return 'No pod is down.';
  const own = totalsOf(run, worst);
  const cause = input.runs.map((one) => causeOf(one, totalsOf(one, worst))).find(Boolean) ?? '';
  const subject = `Pods of ${shortName(worst)} are down`;
  if (others.length === 0 && own) {
    const end = own.overAt === null ? ', and not over at the end' : '';
    const most = `at most ${own.downMax} of ${own.downWorstWanted} at once`;
    return `${subject} for ${duration(own.downSeconds)}${cause}, ${most}${end}.`;
  }
  const texts = input.runs.map((one) => {
    return lossOf(one, totalsOf(one, worst), one === run ? null : own);
  });
  return `${subject}${cause}: ${texts.join(', ')}.`;
}

/** The evictions of each run, where no pod is down. */
export function evictionsText({ runs }: PageInput): string {
  const [first, ...others] = runs.map(({ name, summary }, index) => {
    const text = index === 0 ? count(summary.evictions, 'eviction') : String(summary.evictions);
    return runs.length > 1 ? `${text} with ${name}` : text;
  });
  return `${[first, ...others].join(', ')}.`;
}

function isDown({ runs }: PageInput, workload: WorkloadSummary): boolean {
  return runs.some((run) => (totalsOf(run, workload)?.downMax ?? 0) > 0);
}

/** The names of the other workloads that are down in a run, the worst first. */
export function besides(input: PageInput): readonly string[] {
  const worst = worstOf(input);
  return byHarm(input)
    .filter((one) => isDown(input, one) && worst && workloadKey(one) !== workloadKey(worst))
    .map(shortName);
}

/** Fewer workloads are named, and need no sums. */
const namedMax = 10;

/** The losses of all workloads, if the workloads are too many to be named; else ''. */
export function wholeOf(input: PageInput): string {
  const known = byHarm(input);
  const harmed = known.filter((one) => isHarmed(input, workloadKey(one))).length;
  if (harmed <= namedMax) return '';
  const all = input.runs.map(({ summary }) => summary.totals);
  const figures = (value: (totals: Totals) => number): string => all.map(value).join(' → ');
  const texts = [
    `at most ${figures(({ downMax }) => downMax)} pods down at once`,
    `${figures(({ podMinutesLost }) => Math.round(podMinutesLost))} pod-minutes lost`,
    `${figures(({ evictions }) => evictions)} evictions`,
    ...(all.some(({ unplaced }) => unplaced > 0)
      ? [`${figures(({ unplaced }) => unplaced)} pods without room`]
      : []),
  ];
  return `${harmed} of ${known.length} workloads are affected: ${texts.join(', ')}.`;
}

function totalsOf(run: RunDocument, workload: WorkloadSummary): WorkloadSummary | null {
  return indexOf(run).summaries.get(workloadKey(workload)) ?? null;
}

/** `6m39s with taintmgr (−58s)` */
function lossOf(
  run: RunDocument,
  own: WorkloadSummary | null,
  first: WorkloadSummary | null,
): string {
  if (!own || own.downMax === 0) return `never with ${run.name}`;
  const difference = longerDown(run, own, first);
  const end = own.overAt === null ? ', not over at the end' : '';
  return `${duration(own.downSeconds)} with ${run.name}${difference && ` (${difference})`}${end}`;
}

/** The last act of the script before the longest gap began. */
function causeOf(run: RunDocument, own: WorkloadSummary | null): string {
  const gap = own?.longestGap;
  if (!gap) return '';
  const event = run.events.findLast(({ at }) => at <= gap.from);
  return event ? ` after “${actText(event)}” at ${clock(event.at)}` : '';
}
