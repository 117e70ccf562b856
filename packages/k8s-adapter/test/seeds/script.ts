import {
  type ClusterApi,
  type KubeObject,
  pdb,
  pod,
  type TimedToleration,
} from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { taintKeys } from './topology.ts';
import type { World } from './world.ts';

type Action = (world: World, draw: Draw) => string;

const labNamespace = 'lab';
const labPods = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;

/** What may happen next and how likely each is. */
const actions: readonly (readonly [weight: number, action: Action])[] = [
  [8, taintNode],
  [5, untaintNode],
  [6, createPod],
  [4, deletePod],
  [3, recreatePod],
  [3, bindPod],
  [4, changeTolerations],
  [2, deleteNode],
  [3, returnNode],
  [2, silenceKubelet],
  [3, resumeKubelet],
  [2, changeBudget],
  [2, scale],
  [7, (world) => world.troubles.begin()],
  [3, restart],
  [2, stop],
  [3, freeze],
  [2, (world) => world.rest()],
];

/** Draws one action and does it; says what was done. */
export function act(world: World, draw: Draw): string {
  return draw.weighted(actions)(world, draw);
}

/** How long after an action the next one comes, in milliseconds. */
export function pause(draw: Draw): number {
  return draw.weighted([
    [2, 0],
    [3, draw.between(1, 999)],
    [5, draw.between(1000, 15_000)],
    [2, draw.between(15_000, 90_000)],
  ]);
}

function taintNode({ api, now }: World, draw: Draw): string {
  const node = drawNode(api, draw);
  if (!node) return 'no node to taint';
  const key = draw.of(taintKeys);
  const effect = draw.weighted([
    [9, 'NoExecute'],
    [1, 'NoSchedule'],
  ]);
  const value = draw.of(['', '', 'a', 'b']);
  const age = draw.weighted<number | null>([
    [6, null],
    [2, 0],
    [2, draw.between(1, 100_000)],
    [1, -draw.between(1, 20_000)],
  ]);
  const timeAdded = age === null ? {} : { timeAdded: rfc3339(now() - age) };
  const taint = { key, effect, ...(value && { value }), ...timeAdded };
  const others = taintsOf(node).filter((one) => one.key !== key || one.effect !== effect);
  setTaints(api, node, draw.chance(0.5) ? [taint, ...others] : [...others, taint]);
  return `taint ${node.metadata.name} ${JSON.stringify(taint)}`;
}

function untaintNode({ api }: World, draw: Draw): string {
  const node = drawNode(api, draw, (one) => taintsOf(one).length > 0);
  if (!node) return 'no taint to take away';
  const gone = draw.of(taintsOf(node));
  const keep = draw.chance(0.3) ? [] : taintsOf(node).filter((taint) => taint !== gone);
  setTaints(api, node, keep);
  return `untaint ${node.metadata.name} of ${gone.key}, ${keep.length} left`;
}

function createPod(world: World, draw: Draw): string {
  const name = draw.of(labPods);
  const node = draw.chance(0.7) ? drawNode(world.api, draw) : null;
  const tolerations = Array.from({ length: draw.between(0, 3) }, () => drawToleration(draw));
  const labels = draw.chance(0.3) ? { app: draw.of(['guarded', 'free']) } : {};
  const object = pod(labNamespace, name, {
    labels,
    spec: {
      tolerations: tolerations.map((toleration) => ({ ...toleration })),
      terminationGracePeriodSeconds: draw.of([0, 1, 30]),
      ...(node
        ? { nodeName: node.metadata.name }
        : { schedulerName: draw.of(['default-scheduler', 'by-hand']) }),
    },
  });
  world.api.create('pods', object);
  return `create ${name} on ${node?.metadata.name ?? 'no node'} ${JSON.stringify(tolerations)}`;
}

function deletePod({ api }: World, draw: Draw): string {
  const one = drawPod(api, draw);
  if (!one) return 'no pod to delete';
  removePod(api, one, draw.chance(0.5));
  return `delete ${nameOf(one)}`;
}

