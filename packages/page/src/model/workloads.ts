// The lanes of workloads: how many of their pods are down, beside what their budget allows.
import type {
  BudgetTrack,
  PageInput,
  RunDocument,
  WorkloadSummary,
  WorkloadTrack,
} from '../simulation.ts';
import { historiesBy, nothing, type PodHistory, podKey } from './pod-history.ts';
import { barsOf, marksOf } from './pods.ts';
import {
  type About,
  type Area,
  type AreaStep,
  type Band,
  type Row,
  rowOf,
  worstRows,
} from './row.ts';
import { instantsOf, mostOf, readerOf } from './steps.ts';
import { type Clock, duration, more, span } from './words.ts';

type Identity = Pick<WorkloadSummary, 'kind' | 'namespace' | 'name'>;

type Opened = ReadonlySet<string>;

export function workloadKey({ kind, namespace, name }: Identity): string {
  return `${kind} ${namespace}/${name}`;
}

/**
 * The workloads of all runs by harm, each as the first run has it; pods of DaemonSets cannot go elsewhere,
 * and come after the others.
 */
export function byHarm(input: PageInput): readonly WorkloadSummary[] {
  const harm = new Map<string, number>();
  for (const { summary } of input.runs) {
    for (const one of summary.workloads) {
      const key = workloadKey(one);
      harm.set(key, Math.max(harm.get(key) ?? 0, one.podMinutesLost + one.evictions / 1e6));
    }
  }
  const rank = (one: WorkloadSummary): number => {
    const value = harm.get(workloadKey(one)) ?? 0;
    return one.kind === 'DaemonSet' ? Math.min(value, 1e-7) : value;
  };
  const all = input.runs.flatMap(({ summary }) => summary.workloads);
  const byKey = new Map<string, WorkloadSummary>();
  for (const one of all) if (!byKey.has(workloadKey(one))) byKey.set(workloadKey(one), one);
  return [...byKey.values()].sort((a, b) => rank(b) - rank(a));
}

/** The data of a run about each workload, by the key of the workload. */
interface RunIndex {
  readonly summaries: ReadonlyMap<string, WorkloadSummary>;
  readonly tracks: ReadonlyMap<string, WorkloadTrack>;
  /** The budgets that select its pods. */
  readonly budgets: ReadonlyMap<string, readonly BudgetTrack[]>;
  readonly histories: ReadonlyMap<string, PodHistory>;
}

const indexes = new WeakMap<RunDocument, RunIndex>();

/** Made once: a large cluster has thousands of workloads, and each of them is looked up again and again. */
export function indexOf(run: RunDocument): RunIndex {
  const known = indexes.get(run);
  if (known) return known;
  const budgets = new Map<string, BudgetTrack[]>();
  for (const budget of run.budgets) {
    for (const key of budget.workloads) {
      const own = budgets.get(key) ?? [];
      own.push(budget);
      budgets.set(key, own);
    }
  }
  const index = {
    summaries: new Map(run.summary.workloads.map((one) => [workloadKey(one), one])),
    tracks: new Map(run.workloads.map((one) => [workloadKey(one), one])),
    budgets,
    histories: historiesBy(run, ({ workload }) => workload ?? ''),
  };
  indexes.set(run, index);
  return index;
}

/** True where anything happened to it in any run. */
export function isHarmed({ runs }: PageInput, key: string): boolean {
  return runs.some((run) => {
    const { downMax = 0, evictions = 0 } = indexOf(run).summaries.get(key) ?? {};
    return downMax > 0 || evictions > 0;
  });
}

/** Opens all workloads that are harmed, in the chart and in the tables. */
export const allWorkloads = 'all-workloads';

export function workloadRows(input: PageInput, opened: Opened): readonly Row[] {
  const all = byHarm(input);
  const harmed = all.filter((one) => isHarmed(input, workloadKey(one)));
  const calm = all.filter((one) => !isHarmed(input, workloadKey(one)));
  const heading = rowOf({
    ...{ key: 'workloads', kind: 'heading', label: 'Workloads: pods down, of all replicas' },
    aside: sidesOf(input),
  });
  const rows = worstRows(harmed, (one) => rowsOf(input, one, opened), {
    key: allWorkloads,
    label: (others) => `${others} more that are affected`,
    opened,
  });
  if (calm.length === 0) return [heading, ...rows];
  const isOpen = opened.has('calm-workloads');
  const label = `${calm.length}${harmed.length > 0 ? ' more that are' : ''} not affected`;
  const isCalm = true;
  const fold = rowOf({ key: 'calm-workloads', kind: 'fold', label, isOpen, isCalm });
  const shown = isOpen
    ? calm.map((one) => {
        const label = workloadKey(one);
        return rowOf({ key: `w ${label}`, label, depth: 1, isCalm });
      })
    : [];
  return [heading, ...rows, fold, ...shown];
}

/** The sides of the line for two variants. */
function sidesOf({ runs }: PageInput): string {
  const [one, other, ...more] = runs;
  if (!one || !other || more.length > 0) return '';
  return `above the line ${one.name}, below ${other.name}`;
}

