// What may happen to NodeDrains that controllers carry out, and to what they set on nodes.
import type { Json, KubeObject } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { put } from './own-kinds.ts';
import { type Actions, current } from './script.ts';
import type { Story } from './story.ts';

export const nodeDrains = 'nodedrains.taintmgr.dev';
const names = ['kernel', 'disk', 'spare'] as const;
const undoneMs = 150_000;

export const nodeDrainActions: Actions = [
  [10, putDrain],
  [4, editDrain],
  [3, deleteDrain],
  [4, cordon],
  [3, uncordon],
  [4, turnGate],
  [8, finishStep],
  [2, keepNode],
];

/** What gates and steps of others look at. */
const gate = 'example.com/gate';
const steps = ['example.com/before', 'example.com/after'] as const;
const keep = 'example.com/keep';
const nodeNamed = { apiVersion: 'v1', kind: 'Node' };

function putDrain({ api, nodeNames }: Story, draw: Draw): string {
  const name = draw.of(names);
  if (api.get(nodeDrains, '', name)) return `${name} is there already`;
  const listed = nodeNames.filter(() => draw.chance(0.6));
  const zone = { matchLabels: { 'topology.kubernetes.io/zone': draw.of(['a', 'b']) } };
  const isListed = draw.chance(0.6) && listed.length > 0;
  return put(api, nodeDrains, 'NodeDrain', name, {
    ...(isListed ? { nodes: listed } : { nodeSelector: zone }),
    ...(!isListed && draw.chance(0.3) && { laterNodes: 'Drain' }),
    taint: { key: draw.of(['work', 'work', 'disk']), effect: draw.of(['NoSchedule', 'NoExecute']) },
    cordon: draw.of(['AtStart', 'AtTurn', 'AtTurn', 'Never']),
    tolerations: draw.of(['Respect', 'NoWait', 'Ignore']),
    pods: drawPods(draw),
    ...(draw.chance(0.3) && { budgets: { policy: 'DeleteAfter', deleteAfter: '40s' } }),
    ...(draw.chance(0.3) && { order: 'ByZone' }),
    limits: drawLimits(draw),
    ...(draw.chance(0.3) && { timeouts: { node: draw.of(['30s', '2m']) } }),
    ...(draw.chance(0.3) && { onFailure: 'RollBack' }),
    ...drawWaves(nodeNames, draw),
    ...drawWaits(nodeNames, draw),
  });
}

/** In which order: nodes by their names, whatever other labels they have. */
function drawWaves(nodeNames: readonly string[], draw: Draw): { readonly waves?: Json } {
  if (!draw.chance(0.3)) return {};
  const waves = ['first', 'second'].map((name) => {
    const drawn = nodeNames.filter(() => draw.chance(0.4));
    const values = drawn.length > 0 ? drawn : [draw.of(nodeNames)];
    const nodeSelector = {
      matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }],
    };
    return { name, nodeSelector };
  });
  return { waves };
}

/** What a drain waits for, and whom it leaves alone. */
function drawWaits(nodeNames: readonly string[], draw: Draw): { readonly [field: string]: Json } {
  const window = { schedule: '*/8 * * * *', timeZone: 'Etc/UTC', duration: '2m' };
  const annotation = { key: gate, value: 'open' };
  const object = { ...nodeNamed, name: draw.of(nodeNames), annotation };
  return {
    ...(draw.chance(0.2) && { windows: [window] }),
    ...(draw.chance(0.15) && { gates: [{ name: 'gate', object }] }),
    ...(draw.chance(0.3) && { whileClosed: 'HoldPods' }),
    ...(draw.chance(0.2) && { beforeNode: [drawStep(steps[0], draw)] }),
    ...(draw.chance(0.15) && { afterNode: [drawStep(steps[1], draw)] }),
    ...(draw.chance(0.2) && { heeds: { pauseLabel: keep } }),
    ...(draw.chance(0.2) && { nodeConditions: 'Publish' }),
  };
}

function drawStep(key: string, draw: Draw): { readonly [field: string]: Json } {
  const object = { ...nodeNamed, name: '{node}', annotation: { key, value: 'done' } };
  const timeout = draw.chance(0.5) ? { timeout: '45s', onTimeout: draw.of(['Fail', 'GoOn']) } : {};
  return { name: key, object, ...timeout };
}

function drawPods(draw: Draw): { readonly [field: string]: Json } {
  const last = [{ podSelector: { matchLabels: { app: 'web' } } }];
  return {
    withoutController: draw.chance(0.5),
    withEmptyDir: true,
    ...(draw.chance(0.25) && { last }),
    ...(draw.chance(0.15) && { order: 'ByPriority' }),
    ...(draw.chance(0.15) && { waitCompleted: { timeout: '1m' } }),
    ...(draw.chance(0.15) && { singleReplicas: 'RolloutRestart' }),
  };
}

function drawLimits(draw: Draw): { readonly [limit: string]: number | string } {
  return {
    ...(draw.chance(0.2) && { maxUnavailable: draw.of([1, '50%']) }),
    nodesAtOnce: draw.of([1, 1, 2, 0, '50%']),
    heldUpNodes: draw.of([0, 0, 1]),
    podsAtOnce: draw.of([0, 0, 2]),
  };
}

