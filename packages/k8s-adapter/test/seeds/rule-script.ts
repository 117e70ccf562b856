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
  [6, changeAskedCondition],
  [4, endCondition],
  [2, taintByHand],
  [2, untaintByHand],
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

/** What a rule of the cluster looks at is so, or is over; most rules want it to be True. */
function changeAskedCondition({ api, cluster, nodeNames }: Story, draw: Draw): string {
  const asked: readonly string[] = api.list(rules).map(({ spec }) => spec.condition.type);
  const types = conditions.filter((type) => asked.includes(type));
  if (types.length === 0) return 'no rule looks at what this kubelet says';
  const type = draw.of(types);
  const name = draw.of(nodeNames);
  const node = api.get('nodes', '', name);
  const said: KubeObject['status'] = node?.status?.conditions ?? [];
  const value = !said.some((one: { type: string; status: string }) => {
    return one.type === type && one.status === 'True';
  });
  cluster.node(name).setCondition(type, value);
  return `kubelet ${name} says ${type}=${value}, which a rule looks at`;
}

/** On a node where a rule has put its taint, what the rule looks at is over. */
function endCondition({ api, cluster }: Story, draw: Draw): string {
  const tainted = api.list('nodes').flatMap(({ metadata: { name, annotations = {} } }) => {
    const marks: unknown = JSON.parse(annotations['taintmgr.dev/owned-taints'] ?? '{}');
    return Object.values(Object(marks)).map((rule) => ({ name, rule }));
  });
  if (tainted.length === 0) return 'no rule has tainted a node';
  const { name, rule } = draw.of(tainted);
  const asked = api.get(rules, '', String(rule))?.spec.condition.type;
  const type = conditions.find((one) => one === asked);
  if (!type) return `rule ${rule} does not look at what a kubelet can say here`;
  cluster.node(name).setCondition(type, false);
  return `kubelet ${name} says ${type}=false, as rule ${rule} waits for`;
}

/** Somebody takes off what a rule has put on. */
function untaintByHand({ api }: Story, draw: Draw): string {
  const isOfRule = ({ key }: { readonly key: string }): boolean =>
    ruleKeys.some((one) => one === key);
  const tainted = api.list('nodes').filter(({ spec }) => (spec.taints ?? []).some(isOfRule));
  if (tainted.length === 0) return 'no node to untaint';
  const node = draw.of(tainted);
  const taints = node.spec.taints.filter((one: { readonly key: string }) => !isOfRule(one));
  api.update('nodes', { ...current(node), spec: { ...node.spec, taints } });
  return `untaint ${node.metadata.name} of what rules put on`;
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
