// What only the configuration file can say about evictions.
import type { Config } from '@taintmgr/core';
import type { ConfigFile } from './config-file.ts';
import { inMillis, type Written } from './durations.ts';

/** These values count for all pods that no policy is for. */
type Defaults = Partial<Pick<Config, 'gracePeriodSeconds' | 'minTaintAgeMs' | 'heedNodeDeadlines'>>;

/** `eviction` as the schema describes it, without what is a setting with a flag. */
interface EvictionFields extends Written<Defaults> {
  readonly leave?: Partial<Config['leave']>;
}

/** What it leaves out is left out here. */
export function evictionPolicies(file: ConfigFile): Partial<Config> {
  const fields: EvictionFields = file.eviction ?? {};
  const { gracePeriodSeconds, minTaintAge, heedNodeDeadlines, leave } = fields;
  const none = { finishedPods: false, returningDaemonSetPods: false, optedOutPods: false };
  return {
    ...inMillis<Defaults>({ gracePeriodSeconds, minTaintAge, heedNodeDeadlines }),
    ...(leave && { leave: { ...none, ...leave } }),
  };
}
