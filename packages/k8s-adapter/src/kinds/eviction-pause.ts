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
  'Specification of the pause: its scope, its reason, and its end.',
  {
    scope: object(
      'Where evictions are held. All fields that are set must match. Defaults to the whole cluster.',
      {
        zones: filledList(
          'Holds pods on nodes of these zones, in the form region/zone.',
          64,
          filledCharacters(127),
        ),
        nodeSelector: selector('Holds pods on nodes with these labels.'),
        taintKeys: filledList('Holds evictions for taints with one of these keys.', 64, taintKey),
        namespaces: filledList('Holds pods in these namespaces.', 128, filledCharacters(63)),
      },
      { default: {} },
    ),
    deadlines: truth(
      'Holds evictions. Deadlines stand still during the pause, and every deadline is extended by the length of the pause.',
      true,
    ),
    readiness: truth(
      'Holds node health: pods of unreachable nodes are not marked as not ready, and unhealthy nodes are not tainted.',
      false,
    ),
    reason: {
      type: 'string',
      description: 'Human-readable reason for the pause.',
      maxLength: 1024,
      default: '',
    },
    until: time('When the pause ends. If unset, the pause lasts until it is deleted.'),
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

export const evictionPauseStatus = object('Status of the pause, as the leader last observed it.', {
  observedGeneration,
  since: time('When the pause took effect.'),
  pods: count(
    'Number of pods whose evictions for NoExecute taints the pause holds. The status of a NodeDrain lists the pods of that drain.',
  ),
  timeGivenBack: duration(
    'How long deadlines have stood still because of the pause: the most by which it extends a deadline.',
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
  description: 'EvictionPause holds evictions until it ends or is deleted.',
  plural: 'evictionpauses',
  shortName: 'epause',
  spec: evictionPauseSpec,
  status: evictionPauseStatus,
  columns: [
    column('Reason', 'string', '.spec.reason', 'Reason for the pause'),
    column('Until', 'string', '.spec.until', 'When it ends'),
    column('Pods', 'integer', '.status.pods', 'Pods whose evictions for NoExecute taints it holds'),
    column('Since', 'date', '.status.since', 'When it took effect', 1),
    column(
      'Given Back',
      'string',
      '.status.timeGivenBack',
      'Time by which it extends deadlines',
      1,
    ),
    column('Readiness', 'boolean', '.spec.readiness', 'True if it also holds node health', 1),
    inForce,
    age,
  ],
};
