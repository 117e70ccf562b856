// Eviction policies and limits, which only the configuration file can say.
import type { Config } from '@taintmgr/core';
import type { LimitRule, Policy } from '@taintmgr/core/policy';
import { parseDuration } from '@taintmgr/core/time';
import type { ConfigFile } from './config-file.ts';

interface PolicyFields {
  readonly mode?: Policy['mode'];
  readonly deleteAfter?: string;
  readonly gracePeriodSeconds?: number;
  readonly settle?: string;
}

interface LimitFields extends Omit<LimitRule, 'windowMs'> {
  readonly window?: string;
}

/** `eviction` as the schema describes it, without what is a setting with a flag. */
interface EvictionFields extends Omit<PolicyFields, 'mode' | 'deleteAfter'> {
  readonly policies?: readonly (PolicyFields & {
    readonly key?: string;
    readonly value?: string;
    readonly effect?: string;
  })[];
  readonly leave?: Partial<Config['leave']>;
  readonly limits?: readonly LimitFields[];
  readonly heedNodeDeadlines?: boolean;
}

/** What only the configuration file can say about evictions; what it leaves out is left out here. */
export function evictionPolicies(file: ConfigFile): Partial<Config> {
  const fields: EvictionFields = file.eviction ?? {};
  const { gracePeriodSeconds, settle, policies, leave, limits, heedNodeDeadlines } = fields;
  const none = { finishedPods: false, returningDaemonSetPods: false, optedOutPods: false };
  return {
    ...policyOf({
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      ...(settle !== undefined && { settle }),
    }),
    ...(policies && {
      policies: policies.map(({ key, value, effect, ...policy }) => ({
        ...(key !== undefined && { key }),
        ...(value !== undefined && { value }),
        ...(effect !== undefined && { effect }),
        ...policyOf(policy),
      })),
    }),
    ...(leave && { leave: { ...none, ...leave } }),
    ...(limits && { limits: limits.map(limitOf) }),
    ...(heedNodeDeadlines !== undefined && { heedNodeDeadlines }),
  };
}

function policyOf(fields: PolicyFields): Partial<Policy> {
  const { mode, deleteAfter, gracePeriodSeconds, settle } = fields;
  return {
    ...(mode && { mode }),
    ...(deleteAfter !== undefined && { deleteAfterMs: millisOf(deleteAfter) }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(settle !== undefined && { settleMs: millisOf(settle) }),
  };
}

function limitOf({ window, ...limit }: LimitFields): LimitRule {
  return { ...limit, ...(window !== undefined && { windowMs: millisOf(window) }) };
}

/** The schema has seen to the form. */
function millisOf(duration: string): number {
  return Math.round(parseDuration(duration) ?? 0);
}
