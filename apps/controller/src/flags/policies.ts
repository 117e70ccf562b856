// Eviction policies and limits, which only the configuration file can say.
import type { Config } from '@taintmgr/core';
import type { LimitRule } from '@taintmgr/core/policy';
import type { ConfigFile } from './config-file.ts';
import { inMillis, type Written } from './durations.ts';

type Policy = Config['policies'][number];

/** Of these one value counts for all pods that no policy is for. */
type Defaults = Partial<Pick<Config, 'gracePeriodSeconds' | 'minTaintAgeMs' | 'heedNodeDeadlines'>>;

/** `eviction` as the schema describes it, without what is a setting with a flag. */
interface EvictionFields extends Written<Defaults> {
  readonly policies?: readonly Written<Policy>[];
  readonly leave?: Partial<Config['leave']>;
  readonly limits?: readonly Written<LimitRule>[];
}

/** What only the configuration file can say about evictions; what it leaves out is left out here. */
export function evictionPolicies(file: ConfigFile): Partial<Config> {
  const fields: EvictionFields = file.eviction ?? {};
  const { gracePeriodSeconds, minTaintAge, heedNodeDeadlines, policies, leave, limits } = fields;
  const none = { finishedPods: false, returningDaemonSetPods: false, optedOutPods: false };
  return {
    ...inMillis<Defaults>({ gracePeriodSeconds, minTaintAge, heedNodeDeadlines }),
    ...(policies && { policies: policies.map((policy) => inMillis<Policy>(policy)) }),
    ...(leave && { leave: { ...none, ...leave } }),
    ...(limits && { limits: limits.map((limit) => inMillis<LimitRule>(limit)) }),
  };
}
