// Leaves out of objects of a cluster the large parts that play no role in a simulation. Unknown fields are
// kept.
import type { KubeObject } from '@taintmgr/sim-cluster';

type Member = Readonly<Record<string, unknown>>;

/** Kinds of which nothing matters. */
export const inertKinds: ReadonlySet<string> = new Set(['ConfigMap', 'Event', 'Secret']);

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const ofContainer = words(
  'env envFrom args volumeMounts volumeDevices securityContext livenessProbe terminationMessagePath terminationMessagePolicy imagePullPolicy workingDir',
);
/** The action of a probe, as opposed to its timing. */
const ofProbe = words('httpGet exec tcpSocket grpc');
const ofContainerStatus = words('image imageID lastState volumeMounts user');
/** Volumes that are there wherever a pod is, each left as an empty one of its kind. */
const inertVolumes = ['configMap', 'secret', 'projected', 'downwardAPI'] as const;

/** An object that was judged sound, without what plays no part. */
export function cut(object: KubeObject): KubeObject {
  const { kind } = object;
  const metadata = metadataOf(object);
  // Templates are compared with each other, and are few.
  if (kind !== 'Pod') return { ...object, metadata };
  return { ...object, metadata, spec: podSpec(object.spec), status: podStatus(object.status) };
}

function metadataOf({ kind, metadata }: KubeObject): KubeObject['metadata'] {
  const { managedFields, annotations, ...rest } = metadata;
  // These entries date the taints of a node.
  const owners = kind === 'Node' ? (managedFields ?? []).filter(ownsSpec) : [];
  // To what else there is manifests may be applied.
  const isApplied = kind !== 'Pod' && kind !== 'Node';
  const kept = annotations && (isApplied ? annotations : without(annotations, [lastApplied]));
  return {
    ...rest,
    ...(kept && Object.keys(kept).length > 0 && { annotations: kept }),
    ...(owners.length > 0 && { managedFields: owners }),
  } as KubeObject['metadata'];
}

function ownsSpec({ fieldsV1 }: { readonly fieldsV1?: object }): boolean {
  return fieldsV1 !== undefined && 'f:spec' in fieldsV1;
}

function podSpec(spec: KubeObject['spec']): KubeObject['spec'] {
  const { containers, initContainers, volumes, securityContext: _, ...rest } = spec;
  return {
    ...rest,
    ...(containers && { containers: containers.map(container) }),
    ...(initContainers && { initContainers: initContainers.map(container) }),
    ...(volumes && { volumes: volumes.map(volume) }),
  };
}

function container(given: Member): Member {
  const { startupProbe, readinessProbe, command, ...rest } = without(given, ofContainer);
  // The duration of `sleep` is known.
  const isSleep = Array.isArray(command) && command[0] === 'sleep';
  return {
    ...rest,
    ...(isSleep && { command }),
    ...probe('startupProbe', startupProbe),
    ...probe('readinessProbe', readinessProbe),
  };
}

function probe(name: string, given: unknown): object {
  return given ? { [name]: without(given as Member, ofProbe) } : {};
}

function volume(given: Member): Member {
  const inert = inertVolumes.find((name) => given[name]);
  return inert === undefined ? given : { name: given.name, [inert]: {} };
}

function podStatus(status: KubeObject['status']): KubeObject['status'] {
  if (!status) return status;
  const statuses = ['containerStatuses', 'initContainerStatuses'].flatMap((name) => {
    const given: readonly Member[] | undefined = status[name];
    return given ? [[name, given.map((one) => without(one, ofContainerStatus))] as const] : [];
  });
  return { ...status, ...Object.fromEntries(statuses) };
}

function without(given: Member, names: readonly string[]): Member {
  const kept = { ...given };
  for (const name of names) delete kept[name];
  return kept;
}

function words(text: string): readonly string[] {
  return text.split(' ');
}
