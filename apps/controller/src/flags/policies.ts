// Eviction policies and limits, as the configuration file can say them.
import type { Config } from '@taintmgr/core';
import type {
  EvictionMode,
  EvictionPolicy,
  LimitRule,
  Policy,
  PolicyAction,
  PolicyObject,
  TaintPattern,
} from '@taintmgr/core/policy';
import type { ConfigFile } from './config-file.ts';
import { inMillis, type Written } from './durations.ts';

/** Of these one value counts for all pods that no policy is for. */
type Defaults = Partial<Pick<Config, 'gracePeriodSeconds' | 'minTaintAgeMs' | 'heedNodeDeadlines'>>;

/** An entry of `eviction.policies`: the first that matches a taint counts. */
type Entry = TaintPattern & Partial<Policy>;

/** `eviction` as the schema describes it, without what is a setting with a flag. */
interface EvictionFields extends Written<Defaults> {
  readonly policies?: readonly Written<Entry>[];
  readonly leave?: Partial<Config['leave']>;
  readonly limits?: readonly Written<LimitRule>[];
}

const actions: Readonly<Record<EvictionMode, PolicyAction>> = {
  delete: 'Delete',
  evict: 'Evict',
  evictThenDelete: 'EvictThenDelete',
};

/** Below whatever people give to the policies of the cluster, in their order. */
const firstPriority = -1_000_000;

/** What only the configuration file can say about evictions; what it leaves out is left out here. */
export function evictionPolicies(file: ConfigFile): Partial<Config> {
  const fields: EvictionFields = file.eviction ?? {};
  const { gracePeriodSeconds, minTaintAge, heedNodeDeadlines, leave, limits } = fields;
  const none = { finishedPods: false, returningDaemonSetPods: false, optedOutPods: false };
  return {
    ...inMillis<Defaults>({ gracePeriodSeconds, minTaintAge, heedNodeDeadlines }),
    ...(leave && { leave: { ...none, ...leave } }),
    ...(limits && { limits: limits.map((limit) => inMillis<LimitRule>(limit)) }),
  };
}

/** The entries of `eviction.policies` as policies; `mode` is for those that name none. */
export function configuredPolicies(file: ConfigFile, mode: EvictionMode): readonly PolicyObject[] {
  const { policies = [] }: EvictionFields = file.eviction ?? {};
  return policies.map((written, index) => {
    const { key, value, effect, ...policy } = inMillis<Entry>(written);
    const pattern = {
      ...(key !== undefined && { key }),
      ...(value !== undefined && { value }),
      ...(effect !== undefined && { effect }),
    };
    return { kind: 'EvictionPolicy', value: policyOf(index, pattern, { mode, ...policy }) };
  });
}

function policyOf(
  index: number,
  taint: TaintPattern,
  { mode, ...policy }: Partial<Policy> & Pick<Policy, 'mode'>,
): EvictionPolicy {
  return {
    // As people find it in their file; no object of the cluster is called so.
    name: `eviction.policies[${index}]`,
    uid: '',
    generation: 1,
    priority: firstPriority - index,
    match: { taints: [taint], nodes: null, namespaces: null, pods: null, podPriority: null },
    action: actions[mode],
    minTaintAgeMs: policy.minTaintAgeMs ?? null,
    deleteAfterMs: policy.deleteAfterMs ?? null,
    gracePeriodSeconds: policy.gracePeriodSeconds ?? null,
    defaultTolerationSeconds: null,
    limits: [],
  };
}
