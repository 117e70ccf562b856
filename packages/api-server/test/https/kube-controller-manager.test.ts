// What kube-controller-manager 1.36 asks with all its controllers, over HTTPS and in protobuf: the
// collections that it opens, what it looks up, and what it writes. It has to be answered without an error.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { type KubeObject, threeZones, VirtualClock } from '@taintmgr/sim-cluster';
import { createCertificate } from '../../src/https/certificate.ts';
import { type HttpsServer, startHttps } from '../../src/https/server.ts';
import { encodeObject, hasProtobuf } from '../../src/protobuf/encode.ts';
import { ServedCluster } from '../../src/server/served-cluster.ts';

const protobufType = 'application/vnd.kubernetes.protobuf';
const accept = `${protobufType}, */*`;
const metadataAccept = [protobufType, 'application/json']
  .map((type) => `${type};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`)
  .concat('application/json')
  .join(',');
const discoveryAccept =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const watchList = {
  allowWatchBookmarks: 'true',
  resourceVersionMatch: 'NotOlderThan',
  sendInitialEvents: 'true',
  timeout: '7m31s',
  timeoutSeconds: '451',
  watch: 'true',
};

/** The informers of its controllers, by who needs them first. */
const informers: Readonly<Record<string, string>> = {
  'api/v1': `configmaps endpoints namespaces nodes persistentvolumeclaims persistentvolumes pods
    replicationcontrollers resourcequotas secrets serviceaccounts services`,
  'apis/admissionregistration.k8s.io/v1': 'validatingadmissionpolicies',
  'apis/apps/v1': 'controllerrevisions daemonsets deployments replicasets statefulsets',
  'apis/autoscaling/v2': 'horizontalpodautoscalers',
  'apis/batch/v1': 'cronjobs jobs',
  'apis/certificates.k8s.io/v1': 'certificatesigningrequests',
  'apis/coordination.k8s.io/v1': 'leases',
  'apis/discovery.k8s.io/v1': 'endpointslices',
  'apis/networking.k8s.io/v1': 'ipaddresses servicecidrs',
  'apis/policy/v1': 'poddisruptionbudgets',
  'apis/rbac.authorization.k8s.io/v1': 'clusterroles',
  'apis/resource.k8s.io/v1': 'deviceclasses resourceclaims resourceclaimtemplates resourceslices',
  'apis/storage.k8s.io/v1': `csidrivers csinodes storageclasses volumeattachments
    volumeattributesclasses`,
};
const opened = Object.entries(informers).flatMap(([root, plurals]) =>
  plurals.split(/\s+/).map((plural) => `/${root}/${plural}`),
);

const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
const certificate = createCertificate(Date.now());
const { ca } = certificate;
const admin = { name: 'system:kube-controller-manager', groups: ['system:masters'], rules: [] };
const tokens = new Map([['T', admin]]);
const cluster = new ServedCluster({
  clock,
  seed: 1,
  topology: threeZones,
  ca,
  apiServer: { tokens },
});
const agent = new Agent({ keepAlive: true });
let server: HttpsServer;

before(async () => {
  cluster.start();
  for (let step = 0; step < 120 && !cluster.isIdle(); step++) clock.advanceTo(clock.now() + 1000);
  assert.ok(cluster.isIdle());
  server = await startHttps({ exchange: cluster.exchange, certificate });
  const { hostname, port } = new URL(server.url);
  cluster.api.publish({ address: hostname, port: Number(port), ca });
});
after(async () => {
  agent.destroy();
  cluster.stop();
  await server.close();
});

interface Asked {
  readonly query?: Readonly<Record<string, string>>;
  readonly accept?: string;
  readonly token?: string;
  readonly body?: KubeObject;
  readonly patch?: readonly [type: string, body: object];
  readonly from?: string;
}

async function open(method: string, path: string, asked: Asked): Promise<IncomingMessage> {
  const { query = {}, body, patch, token = 'T', from = 'shared-informers' } = asked;
  const bytes = body ? encodeObject(body) : patch ? Buffer.from(JSON.stringify(patch[1])) : null;
  const headers = {
    accept: asked.accept ?? accept,
    authorization: `Bearer ${token}`,
    'user-agent': `kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/0123456/${from}`,
    ...(bytes
      ? { 'content-type': patch?.[0] ?? protobufType, 'content-length': bytes.length }
      : {}),
  };
  const url = `${server.url}${path}?${new URLSearchParams(query)}`;
  const [response] = await once(
    request(url, { method, headers, ca, agent }).end(bytes),
    'response',
  );
  return response;
}

async function ask(method: string, path: string, asked: Asked = {}): Promise<KubeObject> {
  const response = await open(method, path, asked);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  assert.ok((response.statusCode ?? 0) < 300, `${method} ${path} ${response.statusCode}: ${text}`);
  return text.startsWith('{') ? JSON.parse(text) : { metadata: { name: text } };
}

