// Log lines about takeover.
import type { Notice } from '@taintmgr/k8s-adapter';
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
