// NodeDrain: which nodes are drained, with which taint, and how.

import { nodeFields } from './node-drain-nodes.ts';
import { paceFields } from './node-drain-pace.ts';
import { podFields } from './node-drain-pods.ts';
import { waitFields } from './node-drain-waits.ts';
import type { Rule, TypeOf } from './schema.ts';

type Fields = typeof nodeFields & typeof podFields & typeof paceFields & typeof waitFields;

export const nodeDrainSpec: {
  readonly type: 'object';
  readonly description: string;
  readonly required: readonly ['taint'];
  readonly properties: Fields;
  readonly rules: readonly Rule[];
} = {
  type: 'object',
  description: 'Which nodes are drained, and how.',
  required: ['taint'],
  properties: { ...nodeFields, ...podFields, ...paceFields, ...waitFields },
  rules: [
    {
      cel: 'has(self.nodes) != has(self.nodeSelector)',
      message: 'want nodes or a nodeSelector',
      holds: ({ nodes, nodeSelector }: { nodes?: unknown; nodeSelector?: unknown }): boolean =>
        (nodes !== undefined) !== (nodeSelector !== undefined),
    },
    {
      cel: "self.maintenancePlanned == 'Ignore' || has(self.nodeSelector)",
      message: 'want maintenancePlanned Require only with a nodeSelector',
      holds: ({
        maintenancePlanned,
        nodeSelector,
      }: {
        maintenancePlanned: string;
        nodeSelector?: unknown;
      }): boolean => maintenancePlanned === 'Ignore' || nodeSelector !== undefined,
    },
    {
      cel: "self.laterNodes == 'Leave' || has(self.nodeSelector)",
      message: 'want laterNodes Drain only with a nodeSelector',
      holds: ({
        laterNodes,
        nodeSelector,
      }: {
        laterNodes: string;
        nodeSelector?: unknown;
      }): boolean => laterNodes === 'Leave' || nodeSelector !== undefined,
    },
    {
      cel: "self.laterNodes == 'Leave' || !has(self.ttlSecondsAfterFinished)",
      message:
        'want ttlSecondsAfterFinished only with laterNodes Leave: the drain has no end otherwise',
      holds: ({
        laterNodes,
        ttlSecondsAfterFinished,
      }: {
        laterNodes: string;
        ttlSecondsAfterFinished?: unknown;
      }): boolean => laterNodes === 'Leave' || ttlSecondsAfterFinished === undefined,
    },
  ],
};

export type NodeDrainSpec = TypeOf<typeof nodeDrainSpec>;
