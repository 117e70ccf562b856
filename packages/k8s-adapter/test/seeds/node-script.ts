import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { type Actions, current } from './script.ts';
import type { Story } from './story.ts';

const machinesMax = 20;

/** What may happen to machines, and to the nodes that stand for them. */
export const machineActions: Actions = [
  [3, silenceSome],
  [4, resumeSome],
  [1, silenceZone],
  [1, resumeZone],
  [2, deleteNode],
  [3, returnNode],
  [1, addMachine],
];

/** What else may happen to nodes that somebody watches over. */
export const nodeActions: Actions = [
  [3, silenceSome],
  [3, resumeSome],
  [2, silenceZone],
  [2, resumeZone],
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
];

function silenceSome({ cluster, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  cluster.node(name).stop();
  return `kubelet ${name} falls silent`;
}

function resumeSome({ cluster, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  cluster.node(name).resume();
  return `kubelet ${name} is back`;
}

function silenceZone(story: Story, draw: Draw): string {
  const zone = draw.of(story.cast.topology.zones);
  const share = draw.of([0.4, 0.6, 1]);
  const kubelets = story.cluster.zone(zone);
  for (const kubelet of kubelets.slice(0, Math.ceil(kubelets.length * share))) kubelet.stop();
  return `${share * 100}% of zone ${zone} falls silent`;
}

function resumeZone(story: Story, draw: Draw): string {
  const zone = draw.of(story.cast.topology.zones);
  for (const kubelet of story.cluster.zone(zone)) kubelet.resume();
  return `zone ${zone} is back`;
}

function silenceAll({ cluster, nodeNames }: Story): string {
  for (const name of nodeNames) cluster.node(name).stop();
  return 'every kubelet falls silent';
}

function resumeAll({ cluster, nodeNames }: Story): string {
  for (const name of nodeNames) cluster.node(name).resume();
  return 'every kubelet is back';
}

function sayNotReady({ cluster, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  const isReady = draw.chance(0.4);
  cluster.node(name).setCondition('Ready', isReady);
  return `kubelet ${name} says Ready=${isReady}`;
}

function renewLeaseOnly({ cluster, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  cluster.node(name).renewLeaseOnly();
  return `kubelet ${name} only renews its lease`;
}

/** By kube-controller-manager's rules a lease whose time goes back is no sign of life. */
function skewClock({ cluster, cast, nodeNames }: Story, draw: Draw): string {
  if (cast.config.semantics === 'upstream-1.36') return 'all clocks stay right';
  const name = draw.of(nodeNames);
  const skewMs = draw.of([-3_600_000, -20_000, 20_000, 3_600_000, 0]);
  cluster.node(name).setClockSkew(skewMs);
  return `clock of ${name} is off by ${skewMs} ms`;
}

function underPressure({ cluster, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  const type = draw.of(['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const);
  const value = draw.chance(0.6);
  cluster.node(name).setCondition(type, value);
  return `kubelet ${name} says ${type}=${value}`;
}

function cordon({ api, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  return change(api.get('nodes', '', name), `cordon ${name}`, (node) =>
    api.update('nodes', { ...node, spec: { ...node.spec, unschedulable: draw.chance(0.5) } }),
  );
}

function moveZone({ api, nodeNames, cast }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  const labels = { 'topology.kubernetes.io/zone': draw.of(cast.topology.zones) };
  return change(api.get('nodes', '', name), `move ${name} ${JSON.stringify(labels)}`, (node) => {
    const metadata = { ...node.metadata, labels: { ...node.metadata.labels, ...labels } };
    api.update('nodes', { ...node, metadata });
  });
}

function handMadeTaint({ api, nodeNames }: Story, draw: Draw): string {
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

function removeTaints({ api, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  return change(api.get('nodes', '', name), `${name} loses its taints`, (node) =>
    api.update('nodes', { ...node, spec: { ...node.spec, taints: [] } }),
  );
}

/** The machine may be gone with its node, or not. */
function deleteNode({ api, cluster, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(nodeNames);
  if (api.list('nodes').length < 3) return 'no node to delete';
  return change(api.get('nodes', '', name), `delete node ${name}`, () => {
    if (draw.chance(0.7)) cluster.node(name).stop();
    api.delete('nodes', '', name);
  });
}

/** The kubelet of a node that is gone registers it again. */
function returnNode({ api, cluster, nodeNames }: Story, draw: Draw): string {
  const gone = nodeNames.filter((name) => !api.get('nodes', '', name));
  if (gone.length === 0) return 'no node to return';
  const name = draw.of(gone);
  cluster.node(name).stop();
  cluster.node(name).resume();
  return `node ${name} registers again`;
}

function addMachine({ cluster, cast, nodeNames }: Story, draw: Draw): string {
  if (nodeNames.length >= machinesMax) return 'no room for another machine';
  const { region, zones } = cast.topology;
  const zone = draw.of(zones);
  const name = `new-${nodeNames.length + 1}`;
  cluster.addNode({ name, region, zone }).start();
  nodeNames.push(name);
  return `machine ${name} comes to zone ${zone}`;
}

function change(node: KubeObject | null, text: string, apply: (node: KubeObject) => void): string {
  if (!node) return `${text}: it is not there`;
  apply(current(node));
  return text;
}
