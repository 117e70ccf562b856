// The protobuf fields of containers.
import { type Fields, type Pointer, pointer } from './fields.ts';

const fieldRef: Pointer = pointer({
  apiVersion: [1, 'string'],
  fieldPath: [2, 'string'],
});
const nameOnly: Fields = { name: [1, 'string'] };

const resourceFieldRef: Pointer = pointer({
  containerName: [1, 'string'],
  resource: [2, 'string'],
  divisor: [3, 'quantity*'],
});

/** The sources of the value of a file or a variable. */
export const fieldSources: {
  readonly fieldRef: Pointer;
  readonly resourceFieldRef: Pointer;
} = {
  fieldRef,
  resourceFieldRef,
};

/** A key of a ConfigMap or a Secret. */
const keyRef = pointer({ '': [1, nameOnly], key: [2, 'string'], optional: [3, 'boolean*'] });

const fileKeyRef = pointer({
  volumeName: [1, 'string'],
  path: [2, 'string'],
  key: [3, 'string'],
  optional: [4, 'boolean*'],
});

const env: Fields = {
  name: [1, 'string'],
  value: [2, 'string'],
  valueFrom: [
    3,
    pointer({
      fieldRef: [1, fieldRef],
      resourceFieldRef: [2, resourceFieldRef],
      configMapKeyRef: [3, keyRef],
      secretKeyRef: [4, keyRef],
      fileKeyRef: [5, fileKeyRef],
    }),
  ],
};

const wholeRef = pointer({ '': [1, nameOnly], optional: [2, 'boolean*'] });
const envFrom: Fields = {
  prefix: [1, 'string'],
  configMapRef: [2, wholeRef],
  secretRef: [3, wholeRef],
};

const port: Fields = {
  name: [1, 'string'],
  hostPort: [2, 'integer'],
  containerPort: [3, 'integer'],
  protocol: [4, 'string'],
  hostIP: [5, 'string'],
};

const exec = pointer({ command: [1, 'strings'] });
const httpGet = pointer({
  path: [1, 'string'],
  port: [2, 'intOrString'],
  host: [3, 'string'],
  scheme: [4, 'string'],
  httpHeaders: [5, [{ name: [1, 'string'], value: [2, 'string'] }]],
});
const tcpSocket = pointer({ port: [1, 'intOrString'], host: [2, 'string'] });
const grpc = pointer({ port: [1, 'integer'], service: [2, 'string*'] });

const probe = pointer({
  '': [1, { exec: [1, exec], httpGet: [2, httpGet], tcpSocket: [3, tcpSocket], grpc: [4, grpc] }],
  initialDelaySeconds: [2, 'integer'],
  timeoutSeconds: [3, 'integer'],
  periodSeconds: [4, 'integer'],
  successThreshold: [5, 'integer'],
  failureThreshold: [6, 'integer'],
  terminationGracePeriodSeconds: [7, 'integer*'],
});

const hook = pointer({
  exec: [1, exec],
  httpGet: [2, httpGet],
  tcpSocket: [3, tcpSocket],
  sleep: [4, pointer({ seconds: [1, 'integer'] })],
});

const lifecycle = pointer({ postStart: [1, hook], preStop: [2, hook], stopSignal: [3, 'string*'] });

/** v1.ResourceRequirements. */
export const resources: Fields = {
  limits: [1, 'quantityMap'],
  requests: [2, 'quantityMap'],
  claims: [3, [{ name: [1, 'string'], request: [2, 'string'] }]],
};

const volumeMount: Fields = {
  name: [1, 'string'],
  readOnly: [2, 'boolean'],
  mountPath: [3, 'string'],
  subPath: [4, 'string'],
  mountPropagation: [5, 'string*'],
  subPathExpr: [6, 'string'],
  recursiveReadOnly: [7, 'string*'],
};

const seLinuxOptions = pointer({
  user: [1, 'string'],
  role: [2, 'string'],
  type: [3, 'string'],
  level: [4, 'string'],
});
const windowsOptions = pointer({
  gmsaCredentialSpecName: [1, 'string*'],
  gmsaCredentialSpec: [2, 'string*'],
  runAsUserName: [3, 'string*'],
  hostProcess: [4, 'boolean*'],
});
/** A seccomp or AppArmor profile. */
const profile = pointer({ type: [1, 'string'], localhostProfile: [2, 'string*'] });

const containerSecurity = pointer({
  capabilities: [1, pointer({ add: [1, 'strings'], drop: [2, 'strings'] })],
  privileged: [2, 'boolean*'],
  seLinuxOptions: [3, seLinuxOptions],
  runAsUser: [4, 'integer*'],
  runAsNonRoot: [5, 'boolean*'],
  readOnlyRootFilesystem: [6, 'boolean*'],
  allowPrivilegeEscalation: [7, 'boolean*'],
  runAsGroup: [8, 'integer*'],
  procMount: [9, 'string*'],
  windowsOptions: [10, windowsOptions],
  seccompProfile: [11, profile],
  appArmorProfile: [12, profile],
});

/** `securityContext` of a pod. */
export const podSecurity: Pointer = pointer({
  seLinuxOptions: [1, seLinuxOptions],
  runAsUser: [2, 'integer*'],
  runAsNonRoot: [3, 'boolean*'],
  supplementalGroups: [4, 'integers'],
  fsGroup: [5, 'integer*'],
  runAsGroup: [6, 'integer*'],
  sysctls: [7, [{ name: [1, 'string'], value: [2, 'string'] }]],
  windowsOptions: [8, windowsOptions],
  fsGroupChangePolicy: [9, 'string*'],
  seccompProfile: [10, profile],
  appArmorProfile: [11, profile],
  supplementalGroupsPolicy: [12, 'string*'],
  seLinuxChangePolicy: [13, 'string*'],
});

const restartRule: Fields = {
  action: [1, 'string'],
  exitCodes: [2, pointer({ operator: [1, 'string'], values: [2, 'integers'] })],
};

/** v1.Container. */
export const container: Fields = {
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
  lifecycle: [12, lifecycle],
  terminationMessagePath: [13, 'string'],
  imagePullPolicy: [14, 'string'],
  securityContext: [15, containerSecurity],
  stdin: [16, 'boolean'],
  stdinOnce: [17, 'boolean'],
  tty: [18, 'boolean'],
  envFrom: [19, [envFrom]],
  terminationMessagePolicy: [20, 'string'],
  volumeDevices: [21, [{ name: [1, 'string'], devicePath: [2, 'string'] }]],
  startupProbe: [22, probe],
  resizePolicy: [23, [{ resourceName: [1, 'string'], restartPolicy: [2, 'string'] }]],
  restartPolicy: [24, 'string*'],
  restartPolicyRules: [25, [restartRule]],
};
