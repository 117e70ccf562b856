import type { Command, Engine } from '@taintmgr/core';
import type { NodeTaintRule } from '@taintmgr/core/policy';
import type { Machine } from '../../src/controller/loop-parts.ts';
import { hearing, swallowing, without } from './machines.ts';
import { ruleKeys } from './rule-script.ts';
import type { Planted } from './sabotages.ts';

const story = { story: 'policies', theme: 'rules' } as const;

/** Faults of who goes by the taint rules of the cluster. */
export const ruleSabotages: Readonly<Record<string, Planted>> = {
  'does not wait until a condition has held': {
    ...story,
    ...{ seed: 87, breaks: ['rule taint too early'] },
    sabotage: { machine: withRules(() => ({ holdsMs: 0 })) },
  },
  'minds no bound of a rule': {
    ...story,
    ...{ seed: 57, breaks: ['rule taint on too many'] },
    sabotage: { machine: withRules(() => ({ nodesMax: null })) },
  },
  'takes a dry run for a rule': {
    ...story,
    ...{ seed: 54, breaks: ['taint without a rule'] },
    sabotage: { machine: withRules(() => ({ dryRun: false })) },
  },
  'keeps to taint rules that are gone': {
    ...story,
    ...{ seed: 45, breaks: ['taint without a rule', 'rule taint stays'] },
    sabotage: { machine: (engine) => without(engine, ({ kind }) => kind === 'taintRuleDelete') },
  },
  'never puts on what a rule asks for': {
    ...story,
    ...{ seed: 122, breaks: ['rule taint missing'] },
    sabotage: { machine: (engine) => swallowing(engine, changesRuleTaint('add')) },
  },
  'never takes off what a rule asked for': {
    ...story,
    ...{ seed: 63, breaks: ['rule taint stays'] },
    sabotage: { machine: (engine) => swallowing(engine, changesRuleTaint('remove')) },
  },
  'does not wait until a condition has been over': {
    ...story,
    ...{ seed: 140, breaks: ['rule taint gone too early'] },
    sabotage: { machine: withRules(() => ({ clearMs: 0 })) },
  },
  'puts on again what people took off': {
    ...story,
    ...{ seed: 13, breaks: ['rule taint put on again'] },
    sabotage: { machine: forgetful },
  },
  'takes every taint for its own': {
    ...story,
    ...{ seed: 66, breaks: ['foreign taint taken'] },
    sabotage: { machine: claimingAll },
  },
};

function withRules(
  change: (rule: NodeTaintRule) => Partial<NodeTaintRule>,
): (engine: Engine) => Machine {
  return (engine) =>
    hearing(engine, (event) =>
      event.kind === 'taintRuleUpsert'
        ? { ...event, rule: { ...event.rule, ...change(event.rule) } }
        : event,
    );
}

function isOfRule({ key }: { readonly key: string }): boolean {
  return ruleKeys.some((one) => one === key);
}

function changesRuleTaint(how: 'add' | 'remove'): (command: Command) => boolean {
  return (command) => command.kind === 'changeTaints' && command[how].some(isOfRule);
}

/** Of each taint that has the key of a rule the node seems to say that the rule put it on. */
function claimingAll(engine: Engine): Machine {
  const rules = new Map<string, NodeTaintRule>();
  return hearing(engine, (event) => {
    if (event.kind === 'taintRuleUpsert') rules.set(event.rule.name, event.rule);
    if (event.kind !== 'nodeUpsert') return event;
    const claimed = event.node.taints.filter(isOfRule).flatMap(({ key, effect }) => {
      const rule = [...rules.values()].find(({ taint }) => taint.key === key);
      return rule ? [[`${key}:${effect}`, rule.name] as const] : [];
    });
    const ownedTaints = { ...Object.fromEntries(claimed), ...event.node.ownedTaints };
    const taints = event.node.taints.map((taint) => {
      return isOfRule(taint) ? { ...taint, timeAdded: taint.timeAdded ?? 0 } : taint;
    });
    return { ...event, node: { ...event.node, ownedTaints, taints } };
  });
}

/** What is noted of a taint counts only while the taint is there. */
function forgetful(engine: Engine): Machine {
  return hearing(engine, (event) => {
    if (event.kind !== 'nodeUpsert' || !event.node.ownedTaints) return event;
    const there = new Set(event.node.taints.map(({ key, effect }) => `${key}:${effect}`));
    const noted = Object.entries(event.node.ownedTaints).filter(([mark]) => there.has(mark));
    return { ...event, node: { ...event.node, ownedTaints: Object.fromEntries(noted) } };
  });
}
