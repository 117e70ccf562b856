import {
  type ClusterApi,
  type KubeObject,
  pdb,
  pod,
  type TimedToleration,
} from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import type { Story } from './story.ts';
import { drawToleration, taintKeys, withOtherSeconds } from './tolerations.ts';
import { drawBudget } from './topology.ts';

/** Does something to the story; says what was done. */
type Action = (story: Story, draw: Draw) => string;

/** What may happen next and how likely each is. */
export type Actions = readonly (readonly [weight: number, action: Action])[];

const labNamespace = 'lab';
/** The kinds that have replicas, and where they are found. */
const scalable: Readonly<Record<string, string>> = {
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
};
const labPods = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;

/** What may happen to taints, pods and those who look after pods. */
export const podActions: Actions = [
  [8, taintNode],
  [5, untaintNode],
  [6, createPod],
  [4, deletePod],
  [3, recreatePod],
  [3, bindPod],
  [4, changeTolerations],
  [2, changeBudget],
  [2, scale],
  [1, setDeadline],
];

/** How long after an action the next one comes, in milliseconds. */
export function pause(draw: Draw): number {
  return draw.weighted([
    [2, 0],
    [3, draw.between(1, 999)],
    [5, draw.between(1000, 15_000)],
    [2, draw.between(15_000, 90_000)],
  ]);
}

function taintNode({ api, now }: Story, draw: Draw): string {
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

function untaintNode({ api }: Story, draw: Draw): string {
  const node = drawNode(api, draw, (one) => taintsOf(one).length > 0);
  if (!node) return 'no taint to take away';
  const gone = draw.of(taintsOf(node));
  const keep = draw.chance(0.3) ? [] : taintsOf(node).filter((taint) => taint !== gone);
  setTaints(api, node, keep);
  return `untaint ${node.metadata.name} of ${gone.key}, ${keep.length} left`;
}

function createPod(story: Story, draw: Draw): string {
  const name = draw.of(labPods);
  const node = draw.chance(0.7) ? drawNode(story.api, draw) : null;
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
  story.api.create('pods', object);
  return `create ${name} on ${node?.metadata.name ?? 'no node'} ${JSON.stringify(tolerations)}`;
}

function deletePod({ api }: Story, draw: Draw): string {
  const one = drawPod(api, draw);
  if (!one) return 'no pod to delete';
  removePod(api, one, draw.chance(0.5));
  return `delete ${nameOf(one)}`;
}

/** Another pod under the same name at once. */
function recreatePod({ api }: Story, draw: Draw): string {
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

function bindPod({ api }: Story, draw: Draw): string {
  const one = drawPod(api, draw, ({ spec }) => !spec.nodeName);
  const node = drawNode(api, draw);
  if (!one || !node) return 'nothing to bind';
  api.bind(one.metadata.namespace ?? '', one.metadata.name, node.metadata.name);
  return `bind ${nameOf(one)} to ${node.metadata.name}`;
}

function changeTolerations({ api }: Story, draw: Draw): string {
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

function changeBudget({ api, cast }: Story, draw: Draw): string {
  const { namespace = '', name } = draw.of([
    ...cast.topology.workloads.map(({ metadata }) => metadata),
    { namespace: labNamespace, name: 'guarded' },
  ]);
  const limit = drawBudget(draw);
  const before = api.get('poddisruptionbudgets', namespace, name);
  const budget = pdb(namespace, name, limit);
  if (!before) api.create('poddisruptionbudgets', budget);
  else if (draw.chance(0.3)) api.delete('poddisruptionbudgets', namespace, name);
  else api.update('poddisruptionbudgets', { ...budget, metadata: before.metadata });
  return `budget ${namespace}/${name} ${JSON.stringify(limit)}`;
}

function scale({ api, cast }: Story, draw: Draw): string {
  const { kind = '', metadata } = draw.of(cast.topology.workloads);
  const resource = scalable[kind];
  const workload = resource && api.get(resource, metadata.namespace ?? '', metadata.name);
  if (!workload) return `${metadata.name} is not there, or is not one to scale`;
  const replicas = draw.between(0, 4);
  api.update(resource, { ...current(workload), spec: { ...workload.spec, replicas } });
  return `scale ${metadata.name} to ${replicas}`;
}

/** Somebody announces when the node will be gone, as of a spot machine. */
function setDeadline({ api, now }: Story, draw: Draw): string {
  const node = drawNode(api, draw);
  if (!node) return 'no node to go';
  const at = rfc3339(now() + draw.of([5000, 30_000, 120_000]));
  const annotations = { ...node.metadata.annotations, 'taintmgr.dev/deadline': at };
  const { metadata } = current(node);
  api.update('nodes', { ...node, metadata: { ...metadata, annotations } });
  return `node ${metadata.name} will be gone at ${at}`;
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

/** One of the nodes that match; null: there is none. */
function drawNode(
  api: ClusterApi,
  draw: Draw,
  matches: (node: KubeObject) => boolean = () => true,
): KubeObject | null {
  const nodes = api.list('nodes').filter(matches);
  return nodes.length === 0 ? null : draw.of(nodes);
}

/** One of the pods that match; null: there is none. */
export function drawPod(
  api: ClusterApi,
  draw: Draw,
  matches: (pod: KubeObject) => boolean = () => true,
): KubeObject | null {
  const pods = api.list('pods').filter(matches);
  return pods.length === 0 ? null : draw.of(pods);
}

/** `namespace/name`. */
export function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function rfc3339(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}
