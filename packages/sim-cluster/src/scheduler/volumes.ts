// The demands of a pod's volumes on its node.
import type { KubeObject } from '../objects/kube-object.ts';
import { type Filter, type Rejection, rejected, rejectedForGood } from './filter.ts';
import type { NodePool } from './node-pool.ts';
import type { Place } from './place.ts';
import type { SchedulingPod } from './scheduling-pod.ts';
import {
  askedBy,
  classNameOf,
  isBound,
  isPromised,
  type Objects,
  provisions,
  reaches,
  volumesFor,
  waitsForPod,
} from './volume-claims.ts';

/** A claim that gets its volume with the node of the pod. */
interface Waiting {
  readonly claim: KubeObject;
  readonly candidates: readonly KubeObject[];
  readonly storageClass: KubeObject | null;
}

/** The claims of a pod, as they are now. */
interface PodVolumes {
  /** The volumes of those that are bound. */
  readonly bound: readonly KubeObject[];
  /** The least demanding first. */
  readonly waiting: readonly Waiting[];
}

/** The volumes that claims get on a node: null for one that the provisioner makes. */
export type Choice = ReadonlyMap<KubeObject, KubeObject | null>;

const unreachable = "node(s) didn't match PersistentVolume's node affinity";
const unavailable = "node(s) didn't find available persistent volumes to bind";
const wrongZone = rejectedForGood('volumes', 'node(s) had no available volume zone');
const tooMany = rejected('volumes', 'node(s) exceed max volume count');
const inUse = rejected(
  'disks',
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
);

/**
 * The reason, in kube-scheduler's words, why the claims of a pod rule out every node; null: they
 * are in order. Missing claims come first, then terminating ones, then those that another component
 * has to bind.
 */
export function claimsRefusal(
  objects: Objects,
  { namespace, claims }: SchedulingPod,
): string | null {
  const found = claims.map((name) => objects.get('persistentvolumeclaims', namespace, name));
  const missing = claims.find((_, at) => !found[at]);
  if (missing !== undefined) return `persistentvolumeclaim "${missing}" not found`;
  const there = found.filter((claim) => claim !== null);
  for (const { metadata, spec, status } of there) {
    const name = `persistentvolumeclaim "${metadata.name}"`;
    if (status?.phase === 'Lost')
      return `${name} bound to non-existent persistentvolume "${spec?.volumeName}"`;
    if (metadata.deletionTimestamp !== undefined) return `${name} is being deleted`;
  }
  if (there.some((claim) => !isBound(claim) && !waitsForPod(objects, claim)))
    return 'pod has unbound immediate PersistentVolumeClaims';
  for (const { spec } of there) {
    const { volumeName } = spec ?? {};
    if (volumeName && !objects.get('persistentvolumes', '', volumeName))
      return `persistentvolume "${volumeName}" not found`;
  }
  return null;
}

/** The claims of a pod that are in order. */
function podVolumes(objects: Objects, { namespace, claims }: SchedulingPod): PodVolumes {
  const all = claims.flatMap(
    (name) => objects.get('persistentvolumeclaims', namespace, name) ?? [],
  );
  const bound = all
    .filter(isBound)
    .flatMap(({ spec }) => objects.get('persistentvolumes', '', spec?.volumeName) ?? []);
  const waiting = all
    .filter((claim) => !isBound(claim))
    .sort((one, other) => askedBy(one) - askedBy(other))
    .map((claim) => ({
      claim,
      candidates: volumesFor(objects, claim),
      storageClass: objects.get('storageclasses', '', classNameOf(claim)),
    }));
  return { bound, waiting };
}

/** Finds a volume for each claim that waits for a node; null: one gets none there. */
function chooseVolumes(waiting: readonly Waiting[], node: KubeObject): Choice | null {
  const choice = new Map<KubeObject, KubeObject | null>();
  const taken = new Set<KubeObject>();
  for (const { claim, candidates, storageClass } of waiting) {
    const volume = candidates.find((one) => !taken.has(one) && reaches(node, one));
    const isElsewhere = candidates.some((one) => isPromised(one, claim));
    if (!volume && (isElsewhere || !provisions(storageClass, node))) return null;
    if (volume) taken.add(volume);
    choice.set(claim, volume ?? null);
  }
  return choice;
}

/** The volumes of the claims of a pod that wait for its node. */
export function volumeChoice(objects: Objects, pod: SchedulingPod, node: KubeObject): Choice {
  const none: Choice = new Map();
  return chooseVolumes(podVolumes(objects, pod).waiting, node) ?? none;
}

