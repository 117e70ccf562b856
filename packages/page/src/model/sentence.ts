// The result of a simulation in words: what is down, for how long, and since what was done.
import type { PageInput, RunDocument, WorkloadSummary } from '../simulation.ts';
import { clock, count, duration } from './words.ts';
import { byHarm, indexOf, isHarmed, longerDown, shortName, workloadKey } from './workloads.ts';

/** The sentence that the page opens with. */
export function sentenceOf(input: PageInput): string {
  const [run] = input.runs;
  const worst = byHarm(input)[0];
  if (!run || !worst) return 'There is nothing in this cluster that could be down.';
  const own = totalsOf(run, worst);
  const others = input.runs.slice(1).map((other) => {
    return `; ${other.name}: ${lossOf(other, totalsOf(other, worst), own)}`;
  });
  const name = input.runs.length > 1 ? `${run.name}: ` : '';
  if (!own || own.downMax === 0) {
    const text = `${name}no pod of ${shortName(worst)} is ever down`;
    const evictions = others.length > 0 ? '' : `; ${count(run.summary.evictions, 'eviction')}`;
    return `${name === '' ? capital(text) : text}${evictions}${others.join('')}.`;
  }
  const end = own.overAt === null ? ', and not over at the end' : '';
  const most = `at most ${own.downMax} of ${own.downWorstWanted} pods`;
  // Down is a workload of which nothing is left.
  const is = own.downMax < own.downWorstWanted ? 'is partly down' : 'is down';
  const head = `${name}${shortName(own)} ${is} for ${duration(own.downSeconds)}, ${most}${end}`;
  return `${head}${causeOf(run, own)}${others.join('')}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** More names than these make no sentence: the first few are told then. */
const namesMax = 10;
const namesShown = 3;

/** What else is down in the first run. */
export function besides(input: PageInput): string {
  const [run] = input.runs;
  const [, ...others] = byHarm(input);
  const down = others
    .flatMap((one) => (run ? (totalsOf(run, one) ?? []) : []))
    .filter(({ downMax }) => downMax > 0);
  const isShort = down.length < namesMax;
  const texts = (isShort ? down : down.slice(0, namesShown)).map((one) => {
    const most = `${one.downMax} of ${one.downWorstWanted}`;
    return `${shortName(one)} ${most} for ${duration(one.downSeconds)}`;
  });
  const more = isShort ? '' : ` and ${down.length - namesShown} more`;
  return texts.length === 0 ? '' : `Also down: ${texts.join('; ')}${more}.`;
}

/** The losses of all workloads, if the workloads are too many to be named; else ''. */
export function wholeOf(input: PageInput): string {
  const all = byHarm(input);
  const harmed = all.filter((one) => isHarmed(input, workloadKey(one))).length;
  if (harmed <= namesMax) return '';
  const texts = input.runs.map(({ name, summary: { totals } }) => {
    const minutes = Math.round(totals.podMinutesLost);
    const most = `at most ${count(totals.downMax, 'pod')} down at once`;
    const room = totals.unplaced > 0 ? `, ${totals.unplaced} without room` : '';
    const text = `${most}, ${count(minutes, 'pod-minute')} lost, ${count(totals.evictions, 'eviction')}${room}`;
    return input.runs.length > 1 ? `${name}: ${text}` : text;
  });
  return `${harmed} of ${all.length} workloads are affected: ${texts.join('; ')}.`;
}

function totalsOf(run: RunDocument, workload: WorkloadSummary): WorkloadSummary | null {
  return indexOf(run).summaries.get(workloadKey(workload)) ?? null;
}

function lossOf(
  run: RunDocument,
  other: WorkloadSummary | null,
  first: WorkloadSummary | null,
): string {
  if (!other || other.downMax === 0) return 'never';
  const difference = longerDown(run, other, first);
  const time = `${duration(other.downSeconds)}${difference && ` (${difference})`}`;
  return `${time}, at most ${other.downMax} of ${other.downWorstWanted}`;
}

/** What the script did last before the longest gap began. */
function causeOf(run: RunDocument, { longestGap }: WorkloadSummary): string {
  if (!longestGap) return '';
  const event = run.events.findLast(({ at }) => at <= longestGap.from);
  return event ? `, after “${event.text}” at ${clock(event.at)}` : '';
}
