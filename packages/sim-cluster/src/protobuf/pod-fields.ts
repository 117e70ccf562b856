// The protobuf fields of a Pod.
import { type Fields, pointer } from './fields.ts';

const fieldRef = pointer({ apiVersion: [1, 'string'], fieldPath: [2, 'string'] });

const env: Fields = {
  name: [1, 'string'],
  value: [2, 'string'],
  valueFrom: [3, pointer({ fieldRef: [1, fieldRef] })],
};

const port: Fields = {
  name: [1, 'string'],
  hostPort: [2, 'integer'],
  containerPort: [3, 'integer'],
  protocol: [4, 'string'],
  hostIP: [5, 'string'],
};

const httpGet = pointer({
  path: [1, 'string'],
  port: [2, 'intOrString'],
  host: [3, 'string'],
  scheme: [4, 'string'],
});

const probe = pointer({
  '': [1, { exec: [1, pointer({ command: [1, 'strings'] })], httpGet: [2, httpGet] }],
  initialDelaySeconds: [2, 'integer'],
  timeoutSeconds: [3, 'integer'],
  periodSeconds: [4, 'integer'],
  successThreshold: [5, 'integer'],
  failureThreshold: [6, 'integer'],
});

const resources: Fields = { limits: [1, 'quantityMap'], requests: [2, 'quantityMap'] };

const volumeMount: Fields = {
  name: [1, 'string'],
  readOnly: [2, 'boolean'],
  mountPath: [3, 'string'],
  subPath: [4, 'string'],
  mountPropagation: [5, 'string*'],
  subPathExpr: [6, 'string'],
};

const container: Fields = {
  name: [1, 'string'],
  image: [2, 'string'],
  command: [3, 'strings'],
  args: [4, 'strings'],
  workingDir: [5, 'string'],
  ports: [6, [port]],
  env: [7, [env]],
  resources: [8, resources],
  volumeMounts: [9, [volumeMount]],
  livenessProbe: [10, probe],
  readinessProbe: [11, probe],
  terminationMessagePath: [13, 'string'],
  imagePullPolicy: [14, 'string'],
  stdin: [16, 'boolean'],
  stdinOnce: [17, 'boolean'],
  tty: [18, 'boolean'],
  terminationMessagePolicy: [20, 'string'],
  startupProbe: [22, probe],
  restartPolicy: [24, 'string*'],
};

const keyItems: Fields = { key: [1, 'string'], path: [2, 'string'], mode: [3, 'integer*'] };
const nameOnly: Fields = { name: [1, 'string'] };

const downwardAPIFile: Fields = { path: [1, 'string'], fieldRef: [2, fieldRef] };

const projection: Fields = {
  downwardAPI: [2, pointer({ items: [1, [downwardAPIFile]] })],
  configMap: [3, pointer({ '': [1, nameOnly], items: [2, [keyItems]], optional: [4, 'boolean*'] })],
  serviceAccountToken: [
    4,
    pointer({ audience: [1, 'string'], expirationSeconds: [2, 'integer*'], path: [3, 'string'] }),
  ],
};

/** What a volume of a Secret and one of a ConfigMap have in common. */
const keys: Fields = {
  items: [2, [keyItems]],
  defaultMode: [3, 'integer*'],
  optional: [4, 'boolean*'],
};

const volumeSource: Fields = {
  hostPath: [1, pointer({ path: [1, 'string'], type: [2, 'string*'] })],
  emptyDir: [2, pointer({ medium: [1, 'string'], sizeLimit: [2, 'quantity*'] })],
  secret: [6, pointer({ secretName: [1, 'string'], ...keys })],
  persistentVolumeClaim: [10, pointer({ claimName: [1, 'string'], readOnly: [2, 'boolean'] })],
  configMap: [19, pointer({ '': [1, nameOnly], ...keys })],
  projected: [26, pointer({ sources: [1, [projection]], defaultMode: [2, 'integer*'] })],
};

const volume: Fields = { name: [1, 'string'], '': [2, volumeSource] };

const toleration: Fields = {
  key: [1, 'string'],
  operator: [2, 'string'],
  value: [3, 'string'],
  effect: [4, 'string'],
  tolerationSeconds: [5, 'integer*'],
};

/** `spec` of a Pod and of every pod template. */
export const podSpec: Fields = {
  volumes: [1, [volume]],
  containers: [2, [container]],
  restartPolicy: [3, 'string'],
  terminationGracePeriodSeconds: [4, 'integer*'],
  activeDeadlineSeconds: [5, 'integer*'],
  dnsPolicy: [6, 'string'],
  nodeSelector: [7, 'stringMap'],
  serviceAccountName: [8, 'string'],
  serviceAccount: [9, 'string'],
  nodeName: [10, 'string'],
  hostNetwork: [11, 'boolean'],
  hostPID: [12, 'boolean'],
  hostIPC: [13, 'boolean'],
  imagePullSecrets: [15, [nameOnly]],
  hostname: [16, 'string'],
  subdomain: [17, 'string'],
  schedulerName: [19, 'string'],
  initContainers: [20, [container]],
  automountServiceAccountToken: [21, 'boolean*'],
  tolerations: [22, [toleration]],
  priorityClassName: [24, 'string'],
  priority: [25, 'integer*'],
  shareProcessNamespace: [27, 'boolean*'],
  runtimeClassName: [29, 'string*'],
  enableServiceLinks: [30, 'boolean*'],
  preemptionPolicy: [31, 'string*'],
  overhead: [32, 'quantityMap'],
  resources: [40, pointer(resources)],
};

const condition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastProbeTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
  observedGeneration: [7, 'integer'],
};

const terminated = pointer({
  exitCode: [1, 'integer'],
  signal: [2, 'integer'],
  reason: [3, 'string'],
  message: [4, 'string'],
  startedAt: [5, 'time'],
  finishedAt: [6, 'time'],
  containerID: [7, 'string'],
});

const containerState: Fields = {
  waiting: [1, pointer({ reason: [1, 'string'], message: [2, 'string'] })],
  running: [2, pointer({ startedAt: [1, 'time'] })],
  terminated: [3, terminated],
};

const containerStatus: Fields = {
  name: [1, 'string'],
  state: [2, containerState],
  lastState: [3, containerState],
  ready: [4, 'boolean'],
  restartCount: [5, 'integer'],
  image: [6, 'string'],
  imageID: [7, 'string'],
  containerID: [8, 'string'],
  started: [9, 'boolean*'],
};

/** `status` of a Pod. */
export const podStatus: Fields = {
  phase: [1, 'string'],
  conditions: [2, [condition]],
  message: [3, 'string'],
  reason: [4, 'string'],
  hostIP: [5, 'string'],
  podIP: [6, 'string'],
  startTime: [7, 'time*'],
  containerStatuses: [8, [containerStatus]],
  qosClass: [9, 'string'],
  initContainerStatuses: [10, [containerStatus]],
  nominatedNodeName: [11, 'string'],
  podIPs: [12, [{ ip: [1, 'string'] }]],
  hostIPs: [16, [{ ip: [1, 'string'] }]],
  observedGeneration: [17, 'integer'],
};
