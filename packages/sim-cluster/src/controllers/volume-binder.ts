import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller } from './controller.ts';
import { keyOf, splitKey } from './pods.ts';

const followed = new Set(['persistentvolumeclaims']);
const driver = 'disk.csi.example.com';

/**
 * Gives each claim a volume of its own as soon as it is there, and takes the volume away with the
 * claim. A claim that names a volume is left alone.
 */
export class VolumeBinder extends Controller {
  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    for (const claim of this.api.list('persistentvolumeclaims')) this.queue.add(keyOf(claim));
  }

  protected override notice({ key }: Change): void {
    this.queue.add(key);
  }

  protected override sync(key: string): void {
    const { api } = this;
    const claim = api.find('persistentvolumeclaims', key);
    if (!claim) this.#release(key);
    else if (!claim.spec?.volumeName) this.#bind(claim);
  }

  #bind(claim: KubeObject): void {
    const { api } = this;
    const { namespace = '', name, uid = '' } = claim.metadata;
    const { accessModes = ['ReadWriteOnce'], storageClassName, resources } = claim.spec ?? {};
    const capacity = resources?.requests ?? { storage: '1Gi' };
    const volumeName = `pvc-${uid}`;
    if (!api.get('persistentvolumes', '', volumeName)) {
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
      const volume = api.create('persistentvolumes', {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: volumeName },
        spec: {
          ...{ accessModes, capacity, claimRef },
          csi: { driver, volumeHandle: `vol-${uid}` },
          persistentVolumeReclaimPolicy: 'Delete',
          ...(storageClassName && { storageClassName }),
        },
      });
      api.update('persistentvolumes', { ...volume, status: { phase: 'Bound' } }, 'status');
    }
    const bound = api.update('persistentvolumeclaims', {
      ...claim,
      spec: { ...claim.spec, accessModes, volumeName },
    });
    const status = { phase: 'Bound', accessModes, capacity };
    api.update('persistentvolumeclaims', { ...bound, status }, 'status');
  }

  /** Of the claim that is gone. */
  #release(key: string): void {
    const [namespace, name] = splitKey(key);
    for (const { metadata, spec } of this.api.list('persistentvolumes')) {
      const isIts = spec?.claimRef?.namespace === namespace && spec.claimRef.name === name;
      if (isIts && metadata.name === `pvc-${spec.claimRef.uid}`)
        this.api.delete('persistentvolumes', '', metadata.name);
    }
  }
}
