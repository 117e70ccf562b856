// What may happen to NodeDrains that controllers carry out, and to what they set on nodes.
import type { KubeObject } from '@taintmgr/sim-cluster';
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
];

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
    pods: { withoutController: draw.chance(0.5), withEmptyDir: true },
    ...(draw.chance(0.3) && { budgets: { policy: 'DeleteAfter', deleteAfter: '40s' } }),
    ...(draw.chance(0.3) && { order: 'ByZone' }),
    limits: drawLimits(draw),
    ...(draw.chance(0.3) && { timeouts: { node: draw.of(['30s', '2m']) } }),
    ...(draw.chance(0.3) && { onFailure: 'RollBack' }),
  });
}

function drawLimits(draw: Draw): { readonly [limit: string]: number } {
  return {
    nodesAtOnce: draw.of([1, 1, 2, 0]),
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

/** People hold no drain back any more: neither by a pause nor by budgets. */
export function letGo({ api }: Story): void {
  for (const drain of api.list(nodeDrains)) {
    if (drain.spec.paused !== true || drain.metadata.deletionTimestamp) continue;
    api.update(nodeDrains, { ...drain, spec: { ...drain.spec, paused: false } });
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
