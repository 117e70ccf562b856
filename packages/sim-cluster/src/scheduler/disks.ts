// Disks that a pod names by itself, of which a node serves one writer.
import type { KubeObject } from '../objects/kube-object.ts';

/** A disk of a pod. */
export interface Disk {
  /** The identities that make two disks the same; a Ceph image has one for each of its monitors. */
  readonly ids: readonly string[];
  /** True if several pods may have it while all of them only read. */
  readonly isReadOnly: boolean;
}

interface Volume {
  readonly gcePersistentDisk?: { readonly pdName?: string; readonly readOnly?: boolean };
  readonly awsElasticBlockStore?: { readonly volumeID?: string };
  readonly iscsi?: { readonly iqn?: string; readonly readOnly?: boolean };
  readonly rbd?: {
    readonly monitors?: readonly string[];
    readonly pool?: string;
    readonly image?: string;
    readonly readOnly?: boolean;
  };
}

const none: readonly Disk[] = [];

/** The disks of a pod of which two pods on a node may clash. */
export function disksOf({ spec }: KubeObject): readonly Disk[] {
  const volumes: readonly Volume[] | undefined = spec.volumes;
  if (volumes === undefined) return none;
  const disks = volumes.flatMap(diskIn);
  return disks.length === 0 ? none : disks;
}

function diskIn(volume: Volume): readonly Disk[] {
  const { gcePersistentDisk: gce, awsElasticBlockStore: aws, iscsi, rbd } = volume;
  if (gce) return [{ ids: [`gce ${gce.pdName}`], isReadOnly: gce.readOnly === true }];
  if (aws) return [{ ids: [`aws ${aws.volumeID}`], isReadOnly: false }];
  if (iscsi) return [{ ids: [`iscsi ${iscsi.iqn}`], isReadOnly: iscsi.readOnly === true }];
  if (!rbd) return [];
  const { monitors = [], pool = 'rbd', image, readOnly } = rbd;
  const ids = monitors.map((monitor) => `rbd ${monitor} ${pool} ${image}`);
  return [{ ids, isReadOnly: readOnly === true }];
}

/** True if both lists share a disk and one of the pods writes it. */
export function disksClash(wanted: readonly Disk[], taken: readonly Disk[]): boolean {
  return wanted.some((one) =>
    taken.some(
      (other) =>
        !(one.isReadOnly && other.isReadOnly) && one.ids.some((id) => other.ids.includes(id)),
    ),
  );
}
