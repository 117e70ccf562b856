import type { LabelSelector } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import type { ConditionRule } from '@taintmgr/core/policy';
import { parseDuration } from '@taintmgr/core/time';
import type { ConfigFile } from './config-file.ts';

interface RuleFields extends Omit<ConditionRule, 'holdsMs' | 'clearMs' | 'taint'> {
  readonly holds: string;
  readonly clear: string;
  readonly taint: { readonly key: string; readonly value?: string; readonly effect: TaintEffect };
}

type TaintEffect = ConditionRule['taint']['effect'];

/** `nodeLifecycle` as the schema describes it, without what is a setting with a flag. */
interface LifecycleFields {
  readonly enforcement?: LifecycleConfig['enforcement'];
  readonly podEvictionTimeout?: string;
  readonly zoneMembers?: LabelSelector;
  readonly deadZone?: LifecycleConfig['deadZone'];
  readonly podReadiness?: LifecycleConfig['podReadiness'];
  readonly massSilence?: {
    readonly share: number;
    readonly nodesMin: number;
    readonly within: string;
    readonly hold: string;
  } | null;
  readonly healthy?: string;
  readonly flapping?: {
    readonly times: number;
    readonly within: string;
    readonly healthy: string;
  };
  readonly conditionRules?: readonly (Pick<RuleFields, 'name' | 'condition' | 'taint'> &
    Partial<RuleFields>)[];
}

/** What only the configuration file can say about nodes; what it leaves out is left out here. */
export function lifecyclePolicies(file: ConfigFile): Partial<LifecycleConfig> {
  const fields: LifecycleFields = file.nodeLifecycle ?? {};
  const { podEvictionTimeout, massSilence, healthy, flapping, conditionRules } = fields;
  return {
    ...(fields.enforcement && { enforcement: fields.enforcement }),
    ...(podEvictionTimeout !== undefined && { podEvictionTimeoutMs: millisOf(podEvictionTimeout) }),
    ...(fields.zoneMembers && { zoneMembers: fields.zoneMembers }),
    ...(fields.deadZone && { deadZone: fields.deadZone }),
    ...(fields.podReadiness && { podReadiness: fields.podReadiness }),
    ...(massSilence !== undefined && { massSilence: massSilenceOf(massSilence) }),
    ...(healthy !== undefined && { healthyMs: millisOf(healthy) }),
    ...(flapping && {
      flapping: {
        times: flapping.times,
        withinMs: millisOf(flapping.within),
        healthyMs: millisOf(flapping.healthy),
      },
    }),
    ...(conditionRules && { conditionRules: conditionRules.map(ruleOf) }),
  };
}

function massSilenceOf(
  fields: NonNullable<LifecycleFields['massSilence']> | null,
): LifecycleConfig['massSilence'] {
  if (fields === null) return null;
  const { share, nodesMin, within, hold } = fields;
  return { share, nodesMin, withinMs: millisOf(within), holdMs: millisOf(hold) };
}

function ruleOf({
  name,
  condition,
  taint: { key, value = '', effect },
  status = 'True',
  holds = '0',
  clear = '0',
  nodes = {},
  nodesMax = null,
  dryRun = false,
}: NonNullable<LifecycleFields['conditionRules']>[number]): ConditionRule {
  const times = { holdsMs: millisOf(holds), clearMs: millisOf(clear) };
  return {
    name,
    condition,
    status,
    ...times,
    taint: { key, value, effect },
    nodes,
    nodesMax,
    dryRun,
  };
}

/** The schema has seen to the form. */
function millisOf(duration: string): number {
  return Math.round(parseDuration(duration) ?? 0);
}