/** Takes a node out or puts one in, pauses it or lets it go on, and so on. */
function editDrain({ api, nodeNames }: Story, draw: Draw): string {
  const drain = drawDrain(api, draw);
  if (!drain) return 'no drain to edit';
  const { spec } = drain;
  const nodes: readonly string[] | undefined = spec.nodes;
  const change = draw.weighted<() => object>([
    [2, () => ({ paused: spec.paused !== true })],
    [2, () => ({ limits: drawLimits(draw) })],
    [
      2,
      () => {
        const left = (nodes ?? []).filter(() => draw.chance(0.5));
        const more = draw.chance(0.5) ? [draw.of(nodeNames)] : [];
        const all = [...new Set([...left, ...more])];
        return nodes && all.length > 0 ? { nodes: all } : {};
      },
    ],
  ])();
  api.update(nodeDrains, { ...drain, spec: { ...spec, ...change } });
  return `edit ${drain.metadata.name} ${JSON.stringify(change)}`;
}

function deleteDrain({ api }: Story, draw: Draw): string {
  const drain = drawDrain(api, draw);
  if (!drain) return 'no drain to delete';
  api.delete(nodeDrains, '', drain.metadata.name);
  return `delete ${drain.metadata.name}`;
}

function drawDrain(api: Story['api'], draw: Draw): KubeObject | null {
  const all = api.list(nodeDrains).filter(({ metadata }) => !metadata.deletionTimestamp);
  return all.length === 0 ? null : draw.of(all);
}

function cordon(story: Story, draw: Draw): string {
  return setCordon(story, draw, true);
}

function uncordon(story: Story, draw: Draw): string {
  return setCordon(story, draw, false);
}

function setCordon({ api }: Story, draw: Draw, isCordoned: boolean): string {
  const nodes = api
    .list('nodes')
    .filter(({ spec }) => (spec.unschedulable === true) !== isCordoned);
  if (nodes.length === 0) return 'no node to cordon or uncordon';
  const node = draw.of(nodes);
  const { unschedulable: _, ...spec } = node.spec;
  const next = { ...spec, ...(isCordoned && { unschedulable: true }) };
  api.as('kubectl').update('nodes', { ...current(node), spec: next });
  return `${isCordoned ? 'cordon' : 'uncordon'} ${node.metadata.name}`;
}

/** A gate opens or closes. */
function turnGate({ api }: Story, draw: Draw): string {
  const node = drawNode(api, draw);
  if (!node) return 'no node with a gate';
  const state = draw.of(['open', 'open', 'closed']);
  annotate(api, node, { [gate]: state });
  return `gate of ${node.metadata.name} ${state}`;
}

/** Somebody has done a step before or after a node, or has to do it again. */
function finishStep({ api }: Story, draw: Draw): string {
  const node = drawNode(api, draw);
  if (!node) return 'no node with a step';
  const step = draw.of(steps);
  const state = draw.of(['done', 'done', 'to do']);
  annotate(api, node, { [step]: state });
  return `${step} of ${node.metadata.name} ${state}`;
}

function keepNode({ api }: Story, draw: Draw): string {
  const node = drawNode(api, draw);
  if (!node) return 'no node to keep';
  const { [keep]: kept, ...others } = node.metadata.labels ?? {};
  setLabels(api, node, kept === undefined ? { ...others, [keep]: '' } : others);
  return `${kept === undefined ? 'keep' : 'keep no more'} ${node.metadata.name}`;
}

function drawNode(api: Story['api'], draw: Draw): KubeObject | null {
  const nodes = api.list('nodes');
  return nodes.length === 0 ? null : draw.of(nodes);
}

function annotate(api: Story['api'], node: KubeObject, added: Record<string, string>): void {
  const { metadata } = current(node);
  const annotations = { ...metadata.annotations, ...added };
  api.as('kubectl').update('nodes', { ...node, metadata: { ...metadata, annotations } });
}

function setLabels(api: Story['api'], node: KubeObject, labels: Record<string, string>): void {
  const { metadata } = current(node);
  api.as('kubectl').update('nodes', { ...node, metadata: { ...metadata, labels } });
}

/** People hold no drain back any more: neither by a pause nor by budgets, limits of workloads, gates, steps and labels. */
export function letGo({ api, stage, now }: Pick<Story, 'api' | 'stage' | 'now'>): void {
  // Machines that come back when all trouble ends have their nodes by then.
  stage.passUntil(now() + 1);
  for (const { metadata } of api.list('nodes')) {
    const done = Object.fromEntries(steps.map((step) => [step, 'done']));
    const node = api.get('nodes', '', metadata.name);
    if (node) annotate(api, node, { ...done, [gate]: 'open' });
    const { [keep]: kept, ...others } = metadata.labels ?? {};
    const now = kept === undefined ? null : api.get('nodes', '', metadata.name);
    if (now) setLabels(api, now, others);
  }
  for (const drain of api.list(nodeDrains)) {
    const { paused, limits = {}, ...spec } = drain.spec;
    const { maxUnavailable, ...others } = limits;
    if (drain.metadata.deletionTimestamp || (paused !== true && maxUnavailable === undefined))
      continue;
    api.update(nodeDrains, { ...drain, spec: { ...spec, paused: false, limits: others } });
  }
  for (const { metadata } of api.list('poddisruptionbudgets')) {
    api.delete('poddisruptionbudgets', metadata.namespace ?? '', metadata.name);
  }
}

/** All drains are deleted, and undone. */
export function deleteDrains({ api, stage, now }: Pick<Story, 'api' | 'stage' | 'now'>): number {
  for (const { metadata } of api.list(nodeDrains)) api.delete(nodeDrains, '', metadata.name);
  const since = now();
  stage.passUntil(since + undoneMs);
  return since;
}
