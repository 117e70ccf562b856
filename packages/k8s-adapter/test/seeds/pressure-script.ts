import type { PressureConfig } from '@taintmgr/core/pressure';
import type { PressureTerms } from '@taintmgr/oracle';
import type { Draw } from './draw.ts';
import { type Actions, drawPod, nameOf } from './script.ts';
import type { Story } from './story.ts';

const mebibyte = 2 ** 20;

/** As a kubelet has it, but for conditions that go sooner. */
export const agentConfig: Partial<PressureConfig> = {
  settings: { evictionPressureTransitionPeriod: '30s' },
};

/** What a kubelet promises by default: less than 100 MiB is short. */
export const pressureTerms: PressureTerms = {
  memoryAvailableMin: 100 * mebibyte,
  sampleAgeMsMax: 60_000,
  // The oldest sample that is believed, and the time for which the condition lasts.
  memoryMs: 120_000,
  boundMs: 180_000,
};

/** What may happen to those who use too much. */
export const leakActions: Actions = [
  [3, leakMemory],
  [1, stopLeaks],
  [1, falsifyStats],
];

function leakMemory({ api, cluster, nodeNames, stage }: Story, draw: Draw): string {
  if (!stage.agent) return 'nobody minds leaks';
  const pod = drawPod(api, draw, ({ spec }) => nodeNames.includes(spec.nodeName ?? ''));
  if (!pod) return 'no pod to leak';
  const perSecond = draw.of([50, 200, 1000]) * mebibyte;
  cluster.node(pod.spec.nodeName).stats.usePod(nameOf(pod), { memory: { perSecond } });
  return `${nameOf(pod)} leaks ${perSecond / mebibyte} MiB a second`;
}

function stopLeaks({ api, cluster, nodeNames, stage }: Story): string {
  if (!stage.agent) return 'nobody leaks';
  const pods = api.list('pods').filter(({ spec }) => nodeNames.includes(spec.nodeName ?? ''));
  for (const pod of pods) {
    cluster.node(pod.spec.nodeName).stats.usePod(nameOf(pod), { memory: 20 * mebibyte });
  }
  return 'all leaks end';
}

function falsifyStats({ cluster, nodeNames, stage }: Story, draw: Draw): string {
  if (!stage.agent) return 'nobody asks for stats';
  const name = draw.of(nodeNames);
  const fault = draw.of([null, 'error', 'unreachable', 'stale', 'partial', 'truncated'] as const);
  cluster.node(name).setStatsFault(fault);
  return `stats of ${name}: ${fault ?? 'right again'}`;
}
