// The validation of which requests an admission policy is about.
import type { Cause } from '@taintmgr/sim-cluster/server';
import {
  duplicateValue,
  invalidValue,
  type LabelSelector,
  notSupported,
  required,
  validateSelector,
} from '@taintmgr/sim-cluster/server';

/** The requests that one rule matches. */
export interface ResourceRule {
  readonly resourceNames?: readonly string[];
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

/** The requests that a policy or a binding matches. */
export interface MatchResources {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
  readonly matchPolicy?: string;
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'] as const;
const scopes = ['*', 'Cluster', 'Namespaced'] as const;
const matchPolicies = ['Equivalent', 'Exact'] as const;

/** The rules for the match constraints at `field`. */
export function validateMatchResources(given: MatchResources, field: string): readonly Cause[] {
  const { namespaceSelector, objectSelector, matchPolicy = '' } = given;
  const rules = (member: 'resourceRules' | 'excludeResourceRules'): readonly Cause[] =>
    (given[member] ?? []).flatMap((rule, at) => validateRule(rule, `${field}.${member}[${at}]`));
  return [
    ...validateSelector(namespaceSelector ?? {}, `${field}.namespaceSelector`),
    ...validateSelector(objectSelector ?? {}, `${field}.objectSelector`),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
    ...known(`${field}.matchPolicy`, matchPolicy, matchPolicies),
  ];
}

function known(field: string, value: string, all: readonly string[]): readonly Cause[] {
  return all.includes(value) ? [] : [notSupported(field, value, all)];
}

/** The rules for one rule at `field`. */
export function validateRule(rule: ResourceRule, field: string): readonly Cause[] {
  const { resources = [], resourceNames = [], scope = '' } = rule;
  const { operations: asked = [] } = rule;
  return [
    ...(asked.length === 0 ? [required(`${field}.operations`)] : []),
    ...starAlone(asked, `${field}.operations`, 'operations'),
    ...asked.flatMap((one, at) => known(`${field}.operations[${at}]`, one, operations)),
    ...validateTexts(rule.apiGroups ?? [], `${field}.apiGroups`, 'API groups', true),
    ...validateTexts(rule.apiVersions ?? [], `${field}.apiVersions`, 'API versions', false),
    ...validateResources(resources, `${field}.resources`),
    ...known(`${field}.scope`, scope, scopes),
    ...resourceNames.flatMap((name, at) =>
      resourceNames.indexOf(name) < at
        ? [duplicateValue(`${field}.resourceNames[${at}]`, name)]
        : [],
    ),
  ];
}

function starAlone(texts: readonly string[], field: string, what: string): readonly Cause[] {
  if (texts.length < 2 || !texts.includes('*')) return [];
  return [invalidValue(field, texts, `if '*' is present, must not specify other ${what}`)];
}

function validateTexts(
  texts: readonly string[],
  field: string,
  what: string,
  mayBeEmpty: boolean,
): readonly Cause[] {
  if (texts.length === 0) return [required(field)];
  const empty = mayBeEmpty
    ? []
    : texts.flatMap((text, at) => (text === '' ? [required(`${field}[${at}]`)] : []));
  return [...starAlone(texts, field, what), ...empty];
}

/** `*` and `x/*` leave no room for others that they include. */
function validateResources(resources: readonly string[], field: string): readonly Cause[] {
  if (resources.length === 0) return [required(field)];
  const others = resources.length > 1;
  if (others && resources.includes('*/*')) {
    return [
      invalidValue(field, resources, "if '*/*' is present, must not specify other resources"),
    ];
  }
  const plain = resources.filter((resource) => !resource.includes('/'));
  const causes: Cause[] = [];
  if (plain.length > 1 && plain.includes('*')) {
    const text = "if '*' is present, must not specify other resources without subresources";
    causes.push(invalidValue(field, resources, text));
  }
  for (const [at, resource] of resources.entries()) {
    if (resource === '') causes.push(required(`${field}[${at}]`));
  }
  return causes;
}