/** Another pod under the same name at once. */
function recreatePod({ api }: World, draw: Draw): string {
  const one = drawPod(api, draw, ({ metadata }) => metadata.namespace === labNamespace);
  if (!one) return 'no pod to replace';
  const { name, namespace, labels = {} } = one.metadata;
  removePod(api, one, true);
  const { nodeName } = one.spec;
  const tolerations: readonly TimedToleration[] = one.spec.tolerations ?? [];
  const kept = draw.chance(0.5) ? tolerations : [drawToleration(draw)];
  const spec = {
    tolerations: kept.map((toleration) => ({ ...toleration })),
    ...(nodeName && { nodeName }),
  };
  api.create('pods', pod(namespace ?? '', name, { labels, spec }));
  return `replace ${nameOf(one)} by another of the name ${JSON.stringify(kept)}`;
}

function bindPod({ api }: World, draw: Draw): string {
  const one = drawPod(api, draw, ({ spec }) => !spec.nodeName);
  const node = drawNode(api, draw);
  if (!one || !node) return 'nothing to bind';
  api.bind(one.metadata.namespace ?? '', one.metadata.name, node.metadata.name);
  return `bind ${nameOf(one)} to ${node.metadata.name}`;
}

function changeTolerations({ api }: World, draw: Draw): string {
  const one = drawPod(api, draw);
  if (!one) return 'no pod whose tolerations could change';
  const before: readonly TimedToleration[] = one.spec.tolerations ?? [];
  const at = draw.between(0, before.length);
  const tolerations = draw.chance(0.5)
    ? before.map((toleration, index) =>
        index === at ? withOtherSeconds(toleration, draw) : toleration,
      )
    : [...before.slice(0, at), drawToleration(draw), ...before.slice(at)];
  api.update('pods', { ...current(one), spec: { ...one.spec, tolerations } });
  return `tolerations of ${nameOf(one)}: ${JSON.stringify(tolerations)}`;
}

function deleteNode({ api, cluster }: World, draw: Draw): string {
  const node = drawNode(api, draw);
  if (!node || api.list('nodes').length < 3) return 'no node to delete';
  const { name } = node.metadata;
  if (draw.chance(0.5)) cluster.node(name).stop();
  api.delete('nodes', '', name);
  return `delete node ${name}`;
}

/** The kubelet of a node that is gone registers it again. */
export function returnNode(
  { api, cluster, nodeNames }: Pick<World, 'api' | 'cluster' | 'nodeNames'>,
  draw: Draw,
): string {
  const gone = nodeNames.filter((name) => !api.get('nodes', '', name));
  if (gone.length === 0) return 'no node to return';
  const name = draw.of(gone);
  cluster.node(name).stop();
  cluster.node(name).resume();
  return `node ${name} registers again`;
}

function silenceKubelet({ cluster, nodeNames }: World, draw: Draw): string {
  const name = draw.of(nodeNames);
  cluster.node(name).stop();
  return `kubelet ${name} falls silent`;
}

function resumeKubelet({ cluster, nodeNames }: World, draw: Draw): string {
  const silent = nodeNames.filter((name) => !cluster.node(name).isRunning);
  if (silent.length === 0) return 'no kubelet is silent';
  const name = draw.of(silent);
  cluster.node(name).resume();
  return `kubelet ${name} is back`;
}

function changeBudget({ api }: World, draw: Draw): string {
  const [namespace, name] = draw.of([
    ['shop', 'web'],
    ['shop', 'db'],
    [labNamespace, 'guarded'],
  ] as const);
  const limit = draw.of([
    { minAvailable: 0 },
    { minAvailable: 1 },
    { minAvailable: 3 },
    { maxUnavailable: 0 },
    { maxUnavailable: 1 },
    { maxUnavailable: '50%' },
  ]);
  const before = api.get('poddisruptionbudgets', namespace, name);
  const budget = pdb(namespace, name, limit);
  if (!before) api.create('poddisruptionbudgets', budget);
  else if (draw.chance(0.3)) api.delete('poddisruptionbudgets', namespace, name);
  else api.update('poddisruptionbudgets', { ...budget, metadata: before.metadata });
  return `budget ${namespace}/${name} ${JSON.stringify(limit)}`;
}

