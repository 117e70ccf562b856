import { isDeepStrictEqual } from 'node:util';
import { pressureBehaviours } from '../../src/pressure/behaviours.ts';
import type { FilesystemLayout } from '../../src/pressure/observation/filesystems.ts';
import { demandOf } from '../../src/pressure/pods/demand.ts';
import { type ActivePod, candidatesFor, rank } from '../../src/pressure/rank.ts';
import { isSignal, type Signal, signals } from '../../src/pressure/signals.ts';
import { podFrom, usagesFrom, type VectorPod, type VectorStats } from './kubelet-objects.ts';

type BySignal = Readonly<Record<string, readonly string[]>>;

interface Case {
  readonly pods: readonly VectorPod[];
  readonly podStats: readonly VectorStats[] | null;
  readonly effectiveRequests: Readonly<Record<string, readonly [number, number]>>;
  readonly ranking: {
    readonly memory: readonly string[];
    readonly pid: readonly string[];
    readonly singleFs: BySignal;
    readonly dedicatedImageFs: BySignal;
    readonly splitImageFs: BySignal;
  };
}

/** What differs from the recorded orders; null when nothing does. */
export function checkRanking({ pods, podStats, effectiveRequests, ranking }: Case): string | null {
  const usages = usagesFrom(podStats);
  const active = pods.map((vector): ActivePod => {
    const pod = podFrom(vector);
    return { pod, demand: demandOf(pod), usage: usages.get(pod.uid) ?? null };
  });
  const requests = Object.fromEntries(
    active.map(({ pod, demand }) => [pod.name, [demand?.memory, demand?.storage]]),
  );
  if (!isDeepStrictEqual(requests, effectiveRequests)) return JSON.stringify(requests);
  const { memory, pid, singleFs, dedicatedImageFs, splitImageFs } = ranking;
  return (
    differenceIn('single', { ...singleFs, 'memory.available': memory, 'pid.available': pid }) ??
    differenceIn('dedicatedImages', dedicatedImageFs) ??
    differenceIn('splitImages', splitImageFs)
  );

  function differenceIn(layout: FilesystemLayout, expected: BySignal): string | null {
    for (const [signal, names] of Object.entries(expected)) {
      if (!isSignal(signal)) return `unknown signal ${signal}`;
      const ours = order(signal, layout);
      if (!isDeepStrictEqual(ours, names)) return `${layout} ${signal}: ${ours}, want ${names}`;
    }
    return null;
  }

  function order(signal: Signal, layout: FilesystemLayout): readonly string[] {
    const behaviour = pressureBehaviours['kubelet-1.36'];
    const candidates = candidatesFor(active, signal, layout, behaviour);
    const ranked = rank(candidates, behaviour.order[signals[signal].resource]);
    return ranked.map(({ pod }) => pod.name);
  }
}