/** VolumeRestrictions: a ReadWriteOncePod claim has one pod in the whole cluster. */
function singlePodFilters(
  objects: Objects,
  pool: NodePool,
  { namespace, claims }: SchedulingPod,
): readonly Filter[] {
  const single = claims.filter((name) =>
    objects
      .get('persistentvolumeclaims', namespace, name)
      ?.spec?.accessModes?.includes('ReadWriteOncePod'),
  );
  if (single.length === 0) return [];
  let users = 0;
  for (const claim of single) users += pool.usersOf(namespace, claim).size;
  return [
    {
      check: () => (users > 0 ? inUse : null),
      note: (other, _, by) => {
        if (other.namespace !== namespace) return;
        for (const claim of single) if (other.claims.includes(claim)) users += by;
      },
    },
  ];
}

/** The attachments that a node needs for the claims: by driver and volume name. */
function attachmentsOf(
  objects: Objects,
  { namespace, claims }: SchedulingPod,
): readonly (readonly [driver: string, volume: string])[] {
  return claims.flatMap((name) => {
    const claim = objects.get('persistentvolumeclaims', namespace, name);
    if (!claim) return [];
    const volume = objects.get('persistentvolumes', '', claim.spec?.volumeName ?? '');
    const { driver, volumeHandle } = volume?.spec?.csi ?? {};
    if (driver) return [[driver, volumeHandle] as const];
    if (volume) return [];
    const storageClass = objects.get('storageclasses', '', classNameOf(claim));
    const provisioner: string = storageClass?.provisioner ?? '';
    return provisioner === '' ? [] : [[provisioner, `${namespace}/${name}`] as const];
  });
}

interface CsiDriver {
  readonly name: string;
  readonly allocatable?: { readonly count?: number };
}

/** NodeVolumeLimits: a volume that several pods have counts once. */
function limitFilters(objects: Objects, pod: SchedulingPod): readonly Filter[] {
  const wanted = attachmentsOf(objects, pod);
  if (wanted.length === 0) return [];
  return [
    {
      check: (place) => {
        const csiNode = objects.get('csinodes', '', place.name);
        const drivers: readonly CsiDriver[] = csiNode?.spec?.drivers ?? [];
        const exceeded = drivers.some(({ name, allocatable }) => {
          const volumes = new Set(volumesOf(wanted, name));
          if (volumes.size === 0 || allocatable?.count === undefined) return false;
          const there = attachedAt(objects, place, name);
          const added = [...volumes].filter((volume) => !there.has(volume));
          return added.length > 0 && there.size + added.length > allocatable.count;
        });
        return exceeded ? tooMany : null;
      },
    },
  ];
}

function volumesOf(
  attachments: ReturnType<typeof attachmentsOf>,
  driver: string,
): readonly string[] {
  return attachments.flatMap(([name, volume]) => (name === driver ? [volume] : []));
}

function attachedAt(objects: Objects, { pods }: Place, driver: string): ReadonlySet<string> {
  const attached = new Set<string>();
  for (const pod of pods.values()) {
    if (pod.claims.length === 0) continue;
    for (const volume of volumesOf(attachmentsOf(objects, pod), driver)) attached.add(volume);
  }
  return attached;
}

/** VolumeBinding: the node reaches the volumes that are bound, and there are some for the other claims. */
function bindingFilter({ bound, waiting }: PodVolumes): Filter {
  return {
    check: ({ offer }): Rejection | null => {
      if (!offer) return null;
      const { node } = offer;
      const isCutOff = bound.some((volume) => !reaches(node, volume));
      const isShort = waiting.length > 0 && chooseVolumes(waiting, node) === null;
      if (!isCutOff && !isShort) return null;
      const reasons = [...(isCutOff ? [unreachable] : []), ...(isShort ? [unavailable] : [])];
      return rejectedForGood('volumes', ...reasons);
    },
  };
}

const betaLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
};
const topologyLabels = [...Object.keys(betaLabels), ...Object.values(betaLabels)];

/** VolumeZone: the labels of volumes that name zones, several of them with `__` between. */
function zoneFilters({ bound }: PodVolumes): readonly Filter[] {
  const asked = bound.flatMap(({ metadata: { labels = {} } }) =>
    topologyLabels.flatMap((key) => {
      const zones = labels[key];
      return zones === undefined ? [] : [{ key, zones: zones.split('__') }];
    }),
  );
  if (asked.length === 0) return [];
  return [
    {
      check: ({ offer }) => {
        const labels = offer?.labels ?? {};
        if (!topologyLabels.some((key) => labels[key] !== undefined)) return null;
        const isRight = asked.every(({ key, zones }) => {
          const zone = labels[key] ?? labels[betaLabels[key] ?? key];
          return zone !== undefined && zones.includes(zone);
        });
        return isRight ? null : wrongZone;
      },
    },
  ];
}

/** All that the claims of a pod ask of its node, in the order of kube-scheduler. */
export function volumeFilters(
  objects: Objects,
  pool: NodePool,
  pod: SchedulingPod,
): readonly Filter[] {
  if (pod.claims.length === 0) return [];
  const volumes = podVolumes(objects, pod);
  return [
    ...singlePodFilters(objects, pool, pod),
    ...limitFilters(objects, pod),
    bindingFilter(volumes),
    ...zoneFilters(volumes),
  ];
}
