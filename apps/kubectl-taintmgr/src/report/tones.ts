// The colours in tables of pods: for overdue, for urgent and for unimportant facts.
import { decisionName, heldText, type PodReport } from '@taintmgr/k8s-adapter/explain';
import type { Tone } from '../render/style.ts';

/** Of a decision. */
export function decisionTone(pod: PodReport): Tone {
  const { remaining } = pod.explanation;
  switch (decisionName(pod)) {
    case 'Keep':
      return 'calm';
    case 'Unknown':
      return 'warning';
    case 'Blocked':
      return 'urgent';
    default:
      return remaining !== null && remaining < 1000 ? 'urgent' : 'soon';
  }
}

/** Of the time left. */
export function timeTone(pod: PodReport): Tone | null {
  const { remaining } = pod.explanation;
  if (decisionName(pod) === 'Unknown') return 'warning';
  return remaining !== null && remaining < 0 ? 'urgent' : null;
}

/** Of what holds a pod: `needs action` ends only when a person acts. */
export function heldTone(pod: PodReport, now: number): Tone | null {
  return heldText(pod, now).includes('needs action') ? 'urgent' : 'soon';
}
