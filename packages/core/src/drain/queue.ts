// Which pods of a drain are to go next.
import type { DrainPod } from './state.ts';

/** Whether its turn is all that it waits for: a pause holds it otherwise. */
export function isQueued({ state, because }: DrainPod): boolean {
  return state.kind === 'queued' && because[0]?.code !== 'Paused';
}

/** The longest due first. */
export function byDue(a: DrainPod, b: DrainPod): number {
  if (a.due !== b.due) return (a.due ?? 0) - (b.due ?? 0);
  const [left, right] = [a, b].map(({ pod }) => `${pod.namespace}/${pod.name}`);
  return (left ?? '') < (right ?? '') ? -1 : 1;
}
