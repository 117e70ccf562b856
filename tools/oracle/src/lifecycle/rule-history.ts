// The taint rules in the cluster, and the taints that each asks for on a node.

import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from '../api-history.ts';
import { conditionOf } from '../objects.ts';
import { hasLabels, millisOf } from '../policies.ts';
import { StoredSets } from '../stored-sets.ts';

/** A rule as it stands in the API; its selector names labels and their values. */
export interface StoredRule {
  readonly name: string;
  readonly spec: RuleSpec;
  /** False: the client cannot read the rule and uses its previous version. */
  readonly isReadable: boolean;
}

interface RuleSpec {
  readonly condition: { readonly type: string; readonly status?: string };
  readonly holds?: string;
  readonly clear?: string;
  readonly taint: RuleTaint;
  readonly nodeSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly maxNodes?: number | string;
  readonly dryRun?: boolean;
}

/** A taint as a rule or a node has it. */
export interface RuleTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

const resource = 'nodetaintrules.taintmgr.dev';
const fields = [...['condition', 'holds', 'clear', 'taint', 'nodeSelector', 'maxNodes', 'dryRun']];

/** Every set of rules since the beginning, as the API reported them. */
export class RuleHistory {
  readonly #rules: StoredSets<StoredRule>;

  constructor(api: ClusterApi, apiHistory: ApiHistory) {
    const read = ({ metadata, spec }: KubeObject): StoredRule => {
      const isReadable = Object.keys(spec).every((name) => fields.includes(name));
      return { name: metadata.name, spec, isReadable };
    };
    this.#rules = new StoredSets(api, apiHistory, { resource, followed: 'rules', read });
  }

  /**
   * The possible versions of a rule for a decision of that run; null: the rule may have been gone.
   */
  known(run: number, decidedAt: number, name: string): readonly (StoredRule | null)[] {
    const known = this.#rules.known(run, decidedAt).flatMap((rules) => {
      const rule = rules.find((one) => one.name === name) ?? null;
      return rule === null || rule.isReadable ? [rule] : [null, ...this.#readable(name, decidedAt)];
    });
    return [...new Set(known)];
  }

  /** The present rule, and the time since when it is unchanged; null: it is gone. */
  current(name: string): { readonly rule: StoredRule; readonly since: number } | null {
    const rule = this.all.find((one) => one.name === name);
    const version = rule && this.#rules.versions.find(({ item }) => item === rule);
    return rule && version ? { rule, since: version.from } : null;
  }

  /** True if there ever was a rule. */
  get areUsed(): boolean {
    return this.#rules.versions.length > 0;
  }

  /** The present rules. */
  get all(): readonly StoredRule[] {
    return this.#rules.at(Number.POSITIVE_INFINITY);
  }

  /** When a rule that is gone, or says something else now, was that no more for a run that had heard of it. */
  endedFor(run: number, name: string, taint: RuleTaint): number | null {
    const versions = this.#rules.versions.filter(
      ({ item }) => item.name === name && item.isReadable && isSameTaint(item.spec.taint, taint),
    );
    const heard = versions.filter((one) => this.#rules.heard(run, one, Number.POSITIVE_INFINITY));
    return heard.length === 0 ? null : Math.max(...heard.map(({ to }) => to));
  }

  #readable(name: string, by: number): readonly StoredRule[] {
    return this.#rules.versions.flatMap(({ item, from }) =>
      item.name === name && item.isReadable && from <= by ? [item] : [],
    );
  }
}

/** True if the rule selects the node. */
export function isSelected({ spec }: StoredRule, node: KubeObject | null): boolean {
  return node !== null && hasLabels(spec.nodeSelector, node.metadata.labels);
}

/** True if the node's condition is as the rule asks for. */
export function holdsOn({ spec }: StoredRule, node: KubeObject | null): boolean {
  const { type, status = 'True' } = spec.condition;
  return node !== null && conditionOf(node, type)?.status === status;
}

/** The time since when the condition is unchanged, by the node's own status. */
export function saidSince({ spec }: StoredRule, node: KubeObject | null): number {
  const condition = node && conditionOf(node, spec.condition.type);
  const time = Date.parse(condition?.lastTransitionTime ?? '');
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

/** The time that the condition has to hold, or to be over. */
export function waitOf({ spec }: StoredRule, holds: boolean): number {
  return millisOf((holds ? spec.holds : spec.clear) ?? '0s');
}

/** The greatest number of nodes that may carry its taint in a pool of that size. */
export function nodesMaxOf({ spec: { maxNodes } }: StoredRule, pool: number): number {
  if (maxNodes === undefined) return Number.POSITIVE_INFINITY;
  return typeof maxNodes === 'number'
    ? maxNodes
    : Math.floor((Number(maxNodes.slice(0, -1)) * pool) / 100);
}

/** True if two taints are equal apart from their times. */
export function isSameTaint(one: RuleTaint, other: RuleTaint): boolean {
  const isSameValue = (one.value ?? '') === (other.value ?? '');
  return one.key === other.key && one.effect === other.effect && isSameValue;
}

/** The key of a taint in a node's note. */
export function markOf({ key, effect }: RuleTaint): string {
  return `${key}:${effect}`;
}

/** The rule of each taint on a node, by the node's note. */
export function marksOn(node: KubeObject | null): Readonly<Record<string, string>> {
  const text = node?.metadata.annotations?.['taintmgr.dev/owned-taints'];
  return text === undefined ? {} : JSON.parse(text);
}
