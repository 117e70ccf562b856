import type { Json } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { deleteOne, policies, put } from './own-kinds.ts';
import { ruleKeys } from './rule-script.ts';
import { type Actions, current } from './script.ts';
import type { Story } from './story.ts';
import { taintKeys } from './tolerations.ts';

/** What may happen to what people and GitOps say of evictions. */
export const policyActions: Actions = [
  [16, putPolicy],
  [5, deletePolicy],
  [1, unreadablePolicy],
  [2, labelNamespace],
];

/** The same where all that matters is to which team a namespace belongs. */
export const teamActions: Actions = [
  [10, putTeamPolicy],
  [2, deletePolicy],
  [12, labelNamespace],
];

const names = ['a', 'b', 'c', 'd'] as const;

function putTeamPolicy({ api }: Story, draw: Draw): string {
  const action = draw.of(['Keep', 'Keep', 'Delete', 'Evict']);
  const spec = {
    priority: draw.of([0, 5]),
    match: { namespaceSelector: { matchLabels: drawTeam(draw) } },
    action,
    ...(action !== 'Keep' && { minTaintAge: draw.of(['0s', '10s', '40s']) }),
  };
  return put(api, policies, 'EvictionPolicy', draw.of(names), spec);
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

function drawPolicySpec(draw: Draw): { readonly [member: string]: Json } {
  const action = draw.weighted<string | null>([
    [3, 'Keep'],
    [3, 'Delete'],
    [3, 'Evict'],
    [2, 'EvictThenDelete'],
    [2, 'KubeControllerManager'],
    [2, null],
  ]);
  const leaves = action !== null && action !== 'Keep' && action !== 'KubeControllerManager';
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
    ...(!limits && draw.chance(0.4) && { taints: [{ key: draw.of([...taintKeys, ...ruleKeys]) }] }),
    ...(draw.chance(0.3) && { namespaces: draw.of([['lab'], ['shop'], ['lab', 'infra']]) }),
    ...(!limits && draw.chance(0.25) && { namespaceSelector: { matchLabels: drawTeam(draw) } }),
    ...(draw.chance(0.2) && {
      podSelector: { matchLabels: { app: draw.of(['guarded', 'free']) } },
    }),
  };
}

/** People move a namespace to another team. */
function labelNamespace({ api }: Story, draw: Draw): string {
  const namespace = api.get('namespaces', '', draw.of(['lab', 'shop', 'infra']));
  if (!namespace) return 'no namespace to label';
  const labels = drawTeam(draw);
  const { metadata } = current(namespace);
  api.update('namespaces', { ...namespace, metadata: { ...metadata, labels } });
  return `namespace ${metadata.name} gets ${JSON.stringify(labels)}`;
}

function drawTeam(draw: Draw): { readonly team: string } {
  return { team: draw.of(['red', 'blue']) };
}

function drawLimit(draw: Draw): Json {
  return {
    per: draw.of(['Total', 'Namespace', 'Node']),
    pods: draw.of([1, 2]),
    window: draw.of(['30s', '2m']),
    onLimit: draw.of(['Queue', 'Queue', 'Trip']),
  };
}
