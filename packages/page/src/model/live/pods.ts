// The pods due to leave a live cluster: their order, and the facts about each.
import type { LiveInput, LivePod } from '../../live.ts';
import { count, duration } from '../words.ts';

/** The next first; those that a pause holds after them, then the unknown, and those that terminate last. */
export function inOrder(pods: readonly LivePod[]): readonly LivePod[] {
  const ranks = { Evict: 0, Held: 1, Unknown: 2, Terminating: 3 } as const;
  const dueAt = (pod: LivePod): number => pod.dueAt ?? Number.MAX_VALUE;
  return [...pods].sort((a, b) => {
    const byState = ranks[a.state] - ranks[b.state];
    return byState || dueAt(a) - dueAt(b) || (nameOf(a) < nameOf(b) ? -1 : 1);
  });
}

export function nameOf({ namespace, pod }: Pick<LivePod, 'namespace' | 'pod'>): string {
  return `${namespace}/${pod}`;
}

/** True where its time is over and it still exists. */
export function isDue({ state, dueAt }: LivePod, now: number): boolean {
  return state === 'Evict' && dueAt !== null && dueAt - now < 1;
}

/** `in 2m54s`, `now`, `overdue by 5s`, as explain says it; `held, 3m left`. */
export function whenText(pod: LivePod, now: number): string {
  const { state, dueAt, remainingSeconds, isEstimate } = pod;
  if (state === 'Terminating' || state === 'Unknown') return state.toLowerCase();
  if (state === 'Held') {
    const left = remainingSeconds ?? 0;
    return left > 0 ? `held, ${duration(Math.floor(left))} left` : 'held, due after it';
  }
  if (dueAt === null) return 'at an unknown time';
  const left = dueAt - now;
  if (left >= 1) return `in ${isEstimate ? '~' : ''}${duration(Math.floor(left))}`;
  return left > -1 ? 'now' : `overdue by ${duration(Math.floor(-left))}`;
}

/** The reason that keeps it, in few words; '': none. */
export function heldBy({ holds }: LivePod): string {
  return holds.map(({ kind, name }) => (name === '' ? kind : `${kind} ${name}`)).join(', ');
}

/** The first sentence of the page. */
export function liveSentence({ pods, now }: LiveInput, atNow: number = now): string {
  const waiting = inOrder(pods).filter(({ state }) => state === 'Evict');
  const due = waiting.filter((pod) => isDue(pod, atNow));
  const blocked = due.filter(({ holds }) => holds.length > 0);
  const next = waiting.find((pod) => !isDue(pod, atNow) && pod.dueAt !== null);
  const parts = [
    ...(due.length > 0 ? [`${podsAre(due.length)} ${dueText(due, blocked, atNow)}`] : []),
    ...(next ? [`next to leave: ${nameOf(next)} on ${next.node}, ${whenText(next, atNow)}`] : []),
  ];
  if (parts.length === 0) return others(pods);
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function others(pods: readonly LivePod[]): string {
  const held = pods.filter(({ state }) => state === 'Held').length;
  if (held > 0) return `${podsAre(held)} held by a pause, and no other will leave.`;
  const unknown = pods.filter(({ state }) => state === 'Unknown').length;
  if (unknown > 0) return `Unknown for ${count(unknown, 'pod')}; no other will leave.`;
  if (pods.length > 0) return `${podsAre(pods.length)} on the way out, and no other will leave.`;
  return 'No pod will leave.';
}

function podsAre(amount: number): string {
  return amount === 1 ? '1 pod is' : `${amount} pods are`;
}

/** The causes that block them; without one, the time for which they have been due. */
function dueText(due: readonly LivePod[], blocked: readonly LivePod[], now: number): string {
  const [first] = due;
  if (blocked.length === 0) {
    const when = first ? whenText(first, now) : '';
    if (!when.startsWith('overdue')) return 'due';
    return due.length === 1 ? when : `due, the first ${when}`;
  }
  if (blocked.length < due.length) return `due, ${blocked.length} of them blocked`;
  return 'due and blocked';
}

/** The number of pods by progress. */
export function liveCounts({ pods, podsLeftOut, nodes }: LiveInput): string {
  const number = (state: LivePod['state']) => pods.filter((pod) => pod.state === state).length;
  const tainted = nodes.filter(({ taints }) =>
    taints.some((taint) => taint.endsWith(':NoExecute')),
  );
  const unknown = number('Unknown');
  const unready = nodes.filter(({ ready }) => ready !== 'True').length;
  return [
    `${number('Evict') + podsLeftOut} to leave`,
    `${number('Held')} held`,
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    `${number('Terminating')} terminating`,
    `${tainted.length} of ${nodes.length} nodes tainted NoExecute`,
    `${unready} not ready`,
  ].join(', ');
}