/** Reads a stream up to the end of what is there. */
async function firstEvents(path: string, form: string): Promise<readonly KubeObject[]> {
  const response = await open('GET', path, { query: watchList, accept: form });
  assert.equal(response.statusCode, 200, path);
  let rest = '';
  const objects: KubeObject[] = [];
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const { type, object } of lines.map((line) => JSON.parse(line))) {
      assert.notEqual(type, 'ERROR', path);
      if (object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true') return objects;
      objects.push(object);
    }
  }
  return assert.fail(`${path} ended`);
}

describe('kube-controller-manager finds', () => {
  it('health, its lease, and what API servers publish', async () => {
    assert.equal((await ask('GET', '/healthz')).metadata.name, 'ok');
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const query = { timeout: '5s' };
    const time = '2026-01-01T00:00:30.000000Z';
    const name = 'kube-controller-manager';
    const body = {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name, namespace: 'kube-system' },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, acquireTime: time, renewTime: time },
    };
    const lease = await ask('POST', path, { query, body });
    await ask('PUT', `${path}/${name}`, { query, body: { ...lease, spec: body.spec } });
    const maps = '/api/v1/namespaces/kube-system/configmaps';
    const config = await ask('GET', `${maps}/extension-apiserver-authentication`);
    assert.equal(config.data['client-ca-file'], ca);
    const tracking = await ask(
      'GET',
      `${maps}/kube-apiserver-legacy-service-account-token-tracking`,
    );
    assert.equal(tracking.data.since, '2026-01-01');
  });

  for (const path of opened) {
    it(path, async () => void (await firstEvents(path, accept)));
  }

  it('the metadata of everything that can be deleted', async () => {
    const roots = await Promise.all(
      ['/api', '/apis'].map((path) => ask('GET', path, { accept: discoveryAccept })),
    );
    const paths = roots.flatMap(({ items }) => items as readonly KubeObject[]).flatMap(pathsOf);
    assert.ok(
      opened.every((path) => paths.includes(path)),
      'discovery names each of them',
    );
    for (const path of paths) {
      const list = await ask('GET', path, { accept: metadataAccept });
      assert.equal(list.kind, 'PartialObjectMetadataList', path);
      const form = metadataAccept.replaceAll('MetadataList', 'Metadata');
      for (const { kind } of await firstEvents(path, form))
        assert.equal(kind, 'PartialObjectMetadata');
    }
  });
});

function pathsOf({ metadata, versions }: KubeObject): readonly string[] {
  const [{ version, resources }] = versions;
  const root = metadata.name ? `/apis/${metadata.name}/${version}` : `/api/${version}`;
  return (resources as readonly KubeObject[])
    .filter(({ verbs }) => ['list', 'watch', 'delete'].every((verb) => verbs.includes(verb)))
    .map(({ resource }) => `${root}/${resource}`);
}