/** A lane of all variants; below one that is open, the pods of each. */
function rowsOf(input: PageInput, totals: WorkloadSummary, opened: Opened): readonly Row[] {
  const key = workloadKey(totals);
  const parts = partsOf(input, key);
  const bands = parts.map(({ band }) => band);
  const [first, ...others] = bands;
  const areas = bands.flatMap(({ area }) => area ?? []);
  if (!first || areas.length === 0) return [];
  const most = mostOf(
    areas.map((area) => area.most),
    1,
  );
  const scaled = (band: Band): Band => ({ ...band, area: band.area && { ...band.area, most } });
  const rowKey = `w ${key}`;
  const isOpenable = bands.some(({ marks }) => marks.length > 0);
  const row = rowOf({
    ...scaled(first),
    key: rowKey,
    label: `${totals.namespace}/${totals.name}`,
    aside: totals.kind === 'Deployment' ? '' : `(${totals.kind})`,
    isOpen: isOpenable ? opened.has(rowKey) : null,
    others: others.map(scaled),
  });
  if (!row.isOpen) return [row];
  const pods = parts.flatMap(({ band: { variant }, history }, index) => {
    return podRows(history, input.untilSeconds, { key: `${rowKey} ${index}`, variant });
  });
  return [row, ...pods];
}

interface PartOfRun {
  readonly band: Band;
  readonly history: PodHistory;
}

/** The part of each run in the lane of a workload; manifests add some that only a later run has. */
function partsOf({ runs }: PageInput, key: string): readonly PartOfRun[] {
  const isMany = runs.length > 1;
  const first = runs.slice(0, 1).flatMap((run) => indexOf(run).summaries.get(key) ?? [])[0] ?? null;
  return runs.map((run, index) => {
    const { summaries, histories } = indexOf(run);
    const own = summaries.get(key);
    const history = histories.get(key) ?? nothing;
    const band = {
      variant: isMany ? run.name : null,
      note: own ? noteOf(run, own, index === 0 ? null : first) : 'not there',
      area: own ? areaOf(run, key) : null,
      bars: [],
      marks: marksOf(history),
    };
    return { band, history };
  });
}

/** `shop/web`, with its kind where that is not Deployment. */
export function shortName({ kind, namespace, name }: Identity): string {
  return kind === 'Deployment' ? `${namespace}/${name}` : `${namespace}/${name} (${kind})`;
}

/** The additional downtime of a workload over the first run; of several seeds, beyond chance. */
export function longerDown(
  run: RunDocument,
  own: WorkloadSummary,
  first: WorkloadSummary | null,
): string {
  if (!first) return '';
  const plain = more(own.downSeconds, first.downSeconds);
  const key = workloadKey(own);
  const settled = run.bands && run.differences?.workloads.find((one) => workloadKey(one) === key);
  if (!settled || plain === '') return plain;
  return settled.downSeconds === 0 ? 'no difference' : more(settled.downSeconds, 0);
}

function noteOf(run: RunDocument, own: WorkloadSummary, first: WorkloadSummary | null): string {
  if (own.downMax === 0) return 'never down';
  const difference = longerDown(run, own, first);
  const time = `${duration(own.downSeconds)}${difference && ` (${difference})`}`;
  return `${own.downMax} of ${own.downWorstWanted}, ${time}`;
}

/** The budget that is about this workload and no other: its line is one of this lane. */
function budgetOf(run: RunDocument, key: string): BudgetTrack | null {
  const all = indexOf(run).budgets.get(key) ?? [];
  const own = all.filter(({ workloads }) => workloads.length === 1);
  const desired = ({ states }: (typeof own)[number]): number => states.at(-1)?.desired ?? 0;
  // Of several the strictest counts.
  return own.sort((one, other) => desired(other) - desired(one))[0] ?? null;
}

/** The number of pods that are down, the part that Kubernetes noticed, and the bound of its budget. */
function areaOf(run: RunDocument, key: string): Area | null {
  const track = indexOf(run).tracks.get(key);
  if (!track) return null;
  const budget = budgetOf(run, key);
  const [stateAt, servingAt] = [readerOf(track.states), readerOf(track.serving)];
  const budgetAt = readerOf(budget?.states ?? []);
  const steps: AreaStep[] = [];
  for (const at of instantsOf(track.states, track.serving, budget?.states ?? [])) {
    const state = stateAt(at);
    const wanted = state?.wanted ?? 0;
    const limit = budgetAt(at);
    steps.push({
      at,
      value: Math.max(0, wanted - (servingAt(at)?.pods ?? 0)),
      noticed: Math.max(0, wanted - (state?.ready ?? 0)),
      allowed: limit ? Math.max(0, wanted - limit.desired) : null,
    });
  }
  // The height of a lane is all replicas: one of four that is down is a quarter of it.
  const most = mostOf(
    track.states.map(({ wanted }) => wanted),
    0,
  );
  const about: Area['about'] = (step, until, clock) => {
    const wanted = track.states.findLast(({ at }) => at <= step.at)?.wanted ?? 0;
    return aboutStep(track, { step, until, wanted, clock });
  };
  return { steps, most, fill: 'down', about };
}

interface StepOf {
  readonly step: AreaStep;
  readonly until: number;
  readonly wanted: number;
  readonly clock: Clock;
}

function aboutStep(track: WorkloadTrack, { step, until, wanted, clock }: StepOf): About {
  const { at, value, noticed, allowed } = step;
  return {
    at,
    title: `${shortName(track)}: ${value === 0 ? 'none' : value} of ${wanted} down`,
    facts: [
      ['from', span(clock, at, until)],
      ['noticed', `${noticed ?? value} by Kubernetes`],
      ...(allowed === null ? [] : [['allowed', `${allowed} by its budget`] as const]),
    ] as const,
  };
}

/** The pods of a workload to which something happened. */
function podRows(
  ofAll: PodHistory,
  end: number,
  { key, variant }: Pick<Row, 'key' | 'variant'>,
): readonly Row[] {
  return Array.from(historiesBy(ofAll, podKey), ([pod, history]) =>
    rowOf({
      ...{ key: `${key} ${pod}`, label: pod, depth: 1, variant },
      ...{ bars: barsOf(history, end), marks: marksOf(history) },
    }),
  );
}
