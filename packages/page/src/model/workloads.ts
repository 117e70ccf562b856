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
import { type About, type Area, type AreaStep, type Row, rowOf, worstRows } from './row.ts';
import { instantsOf, mostOf, readerOf } from './steps.ts';
import { type Clock, duration, more, span } from './words.ts';

type Identity = Pick<WorkloadSummary, 'kind' | 'namespace' | 'name'>;

type Opened = ReadonlySet<string>;

export function workloadKey({ kind, namespace, name }: Identity): string {
  return `${kind} ${namespace}/${name}`;
}

/** Those of all runs by harm, each as the first run has it; pods of DaemonSets cannot go elsewhere, and come after the others. */
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

/** Whether anything happened to it in any run. */
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
  const heading = rowOf({ key: 'workloads', kind: 'heading', label: 'Workloads: pods down' });
  const rows = worstRows(harmed, (one) => rowsOf(input, one, opened), {
    key: allWorkloads,
    label: (others) => `${others} more that are affected`,
    opened,
  });
  if (calm.length === 0) return [heading, ...rows];
  const isOpen = opened.has('calm-workloads');
  const label = `${calm.length} more that are not affected`;
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

function rowsOf(input: PageInput, totals: WorkloadSummary, opened: Opened): readonly Row[] {
  const key = workloadKey(totals);
  const isMany = input.runs.length > 1;
  const areas = input.runs.map((run) => areaOf(run, key));
  const most = Math.max(1, ...areas.map((area) => area?.most ?? 0));
  // Workloads that manifests add are in a later run alone.
  const firstAt = areas.findIndex((area) => area !== null);
  const firsts = input.runs.slice(0, 1).map(indexOf);
  const first = firsts[0]?.summaries.get(key);
  return input.runs.flatMap((run, index) => {
    const { summaries, histories } = indexOf(run);
    const own = summaries.get(key);
    const history = histories.get(key) ?? nothing;
    const area = areas[index];
    if (!area || !own) return [];
    const rowKey = `w${index} ${key}`;
    const row = rowOf({
      key: rowKey,
      label: `${totals.namespace}/${totals.name}`,
      aside: totals.kind === 'Deployment' || index > firstAt ? '' : `(${totals.kind})`,
      isAgain: index > firstAt,
      note: noteOf(run, own, index === 0 ? null : (first ?? null)),
      variant: isMany ? run.name : null,
      isOpen: own.evictions > 0 ? opened.has(rowKey) : null,
      area: { ...area, most },
      marks: marksOf(history),
    });
    return row.isOpen ? [row, ...podRows(history, input.untilSeconds, rowKey)] : [row];
  });
}

/** `shop/web`, and what it is where it is no Deployment. */
export function shortName({ kind, namespace, name }: Identity): string {
  return kind === 'Deployment' ? `${namespace}/${name}` : `${namespace}/${name} (${kind})`;
}

/** How much longer a workload was down than in the first run; of several seeds, beyond what chance makes. */
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

/** How many pods are down, what was noticed of it, and what its budget allows. */
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
  const most = mostOf(
    steps.map(({ value, allowed }) => Math.max(value, allowed ?? 0)),
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
function podRows(ofAll: PodHistory, end: number, parent: string): readonly Row[] {
  return Array.from(historiesBy(ofAll, podKey), ([pod, history]) =>
    rowOf({
      ...{ key: `${parent} ${pod}`, label: pod, depth: 1 },
      ...{ bars: barsOf(history, end), marks: marksOf(history) },
    }),
  );
}
