import { customResourceDefinitions } from '@taintmgr/core/policy';
import type { ClusterApi, Json, KubeObject } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { type Actions, current } from './script.ts';
import type { Story } from './story.ts';
import { taintKeys } from './tolerations.ts';

/** What may happen to what people and GitOps say of evictions. */
export const policyActions: Actions = [
  [16, putPolicy],
  [5, deletePolicy],
  [2, unreadablePolicy],
  [3, putRule],
  [2, deleteRule],
];

const policies = 'evictionpolicies.taintmgr.dev';
const rules = 'nodetaintrules.taintmgr.dev';
const names = ['a', 'b', 'c', 'd'] as const;
/** By a rule of ours; people leave it alone. */
const ruleKey = 'taintmgr.dev/odd';
const apiVersion = 'taintmgr.dev/v1alpha1';

/** Installs the kinds, with schemas that let everything through: the readers are to be tested. */
export function installKinds(api: ClusterApi): void {
  for (const definition of customResourceDefinitions()) {
    const { metadata, spec } = structuredClone(definition) as KubeObject;
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const versions = spec.versions.map((version: object) => ({
      ...version,
      additionalPrinterColumns: [],
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
    }));
    api.create('customresourcedefinitions', { metadata, spec: { ...spec, versions } });
  }
}

/** People clean up: what is there no more holds nobody back. */
export function deletePolicies(api: ClusterApi): void {
  for (const { metadata } of api.list(policies)) api.delete(policies, '', metadata.name);
}

function putPolicy({ api }: Story, draw: Draw): string {
  return put(api, policies, 'EvictionPolicy', draw.of(names), drawPolicySpec(draw));
}

/** As one of a newer version. */
function unreadablePolicy({ api }: Story, draw: Draw): string {
  const spec = { ...drawPolicySpec(draw), newer: true };
  return put(api, policies, 'EvictionPolicy', draw.of(names), spec);
}

function deletePolicy({ api }: Story, draw: Draw): string {
  return deleteOne(api, policies, draw);
}

function putRule({ api }: Story, draw: Draw): string {
  const spec = {
    condition: { type: draw.of(['MemoryPressure', 'DiskPressure', 'PIDPressure']) },
    holds: draw.of(['0s', '10s', '40s']),
    clear: draw.of(['0s', '20s']),
    taint: { key: ruleKey, effect: draw.of(['NoExecute', 'NoExecute', 'NoSchedule']) },
    ...(draw.chance(0.2) && { maxNodes: draw.of([0, 1, '50%']) }),
    ...(draw.chance(0.1) && { newer: true }),
  };
  return put(api, rules, 'NodeTaintRule', draw.of(['x', 'y']), spec);
}

function deleteRule({ api }: Story, draw: Draw): string {
  return deleteOne(api, rules, draw);
}

function drawPolicySpec(draw: Draw): { readonly [member: string]: Json } {
  const action = draw.weighted<string | null>([
    [3, 'Keep'],
    [3, 'Delete'],
    [3, 'Evict'],
    [2, 'EvictThenDelete'],
    [2, null],
  ]);
  const leaves = action !== null && action !== 'Keep';
  const limited = action === null || draw.chance(0.2);
  return {
    priority: draw.of([0, 0, 5, -5]),
    match: drawMatch(draw, limited),
    ...(action !== null && { action }),
    ...(leaves && draw.chance(0.6) && { minTaintAge: draw.of(['0s', '10s', '40s']) }),
    ...(leaves && draw.chance(0.5) && { defaultTolerationSeconds: draw.of([0, 20, 100]) }),
    ...(leaves && draw.chance(0.3) && { gracePeriodSeconds: draw.of([1, 5]) }),
    ...(action === 'EvictThenDelete' && { deleteAfter: draw.of(['0s', '7s', '60s']) }),
    ...(limited && { limits: [drawLimit(draw)] }),
  };
}

/** What limits is for every taint, so that it can be judged by the pods alone. */
function drawMatch(draw: Draw, limits: boolean): Json {
  return {
    ...(!limits && draw.chance(0.4) && { taints: [{ key: draw.of([...taintKeys, ruleKey]) }] }),
    ...(draw.chance(0.3) && { namespaces: draw.of([['lab'], ['default'], ['lab', 'default']]) }),
    ...(draw.chance(0.2) && {
      podSelector: { matchLabels: { app: draw.of(['guarded', 'free']) } },
    }),
  };
}

function drawLimit(draw: Draw): Json {
  return {
    per: draw.of(['Total', 'Namespace', 'Node']),
    pods: draw.of([1, 2]),
    window: draw.of(['30s', '2m']),
    onLimit: draw.of(['Queue', 'Queue', 'Trip']),
  };
}

function put(
  api: ClusterApi,
  resource: string,
  kind: string,
  name: string,
  spec: { readonly [member: string]: Json },
): string {
  const before = api.get(resource, '', name);
  if (before) api.update(resource, { ...current(before), spec });
  else api.create(resource, { apiVersion, kind, metadata: { name }, spec });
  return `${before ? 'change' : 'create'} ${kind} ${name} ${JSON.stringify(spec)}`;
}

function deleteOne(api: ClusterApi, resource: string, draw: Draw): string {
  const all = api.list(resource);
  if (all.length === 0) return `there is none of ${resource}`;
  const { name } = draw.of(all).metadata;
  api.delete(resource, '', name);
  return `delete ${name} of ${resource}`;
}
