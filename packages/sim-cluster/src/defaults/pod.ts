// The defaults of a Pod, and what admission adds to it.

import { isList, isObject } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { quantity } from '../objects/quantity.ts';
import type { TimedToleration } from '../objects/tolerations.ts';
import { withFieldVersion, within, withPartDefaults } from './container-parts.ts';
import { withPriority } from './priority.ts';

// The defaults of the volumes of a pod.

/** Readable by all, as 0644 is written in JSON. */
const fileMode = 420;
const tokenSeconds = 3600;

/** A volume with the modes of its files, and what else it says of them. */
function withVolumeDefaults(volume: Json): Json {
  let whole = volume;
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    whole = within(whole, source, (given) => ({ defaultMode: fileMode, ...given }));
  }
  whole = within(whole, 'hostPath', (given) => ({ type: '', ...given }));
  whole = within(whole, 'downwardAPI', withItemVersions);
  return within(whole, 'projected', (given) => {
    const { sources } = given;
    return isList(sources) ? { ...given, sources: sources.map(withSourceDefaults) } : given;
  });
}

function withSourceDefaults(source: Json): Json {
  const read = within(source, 'downwardAPI', withItemVersions);
  return within(read, 'serviceAccountToken', (token) => ({
    expirationSeconds: tokenSeconds,
    ...token,
  }));
}

function withItemVersions(given: Json): Json {
  if (!isObject(given) || !isList(given.items)) return given;
  return { ...given, items: given.items.map(withFieldVersion) };
}

// The QoS class of a pod.

type Amounts = Readonly<Record<string, string | number>>;

const countedResources = ['cpu', 'memory'] as const;

/**
 * The quality-of-service class of a PodSpec: Guaranteed when every container limits CPU and
 * memory to what it requests, BestEffort when none asks for either, else Burstable.
 */
function qosClass(spec: KubeObject['spec']): string {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  let asked = false;
  let guaranteed = true;
  for (const container of containers) {
    const requests: Amounts = container.resources?.requests ?? {};
    const limits: Amounts = container.resources?.limits ?? {};
    for (const name of countedResources) {
      const request = quantity(requests[name] ?? 0);
      const limit = quantity(limits[name] ?? 0);
      if (request > 0 || limit > 0) asked = true;
      if (!(limit > 0) || request !== limit) guaranteed = false;
    }
  }
  if (!asked) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

interface Container {
  readonly image?: string;
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string | number>>;
    readonly requests?: Readonly<Record<string, string | number>>;
  };
}

/** A container with the defaults of the API. */
function defaultContainer<T extends Container>(container: T): T {
  const { image = '' } = container;
  const hasTag = /:./s.test(image.slice(image.lastIndexOf('/') + 1)) || image.includes('@');
  const latest = !hasTag || image.endsWith(':latest');
  const { limits, requests } = container.resources ?? {};
  // A limit without a request is also the request.
  const resources = limits
    ? { ...container.resources, requests: { ...limits, ...requests } }
    : (container.resources ?? {});
  return {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
    ...withPartDefaults(container),
    resources,
  };
}

/** A PodSpec with the defaults of the API, as pods and pod templates get them. */
export function defaultPodSpec(spec: KubeObject['spec']): KubeObject['spec'] {
  const grace: number = spec.terminationGracePeriodSeconds ?? 30;
  return {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    ...spec,
    terminationGracePeriodSeconds: grace < 0 ? 1 : grace,
    ...(spec.volumes ? { volumes: spec.volumes.map(withVolumeDefaults) } : {}),
    ...(spec.containers ? { containers: spec.containers.map(defaultContainer) } : {}),
    ...(spec.initContainers ? { initContainers: spec.initContainers.map(defaultContainer) } : {}),
  };
}

const defaultSeconds = 300;

/** Admission DefaultTolerationSeconds: five minutes for a node that is not ready or unreachable. */
function withDefaultTolerations(
  tolerations: readonly TimedToleration[],
): readonly TimedToleration[] {
  const added = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
    .filter((key) => !tolerations.some((toleration) => speaksFor(toleration, key)))
    .map((key) => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: defaultSeconds,
    }));
  return [...tolerations, ...added];
}

/** A toleration of the key (or of any key) whose effect is NoExecute or any suppresses the default. */
function speaksFor({ key = '', effect = '' }: TimedToleration, wanted: string): boolean {
  return (key === wanted || key === '') && (effect === '' || effect === 'NoExecute');
}

/** A new pod as admission lets it in: with its priority, and a fresh status. */
export function admitPod(
  pod: KubeObject,
  stored: (plural: string) => readonly KubeObject[],
): KubeObject {
  const spec = withPriority(pod, stored('priorityclasses'));
  return {
    ...pod,
    spec,
    status: { phase: 'Pending', qosClass: qosClass(defaultPodSpec(pod.spec)) },
  };
}

/** A pod with the defaults of the API. */
export function podDefaults(pod: KubeObject): KubeObject {
  return { ...pod, spec: { enableServiceLinks: true, ...defaultPodSpec(pod.spec) } };
}

/**
 * A new or changed pod: the defaults of the API and the tolerations of every pod; the priority that
 * it was let in with stays. A status is written without a look at the rest.
 */
export function withPodDefaults(
  pod: KubeObject,
  subresource: string,
  previous: KubeObject | null,
): KubeObject {
  if (subresource) return pod;
  const { spec } = podDefaults(pod);
  const { priority, preemptionPolicy } = previous?.spec ?? {};
  return {
    ...pod,
    spec: {
      ...(priority === undefined ? {} : { priority }),
      ...(preemptionPolicy === undefined ? {} : { preemptionPolicy }),
      ...spec,
      tolerations: withDefaultTolerations(spec.tolerations ?? []),
    },
  };
}
