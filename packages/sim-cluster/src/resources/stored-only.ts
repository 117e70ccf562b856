// Kinds that are stored and served and nothing more: no defaults, no rules beyond those of every
// object's metadata. Clients such as kube-controller-manager open these collections when they start, and
// fail where they are missing; the scheduler reads those of volumes and priorities.
import { withEmptyStatus } from '../defaults/kinds.ts';
import { topLevel } from '../schema/metadata.ts';
import { defineResource, type Resource, statusSubresource } from './resource.ts';

/** Such a kind: its names, its scope, and its members beside kind, apiVersion and metadata. */
interface StoredOnly {
  readonly group: string;
  readonly version?: string;
  readonly kind: string;
  /** Left out: the kind in small letters and an s. */
  readonly plural?: string;
  readonly short?: string;
  readonly category?: string;
  readonly cluster?: true;
  readonly members: string;
  /** True if a change of the spec is counted. */
  readonly counted?: true;
  /** A subresource that writes the status too, by another right. */
  readonly approval?: true;
}

const rows: readonly StoredOnly[] = [
  { group: '', kind: 'LimitRange', short: 'limits', members: 'spec' },
  { group: '', kind: 'PersistentVolumeClaim', short: 'pvc', members: 'spec status' },
  { group: '', kind: 'PersistentVolume', short: 'pv', cluster: true, members: 'spec status' },
  { group: '', kind: 'PodTemplate', members: 'template' },
  { group: '', kind: 'ResourceQuota', short: 'quota', members: 'spec status' },
  {
    group: 'autoscaling',
    version: 'v2',
    kind: 'HorizontalPodAutoscaler',
    short: 'hpa',
    category: 'all',
    members: 'spec status',
  },
  {
    group: 'batch',
    kind: 'CronJob',
    short: 'cj',
    category: 'all',
    members: 'spec status',
    counted: true,
  },
  {
    group: 'certificates.k8s.io',
    kind: 'CertificateSigningRequest',
    short: 'csr',
    cluster: true,
    members: 'spec status',
    approval: true,
  },
  {
    group: 'networking.k8s.io',
    kind: 'IPAddress',
    plural: 'ipaddresses',
    short: 'ip',
    cluster: true,
    members: 'spec',
  },
  {
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    short: 'netpol',
    members: 'spec',
    counted: true,
  },
  {
    group: 'networking.k8s.io',
    kind: 'ServiceCIDR',
    cluster: true,
    members: 'spec status',
    counted: true,
  },
  {
    group: 'scheduling.k8s.io',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    short: 'pc',
    cluster: true,
    members: 'value globalDefault description preemptionPolicy',
    counted: true,
  },
  { group: 'storage.k8s.io', kind: 'CSIDriver', cluster: true, members: 'spec' },
  { group: 'storage.k8s.io', kind: 'CSINode', cluster: true, members: 'spec' },
  {
    group: 'storage.k8s.io',
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    members: 'nodeTopology storageClassName capacity maximumVolumeSize',
  },
  {
    group: 'storage.k8s.io',
    kind: 'StorageClass',
    plural: 'storageclasses',
    short: 'sc',
    cluster: true,
    members:
      'provisioner parameters reclaimPolicy mountOptions allowVolumeExpansion volumeBindingMode allowedTopologies',
  },
  { group: 'storage.k8s.io', kind: 'VolumeAttachment', cluster: true, members: 'spec status' },
  {
    group: 'storage.k8s.io',
    kind: 'VolumeAttributesClass',
    plural: 'volumeattributesclasses',
    short: 'vac',
    cluster: true,
    members: 'driverName parameters',
  },
];

/** Keeps the content of these members unchanged. */
function storedOnly(row: StoredOnly): Resource {
  const { group, version = 'v1', kind, short, category } = row;
  const members = row.members.split(' ');
  const singular = kind.toLowerCase();
  const fields = Object.fromEntries(members.map((member) => [member, 'any'] as const));
  return defineResource({
    group,
    version,
    kind,
    singular,
    plural: row.plural ?? `${singular}s`,
    shortNames: short === undefined ? [] : [short],
    categories: category === undefined ? [] : [category],
    namespaced: row.cluster !== true,
    schema: topLevel(kind, fields),
    subresources: [
      ...(row.approval ? [{ ...statusSubresource, name: 'approval' }] : []),
      ...(members.includes('status') ? [statusSubresource] : []),
    ],
    ...(members.includes('status') ? { admit: withEmptyStatus } : {}),
    ...(row.counted ? { generation: members.includes('spec') ? true : 'whole' } : {}),
  });
}

/** The resources that are stored, and about which no part of the cluster does anything. */
export const storedOnlyResources: readonly Resource[] = rows.map(storedOnly);
