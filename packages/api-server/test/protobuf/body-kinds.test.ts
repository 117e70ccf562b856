import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  daemonSet,
  deployment,
  job,
  type KubeObject,
  pdb,
  statefulSet,
} from '@taintmgr/sim-cluster';
import { resources } from '@taintmgr/sim-cluster/server';
import { decodeProtobuf } from '../../src/protobuf/decode.ts';
import { encodeObject } from '../../src/protobuf/encode.ts';
import { fixture, podNamed } from '../world/api-fixture.ts';

const time = '2026-01-01T00:00:00Z';
const microTime = '2026-01-01T00:00:00.123456Z';
const metadata = { name: 'x', namespace: 'default', labels: { a: 'b' }, annotations: { c: '' } };
const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p', uid: 'u', apiVersion: 'v1' };

/** What the real controllers and Kubernetes' own tests send, beside what kubectl does. */
const sent: readonly KubeObject[] = [
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata,
    involvedObject,
    reason: 'TaintManagerEviction',
    message: 'Marking for deletion Pod default/p',
    source: { component: 'taint-eviction-controller' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: 'Normal',
  },
  {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata,
    eventTime: microTime,
    reportingController: 'a',
    reportingInstance: 'a-1',
    action: 'Evict',
    reason: 'TaintManagerEviction',
    regarding: involvedObject,
    note: 'n',
    type: 'Warning',
    series: { count: 2, lastObservedTime: microTime },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata,
    data: { spec: { template: { $patch: 'replace', metadata: {} } } },
    revision: 3,
  },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'e2e', labels: { a: 'b' } } },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    ...podNamed(
      'x',
      {
        tolerations: [
          { key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 0 },
        ],
        nodeSelector: { 'kubernetes.io/hostname': 'n' },
        terminationGracePeriodSeconds: 0,
        overhead: { cpu: '250m' },
        containers: [
          {
            name: 'c',
            image: 'i',
            resources: { requests: { cpu: '1', memory: '1Gi' } },
            livenessProbe: { httpGet: { path: '/', port: 'web' }, periodSeconds: 5 },
            readinessProbe: { httpGet: { path: '/', port: 80 } },
            env: [{ name: 'N', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
          },
        ],
      },
      { labels: { group: 'a' }, finalizers: ['example.com/f'] },
    ),
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { a: '1', b: '' },
    binaryData: { c: 'aGk=' },
    immutable: false,
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata, imagePullSecrets: [{ name: 's' }] },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ports: [{ port: 80 }], selector: { a: 'b' } },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }],
    ports: [{ name: '', port: 80 }],
  },
  {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata,
    subsets: [{ addresses: [{ ip: '10.0.0.1', nodeName: 'n' }], ports: [{ port: 80 }] }],
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: microTime },
  },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: { unschedulable: true } },
  { apiVersion: 'apps/v1', ...deployment('default', 'x', { replicas: 0 }) },
  { apiVersion: 'apps/v1', ...statefulSet('default', 'x', { replicas: 2 }) },
  { apiVersion: 'apps/v1', ...daemonSet('default', 'x') },
  { apiVersion: 'batch/v1', ...job('default', 'x', 5) },
  { apiVersion: 'policy/v1', ...pdb('default', 'x', { maxUnavailable: 0 }) },
  { apiVersion: 'policy/v1', ...pdb('default', 'y', { minAvailable: '50%' }) },
];

/** A pod with something in each corner of its spec. */
const fullPod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  ...podNamed('full', {
    securityContext: {
      runAsUser: 0,
      supplementalGroups: [7, 8],
      sysctls: [{ name: 'a', value: 'b' }],
    },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'z', operator: 'In', values: ['1'] }] }],
        },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 5,
            podAffinityTerm: { labelSelector: { matchLabels: { a: 'b' } }, topologyKey: 'k' },
          },
        ],
      },
    },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 },
    ],
    hostAliases: [{ ip: '10.0.0.1', hostnames: ['a'] }],
    dnsConfig: { nameservers: ['10.0.0.2'], options: [{ name: 'ndots', value: '2' }] },
    readinessGates: [{ conditionType: 'example.com/ready' }],
    schedulingGates: [{ name: 'g' }],
    setHostnameAsFQDN: false,
    os: { name: 'linux' },
    volumes: [
      { name: 'e', emptyDir: {} },
      { name: 's', secret: { secretName: 's', items: [{ key: 'a', path: 'b', mode: 0 }] } },
      {
        name: 'd',
        downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] },
      },
      { name: 'p', projected: { sources: [{ secret: { name: 's', optional: true } }] } },
    ],
    containers: [
      {
        name: 'c',
        image: 'i',
        securityContext: { capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: false },
        lifecycle: { preStop: { sleep: { seconds: 5 } } },
        livenessProbe: { tcpSocket: { port: 80 } },
        startupProbe: { grpc: { port: 81, service: '' } },
        envFrom: [{ prefix: 'P', configMapRef: { name: 'm', optional: false } }],
        env: [{ name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
        volumeDevices: [{ name: 'e', devicePath: '/dev/e' }],
      },
    ],
  }),
};

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const template = { metadata: { labels: { a: 'b' } }, spec: podNamed('t').spec };

