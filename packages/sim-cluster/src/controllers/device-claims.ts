// The claims of pods for devices.
import type { KubeObject } from '../objects/kube-object.ts';
import type { ClusterApi } from '../store/cluster-api.ts';

type Objects = Pick<ClusterApi, 'get' | 'list'>;

interface PodClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

interface ClaimStatus {
  readonly name: string;
  readonly resourceClaimName?: string;
}

/** A consumer that a claim is reserved for. */
export interface Consumer {
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
}

/** A device that a claim has got. */
interface Result {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly adminAccess?: boolean;
}

const none: readonly PodClaim[] = [];

/** The claims in the spec of a pod. */
export function podClaimsOf({ spec }: KubeObject): readonly PodClaim[] {
  return spec.resourceClaims ?? none;
}

/**
 * The name of the claim behind one of a pod's spec; '' where none is needed; null where it is not made yet.
 */
export function claimNameOf({ status }: KubeObject, claim: PodClaim): string | null {
  if (claim.resourceClaimName !== undefined) return claim.resourceClaimName;
  const statuses: readonly ClaimStatus[] = status?.resourceClaimStatuses ?? [];
  const known = statuses.find(({ name }) => name === claim.name);
  return known ? (known.resourceClaimName ?? '') : null;
}

/** The claims of a pod; null: one is not there, or is going, and the pod waits for it without a word. */
export function claimsOfPod(objects: Objects, pod: KubeObject): readonly KubeObject[] | null {
  const found: KubeObject[] = [];
  for (const podClaim of podClaimsOf(pod)) {
    const name = claimNameOf(pod, podClaim);
    if (name === '') continue;
    const claim =
      name === null ? null : objects.get('resourceclaims', pod.metadata.namespace ?? '', name);
    if (!claim || claim.metadata.deletionTimestamp !== undefined) return null;
    found.push(claim);
  }
  return found;
}

/** The consumers of a claim's devices. */
export function consumersOf({ status }: KubeObject): readonly Consumer[] {
  return status?.reservedFor ?? [];
}

/** The devices that a claim has got. */
function resultsOf({ status }: KubeObject): readonly Result[] {
  return status?.allocation?.devices?.results ?? [];
}

/** `DRIVER/POOL/DEVICE` of all devices that claims have got, but for those that administrators look at. */
export function takenDevices(objects: Objects): ReadonlySet<string> {
  const taken = new Set<string>();
  for (const claim of objects.list('resourceclaims')) {
    for (const { driver, pool, device, adminAccess } of resultsOf(claim)) {
      if (!adminAccess) taken.add(`${driver}/${pool}/${device}`);
    }
  }
  return taken;
}
