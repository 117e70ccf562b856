import type { PodUsage } from '../../src/pressure/observation/observation.ts';
import { readSummary } from '../../src/pressure/observation/summary.ts';
import type {
  PressureContainer,
  PressurePod,
  PressureVolume,
  ResourceList,
  ResourceRequirements,
} from '../../src/pressure/pods/pressure-pod.ts';

/** What the kubelet's vectors have in common: thresholds, pods and statistics as JSON. */

export type VectorValue =
  | { readonly percentageFloat32: number | string }
  | { readonly quantity: string; readonly quantityExact: string; readonly quantityFormat: string };

export interface VectorThreshold {
  readonly signal: string;
  /** Empty for a placeholder that can never be met. */
  readonly operator: string;
  readonly value: VectorValue;
  readonly gracePeriodNs?: number;
  readonly minReclaim?: VectorValue;
}

export function isInert({ operator }: VectorThreshold): boolean {
  return operator === '';
}

export function gracePeriodNs({ gracePeriodNs = 0 }: VectorThreshold): number {
  return gracePeriodNs;
}

/** A value with everything that is recorded about it. */
export function valueText(value: VectorValue): string {
  if ('quantity' in value) {
    const { quantity, quantityExact, quantityFormat } = value;
    return `${quantity} = ${quantityExact} ${quantityFormat} ~ ${Number(quantityExact)}`;
  }
  const { percentageFloat32: fraction } = value;
  const number = typeof fraction === 'number' ? String(Math.fround(fraction)) : fraction;
  return `${number === 'Inf' ? 'Infinity' : number} of the capacity`;
}

export interface VectorPod {
  readonly metadata?: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly containers: readonly VectorContainer[];
    readonly initContainers?: readonly VectorContainer[];
    readonly resources?: ResourceRequirements;
    readonly overhead?: ResourceList;
    readonly priority?: number;
    readonly terminationGracePeriodSeconds?: number;
    readonly volumes?: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[];
  };
  readonly status?: { readonly qosClass?: string };
}

interface VectorContainer {
  readonly name: string;
  readonly resources?: ResourceRequirements;
  readonly restartPolicy?: string;
}

export function podFrom({ metadata, spec, status }: VectorPod): PressurePod {
  const source = metadata?.annotations?.['kubernetes.io/config.source'] ?? 'api';
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    nodeName: 'node',
    priority: spec.priority ?? 0,
    phase: 'Running',
    deletionTimestamp: null,
    generation: 0,
    isStatic: source !== 'api',
    isMirror: metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined,
    gracePeriodSeconds: spec.terminationGracePeriodSeconds ?? null,
    qosClass: status?.qosClass ?? '',
    containers: spec.containers.map(containerFrom),
    initContainers: (spec.initContainers ?? []).map(containerFrom),
    resources: spec.resources ?? null,
    overhead: spec.overhead ?? {},
    volumes: (spec.volumes ?? []).map(volumeFrom),
  };
}

function containerFrom({ name, resources, restartPolicy }: VectorContainer): PressureContainer {
  return { name, ...resources, sidecar: restartPolicy === 'Always' };
}

function volumeFrom({
  name,
  ...source
}: { readonly name: string } & Readonly<Record<string, unknown>>): PressureVolume {
  const [kind = '', details] = Object.entries(source)[0] ?? [];
  return { name, kind, ...(details as Partial<PressureVolume>) };
}

export interface VectorStats {
  readonly podRef: { readonly uid: string };
}

/** What pods use, through the reader of the Summary API. */
export function usagesFrom(stats: readonly VectorStats[] | null): ReadonlyMap<string, PodUsage> {
  const { pods } = readSummary({ pods: stats ?? [] });
  return new Map(pods.map((usage) => [usage.uid, usage]));
}
