import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import type { NodeStory } from './node-story.ts';
import { current, freeze, returnNode } from './script.ts';

type Action = (story: NodeStory, draw: Draw) => string;

/** What may happen next to nodes and those who watch over them, and how likely each is. */
const actions: readonly (readonly [weight: number, action: Action])[] = [
  [6, silenceSome],
  [7, resumeSome],
  [3, silenceZone],
  [3, resumeZone],
  [1, silenceAll],
  [2, resumeAll],
  [3, sayNotReady],
  [2, renewLeaseOnly],
  [1, skewClock],
  [2, underPressure],
  [2, cordon],
  [2, moveZone],
  [2, handMadeTaint],
  [2, removeTaints],
  [2, deleteNode],
  [3, returnNode],
  [6, (story) => story.troubles.begin()],
  [3, restart],
  [2, freeze],
  [1, (story) => story.rest(false)],
];

/** Draws one action and does it; says what was done. */
export function actOnNodes(story: NodeStory, draw: Draw): string {
  return draw.weighted(actions)(story, draw);
}

function silenceSome({ cluster, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  cluster.node(name).stop();
  return `kubelet ${name} falls silent`;
}

function resumeSome({ cluster, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  cluster.node(name).resume();
  return `kubelet ${name} is back`;
}

function silenceZone(story: NodeStory, draw: Draw): string {
  const zone = draw.of(story.zones);
  const share = draw.of([0.4, 0.6, 1]);
  const kubelets = story.cluster.zone(zone);
  for (const kubelet of kubelets.slice(0, Math.ceil(kubelets.length * share))) kubelet.stop();
  return `${share * 100}% of zone ${zone} falls silent`;
}

function resumeZone(story: NodeStory, draw: Draw): string {
  const zone = draw.of(story.zones);
  for (const kubelet of story.cluster.zone(zone)) kubelet.resume();
  return `zone ${zone} is back`;
}

function silenceAll({ cluster, nodeNames }: NodeStory): string {
  for (const name of nodeNames) cluster.node(name).stop();
  return 'every kubelet falls silent';
}

function resumeAll({ cluster, nodeNames }: NodeStory): string {
  for (const name of nodeNames) cluster.node(name).resume();
  return 'every kubelet is back';
}

function sayNotReady({ cluster, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  const isReady = draw.chance(0.4);
  cluster.node(name).setCondition('Ready', isReady);
  return `kubelet ${name} says Ready=${isReady}`;
}

function renewLeaseOnly({ cluster, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  cluster.node(name).renewLeaseOnly();
  return `kubelet ${name} only renews its lease`;
}

function skewClock({ cluster, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  const skewMs = draw.of([-3_600_000, -20_000, 20_000, 3_600_000, 0]);
  cluster.node(name).setClockSkew(skewMs);
  return `clock of ${name} is off by ${skewMs} ms`;
}

function underPressure({ cluster, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  const type = draw.of(['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const);
  const value = draw.chance(0.6);
  cluster.node(name).setCondition(type, value);
  return `kubelet ${name} says ${type}=${value}`;
}

function cordon({ api, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  return change(api.get('nodes', '', name), `cordon ${name}`, (node) =>
    api.update('nodes', { ...node, spec: { ...node.spec, unschedulable: draw.chance(0.5) } }),
  );
}

function moveZone({ api, nodeNames, zones }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  const labels = { 'topology.kubernetes.io/zone': draw.of(zones) };
  return change(api.get('nodes', '', name), `move ${name} ${JSON.stringify(labels)}`, (node) => {
    const metadata = { ...node.metadata, labels: { ...node.metadata.labels, ...labels } };
    api.update('nodes', { ...node, metadata });
  });
}

function handMadeTaint({ api, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  const taint = draw.of([
    { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
    { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' },
    { key: 'maintenance', value: 'a', effect: 'NoSchedule' },
    { key: 'maintenance', effect: 'PreferNoSchedule' },
  ]);
  return change(api.get('nodes', '', name), `taint ${name} ${JSON.stringify(taint)}`, (node) => {
    const before: readonly { key: string; effect: string }[] = node.spec.taints ?? [];
    const others = before.filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
    api.update('nodes', { ...node, spec: { ...node.spec, taints: [...others, taint] } });
  });
}

function removeTaints({ api, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  return change(api.get('nodes', '', name), `${name} loses its taints`, (node) =>
    api.update('nodes', { ...node, spec: { ...node.spec, taints: [] } }),
  );
}

function deleteNode({ api, cluster, nodeNames }: NodeStory, draw: Draw): string {
  const name = draw.of(nodeNames);
  if (api.list('nodes').length < 2) return 'no node to delete';
  return change(api.get('nodes', '', name), `delete node ${name}`, () => {
    cluster.node(name).stop();
    api.delete('nodes', '', name);
  });
}

function restart({ controller }: NodeStory, draw: Draw): string {
  if (controller.state !== 'down') controller.crash();
  if (draw.chance(0.3)) return 'controller crashes';
  controller.start();
  return 'controller starts';
}

function change(node: KubeObject | null, text: string, apply: (node: KubeObject) => void): string {
  if (!node) return `${text}: it is not there`;
  apply(current(node));
  return text;
}
