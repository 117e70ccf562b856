import type { Engine, Event } from '@taintmgr/core';
import type { EvictionPause, EvictionPolicy } from '@taintmgr/core/policy';
import type { Machine } from '../../src/controller/loop-parts.ts';
import { hearing, without } from './machines.ts';
import type { Planted } from './sabotages.ts';

/** What shows that another policy was gone by than the one that counts. */
const otherPolicy = [
  'evicts what a policy keeps',
  'before its deadline',
  'deletes too early',
  'grace period',
];

const story = { story: 'policies', theme: 'policies' } as const;

/** Faults of who goes by the policies of the cluster. */
export const policySabotages: Readonly<Record<string, Planted>> = {
  'does not read policies': {
    ...story,
    seed: 5,
    breaks: ['evicts without the policies'],
    sabotage: { clusterPolicies: false },
  },
  'does not keep what a policy keeps': {
    ...story,
    seed: 12,
    breaks: ['evicts what a policy keeps'],
    sabotage: {
      machine: (engine) =>
        without(engine, (event) => isPolicy(event) && event.policy.action === 'Keep'),
    },
  },
  'does not mind which policy comes first': {
    ...story,
    seed: 55,
    breaks: otherPolicy,
    sabotage: { machine: (engine) => changed(engine, ({ priority }) => ({ priority: -priority })) },
  },
  'does not mind the limits of policies': {
    ...story,
    seed: 12,
    breaks: ['limit of a policy'],
    sabotage: { machine: (engine) => changed(engine, () => ({ limits: [] })) },
  },
  'keeps to policies that are gone': {
    ...story,
    seed: 31,
    breaks: [...otherPolicy, 'overdue'],
    sabotage: { machine: (engine) => without(engine, ({ kind }) => kind === 'policyDelete') },
  },
  'does not hear that namespaces change': {
    story: 'policies',
    theme: 'namespaces',
    seed: 280,
    breaks: ['evicts what a policy keeps', 'before its deadline', 'overdue'],
    sabotage: { machine: hearsNamespacesOnce },
  },
  'goes on beside a policy that it cannot read': {
    ...story,
    seed: 194,
    breaks: ['evicts what a policy keeps', 'before its deadline'],
    sabotage: {
      machine: (engine) =>
        without(engine, (event) => event.kind === 'pauseUpsert' && isOfUnread(event.pause)),
    },
  },
  'believes the times of taints where a policy says KubeControllerManager': {
    ...story,
    seed: 525,
    breaks: ['before its deadline'],
    sabotage: {
      machine: (engine) =>
        changed(engine, ({ action }) =>
          action === 'KubeControllerManager' ? { action: 'Delete' } : {},
        ),
    },
  },
};

/** Of each namespace it knows how it was at first. */
function hearsNamespacesOnce(engine: Engine): Machine {
  const heard = new Set<string>();
  return without(engine, (event) => {
    if (event.kind !== 'namespaceUpsert') return false;
    const { name } = event.namespace;
    return heard.size === heard.add(name).size;
  });
}

type PolicyEvent = Extract<Event, { readonly kind: 'policyUpsert' }>;

function isPolicy(event: Event): event is PolicyEvent {
  return event.kind === 'policyUpsert';
}

/** What holds all evictions while something cannot be read is called after its kind. */
function isOfUnread({ name }: EvictionPause): boolean {
  return name.includes('/');
}

/** Takes policies for others than they are. */
function changed(
  engine: Engine,
  change: (policy: EvictionPolicy) => Partial<EvictionPolicy>,
): Machine {
  return hearing(engine, (event) =>
    isPolicy(event) ? { ...event, policy: { ...event.policy, ...change(event.policy) } } : event,
  );
}
