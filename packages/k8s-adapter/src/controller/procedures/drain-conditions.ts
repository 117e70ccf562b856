// The conditions of a node by which a NodeDrain says how far it is, as one request.
import type { Command } from '@taintmgr/core';
import { formatTime } from '@taintmgr/core/time';
import { failureOf, succeeded } from '../../proto/answer.ts';
import { isMissing } from '../../proto/denial.ts';
import { patchConditionsRequest } from '../../proto/node-requests.ts';
import {
  type Circumstances,
  failedBy,
  failedUnasked,
  finish,
  send,
  stepsFrom,
  type Task,
} from '../task.ts';

type SetDrainConditions = Extract<Command, { kind: 'setDrainConditions' }>;

const fieldManager = 'taintmgr-controller';

export function conditionsSetting(
  { id, node, conditions }: SetDrainConditions,
  { wall }: Circumstances,
): Task<never> {
  const at = formatTime(wall);
  const times = { lastHeartbeatTime: at, lastTransitionTime: at };
  const written = conditions.map((one) => ({ ...one, ...times }));
  return {
    ...{ kind: 'task', id, deposed: failedUnasked, outlastsStop: false },
    first: stepsFrom<null, never>(
      send(null, patchConditionsRequest(node, written, fieldManager)),
      (_, answer) => {
        if (succeeded(answer)) return finish({ kind: 'done' });
        const failure = failureOf(answer);
        return finish(isMissing(failure) ? { kind: 'gone' } : failedBy(failure));
      },
    ),
    ended: () => null,
  };
}
