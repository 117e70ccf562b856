import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { type Consumer, claimNameOf, consumersOf, podClaimsOf } from './device-claims.ts';
import { controllerOf, isActive, isTerminal, isTerminating, keyOf } from './pods.ts';

const followed = new Set(['pods', 'resourceclaims', 'resourceclaimtemplates']);
const madeFor = 'resource.kubernetes.io/pod-claim-name';
const protection = 'resource.kubernetes.io/delete-protection';
/** Under this name the status of pods says which claims were made for them. */
const statusManager = 'ResourceClaimController';

/**
 * resourceclaim-controller: makes the claims of pods that have them by templates, takes pods that
 * have ended out of the claims that were reserved for them, frees the devices of a claim that is no
 * longer in use, and deletes the claims made for a pod once the pod has ended; where the pod is
 * gone, the garbage collector deletes them. Work is keyed by `pods KEY` and `claims KEY`.
 */
export class ResourceClaims extends Controller {
  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    for (const pod of this.api.list('pods')) this.#noticePod(keyOf(pod), pod);
    for (const claim of this.api.list('resourceclaims')) this.queue.add(`claims ${keyOf(claim)}`);
  }

  protected override notice({ resource, key, object }: Change): void {
    if (resource === 'pods') this.#noticePod(key, object);
    else if (resource === 'resourceclaims') this.#noticeClaim(key, object);
    else this.#noticeTemplate(object);
  }

  #noticePod(key: string, pod: KubeObject): void {
    const claims = podClaimsOf(pod);
    if (claims.length === 0) return;
    this.queue.add(`pods ${key}`);
    for (const claim of claims) {
      const name = claimNameOf(pod, claim);
      if (name) this.queue.add(`claims ${pod.metadata.namespace}/${name}`);
    }
  }

  #noticeClaim(key: string, claim: KubeObject): void {
    this.queue.add(`claims ${key}`);
    const owner = controllerOf(claim);
    if (owner?.kind === 'Pod') this.queue.add(`pods ${claim.metadata.namespace}/${owner.name}`);
  }

  #noticeTemplate({ metadata }: KubeObject): void {
    for (const pod of this.api.list('pods', metadata.namespace)) {
      const isIts = podClaimsOf(pod).some(
        ({ resourceClaimTemplateName }) => resourceClaimTemplateName === metadata.name,
      );
      if (isIts) this.queue.add(`pods ${keyOf(pod)}`);
    }
  }

  protected override sync(work: string): void {
    const [kind, key = ''] = work.split(' ');
    const found = this.api.find(kind === 'pods' ? 'pods' : 'resourceclaims', key);
    if (!found) return;
    if (kind === 'pods') this.#syncPod(found);
    else this.#syncClaim(found);
  }

  #syncPod(pod: KubeObject): void {
    if (!isActive(pod)) return;
    const missing = podClaimsOf(pod).filter((claim) => claimNameOf(pod, claim) === null);
    const made = missing.flatMap(({ name, resourceClaimTemplateName = '' }) => {
      const claim = this.#made(pod, name) ?? this.#make(pod, name, resourceClaimTemplateName);
      return claim ? [{ name, resourceClaimName: claim.metadata.name }] : [];
    });
    if (made.length === 0) return;
    const resourceClaimStatuses = [...(pod.status?.resourceClaimStatuses ?? []), ...made];
    const status = { ...pod.status, resourceClaimStatuses };
    this.api.as(statusManager).update('pods', { ...pod, status }, 'status');
  }

  /** A claim that was made before the pod was told. */
  #made(pod: KubeObject, name: string): KubeObject | undefined {
    return this.lookup
      .ownedBy(pod, 'resourceclaims')
      .find(({ metadata }) => metadata.annotations?.[madeFor] === name);
  }

  #make(pod: KubeObject, name: string, templateName: string): KubeObject | null {
    const { namespace = '', name: podName, uid = '' } = pod.metadata;
    const template = this.api.get('resourceclaimtemplates', namespace, templateName);
    if (!template) return null;
    const { metadata = {}, spec } = template.spec;
    const { labels, annotations } = metadata;
    return this.api.create('resourceclaims', {
      metadata: {
        name: '',
        generateName: `${podName}-${name}-`,
        namespace,
        ...(labels ? { labels } : {}),
        annotations: { ...annotations, [madeFor]: name },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: podName, uid, controller: true }],
      },
      spec,
    });
  }

  #syncClaim(claim: KubeObject): void {
    const left = this.#free(claim);
    const owner = controllerOf(left);
    if (owner?.kind !== 'Pod' || consumersOf(left).length > 0 || isTerminating(left)) return;
    const { namespace = '', name, uid = '' } = left.metadata;
    const pod = this.api.get('pods', namespace, owner.name);
    if (pod?.metadata.uid === owner.uid && isTerminal(pod)) {
      this.api.delete('resourceclaims', namespace, name, { uid });
    }
  }

  /**
   * Removes the consumers that no longer use the claim. After the last one, and before its
   * deletion, the claim has no devices any more, if the scheduler allocated them: its finalizer
   * says so.
   */
  #free(claim: KubeObject): KubeObject {
    const { metadata, status = {} } = claim;
    const consumers = consumersOf(claim);
    const using = consumers.filter((consumer) => this.#isUsing(claim, consumer));
    const isHeld = metadata.finalizers?.includes(protection) === true;
    const isLess = using.length < consumers.length;
    if (!isLess && !(isHeld && isTerminating(claim) && using.length === 0)) return claim;
    const { allocation, reservedFor: _, ...rest } = status;
    const isFreed = isHeld && using.length === 0;
    const written = this.api.update(
      'resourceclaims',
      {
        ...claim,
        status: {
          ...rest,
          ...(allocation && !isFreed ? { allocation } : {}),
          ...(using.length > 0 ? { reservedFor: using } : {}),
        },
      },
      'status',
    );
    if (!isFreed) return written;
    const finalizers = metadata.finalizers?.filter((name) => name !== protection) ?? [];
    return this.api.update('resourceclaims', {
      ...written,
      metadata: { ...written.metadata, finalizers },
    });
  }

  #isUsing({ metadata }: KubeObject, { resource, name, uid }: Consumer): boolean {
    if (resource !== 'pods') return true;
    const pod = this.api.get('pods', metadata.namespace ?? '', name);
    return pod?.metadata.uid === uid && !hasEnded(pod);
  }
}

/** True if a pod uses no device any more: it has ended, or will never start. */
function hasEnded(pod: KubeObject): boolean {
  return isTerminal(pod) || (isTerminating(pod) && !pod.spec.nodeName);
}
