// Owners of pods that are not there: ReplicaSets are made up from their Deployments and pods; for
// all other owners a message says what to read too.
import { count, countBy } from '@taintmgr/k8s-adapter/command-line';
import type { KubeObject, OwnerReference } from '@taintmgr/sim-cluster';

/**
 * The kinds whose pods come back elsewhere and take room there, as kubectl names them. Pods of a DaemonSet do
 * not come back: a note says that they are not replaced.
 */
const owningKinds: Readonly<Record<string, string>> = {
  ReplicaSet: 'deployments,replicasets',
  StatefulSet: 'statefulsets',
  Job: 'jobs',
};

/** Objects with owners. */
interface Owned {
  readonly objects: readonly KubeObject[];
  readonly notes: readonly string[];
}

/** Pods of one owner. */
interface Siblings {
  readonly owner: OwnerReference;
  readonly namespace: string;
  readonly pods: KubeObject[];
}

const hashLabel = 'pod-template-hash';
const revisionKey = 'deployment.kubernetes.io/revision';

/** Makes up the ReplicaSets of Deployments that are there, as their pods show them. */
export function withReplicaSets(objects: readonly KubeObject[]): Owned {
  const known = new Map(objects.map((object) => [keyOf(object), object]));
  const orphaned = siblingsIn(objects).filter(
    ({ owner, namespace }) =>
      owner.kind === 'ReplicaSet' && !known.has(`ReplicaSet ${namespace}/${owner.name}`),
  );
  const byDeployment = new Map<KubeObject, Siblings[]>();
  for (const siblings of orphaned) {
    const { owner, namespace, pods } = siblings;
    const hash = pods[0]?.metadata.labels?.[hashLabel] ?? '';
    const name = owner.name.slice(0, -(hash.length + 1));
    const deployment = known.get(`Deployment ${namespace}/${name}`);
    if (!deployment || hash === '' || owner.name !== `${name}-${hash}`) continue;
    byDeployment.set(deployment, [...(byDeployment.get(deployment) ?? []), siblings]);
  }
  const made = Array.from(byDeployment, ([deployment, sets]) => replicaSets(deployment, sets));
  if (made.length === 0) return { objects, notes: [] };
  const all = made.flat();
  const midway = made.filter((sets) => sets.length > 1).length;
  const rollouts =
    midway === 0 ? '' : `; ${count(midway, 'Deployment')} in the middle of a rollout`;
  return {
    objects: [...objects, ...all],
    notes: [
      `${count(all.length, 'ReplicaSet')} not there, made up from Deployments and pods${rollouts}`,
    ],
  };
}

/** The message on kinds that own pods and of which no object is there; null: all are there. */
export function missingOwners(objects: readonly KubeObject[]): string | null {
  const there = new Set(objects.map(({ kind }) => kind));
  const lacking = siblingsIn(objects).filter(
    ({ owner }) => Object.hasOwn(owningKinds, owner.kind) && !there.has(owner.kind),
  );
  if (lacking.length === 0) return null;
  const pods = countBy(lacking.flatMap(({ owner, pods }) => pods.map(() => owner.kind)));
  const texts = Array.from(pods, ([kind, number]) => `${count(number, 'pod')} of ${kind}s`);
  const kinds = Array.from(pods.keys(), (kind) => owningKinds[kind]).join(',');
  return (
    `${texts.join(' and ')}, and none of these is there, so they would not be replaced; ` +
    `give these too: kubectl get ${kinds} -A -o json > owners.json, and one more -f owners.json`
  );
}

/** Pods that have not ended, by the owner that made them. */
function siblingsIn(objects: readonly KubeObject[]): readonly Siblings[] {
  const found = new Map<string, Siblings>();
  for (const object of objects) {
    if (object.kind !== 'Pod' || /^(Succeeded|Failed)$/.test(object.status?.phase)) continue;
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller);
    if (!owner) continue;
    const { namespace = '' } = object.metadata;
    const key = `${owner.kind} ${namespace}/${owner.name}`;
    const siblings = found.get(key) ?? { owner, namespace, pods: [] };
    siblings.pods.push(object);
    found.set(key, siblings);
  }
  return [...found.values()];
}

