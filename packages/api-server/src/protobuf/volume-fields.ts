// The protobuf fields of volumes, and of claims to them.
import { fieldSources } from './container-fields.ts';
import { type Fields, labelSelector, objectMeta, pointer } from './fields.ts';

const metadata: Fields[string] = [1, objectMeta];
const nameOnly: Fields = { name: [1, 'string'] };
const keyItems: Fields = { key: [1, 'string'], path: [2, 'string'], mode: [3, 'integer*'] };

const downwardAPIFile: Fields = {
  path: [1, 'string'],
  fieldRef: [2, fieldSources.fieldRef],
  resourceFieldRef: [3, fieldSources.resourceFieldRef],
  mode: [4, 'integer*'],
};

const projectedKeys = pointer({
  '': [1, nameOnly],
  items: [2, [keyItems]],
  optional: [4, 'boolean*'],
});

const projection: Fields = {
  secret: [1, projectedKeys],
  downwardAPI: [2, pointer({ items: [1, [downwardAPIFile]] })],
  configMap: [3, projectedKeys],
  serviceAccountToken: [
    4,
    pointer({ audience: [1, 'string'], expirationSeconds: [2, 'integer*'], path: [3, 'string'] }),
  ],
};

/** The fields that Secret and ConfigMap volumes share. */
const keys: Fields = {
  items: [2, [keyItems]],
  defaultMode: [3, 'integer*'],
  optional: [4, 'boolean*'],
};

const dataSource: Fields = { apiGroup: [1, 'string*'], kind: [2, 'string'], name: [3, 'string'] };

const claimSpec: Fields = {
  accessModes: [1, 'strings'],
  resources: [2, { limits: [1, 'quantityMap'], requests: [2, 'quantityMap'] }],
  volumeName: [3, 'string'],
  selector: [4, pointer(labelSelector)],
  storageClassName: [5, 'string*'],
  volumeMode: [6, 'string*'],
  dataSource: [7, pointer(dataSource)],
  dataSourceRef: [8, pointer({ ...dataSource, namespace: [4, 'string*'] })],
  volumeAttributesClassName: [9, 'string*'],
};

const claimCondition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastProbeTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const claimStatus: Fields = {
  phase: [1, 'string'],
  accessModes: [2, 'strings'],
  capacity: [3, 'quantityMap'],
  conditions: [4, [claimCondition]],
  allocatedResources: [5, 'quantityMap'],
  allocatedResourceStatuses: [7, 'stringMap'],
  currentVolumeAttributesClassName: [8, 'string*'],
};

/** v1 PersistentVolumeClaim. */
export const volumeClaim: Fields = { metadata, spec: [2, claimSpec], status: [3, claimStatus] };

const csi = pointer({
  driver: [1, 'string'],
  readOnly: [2, 'boolean*'],
  fsType: [3, 'string*'],
  volumeAttributes: [4, 'stringMap'],
  nodePublishSecretRef: [5, pointer(nameOnly)],
});
const claimTemplate = pointer({ metadata, spec: [2, claimSpec] });

const volumeSource: Fields = {
  hostPath: [1, pointer({ path: [1, 'string'], type: [2, 'string*'] })],
  emptyDir: [2, pointer({ medium: [1, 'string'], sizeLimit: [2, 'quantity*'] })],
  secret: [6, pointer({ secretName: [1, 'string'], ...keys })],
  nfs: [7, pointer({ server: [1, 'string'], path: [2, 'string'], readOnly: [3, 'boolean'] })],
  persistentVolumeClaim: [10, pointer({ claimName: [1, 'string'], readOnly: [2, 'boolean'] })],
  downwardAPI: [16, pointer({ items: [1, [downwardAPIFile]], defaultMode: [2, 'integer*'] })],
  configMap: [19, pointer({ '': [1, nameOnly], ...keys })],
  projected: [26, pointer({ sources: [1, [projection]], defaultMode: [2, 'integer*'] })],
  csi: [28, csi],
  ephemeral: [29, pointer({ volumeClaimTemplate: [1, claimTemplate] })],
  image: [30, pointer({ reference: [1, 'string'], pullPolicy: [2, 'string'] })],
};

/** v1.Volume; of its sources those that clusters have today. */
export const volume: Fields = { name: [1, 'string'], '': [2, volumeSource] };