function scale({ api }: World, draw: Draw): string {
  const [resource, name] = draw.of([
    ['deployments', 'web'],
    ['statefulsets', 'db'],
    ['statefulsets', 'rock'],
  ] as const);
  const workload = api.get(resource, 'shop', name);
  if (!workload) return `${name} is not there yet`;
  const replicas = draw.between(0, 4);
  api.update(resource, { ...current(workload), spec: { ...workload.spec, replicas } });
  return `scale ${name} to ${replicas}`;
}

function restart({ controller }: World): string {
  const { state } = controller;
  if (state !== 'down') controller.crash();
  controller.start();
  return state === 'down' ? 'controller starts' : 'controller crashes and starts again';
}

function stop({ controller }: World, draw: Draw): string {
  if (controller.state === 'down') return restart({ controller } as World);
  if (controller.state === 'running' && draw.chance(0.3)) {
    controller.stop();
    return 'controller is asked to stop';
  }
  controller.crash();
  return 'controller crashes';
}

/** Lets the controller stand still, or go on. */
export function freeze({ controller }: Pick<World, 'controller'>, draw: Draw): string {
  if (controller.state === 'frozen') {
    const timersFirst = draw.chance(0.5);
    controller.thaw(timersFirst);
    return `controller goes on${timersFirst ? ', timers first' : ''}`;
  }
  if (controller.state === 'down') return 'controller is down anyway';
  controller.freeze();
  return 'controller stands still';
}

function drawToleration(draw: Draw): TimedToleration {
  const key = draw.of([...taintKeys, ...taintKeys, '']);
  const value = key === '' ? '' : draw.of(['', 'a', 'b']);
  const exists = key === '' || draw.chance(0.5);
  const seconds = draw.of([undefined, -5, 0, 1, 5, 20, 60, 300, 1000]);
  const effect = seconds === undefined ? draw.of(['', 'NoExecute']) : 'NoExecute';
  return {
    ...(key && { key }),
    operator: exists ? 'Exists' : 'Equal',
    ...(!exists && value && { value }),
    ...(effect && { effect }),
    ...(seconds !== undefined && { tolerationSeconds: seconds }),
  };
}

function withOtherSeconds(toleration: TimedToleration, draw: Draw): TimedToleration {
  const { tolerationSeconds: _before, ...rest } = toleration;
  const seconds = draw.of([undefined, 0, 3, 30, 120, 600]);
  return seconds === undefined || toleration.effect !== 'NoExecute'
    ? rest
    : { ...rest, tolerationSeconds: seconds };
}

type Taint = { readonly key: string; readonly effect: string };

function taintsOf(node: KubeObject): readonly Taint[] {
  return node.spec.taints ?? [];
}

function setTaints(api: ClusterApi, node: KubeObject, taints: readonly Taint[]): void {
  api.update('nodes', { ...current(node), spec: { ...node.spec, taints } });
}

/** Without a resourceVersion, so that the update is unconditional. */
export function current(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function removePod(api: ClusterApi, { metadata }: KubeObject, atOnce: boolean): void {
  const { namespace = '', name } = metadata;
  api.delete('pods', namespace, name, atOnce ? { gracePeriodSeconds: 0 } : {});
}

function drawNode(
  api: ClusterApi,
  draw: Draw,
  matches: (node: KubeObject) => boolean = () => true,
): KubeObject | null {
  const nodes = api.list('nodes').filter(matches);
  return nodes.length === 0 ? null : draw.of(nodes);
}

function drawPod(
  api: ClusterApi,
  draw: Draw,
  matches: (pod: KubeObject) => boolean = () => true,
): KubeObject | null {
  const pods = api.list('pods').filter(matches);
  return pods.length === 0 ? null : draw.of(pods);
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function rfc3339(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}
