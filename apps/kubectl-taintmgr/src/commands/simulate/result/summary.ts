// The figures of a simulation: evictions, their causes, and pods that go round.

import { countBy, leastOf, mostOf } from '@taintmgr/k8s-adapter/command-line';
import type {
  BudgetSummary,
  BudgetTrack,
  Cause,
  EvictionLoop,
  EvictionTrack,
  JobSummary,
  JobTrack,
  Recording,
  Step,
  Summary,
  UnplacedTrack,
  WorkloadSummary,
  WorkloadTrack,
} from '@taintmgr/page';
import type { Unknowns } from '../source/unknowns.ts';
import { downtimeOf, tenths, thousandths } from './downtime.ts';
import { sumsOf } from './sums.ts';

/** Summarizes the recording up to `end`, in seconds. */
export function summarize(
  recording: Recording,
  end: number,
  unknowns: Unknowns = new Map(),
): Summary {
  const { evictions, failures, refusals, nodes, unplaced, workloads, budgets, jobs } = recording;
  const evicted = countBy(evictions.map(({ workload }) => workload ?? ''));
  const gone = new Set(evictions.map(({ namespace, pod }) => `${namespace}/${pod}`));
  const refused = new Map<string, number>();
  for (const { budget, count } of refusals) refused.set(budget, (refused.get(budget) ?? 0) + count);
  return {
    ...sumsOf(recording, end),
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
    workloads: workloads.map((track) => {
      const unknown = unknowns.get(`${track.namespace}/${track.name}`);
      return { ...workloadSummary(track, evicted, end), ...(unknown && { unknown }) };
    }),
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

/** The sum of the time in states of a kind. */
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
  // Spans that end at an instant make room for spans that begin.
  changes.sort(([a, one], [b, other]) => a - b || one - other);
  let [now, most] = [0, 0];
  for (const [, change] of changes) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}

/** A pod, and the cause that kept it. */
interface Kept extends Omit<Cause, 'pods'> {
  readonly pod: string;
}

/** The causes that kept pods in a run, the first first. */
function causesOf(recording: Recording): readonly Cause[] {
  const groups = new Map<string, Kept[]>();
  for (const kept of [...ofPods(recording), ...ofZones(recording)]) {
    const key = [kept.kind, kept.name, kept.workload].join('\0');
    const group = groups.get(key) ?? [];
    group.push(kept);
    groups.set(key, group);
  }
  const causes = Array.from(groups.values(), causeOf);
  return causes.sort((one, other) => one.from - other.from);
}

function causeOf(group: readonly Kept[]): Cause {
  const last = group.at(-1);
  const { kind = 'failure', name = '', workload = null, text = '' } = last ?? {};
  const pods = new Set(group.map(({ pod }) => pod).filter((pod) => pod !== '')).size;
  const from = leastOf(group.map((one) => one.from));
  const until = group.reduce<number | null>(
    (latest, one) => (latest === null || one.until === null ? null : Math.max(latest, one.until)),
    0,
  );
  return { kind, name, workload, pods, from, until: until && thousandths(until), text };
}

function ofPods({ holds, refusals, unplaced, failures }: Recording): readonly Kept[] {
  const nameOf = ({ namespace, pod }: { readonly namespace: string; readonly pod: string }) =>
    `${namespace}/${pod}`;
  return [
    ...holds.map((hold): Kept => {
      const { kind, name, workload, from, until, text } = hold;
      return { kind, name, workload, from, until, text, pod: nameOf(hold) };
    }),
    ...refusals.map((refusal): Kept => {
      const { budget, workload, firstAt, lastAt, message } = refusal;
      const times = { from: firstAt, until: lastAt, text: message };
      return { kind: 'budget', name: budget, workload, ...times, pod: nameOf(refusal) };
    }),
    ...unplaced.map((one): Kept => {
      const { workload, from, until, message } = one;
      return { kind: 'room', name: '', workload, from, until, text: message, pod: nameOf(one) };
    }),
    ...failures.map((one): Kept => {
      const { workload, at, message } = one;
      const times = { from: at, until: at, text: message };
      return { kind: 'failure', name: '', workload, ...times, pod: nameOf(one) };
    }),
  ];
}

/** Zones whose unreachable nodes are not tainted for the time being. */
function ofZones({ zones }: Recording): readonly Kept[] {
  return zones.flatMap(({ name, states }) =>
    states.flatMap(({ at, held }, index): readonly Kept[] => {
      if (held === null) return [];
      const until = states[index + 1]?.at ?? null;
      return [{ kind: 'zone', name, workload: null, from: at, until, text: held, pod: '' }];
    }),
  );
}

/** Once may be chance. */
const returnsMin = 2;

/** The loops among evictions, the longest first. */
export function loopsOf(evictions: readonly EvictionTrack[]): readonly EvictionLoop[] {
  const groups = new Map<string, [EvictionTrack, ...EvictionTrack[]]>();
  for (const eviction of evictions) {
    // A changed reason makes a new story, however often the pod came back.
    const why = eviction.because.join();
    const key = `${eviction.namespace}/${nameOf(eviction)} ${eviction.node} ${why}`;
    const known = groups.get(key);
    if (!known) groups.set(key, [eviction]);
    // Pods that were there beside the first go with it, and are no loop.
    else if (eviction.arrivedAt >= known[0].at) known.push(eviction);
  }
  const loops = Array.from(groups.values()).filter((group) => group.length > returnsMin);
  return loops.map(loopOf).sort((one, other) => other.evictions - one.evictions);
}

function loopOf(group: readonly [EvictionTrack, ...EvictionTrack[]]): EvictionLoop {
  const [first] = group;
  const last = group.at(-1) ?? first;
  const { namespace, node, because } = first;
  const times = { evictions: group.length, firstAt: first.at, lastAt: last.at };
  return { namespace, name: nameOf(first), node, ...times, because };
}

/** The part of a pod's name that stays the same when the pod is replaced. */
function nameOf({ workload, pod }: EvictionTrack): string {
  return workload === null || workload.startsWith('StatefulSet ') ? pod : workload;
}
