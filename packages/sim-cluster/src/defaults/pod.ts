// The defaults of a Pod, and what admission adds to it.

import { ApiError } from '../objects/errors.ts';
import { entry, isList, isObject } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { quantity } from '../objects/quantity.ts';
import type { TimedToleration } from '../objects/tolerations.ts';

// The priority of new pods, as the admission plugin Priority gives it.

interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

const usualPolicy = 'PreemptLowerPriority';

/** The classes every cluster has. */
const everywhere: readonly PriorityClass[] = [
  { name: 'system-cluster-critical', value: 2_000_000_000, preemptionPolicy: usualPolicy },
  { name: 'system-node-critical', value: 2_000_001_000, preemptionPolicy: usualPolicy },
];

/**
 * The spec of a new pod with the priority of its class, or of the class that is the default of the
 * cluster. 403 for a missing class, and for a priority that contradicts the class.
 */
function withPriority(
  { metadata, spec }: KubeObject,
  stored: readonly KubeObject[],
): KubeObject['spec'] {
  const { name } = metadata;
  const refuse = (text: string): never => {
    const message = `pods ${JSON.stringify(name)} is forbidden: ${text}`;
    throw new ApiError(403, 'Forbidden', message, { name, kind: 'pods' });
  };
  const wanted: string = spec.priorityClassName ?? '';
  const found = wanted === '' ? defaultIn(stored) : named(wanted, stored);
  if (!found) return refuse(`no PriorityClass with name ${wanted} was found`);
  const { value: priority, preemptionPolicy } = found;
  if (typeof spec.priority === 'number' && spec.priority !== priority) {
    return refuse(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    return refuse(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  const className = found.name === '' ? {} : { priorityClassName: found.name };
  return { preemptionPolicy, ...spec, ...className, priority };
}

function named(name: string, stored: readonly KubeObject[]): PriorityClass | undefined {
  const found = stored.find(({ metadata }) => metadata.name === name);
  return found ? classOf(found) : everywhere.find((one) => one.name === name);
}

/** If several classes claim to be the default, the lowest one is. */
function defaultIn(stored: readonly KubeObject[]): PriorityClass {
  const [least] = stored
    .filter(({ globalDefault }) => globalDefault === true)
    .map(classOf)
    .sort((one, other) => one.value - other.value);
  return least ?? { name: '', value: 0, preemptionPolicy: usualPolicy };
}

function classOf({ metadata, value, preemptionPolicy }: KubeObject): PriorityClass {
  return {
    name: metadata.name,
    value: typeof value === 'number' ? value : 0,
    preemptionPolicy: typeof preemptionPolicy === 'string' ? preemptionPolicy : usualPolicy,
  };
}

// The defaults of ports, probes, handlers and environments of containers.

/** Parts that no rule of the simulator looks into may have any form. */
type Part = Readonly<Record<string, Json>>;

/** A container with the defaults of its parts. */
function withPartDefaults<T extends object>(container: T): T {
  const parts: Record<string, Json> = {};
  for (const [member, value] of Object.entries(container)) {
    const defaults = entry(partDefaults, member);
    if (defaults && value) parts[member] = defaults(value);
  }
  return { ...container, ...parts };
}

const eachOf =
  (defaults: (item: Json) => Json) =>
  (items: Json): Json =>
    isList(items) ? items.map(defaults) : items;

const partDefaults: Readonly<Record<string, (value: Json) => Json>> = {
  ports: eachOf((port) => (isObject(port) ? { protocol: 'TCP', ...port } : port)),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: (lifecycle) => {
    if (!isObject(lifecycle)) return lifecycle;
    const handlers = Object.entries(lifecycle).map(([name, one]) => [name, handler(one)]);
    return Object.fromEntries(handlers);
  },
  env: eachOf((one) => within(one, 'valueFrom', withFieldVersion)),
};

const probeCounts = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
} as const;

/** 0 of a count is none. */
function probe(given: Json): Json {
  const whole = handler(given);
  if (!isObject(whole)) return whole;
  const counts = Object.entries(probeCounts).map(([name, usual]) => [name, whole[name] || usual]);
  return { ...whole, ...Object.fromEntries(counts) };
}

function handler(given: Json): Json {
  const http = within(given, 'httpGet', (get) => ({
    ...get,
    path: get.path || '/',
    scheme: get.scheme || 'HTTP',
  }));
  return within(http, 'grpc', (call) => ({ service: '', ...call }));
}

/** A source of values with the version by which a field of the pod is read. */
function withFieldVersion(source: Json): Json {
  return within(source, 'fieldRef', (field) => ({
    ...field,
    apiVersion: field.apiVersion || 'v1',
  }));
}

/** The value with one of its members changed, where it has it. */
function within(value: Json, name: string, change: (member: Part) => Json): Json {
  if (!isObject(value)) return value;
  const member = value[name];
  return isObject(member) ? { ...value, [name]: change(member) } : value;
}

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
