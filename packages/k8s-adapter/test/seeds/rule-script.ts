import type { Json, KubeObject } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { deleteOne, put, rules } from './own-kinds.ts';
import { type Actions, current } from './script.ts';
import type { Story } from './story.ts';

/** What may happen to taint rules, and to the conditions that they look at. */
export const ruleActions: Actions = [
  [6, putRule],
  [3, deleteRule],
  [8, changeCondition],
  [2, taintByHand],
];

/** The keys of taints that rules put on; people seldom do. */
export const ruleKeys = ['taintmgr.dev/odd', 'taintmgr.dev/even'] as const;

const conditions = ['MemoryPressure', 'DiskPressure'] as const;

function putRule(story: Story, draw: Draw): string {
  const { metadata } = draw.of(story.api.list('nodes'));
  const spec = {
    condition: {
      type: draw.of([...conditions, 'Ready']),
      ...(draw.chance(0.3) && { status: draw.of(['False', 'Unknown']) }),
    },
    holds: draw.of(['0s', '10s', '40s']),
    clear: draw.of(['0s', '20s']),
    taint: drawTaint(draw),
    ...(draw.chance(0.2) && { nodeSelector: { matchLabels: drawLabel(draw, metadata.labels) } }),
    ...(draw.chance(0.4) && { maxNodes: draw.of([0, 1, 1, '50%']) }),
    ...(draw.chance(0.1) && { dryRun: true }),
    ...(draw.chance(0.1) && { newer: true }),
  };
  return put(story.api, rules, 'NodeTaintRule', draw.of(['x', 'y']), spec);
}

function deleteRule({ api }: Story, draw: Draw): string {
  return deleteOne(api, rules, draw);
}

function changeCondition({ cluster, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  const type = draw.of(conditions);
  const value = draw.chance(0.6);
  cluster.node(name).setCondition(type, value);
  return `kubelet ${name} says ${type}=${value}`;
}

/** As `kubectl taint` does, or somebody who says since when. */
function taintByHand({ api, now }: Story, draw: Draw): string {
  const node = draw.of(api.list('nodes'));
  const taint = {
    ...drawTaint(draw),
    ...(draw.chance(0.3) && { timeAdded: `${new Date(now()).toISOString().slice(0, 19)}Z` }),
  };
  const before: KubeObject['spec'] = node.spec.taints ?? [];
  const others = before.filter((one: { key: string; effect: string }) => {
    return one.key !== taint.key || one.effect !== taint.effect;
  });
  api.update('nodes', { ...current(node), spec: { ...node.spec, taints: [...others, taint] } });
  return `taint ${node.metadata.name} by hand ${JSON.stringify(taint)}`;
}

function drawTaint(draw: Draw): { readonly key: string; readonly effect: string } {
  const value = draw.of(['', '', 'a']);
  return {
    key: draw.of(ruleKeys),
    ...(value !== '' && { value }),
    effect: draw.of(['NoExecute', 'NoExecute', 'NoSchedule']),
  };
}

/** One that the node has: others have it too, or do not. */
function drawLabel(draw: Draw, labels: Readonly<Record<string, string>> = {}): Json {
  const key = draw.of(['kubernetes.io/hostname', 'topology.kubernetes.io/zone']);
  return { [key]: labels[key] ?? '' };
}
