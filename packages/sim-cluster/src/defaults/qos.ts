import type { KubeObject } from '../objects.ts';

type Amounts = Readonly<Record<string, string | number>>;

const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A resource quantity such as `100m` or `64Mi` as a number; NaN when it is none. */
function quantity(text: string | number): number {
  if (typeof text === 'number') return text;
  const parts = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(text);
  return parts ? Number(parts[1]) * (SUFFIXES[parts[2] ?? ''] ?? Number.NaN) : Number.NaN;
}

const COUNTED = ['cpu', 'memory'] as const;

/**
 * The quality-of-service class of a PodSpec: Guaranteed when every container limits CPU and
 * memory to what it requests, BestEffort when none asks for either, else Burstable.
 */
export function qosClass(spec: KubeObject['spec']): string {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  let asked = false;
  let guaranteed = true;
  for (const container of containers) {
    const requests: Amounts = container.resources?.requests ?? {};
    const limits: Amounts = container.resources?.limits ?? {};
    for (const name of COUNTED) {
      const request = quantity(requests[name] ?? 0);
      const limit = quantity(limits[name] ?? 0);
      if (request > 0 || limit > 0) asked = true;
      if (!(limit > 0) || request !== limit) guaranteed = false;
    }
  }
  if (!asked) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
