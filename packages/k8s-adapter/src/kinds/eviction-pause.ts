// EvictionPause: where evictions are held, why, and until when.

import type { EvictionPause } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { type Metadata, timeOf } from './engine-value.ts';
import {
  conditions,
  count,
  duration,
  filledCharacters,
  filledList,
  object,
  observedGeneration,
  selector,
  taintKey,
  time,
  truth,
} from './fields.ts';
import { age, column, inForce, type Kind, type TypeOf } from './schema.ts';

export const evictionPauseSpec = object(
  'Where evictions are held, why, and until when.',
  {
    scope: object(
      'Everything given must match; nothing given: everywhere.',
      {
        zones: filledList(
          'Pods on nodes of these zones, as region/zone.',
          64,
          filledCharacters(127),
        ),
        nodeSelector: selector('Pods on nodes with such labels.'),
        taintKeys: filledList('Evictions for taints with one of these keys.', 64, taintKey),
        namespaces: filledList('Pods in these namespaces.', 128, filledCharacters(63)),
      },
      { default: {} },
    ),
    deadlines: truth(
      'Evictions are held: deadlines stand still, and pods have the time back that the pause took.',
      true,
    ),
    readiness: truth(
      'Hold too the marking of pods of unreachable nodes as not ready, and the tainting of unhealthy nodes.',
      false,
    ),
    reason: { type: 'string', description: 'Why, for people.', maxLength: 1024, default: '' },
    until: time('When it ends by itself; left out: when it is deleted.'),
  },
  {
    default: {},
    rules: [
      {
        cel: 'self.deadlines || self.readiness',
        message: 'want deadlines, readiness, or both: else it holds nothing',
        holds: ({ deadlines, readiness }: { deadlines: boolean; readiness: boolean }): boolean =>
          deadlines || readiness,
      },
    ],
  },
);

/** The spec of an EvictionPause, with its defaults. */
export type EvictionPauseSpec = TypeOf<typeof evictionPauseSpec>;

export const evictionPauseStatus = object('What the leader says.', {
  observedGeneration,
  since: time('Since when it holds.'),
  pods: count(
    'Pods whose evictions for NoExecute taints it holds; those that NodeDrains would take are in their status.',
  ),
  timeGivenBack: duration(
    'For how long deadlines have stood still by it: pods have so much more time, at most.',
  ),
  conditions,
});

/** The status of an EvictionPause. */
export type EvictionPauseStatus = TypeOf<typeof evictionPauseStatus>;

/** The pause for the engine; a pause without a start holds from `now`. */
export function evictionPauseOf(
  { name, uid, created }: Metadata,
  { scope, readiness, deadlines, reason, until }: EvictionPauseSpec,
  status: EvictionPauseStatus | null,
  now: Instant,
): EvictionPause {
  const { zones = [], nodeSelector, taintKeys = [], namespaces = [] } = scope;
  return {
    name,
    uid,
    scope: { zones, nodes: nodeSelector ?? null, taintKeys, namespaces },
    readiness,
    deadlines,
    reason,
    until: timeOf(until),
    since: timeOf(status?.since) ?? created ?? now,
  };
}

export const evictionPauseKind: Kind = {
  description: 'Holds evictions until it is deleted, or over.',
  plural: 'evictionpauses',
  shortName: 'epause',
  spec: evictionPauseSpec,
  status: evictionPauseStatus,
  columns: [
    column('Reason', 'string', '.spec.reason', 'Why'),
    column('Until', 'string', '.spec.until', 'When it ends by itself'),
    column('Pods', 'integer', '.status.pods', 'Pods whose evictions for NoExecute taints it holds'),
    column('Since', 'date', '.status.since', 'Since when it holds', 1),
    column('Given Back', 'string', '.status.timeGivenBack', 'So much more time pods have', 1),
    column('Readiness', 'boolean', '.spec.readiness', 'It holds node health too', 1),
    inForce,
    age,
  ],
};
