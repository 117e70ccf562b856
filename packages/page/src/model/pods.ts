// What became of pods, as bars and marks: the same texts as the JSON has.
import type {
  DeadlineInput,
  EvictionInput,
  HoldInput,
  PodOnNode,
  RefusalInput,
  RunInput,
} from '../input.ts';
import type { About, Bar, Mark } from './row.ts';
import { type Clock, duration, span } from './words.ts';

/** What of a run is about pods. */
export type PodEvents = Pick<RunInput, 'deadlines' | 'holds' | 'refusals' | 'evictions'>;

/** What is known of some pods. */
export interface PodHistory {
  readonly deadlines: DeadlineInput[];
  readonly holds: HoldInput[];
  readonly refusals: RefusalInput[];
  readonly evictions: EvictionInput[];
}

/** The histories of a run under keys of pods, such as their nodes. */
export function historiesBy(
  run: PodEvents,
  keyOf: (pod: PodOnNode) => string,
): ReadonlyMap<string, PodHistory> {
  const histories = new Map<string, PodHistory>();
  const of = (pod: PodOnNode): PodHistory => {
    const key = keyOf(pod);
    const known = histories.get(key);
    if (known) return known;
    const made: PodHistory = { deadlines: [], holds: [], refusals: [], evictions: [] };
    histories.set(key, made);
    return made;
  };
  for (const one of run.deadlines) of(one).deadlines.push(one);
  for (const one of run.holds) of(one).holds.push(one);
  for (const one of run.refusals) of(one).refusals.push(one);
  for (const one of run.evictions) of(one).evictions.push(one);
  return histories;
}

export function podKey({ namespace, pod }: PodOnNode): string {
  return `${namespace}/${pod}`;
}

/** The bars of a history: deadlines that run, and what holds pods; one for those that are alike. */
export function barsOf({ deadlines, holds }: PodHistory, end: number): readonly Bar[] {
  const bars = new Map<string, Bar & { readonly pods: string[] }>();
  const add = (
    key: string,
    pod: PodOnNode,
    bar: Omit<Bar, 'about'>,
    about: (pods: readonly string[], clock: Clock) => About,
  ): void => {
    if (bar.until <= bar.from) return;
    const known = bars.get(key);
    if (known) {
      known.pods.push(podKey(pod));
      return;
    }
    const pods = [podKey(pod)];
    bars.set(key, { ...bar, pods, about: (clock) => about(pods, clock) });
  };
  for (const one of deadlines) {
    const until = one.endedAt ?? end;
    const key = `due ${one.setAt} ${until} ${one.dueAt} ${one.because.join()}`;
    const bar = { from: one.setAt, until, fill: 'pending', top: 0.3, bottom: 0.62 } as const;
    add(key, one, bar, (pods, clock) => aboutDeadline(one, pods, clock));
  }
  for (const one of holds) {
    const key = `hold ${one.kind} ${one.name} ${one.from} ${one.until}`;
    const until = one.until ?? end;
    const bar = { from: one.from, until, fill: 'held', top: 0.66, bottom: 0.94 } as const;
    add(key, one, bar, (pods, clock) => aboutHold(one, pods, clock));
  }
  return [...bars.values()];
}

export function marksOf({ evictions, refusals }: PodHistory): readonly Mark[] {
  return [
    ...evictions.map((one): Mark => {
      return { at: one.at, shape: 'evicted', about: () => aboutEviction(one) };
    }),
    ...refusals.map((one): Mark => {
      return { at: one.firstAt, shape: 'refused', about: (clock) => aboutRefusal(one, clock) };
    }),
  ].sort((one, other) => one.at - other.at);
}

const ends = {
  evicted: 'evicted',
  moved: 'moved to another time',
  cancelled: 'cancelled: the pod may stay',
  pending: 'runs on at the end',
  running: 'not yet',
} as const;

function aboutDeadline(one: DeadlineInput, pods: readonly string[], clock: Clock): About {
  const { setAt, dueAt, endedAt, end, because, node } = one;
  const hasEnded = endedAt !== null && end !== 'running';
  return {
    at: setAt,
    title: `${listed(pods)}: to leave at ${clock(dueAt)}`,
    facts: [
      ['why', because.join('; ')],
      ['node', node],
      ['deadline', `${clock(dueAt)}, set at ${clock(setAt)}: ${duration(dueAt - setAt)} later`],
      ['outcome', hasEnded ? `${ends[end]}, at ${clock(endedAt)}` : ends[end]],
    ],
  };
}

function aboutHold(one: HoldInput, pods: readonly string[], clock: Clock): About {
  const { kind, name, from, until, text, node } = one;
  return {
    at: from,
    title: `${listed(pods)}: held by ${kind} ${name}`,
    facts: [
      ['why', text],
      ['node', node],
      ['held', span(clock, from, until)],
    ],
  };
}

const hows = {
  delete: 'deleted',
  evict: 'by the eviction API, which asks budgets',
  pressure: 'for what its node ran out of',
  seen: 'it is gone, and its time was over; by which request this page cannot see',
} as const;

function aboutEviction({ at, namespace, pod, node, how, because, workload }: EvictionInput): About {
  return {
    at,
    title: `${namespace}/${pod} ${how === 'seen' ? 'has left' : 'evicted'}`,
    facts: [
      ['why', because.join('; ')],
      ['node', node],
      ['of', workload ?? 'no workload'],
      ['how', hows[how]],
    ],
  };
}

function aboutRefusal(one: RefusalInput, clock: Clock): About {
  const { namespace, pod, node, budget, firstAt, lastAt, count, message } = one;
  const times = count === 1 ? '1 attempt' : `${count} attempts, the last at ${clock(lastAt)}`;
  return {
    at: firstAt,
    title: `${namespace}/${pod} refused by budget ${budget}`,
    facts: [
      ['why', message],
      ['node', node],
      ['attempts', times],
    ],
  };
}

const namesShown = 3;

function listed(pods: readonly string[]): string {
  if (pods.length <= namesShown) return pods.join(', ');
  return `${pods.slice(0, namesShown).join(', ')} and ${pods.length - namesShown} more`;
}
