// Makes the objects of a topology.
import type { Json, KubeObject } from './objects/kube-object.ts';
import type { Taint, TimedToleration } from './objects/tolerations.ts';

/** Labels by their keys. */
type Labels = Readonly<Record<string, string>>;
/** Fields of an object, by their names. */
type Fields = { readonly [field: string]: Json };

/** The options of the builders of workloads; the rest has usual values. */
export interface WorkloadOptions {
  /** Default 1. */
  readonly replicas?: number;
  /** Labels of the pods beside `app: NAME`. */
  readonly labels?: Labels;
  /** The tolerations of the pods; left out: none. */
  readonly tolerations?: readonly TimedToleration[];
  /** Replaces or extends fields of the pods' spec. */
  readonly podSpec?: Fields;
  /** Replaces or extends fields of the workload's spec. */
  readonly spec?: Fields;
}

/**
 * Reads a taint as `kubectl taint` has it: `key=value:effect` or `key:effect`. Throws an Error for any
 * other text.
 */
export function taint(text: string): Taint {
  const parts = /^([^=:]+)(?:=([^:]*))?:([A-Za-z]+)$/.exec(text);
  const [, key, value, effect] = parts ?? [];
  if (!key || !effect) throw new Error(`not a taint: ${text}`);
  return { key, ...(value ? { value } : {}), effect };
}

/** The toleration of exactly this taint, for ever or for a number of seconds. */
export function toleration(text: string, tolerationSeconds?: number): TimedToleration {
  const { key, value, effect } = taint(text);
  return {
    key,
    ...(value ? { operator: 'Equal', value } : { operator: 'Exists' }),
    effect,
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  };
}

/** A Ready node as a kubelet would have registered it; `overrides` replaces spec and status fields. */
export function node(
  name: string,
  overrides: { readonly labels?: Labels; readonly spec?: Fields; readonly status?: Fields } = {},
): KubeObject {
  const resources = { cpu: '4', memory: '16Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...overrides.labels,
      },
    },
    spec: { ...overrides.spec },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
      ...overrides.status,
    },
  };
}

/** A pod with one container and no owner. */
export function pod(
  namespace: string,
  name: string,
  options: { readonly labels?: Labels; readonly spec?: Fields } = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name, ...options.labels } },
    spec: { containers: [container(name)], ...options.spec },
  };
}

/** A Deployment whose pods are labelled `app: NAME`. */
export function deployment(
  namespace: string,
  name: string,
  options: WorkloadOptions = {},
): KubeObject {
  const replicas = { replicas: options.replicas ?? 1 };
  return workload('apps/v1', 'Deployment', namespace, name, replicas, options);
}

/** A StatefulSet whose pods are labelled `app: NAME`; its headless service has the same name. */
export function statefulSet(
  namespace: string,
  name: string,
  options: WorkloadOptions = {},
): KubeObject {
  const extra = { replicas: options.replicas ?? 1, serviceName: name };
  return workload('apps/v1', 'StatefulSet', namespace, name, extra, options);
}

/** A DaemonSet whose pods are labelled `app: NAME`. */
export function daemonSet(
  namespace: string,
  name: string,
  options: WorkloadOptions = {},
): KubeObject {
  return workload('apps/v1', 'DaemonSet', namespace, name, {}, options);
}

/** A Job of `completions` pods, one after the other, each running for `seconds`; default 1. */
export function job(
  namespace: string,
  name: string,
  seconds: number,
  options: WorkloadOptions & { readonly completions?: number } = {},
): KubeObject {
  const counts = { completions: options.completions ?? 1, parallelism: 1 };
  const command = ['sleep', String(seconds)];
  const podSpec = {
    restartPolicy: 'Never',
    containers: [{ ...container(name), command }],
    ...options.podSpec,
  };
  const built = workload('batch/v1', 'Job', namespace, name, counts, { ...options, podSpec });
  const { selector: _, ...spec } = built.spec;
  return { ...built, spec };
}

/** A budget for the pods labelled `app: NAME`, or for those that `selector` matches. */
export function pdb(
  namespace: string,
  name: string,
  limit: { readonly minAvailable: number | string } | { readonly maxUnavailable: number | string },
  selector: Fields = { matchLabels: { app: name } },
): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { ...limit, selector },
  };
}

/** A Namespace. */
export function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function workload(
  apiVersion: string,
  kind: string,
  ns: string,
  name: string,
  extra: Fields,
  { labels, tolerations, podSpec, spec }: WorkloadOptions,
): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: ns, labels: { app: name } },
    spec: {
      ...extra,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name, ...labels } },
        spec: {
          containers: [container(name)],
          ...(tolerations ? { tolerations } : {}),
          ...podSpec,
        },
      },
      ...spec,
    },
  };
}

function container(name: string): Fields {
  const requests = { cpu: '100m', memory: '128Mi' };
  return { name, image: `registry.example/${name}:1.0`, resources: { requests } };
}
