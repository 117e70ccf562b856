// The fate of pods, as bars and marks: the same texts as the JSON has.
import type { DeadlineSeen, HoldTrack, PodOnNode, RefusalTrack } from '../simulation.ts';
import { aboutEviction } from './eviction.ts';
import { type PodHistory, podKey } from './pod-history.ts';
import type { About, Bar, Mark } from './row.ts';
import { type Clock, duration, span } from './words.ts';

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

/** The marks of a history; `whole` has what else is known of its pods. */
export function marksOf(
  history: PodHistory,
  whole: () => PodHistory = () => history,
): readonly Mark[] {
  const { evictions, refusals } = history;
  return [
    ...evictions.map((one): Mark => {
      const about = (clock: Clock) => aboutEviction(one, whole(), clock);
      return { at: one.at, shape: 'evicted', about };
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

function aboutDeadline(one: DeadlineSeen, pods: readonly string[], clock: Clock): About {
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

function aboutHold(one: HoldTrack, pods: readonly string[], clock: Clock): About {
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

function aboutRefusal(one: RefusalTrack, clock: Clock): About {
  const { namespace, pod, node, budget, firstAt, lastAt, count, message } = one;
  const times = count === 1 ? '1 attempt' : `${count} attempts, the last at ${clock(lastAt)}`;
  return {
    at: firstAt,
    title: `${namespace}/${pod} blocked by budget ${budget}`,
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
