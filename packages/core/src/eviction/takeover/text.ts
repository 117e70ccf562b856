// The Event of a pod that kube-controller-manager was kept from deleting.

import { blockerOf } from '../../attempt/blocker.ts';
import type { RecordPodEvent } from '../../attempt/command.ts';
import type { AttemptState } from '../../attempt/state.ts';
import { formatDeadline, type Instant } from '../../kernel/time.ts';
import { type Pod, podRef } from '../../model/pod.ts';
import { limitId } from '../../policy/limit.ts';
import type { Decision } from '../decide.ts';
import type { Reason } from '../reason.ts';
import { describeReason } from '../text.ts';

/** Begins as kube-controller-manager's own, so that whoever looks for that one finds both. */
const reason = 'TaintManagerEvictionHeld';

/** Says who decides about the pod, why it stays and until when; `wall` reads instants of our time. */
export function heldEvent(
  pod: Pod,
  decision: Decision,
  state: AttemptState | null,
  wall: (at: Instant) => Instant,
): RecordPodEvent<Reason> {
  const { because } = decision;
  const name = `${pod.namespace}/${pod.name}`;
  const held = describeHeld(decision, state, wall);
  const message = `taintmgr decides about Pod ${name}, not kube-controller-manager: ${held}`;
  return { kind: 'recordEvent', pod: podRef(pod), type: 'Normal', reason, message, because };
}

function describeHeld(
  decision: Decision,
  state: AttemptState | null,
  wall: (at: Instant) => Instant,
): string {
  const [first] = decision.because;
  const why = first ? describeReason(first) : 'nothing makes it go';
  if (decision.kind === 'keep') return `${why}; it stays while that holds`;
  switch (state?.kind) {
    case 'queued': {
      if (state.hit === null) return `${why}; it waits for its turn`;
      const until =
        state.roomAt === null
          ? 'until there is room'
          : `until ${formatDeadline(wall(state.roomAt))}`;
      return `${why}; held by limit ${limitId(state.hit)} ${until}`;
    }
    case 'blocked':
    case 'failed': {
      const { code, message } = blockerOf(state.setback);
      return `${why}; ${code}: ${message}; tried again at ${formatDeadline(wall(state.until))}`;
    }
    default:
  }
  if (decision.kind === 'evict') return `${why}; it goes at ${formatDeadline(decision.deadline)}`;
  if (first?.code !== 'Paused' || first.until !== null || first.zone !== undefined) return why;
  return `${why} until that is resumed`;
}
