// TaintManager: what the leader says of itself; it has a status and no spec.
import { type Fitted, fitted } from '../schema/fit.ts';
import type { TypeOf } from '../schema/schema.ts';

export const taintManagerStatus = {
  type: 'object',
  description: 'What the leader says of itself.',
  properties: {
    renewTime: {
      type: 'shared',
      name: 'time',
      description: 'When the leader last wrote this; it does so every few seconds.',
    },
    leader: { type: 'string', description: 'Who leads.', maxLength: 253 },
    version: { type: 'string', description: 'The version of the leader.', maxLength: 64 },
    startedAt: { type: 'shared', name: 'time', description: 'When the leader began to lead.' },
    settings: {
      type: 'map',
      description: 'The settings in force, by the names of their flags.',
      maxProperties: 128,
      values: { type: 'string', maxLength: 1024 },
    },
    controllers: {
      type: 'array',
      description: 'The controllers that run.',
      maxItems: 16,
      items: { type: 'string', maxLength: 63 },
    },
    zones: {
      type: 'array',
      description: 'The zones of the cluster.',
      maxItems: 64,
      mapKeys: ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'As region/zone.', maxLength: 127 },
          state: { type: 'string', description: 'How it is.', maxLength: 63 },
          nodes: { type: 'integer', description: 'Its nodes.', minimum: 0 },
          notReady: { type: 'integer', description: 'Those that are not ready.', minimum: 0 },
          rate: { type: 'number', description: 'Nodes that are tainted in a second.', minimum: 0 },
        },
      },
    },
    counts: {
      type: 'object',
      description: 'How many there are.',
      properties: {
        nodes: { type: 'integer', description: 'Nodes.', minimum: 0 },
        tainted: { type: 'integer', description: 'Nodes with NoExecute taints.', minimum: 0 },
        pods: { type: 'integer', description: 'Pods.', minimum: 0 },
        pending: { type: 'integer', description: 'Pods that wait for their time.', minimum: 0 },
        held: { type: 'integer', description: 'Pods that limits or pauses hold.', minimum: 0 },
        blocked: {
          type: 'integer',
          description: 'Pods whose eviction a PodDisruptionBudget refuses.',
          minimum: 0,
        },
        evicted: { type: 'integer', description: 'Pods evicted since startedAt.', minimum: 0 },
      },
    },
    trippedLimits: {
      type: 'array',
      description: 'Limits that are shut until somebody says kubectl taintmgr resume.',
      maxItems: 64,
      mapKeys: ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'As it is resumed.', maxLength: 1024 },
          since: { type: 'shared', name: 'time', description: 'Since when.' },
        },
      },
    },
    pauses: {
      type: 'array',
      description: 'The EvictionPauses in force.',
      maxItems: 64,
      items: { type: 'string', maxLength: 253 },
    },
    evictors: {
      type: 'array',
      description: 'Who else evicts here.',
      maxItems: 16,
      mapKeys: ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'Such as kube-controller-manager.', maxLength: 253 },
          work: { type: 'string', description: 'What it does of our work.', maxLength: 253 },
          evidence: { type: 'string', description: 'What that is known by.', maxLength: 1024 },
        },
      },
    },
    conditions: { type: 'shared', name: 'conditions' },
  },
} as const;

export type TaintManagerStatus = TypeOf<typeof taintManagerStatus>;

/** The status cut to what the API server takes. */
export function fittedTaintManagerStatus(status: TaintManagerStatus): Fitted {
  return fitted(taintManagerStatus, status);
}
