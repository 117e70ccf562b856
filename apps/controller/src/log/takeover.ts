// Log lines about takeover.
import { driftText, type Notice } from '@taintmgr/k8s-adapter';
import { errorOf, type Line, line, podFields } from './line.ts';

type Unmarked = Extract<Notice, { kind: 'podUnmarked' }>;

export function unmarkedLine({ command, outcome }: Unmarked): Line {
  const pod = podFields(command.pod);
  switch (outcome.kind) {
    case 'done':
      return line('info', 'took the condition DisruptionTarget away: the pod stays', pod);
    case 'gone':
    case 'changed':
      return line('debug', 'there is no condition of ours to take away', pod);
    default: {
      const fields = { ...pod, error: errorOf(outcome) };
      return line('warn', 'could not take the condition DisruptionTarget away', fields);
    }
  }
}

type Policies = Extract<
  Notice,
  {
    kind:
      | 'takeoverDrift'
      | 'takeoverMended'
      | 'takeoverContested'
      | 'takeoverInForce'
      | 'takeoverFault';
  }
>;

/** How the admission policies of takeover are doing. */
export function takeoverLine(notice: Policies): Line {
  switch (notice.kind) {
    case 'takeoverDrift': {
      const fields = { object: notice.object, drift: driftText(notice.drift) };
      return line('warn', 'somebody changed an object of takeover, mending it', fields);
    }
    case 'takeoverMended': {
      const { object, isNew, left } = notice;
      if (left.length > 0) {
        const fields = { object, drift: driftText(left) };
        return line('warn', 'an object of takeover is not as it was written', fields);
      }
      return line('info', isNew ? 'installed an object of takeover' : 'mended it', { object });
    }
    case 'takeoverContested': {
      const fields = { object: notice.object, drift: driftText(notice.drift) };
      const text = 'somebody changes an object of takeover again and again: it is left as it is';
      return line('warn', text, fields);
    }
    case 'takeoverInForce':
      return notice.isInForce
        ? line('info', 'the policies of takeover are in force', {})
        : line('warn', 'the policies of takeover are not in force', {});
    case 'takeoverFault': {
      const fields = { object: notice.object, error: notice.failure.message };
      return line('warn', 'could not look after the policies of takeover', fields);
    }
  }
}