/** As Go writes it. */
const asWritten = {
  ...template,
  spec: { containers: [{ name: 'c', image: 'i', resources: {} }] },
};

/** Kinds that are stored and nothing more, and others that kube-controller-manager writes. */
const alsoSent: readonly KubeObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'r' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] }],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata,
    subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'default' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
  },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'none' },
    value: 0,
    description: 'd',
  },
  fullPod,
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    data: { a: 'aGk=' },
    stringData: { b: 'x' },
    type: 'T',
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: { ...claim, volumeMode: 'Block' },
  },
  { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { pods: '0' } } },
  {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata,
    spec: { replicas: 0, selector: { a: 'b' }, template },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata,
    spec: {
      schedule: '@daily',
      suspend: false,
      jobTemplate: { metadata: {}, spec: { template: asWritten } },
    },
  },
  {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'c' },
    spec: { request: 'aGk=', signerName: 'example.com/s', usages: ['client auth'] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      ports: [{ port: 80 }],
      selector: { a: 'b' },
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      internalTrafficPolicy: 'Local',
      publishNotReadyAddresses: true,
    },
  },
  {
    apiVersion: 'apps/v1',
    ...statefulSet('default', 'claims', {
      spec: {
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: claim, status: {} }],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
        ordinals: { start: 3 },
      },
    }),
  },
];

/** What becomes of it, told without who created it when. */
function created(object: KubeObject, body: Uint8Array | string, type: string): KubeObject {
  const { api } = fixture();
  const { apiVersion = '', kind = '' } = object;
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  const resource = resources.find((one) => one.kind === kind && one.group === group);
  assert.ok(resource, kind);
  const root = group === '' ? '/api/v1' : `/apis/${apiVersion}`;
  const path = `${root}${resource.namespaced ? '/namespaces/default' : ''}/${resource.plural}`;
  let [code, text] = [0, ''];
  api.exchange(
    { method: 'POST', path, headers: { 'content-type': type }, body },
    {
      head: (status) => {
        code = status;
      },
      data: (chunk) => {
        text += String(chunk);
      },
      end: () => {},
      reset: () => {},
    },
  );
  assert.equal(code, 201, text);
  return JSON.parse(text);
}

describe('a body in protobuf says the same as one in JSON', () => {
  for (const object of [...sent, ...alsoSent]) {
    it(`${object.apiVersion} ${object.kind}`, () => {
      const inProtobuf = created(
        object,
        encodeObject(object),
        'application/vnd.kubernetes.protobuf',
      );
      assert.deepEqual(inProtobuf, created(object, JSON.stringify(object), 'application/json'));
    });
  }

  it('of the status of a budget too', () => {
    const status = {
      observedGeneration: 1,
      disruptedPods: { p: time },
      disruptionsAllowed: 1,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', lastTransitionTime: time }],
    };
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', status };
    assert.deepEqual(decodeProtobuf(encodeObject(budget)), {
      ...budget,
      metadata: {},
      spec: {},
    });
  });

  it('of bytes: none where there are none, as in Go, and what is there', () => {
    const spec = { request: 'YWJj', signerName: 'a.example/b' };
    const signing = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      spec,
    };
    const ends = (object: object): string =>
      Buffer.from(encodeObject({ ...signing, ...object })).toString('hex');
    // status is field 3, its certificate field 2; two empty fields of the envelope follow.
    assert.match(ends({ status: {} }), /1a00(1a002200)$/);
    assert.match(ends({ status: { certificate: 'ZGVm' } }), /1a051203646566(1a002200)$/);
  });
});
