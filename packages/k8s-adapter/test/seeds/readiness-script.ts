// Who falls silent, and what keeps pods of silent nodes ready, beside a kube-controller-manager.
import type { ClusterApi, Json } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import type { Story } from './story.ts';

export const pauses = 'evictionpauses.taintmgr.dev';
const second = 1000;

/** Kubelets fall silent while nobody is to mark pods not ready; some come back. */
export function silenceInAHold(story: Story, draw: Draw): string {
  const { api, cluster, stage, nodeNames } = story;
  hold(api, 'ready', { scope: {}, deadlines: draw.chance(0.5), readiness: true });
  stage.passUntil(story.now() + 2 * second);
  const silent = nodeNames.filter(() => draw.chance(0.5));
  for (const name of silent) cluster.node(name).stop();
  stage.passUntil(story.now() + draw.of([65, 90]) * second);
  for (const name of silent) if (draw.chance(0.5)) cluster.node(name).resume();
  return `${silent.join()} were silent in a hold of readiness`;
}

/** As when the control plane is cut off. */
export function silenceAll(story: Story, draw: Draw): string {
  const { cluster, stage, nodeNames } = story;
  for (const name of nodeNames) cluster.node(name).stop();
  stage.passUntil(story.now() + draw.of([35, 65, 150]) * second);
  for (const name of nodeNames) if (draw.chance(0.9)) cluster.node(name).resume();
  return 'every kubelet was silent';
}

/** Half of the nodes or more, one after the other within a few seconds. */
export function silenceMost(story: Story, draw: Draw): string {
  const { cluster, stage, nodeNames } = story;
  const spared = draw.between(0, Math.floor(nodeNames.length / 2));
  const silent = nodeNames.slice(spared);
  for (const name of silent) {
    cluster.node(name).stop();
    stage.passUntil(story.now() + draw.of([0, 500, 3_000]));
  }
  stage.passUntil(story.now() + draw.of([45, 80, 120]) * second);
  for (const name of silent) if (draw.chance(0.8)) cluster.node(name).resume();
  return `${silent.join()} were silent`;
}

/** As when a zone is cut off: its pods may serve on. */
export function silenceWholeZone(story: Story, draw: Draw): string {
  const { cluster, stage, cast } = story;
  const zone = draw.of(cast.topology.zones);
  for (const kubelet of cluster.zone(zone)) kubelet.stop();
  stage.passUntil(story.now() + draw.of([45, 80, 120]) * second);
  for (const kubelet of cluster.zone(zone)) if (draw.chance(0.8)) kubelet.resume();
  return `zone ${zone} was silent`;
}

export function putPause({ api }: Story, draw: Draw): string {
  const name = draw.of(['one', 'two']);
  const scope = draw.weighted<{ readonly [member: string]: Json }>([
    [3, {}],
    [1, { namespaces: [draw.of(['shop', 'infra', 'lab', 'default'])] }],
    [1, { zones: ['r/a'] }],
  ]);
  const [deadlines, readiness] = draw.of([
    [true, false],
    [true, true],
    [false, true],
  ] as const);
  return hold(api, name, { scope, deadlines, readiness });
}

function hold(api: ClusterApi, name: string, what: { readonly [member: string]: Json }): string {
  if (api.get(pauses, '', name)) api.delete(pauses, '', name);
  const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPause' };
  api.create(pauses, { ...head, metadata: { name }, spec: { reason: 'a seed', ...what } });
  return `pause ${name} ${JSON.stringify(what)}`;
}

export function deletePause({ api }: Story, draw: Draw): string {
  const all = api.list(pauses);
  if (all.length === 0) return 'there is no pause';
  const { name } = draw.of(all).metadata;
  api.delete(pauses, '', name);
  return `pause ${name} is over`;
}
