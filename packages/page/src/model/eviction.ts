// The course of a pod's eviction, from the taint to the end: all that is known of this one pod.
import type { EvictionSeen, PodOnNode, RecordedReason } from '../simulation.ts';
import type { PodHistory } from './pod-history.ts';
import type { About } from './row.ts';
import { mostOf } from './steps.ts';
import { type Clock, duration, span } from './words.ts';

type Fact = readonly [string, string];

const outcomes = {
  delete: 'deleted',
  evict: 'evicted, by the eviction API, which asks budgets',
  pressure: 'ended, for what its node ran out of',
  seen: 'it is gone, and its time was over; by which request this page cannot see',
} as const;

/** The facts about an eviction; `history` is that of its pod, and maybe of others. */
export function aboutEviction(one: EvictionSeen, history: PodHistory, clock: Clock): About {
  const { at, namespace, pod, node, how, because, workload, reasons, story } = one;
  const own = ownHistory(one, history);
  return {
    at,
    title: `${namespace}/${pod} ${how === 'seen' ? 'has left' : 'evicted'}`,
    facts: [
      ...(story ? [] : [['why', because.join('; ')] as const]),
      ...(reasons ? reasonFacts(reasons) : []),
      ...deadlineFacts(own, clock),
      ...own.holds.map((hold): Fact => {
        return ['held', `by ${hold.kind} ${hold.name}, ${span(clock, hold.from, hold.until)}`];
      }),
      ...(how === 'seen' ? [] : attemptFacts(own, clock)),
      ...(story ? [] : [['outcome', outcomes[how]] as const]),
      ['node', node],
      ['of', workload ?? 'no workload'],
      ...(story ? [['sources', story.sources.join('; ')] as const] : []),
    ],
    ...(story && { lines: story.lines }),
  };
}

/** The history of this pod since its previous eviction, under the same name. */
function ownHistory(one: EvictionSeen, history: PodHistory): PodHistory {
  const isOwn = (other: PodOnNode): boolean =>
    other.pod === one.pod && other.namespace === one.namespace && other.node === one.node;
  const evictions = history.evictions.filter((other) => isOwn(other) && other.at < one.at);
  const since = mostOf(
    evictions.map(({ at }) => at),
    Number.NEGATIVE_INFINITY,
  );
  const isThen = (at: number): boolean => at > since && at <= one.at;
  return {
    evictions,
    deadlines: history.deadlines.filter((other) => isOwn(other) && isThen(other.setAt)),
    holds: history.holds.filter((other) => isOwn(other) && isThen(other.from)),
    refusals: history.refusals.filter((other) => isOwn(other) && isThen(other.firstAt)),
    failures: history.failures.filter((other) => isOwn(other) && isThen(other.at)),
  };
}

function reasonFacts(reasons: readonly RecordedReason[]): readonly Fact[] {
  const taints = reasons.flatMap(({ taint }) => taint ?? []);
  if (taints.length === 0) return [];
  const tolerations = reasons.map(({ toleration, tolerationSeconds }) => {
    if (toleration === null) return 'none';
    return tolerationSeconds === null
      ? toleration
      : `${toleration} for ${duration(tolerationSeconds)}`;
  });
  const policies = reasons.map(({ policy }) => policy ?? 'none');
  const each = (all: readonly string[]): string => [...new Set(all)].join('; ');
  return [
    ['taint', each(taints)],
    ['toleration', each(tolerations)],
    ['policy', each(policies)],
  ];
}

function deadlineFacts({ deadlines }: PodHistory, clock: Clock): readonly Fact[] {
  const last = deadlines.at(-1);
  if (!last) return [];
  const { setAt, dueAt } = last;
  const given = dueAt - setAt;
  const later = given > 0 ? `: ${duration(given)} later` : ', at once';
  return [['deadline', `${clock(dueAt)}, set at ${clock(setAt)}${later}`]];
}

function attemptFacts({ refusals, failures }: PodHistory, clock: Clock): readonly Fact[] {
  const refused = refusals.reduce((sum, { count }) => sum + count, 0);
  const attempts = String(refused + failures.length + 1);
  return [
    ['attempts', attempts],
    ...refusals.map(({ budget, count, firstAt, lastAt, message }): Fact => {
      const when = firstAt === lastAt ? clock(firstAt) : span(clock, firstAt, lastAt);
      return ['budget', `${budget} refused ${count}, ${when}: ${message}`];
    }),
    ...failures.map(({ at, message }): Fact => ['failed', `${clock(at)}: ${message}`]),
  ];
}