describe('kube-controller-manager may write', () => {
  const time = '2026-01-01T00:01:00Z';
  const inShop = { namespace: 'shop' } as const;
  const written: readonly (readonly [path: string, body: KubeObject])[] = [
    [
      '/api/v1/namespaces/shop/events',
      {
        kind: 'Event',
        apiVersion: 'v1',
        metadata: { name: 'db-0.18a1', ...inShop },
        involvedObject: { kind: 'Pod', ...inShop, name: 'db-0', apiVersion: 'v1' },
        reason: 'TaintManagerEviction',
        message: 'Marking for deletion Pod shop/db-0',
        source: { component: 'taint-eviction-controller' },
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
        type: 'Normal',
        reportingComponent: 'taint-eviction-controller',
      },
    ],
    [
      '/apis/events.k8s.io/v1/namespaces/shop/events',
      {
        kind: 'Event',
        apiVersion: 'events.k8s.io/v1',
        metadata: { name: 'db-0.18a2', ...inShop },
        eventTime: '2026-01-01T00:01:00.000000Z',
        reportingController: 'kubernetes.io/job-controller',
        reportingInstance: 'job-controller-a',
        action: 'Created',
        reason: 'SuccessfulCreate',
        regarding: { kind: 'Pod', ...inShop, name: 'db-0' },
        note: 'n',
        type: 'Normal',
      },
    ],
    [
      '/apis/apps/v1/namespaces/shop/controllerrevisions',
      {
        kind: 'ControllerRevision',
        apiVersion: 'apps/v1',
        metadata: {
          name: 'db-5d8b',
          ...inShop,
          labels: { 'controller.kubernetes.io/hash': '5d8b' },
        },
        data: { spec: { template: { $patch: 'replace' } } },
        revision: 1,
      },
    ],
    [
      '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
      {
        kind: 'EndpointSlice',
        apiVersion: 'discovery.k8s.io/v1',
        metadata: { name: 'db-x', ...inShop, labels: { 'kubernetes.io/service-name': 'db' } },
        addressType: 'IPv4',
        endpoints: [
          {
            addresses: ['10.0.0.1'],
            conditions: { ready: true, serving: true, terminating: false },
            nodeName: 'zone-a-1',
            zone: 'zone-a',
            hints: { forZones: [{ name: 'zone-a' }] },
          },
        ],
        ports: [],
      },
    ],
    [
      '/api/v1/namespaces/kube-system/serviceaccounts',
      {
        kind: 'ServiceAccount',
        apiVersion: 'v1',
        metadata: { name: 'node-controller', namespace: 'kube-system' },
      },
    ],
    [
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      {
        kind: 'SubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        metadata: { name: '' },
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' }, user: 'u' },
      },
    ],
  ];
  for (const [path, body] of written) {
    it(`POST ${path}`, async () => {
      const { kind } = await ask('POST', path, { body });
      assert.equal(kind, body.kind);
    });
  }

  it('as the account whose token it asked for', async () => {
    const accounts = '/api/v1/namespaces/kube-system/serviceaccounts';
    const body = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: '' },
      spec: { expirationSeconds: 3600 },
    };
    const { status } = await ask('POST', `${accounts}/node-controller/token`, { body });
    const review = {
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: '' },
    };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const me = await ask('POST', path, { body: review, token: status.token });
    assert.equal(me.status.userInfo.username, 'system:serviceaccount:kube-system:node-controller');
  });

  it('back whatever it has read, and nothing is lost', async () => {
    let count = 0;
    for (const path of opened) {
      const { kind, apiVersion = '', items } = await ask('GET', path);
      const itemKind = (kind ?? '').replace(/List$/, '');
      if (!hasProtobuf(apiVersion, itemKind)) continue;
      for (const item of items as readonly KubeObject[]) {
        const { namespace, name, resourceVersion } = item.metadata;
        const at = namespace ? path.replace(/(\/[^/]+)$/, `/namespaces/${namespace}$1`) : path;
        const body = { ...item, kind: itemKind, apiVersion };
        for (const below of 'status' in item ? ['', '/status'] : ['']) {
          const { metadata } = await ask('PUT', `${at}/${name}${below}`, { body });
          assert.equal(metadata.resourceVersion, resourceVersion, `${at}/${name}${below}`);
        }
        count += 1;
      }
    }
    assert.ok(count > 70, `${count} objects`);
  });

  /** Of these it writes PersistentVolumes, claims, attachments and ServiceCIDRs: there are none. */
  const onlyRead = [
    ...['PersistentVolume', 'ValidatingAdmissionPolicy'],
    ...['IPAddress', 'ServiceCIDR', 'DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate'],
    ...['ResourceSlice', 'CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
    'VolumeAttributesClass',
  ];

  it('each kind of which there are objects, or which it makes for them', async () => {
    // The others it only reads here: there is no claim, no volume and no autoscaler to act on.
    const empty: string[] = [];
    for (const path of opened) {
      const { kind, apiVersion = '', items } = await ask('GET', path);
      const itemKind = (kind ?? '').replace(/List$/, '');
      if (hasProtobuf(apiVersion, itemKind)) continue;
      assert.deepEqual(items, [], `it cannot write ${itemKind}`);
      empty.push(itemKind);
    }
    assert.deepEqual(empty, onlyRead);
    const pods = cluster.api.list('pods').concat(cluster.api.list('statefulsets'));
    for (const { metadata, spec } of pods) {
      const { volumeClaimTemplates = [], resourceClaims = [], volumes = [] } = spec;
      const claims = volumes.filter(
        (one: object) => 'persistentVolumeClaim' in one || 'ephemeral' in one,
      );
      assert.deepEqual([volumeClaimTemplates, resourceClaims, claims], [[], [], []], metadata.name);
    }
  });

  it('how a policy type-checks', async () => {
    const kinds = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const kind = 'ValidatingAdmissionPolicy';
    const resourceRules = [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods/status'] },
    ];
    const validations = [{ expression: 'true' }];
    const spec = { matchConstraints: { resourceRules }, validations };
    cluster.api.create('validatingadmissionpolicies', { metadata: { name: 'p' }, spec });
    const status = { observedGeneration: 1, typeChecking: {} };
    const body = { apiVersion, kind, metadata: { name: 'p' }, status };
    const written = await ask('PATCH', `${kinds}/p/status`, {
      query: { fieldManager: 'validatingadmissionpolicy-status-controller', force: 'true' },
      patch: ['application/apply-patch+yaml', body],
      accept: 'application/json',
    });
    assert.equal(written.status.observedGeneration, 1);
    cluster.api.delete('validatingadmissionpolicies', '', 'p');
  });
});