/** The ReplicaSets of a Deployment; the one of its template has the pods that the others lack. */
function replicaSets(deployment: KubeObject, all: readonly Siblings[]): readonly KubeObject[] {
  const sets = all.toSorted((one, other) => Date.parse(bornAt(one)) - Date.parse(bornAt(other)));
  const current = sets.findLast((set) => isOfTemplate(set, deployment)) ?? sets.at(-1);
  const old = sets.filter((set) => set !== current);
  const kept = old.reduce((sum, set) => sum + staying(set).length, 0);
  return sets.map((set, index) => {
    const isCurrent = set === current;
    const wanted = Number(deployment.spec.replicas ?? 1);
    const replicas = isCurrent && old.length === 0 ? wanted : staying(set).length;
    const size = isCurrent ? Math.min(replicas, Math.max(0, wanted - kept) || replicas) : replicas;
    return replicaSet(deployment, set, {
      isCurrent,
      revision: revision(deployment, sets, index),
      size,
    });
  });
}

function revision({ metadata }: KubeObject, sets: readonly Siblings[], index: number): string {
  const last = Number(metadata.annotations?.[revisionKey] ?? sets.length);
  return String(Math.max(1, last - (sets.length - 1 - index)));
}

interface SetOptions {
  readonly isCurrent: boolean;
  readonly revision: string;
  readonly size: number;
}

function replicaSet(
  { metadata, spec }: KubeObject,
  set: Siblings,
  { isCurrent, revision, size }: SetOptions,
): KubeObject {
  const { template, selector, minReadySeconds } = spec;
  const { owner, namespace, pods } = set;
  const hash = { [hashLabel]: pods[0]?.metadata.labels?.[hashLabel] ?? '' };
  const labels = { ...template.metadata?.labels, ...hash };
  const { name, uid } = metadata;
  const controller = { apiVersion: 'apps/v1', kind: 'Deployment', name, ...(uid && { uid }) };
  const number = pods.length;
  const ready = pods.filter(isReady).length;
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...{ name: owner.name, namespace, labels, generation: 1 },
      ...(owner.uid && { uid: owner.uid }),
      creationTimestamp: bornAt(set),
      annotations: { [revisionKey]: revision },
      ownerReferences: [
        { ...controller, controller: true, blockOwnerDeletion: true } as OwnerReference,
      ],
    },
    spec: {
      replicas: size,
      ...(minReadySeconds && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...hash } },
      template: {
        ...template,
        metadata: { ...template.metadata, labels },
        spec: isCurrent ? template.spec : oldSpec(template.spec, pods[0]),
      },
    },
    status: {
      ...{ replicas: number, fullyLabeledReplicas: number, observedGeneration: 1 },
      ...{ readyReplicas: ready, availableReplicas: ready },
    },
  };
}

/** The spec of a template before the one that is rolled out: with the images that its pods have. */
function oldSpec(spec: KubeObject['spec'], pod: KubeObject | undefined): KubeObject['spec'] {
  const images = imagesOf(pod?.spec);
  const containers = (spec.containers ?? []).map((container: Container) => {
    return { ...container, image: images.get(container.name) ?? container.image };
  });
  // Another difference may be where it cannot be seen.
  return { ...spec, containers, hostname: spec.hostname ?? 'before-the-rollout' };
}

interface Container {
  readonly name: string;
  readonly image?: string;
}

function imagesOf(spec: KubeObject['spec'] | undefined): ReadonlyMap<string, string | undefined> {
  const containers: readonly Container[] = spec?.containers ?? [];
  return new Map(containers.map(({ name, image }) => [name, image]));
}

/** Tells whether pods have the images of their Deployment. */
function isOfTemplate({ pods }: Siblings, { spec }: KubeObject): boolean {
  const wanted = imagesOf(spec.template.spec);
  const images = imagesOf(pods[0]?.spec);
  return [...wanted].every(([name, image]) => images.get(name) === image);
}

function staying({ pods }: Siblings): readonly KubeObject[] {
  return pods.filter(({ metadata }) => !metadata.deletionTimestamp);
}

function bornAt({ pods }: Siblings): string {
  const times = pods.flatMap(({ metadata }) => metadata.creationTimestamp ?? []);
  return times.sort()[0] ?? '1970-01-01T00:00:00Z';
}

interface PodCondition {
  readonly type: string;
  readonly status: string;
}

function isReady({ status }: KubeObject): boolean {
  const conditions: readonly PodCondition[] = status?.conditions ?? [];
  return conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
}

function keyOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
