import type { Engine, Event } from '@taintmgr/core';
import type { EvictionPolicy } from '@taintmgr/core/policy';
import type { Machine } from '../../src/controller/loop-parts.ts';
import type { Planted } from './sabotages.ts';

/** What shows that another policy was gone by than the one that counts. */
const otherPolicy = [
  'evicts what a policy keeps',
  'before its deadline',
  'deletes too early',
  'grace period',
];

/** Faults of who goes by the policies of the cluster. */
export const policySabotages: Readonly<Record<string, Planted>> = {
  'does not read policies': {
    story: 'policies',
    seed: 2,
    breaks: ['evicts without the policies'],
    sabotage: { clusterPolicies: false },
  },
  'does not keep what a policy keeps': {
    story: 'policies',
    seed: 31,
    breaks: ['evicts what a policy keeps'],
    sabotage: {
      machine: (engine) =>
        without(engine, (event) => isPolicy(event) && event.policy.action === 'Keep'),
    },
  },
  'does not mind which policy comes first': {
    story: 'policies',
    seed: 5,
    breaks: otherPolicy,
    sabotage: { machine: (engine) => changed(engine, ({ priority }) => ({ priority: -priority })) },
  },
  'does not mind the limits of policies': {
    story: 'policies',
    seed: 47,
    breaks: ['limit of a policy'],
    sabotage: { machine: (engine) => changed(engine, () => ({ limits: [] })) },
  },
  'goes on beside a policy that it cannot read': {
    story: 'policies',
    seed: 16,
    breaks: ['evicts what a policy keeps'],
    sabotage: {
      machine: (engine) =>
        without(engine, (event) => event.kind === 'pauseUpsert' && event.pause.name.includes('/')),
    },
  },
  'keeps to policies that are gone': {
    story: 'policies',
    seed: 5,
    breaks: [...otherPolicy, 'overdue'],
    sabotage: { machine: (engine) => without(engine, ({ kind }) => kind === 'policyDelete') },
  },
};

type PolicyEvent = Extract<Event, { readonly kind: 'policyUpsert' }>;

function isPolicy(event: Event): event is PolicyEvent {
  return event.kind === 'policyUpsert';
}

/** Does not hear of some events. */
function without(engine: Engine, isLost: (event: Event) => boolean): Machine {
  return {
    handle: (now, event) => (isLost(event) ? [] : engine.handle(now, event)),
    nextWake: () => engine.nextWake(),
  };
}

/** Takes policies for others than they are. */
function changed(
  engine: Engine,
  change: (policy: EvictionPolicy) => Partial<EvictionPolicy>,
): Machine {
  const heard = (event: Event): Event =>
    isPolicy(event) ? { ...event, policy: { ...event.policy, ...change(event.policy) } } : event;
  return {
    handle: (now, event) => engine.handle(now, heard(event)),
    nextWake: () => engine.nextWake(),
  };
}
