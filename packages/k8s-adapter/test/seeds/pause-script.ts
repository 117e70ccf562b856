import type { Json } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { deleteOne, pauses, put } from './own-kinds.ts';
import type { Actions } from './script.ts';
import type { Story } from './story.ts';
import { taintKeys } from './tolerations.ts';

/** What may happen to the pauses of the cluster. */
export const pauseActions: Actions = [
  [9, putPause],
  [1, unreadablePause],
  [6, deletePause],
];

const names = ['p', 'q', 'r'] as const;

function putPause(story: Story, draw: Draw): string {
  return put(story.api, pauses, 'EvictionPause', draw.of(names), drawPauseSpec(story, draw));
}

/** As one of a newer version. */
function unreadablePause(story: Story, draw: Draw): string {
  const spec = { ...drawPauseSpec(story, draw), newer: true };
  return put(story.api, pauses, 'EvictionPause', draw.of(names), spec);
}

function deletePause({ api }: Story, draw: Draw): string {
  return deleteOne(api, pauses, draw);
}

function drawPauseSpec(story: Story, draw: Draw): { readonly [member: string]: Json } {
  const what = draw.weighted<{ readonly [member: string]: Json }>([
    [6, {}],
    [2, { readiness: true }],
    [1, { readiness: true, deadlines: false }],
  ]);
  const ms = draw.of([0, 500, 7000, 40_000, 120_000]);
  const until = new Date(story.now() + ms).toISOString();
  return {
    ...what,
    scope: drawScope(story, draw),
    ...(draw.chance(0.5) && { until }),
  };
}

function drawScope({ nodeNames, cast }: Story, draw: Draw): Json {
  const { region, zones } = cast.topology;
  const ofNode = { matchLabels: { 'kubernetes.io/hostname': draw.of(nodeNames) } };
  return {
    ...(draw.chance(0.3) && { zones: [`${region}/${draw.of(zones)}`] }),
    ...(draw.chance(0.3) && { nodeSelector: ofNode }),
    ...(draw.chance(0.25) && { taintKeys: [draw.of(taintKeys)] }),
    ...(draw.chance(0.25) && { namespaces: draw.of([['lab'], ['shop', 'infra']]) }),
  };
}
