import { Controller } from '../controllers/controller.ts';
import { keyOf, splitKey } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import {
  bindCompleted,
  classNameOf,
  isPromised,
  noProvisioner,
  selectedNode,
  volumesFor,
  waitsForPod,
} from './volume-claims.ts';

const followed = new Set(['persistentvolumeclaims', 'persistentvolumes', 'storageclasses']);
/** Makes the volumes of claims of no class, and of those whose class is not there. */
const usualDriver = 'disk.csi.example.com';
const zoneLabel = 'topology.kubernetes.io/zone';

/**
 * The binder of the controller manager, and the provisioner: gives each claim a free volume that suits it, or a
 * new one, and takes that away with the claim. A claim whose class waits for the first consumer gets the volume
 * that the scheduler has promised it, or one for the node that the scheduler has chosen, in the zone of that.
 * A claim that names a volume is left alone.
 */
export class VolumeBinder extends Controller {
  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    for (const claim of this.api.list('persistentvolumeclaims')) this.queue.add(keyOf(claim));
  }

  protected override notice({ resource, key, object }: Change): void {
    if (resource === 'persistentvolumeclaims') this.queue.add(key);
    else if (resource === 'storageclasses') this.begin();
    else if (object.spec?.claimRef) this.#noticeVolume(object);
  }

  #noticeVolume({ spec }: KubeObject): void {
    const { namespace, name } = spec.claimRef;
    const claim = this.api.get('persistentvolumeclaims', namespace, name);
    if (claim && !claim.spec?.volumeName) this.queue.add(keyOf(claim));
  }

  protected override sync(key: string): void {
    const { api } = this;
    const claim = api.find('persistentvolumeclaims', key);
    if (!claim) this.#release(key);
    else if (!claim.spec?.volumeName) this.#serve(claim);
  }

  #serve(claim: KubeObject): void {
    const { api } = this;
    const [found] = volumesFor(api, claim);
    const waits = waitsForPod(api, claim);
    if (found && (!waits || isPromised(found, claim))) this.#bind(claim, found);
    else if (!waits || claim.metadata.annotations?.[selectedNode]) this.#provision(claim);
  }

  #provision(claim: KubeObject): void {
    const { api } = this;
    const { namespace, name, uid = '' } = claim.metadata;
    const { accessModes = ['ReadWriteOnce'], storageClassName, resources } = claim.spec ?? {};
    const storageClass = api.get('storageclasses', '', classNameOf(claim));
    const driver: string = storageClass?.provisioner ?? usualDriver;
    if (driver === noProvisioner) return;
    const nodeAffinity = this.#zoneOf(claim);
    const volumeName = `pvc-${uid}`;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
    const volume =
      api.get('persistentvolumes', '', volumeName) ??
      api.create('persistentvolumes', {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: volumeName },
        spec: {
          ...{ accessModes, claimRef },
          capacity: resources?.requests ?? { storage: '1Gi' },
          csi: { driver, volumeHandle: `vol-${uid}` },
          persistentVolumeReclaimPolicy: storageClass?.reclaimPolicy ?? 'Delete',
          ...(storageClassName && { storageClassName }),
          ...(nodeAffinity && { nodeAffinity }),
        },
      });
    this.#bind(claim, volume);
  }

  /** Disks are in the zone of the node for which they are made. */
  #zoneOf({ metadata }: KubeObject): KubeObject['spec'] {
    const nodeName = metadata.annotations?.[selectedNode];
    const node = nodeName === undefined ? null : this.api.get('nodes', '', nodeName);
    const zone = node?.metadata.labels?.[zoneLabel];
    if (zone === undefined) return null;
    const matchExpressions = [{ key: zoneLabel, operator: 'In', values: [zone] }];
    return { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  }

  #bind(claim: KubeObject, volume: KubeObject): void {
    const { api } = this;
    const { namespace, name, uid } = claim.metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
    const given = volume.spec?.claimRef?.uid
      ? volume
      : api.update('persistentvolumes', { ...volume, spec: { ...volume.spec, claimRef } });
    api.update('persistentvolumes', { ...given, status: { phase: 'Bound' } }, 'status');
    const { accessModes = ['ReadWriteOnce'], capacity } = volume.spec ?? {};
    const bound = api.update('persistentvolumeclaims', {
      ...claim,
      metadata: {
        ...claim.metadata,
        annotations: { ...claim.metadata.annotations, [bindCompleted]: 'yes' },
      },
      spec: { ...claim.spec, accessModes, volumeName: volume.metadata.name },
    });
    const status = { phase: 'Bound', accessModes, ...(capacity && { capacity }) };
    api.update('persistentvolumeclaims', { ...bound, status }, 'status');
  }

  /**
   * Handles the volume of a claim that is gone: a volume made for it is deleted, an older one
   * stays.
   */
  #release(key: string): void {
    const [namespace, name] = splitKey(key);
    for (const volume of this.api.list('persistentvolumes')) {
      const { metadata, spec } = volume;
      const isIts = spec?.claimRef?.namespace === namespace && spec.claimRef.name === name;
      if (!isIts) continue;
      const isMade = metadata.name === `pvc-${spec.claimRef.uid}`;
      if (isMade) this.api.delete('persistentvolumes', '', metadata.name);
      else
        this.api.update(
          'persistentvolumes',
          { ...volume, status: { phase: 'Released' } },
          'status',
        );
    }
  }
}
