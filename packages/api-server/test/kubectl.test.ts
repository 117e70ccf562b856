import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { createCertificate } from '../src/https/certificate.ts';
import { writeKubeconfig } from '../src/https/kubeconfig.ts';
import { type HttpsServer, startHttps } from '../src/https/server.ts';
import { ApiServer } from '../src/server/api-server.ts';
import { podNamed } from './world/api-fixture.ts';
import { Kubectl, type Result, withoutKubectl } from './world/kubectl.ts';

// The machine's own kubectl against the HTTPS server.

describe('kubectl', { skip: withoutKubectl }, () => {
  const tokens = new Map([
    ['admin-token', { name: 'admin', groups: ['system:masters'], rules: [] }],
  ]);
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1), tokens });
  const certificate = createCertificate(Date.now());
  const client = new Kubectl();
  let server: HttpsServer;

  const kubectl = (line: string, input = ''): Promise<Result> => client.run(line, input);
  const ok = (line: string, input = ''): Promise<string> => client.ok(line, input);

  before(async () => {
    server = await startHttps({ exchange: api.exchange, certificate });
    writeKubeconfig(client.kubeconfig, {
      server: server.url,
      ca: certificate.ca,
      token: 'admin-token',
    });
    api.create('nodes', node('n1'));
    api.create('pods', podNamed('web', { nodeName: 'n1' }, { labels: { app: 'web' } }));
    // Stands in for the kubelets: what terminates on a node is soon gone.
    api.subscribe(({ resource, object, type }) => {
      const { deletionTimestamp, name, namespace = '', uid = '' } = object.metadata;
      if (resource !== 'pods' || type === 'DELETED' || deletionTimestamp === undefined) return;
      api.clock.after(0, () => {
        if (api.get('pods', namespace, name)?.metadata.uid !== uid) return;
        api.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
      });
    });
  });

  after(async () => {
    await server?.close();
    client.remove();
  });

  function node(name: string) {
    return {
      metadata: { name, labels: { 'node-role.kubernetes.io/worker': '' } },
      spec: {},
      status: {
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        nodeInfo: { kubeletVersion: 'v1.36.2', osImage: 'Test OS' },
      },
    };
  }

  it('says of a kind that is not there what to do', async () => {
    const thing = 'apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n';
    const { code, err } = await kubectl('apply -f -', thing);
    assert.equal(code, 1);
    assert.match(err, /no matches for kind "Thing" in version "example\.com\/v1"\nensure CRDs/);
  });

  describe('get', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      [
        'get nodes',
        /^NAME +STATUS +ROLES +AGE +VERSION\nn1 +Ready +worker +(\d+m)?\d+s +v1\.36\.2\n$/,
      ],
      ['get nodes -o wide', /INTERNAL-IP .*\nn1 .* 10\.0\.0\.1 +<none> +Test OS +<unknown>/],
      ['get node n1 -o yaml', /^apiVersion: v1\nkind: Node\n[\s\S]*kubeletVersion: v1\.36\.2/],
      ['get nodes -o name', /^node\/n1\n$/],
      ['get nodes -o jsonpath={.items[0].spec.taints[0].key}', /^node\.kubernetes\.io\/not-ready$/],
      ['get pods -o wide', /^NAME +READY .*\nweb +0\/1 +Pending +0 +\S+ +<none> +n1 +<none>/],
      ['get pods -l app=web --show-labels', /app=web\n$/],
      ['get pods --field-selector spec.nodeName=n1 --sort-by=.metadata.name', /\nweb /],
      ['get all', /pod\/web/],
      ['get ns', /^NAME +STATUS +AGE\ndefault +Active/],
      [
        'api-resources --api-group=policy',
        /poddisruptionbudgets +pdb +policy\/v1 +true +PodDisruptionBudget/,
      ],
      ['explain node.spec.taints', /FIELD: taints <\[\]Object>/],
      ['version', /Server Version: v1\.36\.2/],
    ];
    for (const [line, expected] of cases) {
      it(line, async () => assert.match(await ok(line), expected));
    }

    it('nodes -o json', async () => {
      const { kind, items } = JSON.parse(await ok('get nodes -o json'));
      assert.deepEqual([kind, items[0].kind, items[0].metadata.name], ['List', 'Node', 'n1']);
    });

    it('says what is not there', async () => {
      const { code, err } = await kubectl('get pod nope');
      assert.deepEqual([code, err], [1, 'Error from server (NotFound): pods "nope" not found\n']);
      assert.match((await kubectl('get bogus')).err, /doesn't have a resource type "bogus"/);
    });
  });

  it('describe node and pod', async () => {
    const described = await ok('describe node n1');
    assert.match(described, /^Name: +n1\nRoles: +worker\n/);
    assert.match(described, /Taints: +node\.kubernetes\.io\/not-ready:NoSchedule\n/);
    assert.match(described, /Non-terminated Pods: +\(1 in total\)[\s\S]* default +web /);
    const pod = await ok('describe pod web');
    assert.match(pod, /Tolerations: +node\.kubernetes\.io\/not-ready:NoExecute op=Exists for 300s/);
  });

  it('taint: add, twice, overwrite, second effect, remove, remove twice', async () => {
    assert.equal(await ok('taint nodes n1 k=v:NoExecute'), 'node/n1 tainted\n');
    const twice = await kubectl('taint nodes n1 k=w:NoExecute');
    assert.equal(twice.code, 1);
    assert.match(
      twice.err,
      /already has k taint\(s\) with same effect\(s\) and --overwrite is false/,
    );
    assert.equal(await ok('taint nodes n1 k=w:NoExecute --overwrite'), 'node/n1 modified\n');
    await ok('taint nodes n1 k=v:NoSchedule');
    const taints = api.get('nodes', '', 'n1')?.spec.taints.map((t: { key: string }) => t.key);
    assert.deepEqual(taints.sort(), ['k', 'k', 'node.kubernetes.io/not-ready']);
    assert.equal(await ok('taint nodes n1 k:NoExecute-'), 'node/n1 untainted\n');
    assert.equal(await ok('taint nodes n1 k-'), 'node/n1 untainted\n');
    assert.match((await kubectl('taint nodes n1 k-')).err, /taint "k" not found/);
  });

  it('cordon, uncordon, label, annotate, patch', async () => {
    assert.equal(await ok('cordon n1'), 'node/n1 cordoned\n');
    assert.equal(await ok('cordon n1'), 'node/n1 already cordoned\n');
    assert.match(await ok('get nodes'), /Ready,SchedulingDisabled/);
    assert.equal(await ok('uncordon n1'), 'node/n1 uncordoned\n');
    assert.equal(await ok('label node n1 zone=a'), 'node/n1 labeled\n');
    assert.equal(await ok('annotate node n1 x=y'), 'node/n1 annotated\n');
    assert.equal(
      await ok('patch node n1 -p {"metadata":{"labels":{"zone":null}}}'),
      'node/n1 patched\n',
    );
    assert.equal(api.get('nodes', '', 'n1')?.metadata.labels?.zone, undefined);
  });

  const manifest = (image: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: applied}
spec:
  containers: [{name: c, image: "${image}"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: applied}
spec:
  selector: {matchLabels: {app: applied}}
  template:
    metadata: {labels: {app: applied}}
    spec: {containers: [{name: c, image: "${image}"}]}
`;

  it('apply: created, unchanged, configured, and by the server', async () => {
    const apply = async (image: string, flags = '') =>
      (await ok(`apply${flags} -f -`, manifest(image))).trim().split('\n');
    assert.deepEqual(await apply('x:1'), [
      'pod/applied created',
      'deployment.apps/applied created',
    ]);
    assert.deepEqual(await apply('x:1'), [
      'pod/applied unchanged',
      'deployment.apps/applied unchanged',
    ]);
    assert.deepEqual(await apply('x:2'), [
      'pod/applied configured',
      'deployment.apps/applied configured',
    ]);
    assert.equal(api.get('pods', 'default', 'applied')?.spec.containers[0].image, 'x:2');
    const server = await apply('x:2', ' --server-side');
    assert.deepEqual(server, [
      'pod/applied serverside-applied',
      'deployment.apps/applied serverside-applied',
    ]);
  });

  it('create: strict about fields, dry and real', async () => {
    const wrong = await kubectl(
      'create -f -',
      manifest('x:1').replaceAll('applied', 'made').replace('image', 'imagine'),
    );
    assert.match(
      wrong.err,
      /strict decoding error: unknown field "spec\.containers\[0\]\.imagine"/,
    );
    const body = manifest('x:1').replaceAll('applied', 'dry');
    assert.match(
      await ok('create --dry-run=server -f -', body),
      /pod\/dry created \(server dry run\)/,
    );
    assert.equal(api.get('pods', 'default', 'dry'), null);
    assert.equal(await ok('create ns made'), 'namespace/made created\n');
  });

  // These commands send protobuf.
  const generated: readonly (readonly [string, string, string, object])[] = [
    [
      'deployment gen --image=x --replicas=2 --port=80 -- sleep 1',
      'deployment.apps/gen created\n',
      'deployments',
      { replicas: 2, selector: { matchLabels: { app: 'gen' } } },
    ],
    ['serviceaccount gen', 'serviceaccount/gen created\n', 'serviceaccounts', {}],
    [
      'pdb gen --selector=app=gen --min-available=50%',
      'poddisruptionbudget.policy/gen created\n',
      'poddisruptionbudgets',
      { minAvailable: '50%', selector: { matchLabels: { app: 'gen' } } },
    ],
    ['job gen --image=x -- sleep 5', 'job.batch/gen created\n', 'jobs', { completions: 1 }],
    [
      'service clusterip gen --tcp=80:8080',
      'service/gen created\n',
      'services',
      { type: 'ClusterIP', selector: { app: 'gen' } },
    ],
    [
      'cronjob gen --image=x --schedule=@daily -- sleep 5',
      'cronjob.batch/gen created\n',
      'cronjobs',
      { schedule: '@daily' },
    ],
    [
      'quota gen --hard=pods=5',
      'resourcequota/gen created\n',
      'resourcequotas',
      { hard: { pods: '5' } },
    ],
    ['secret generic gen --from-literal=a=b', 'secret/gen created\n', 'secrets', {}],
    [
      'role gen --verb=get --resource=pods',
      'role.rbac.authorization.k8s.io/gen created\n',
      'roles',
      {},
    ],
    [
      'rolebinding gen --role=gen --serviceaccount=default:gen',
      'rolebinding.rbac.authorization.k8s.io/gen created\n',
      'rolebindings',
      {},
    ],
  ];
  for (const [line, said, resource, spec] of generated) {
    it(`create ${line}`, async () => {
      assert.equal(await ok(`create ${line}`), said);
      assert.partialDeepStrictEqual(api.get(resource, 'default', 'gen')?.spec ?? {}, spec);
    });
  }

  it('create what has no namespace, and a token', async () => {
    const created = 'priorityclass.scheduling.k8s.io/gen created\n';
    assert.equal(await ok('create priorityclass gen --value=1000'), created);
    assert.equal(api.get('priorityclasses', '', 'gen')?.value, 1000);
    assert.match(await ok('create token gen'), /^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('wait for a condition', async () => {
    assert.equal(
      await ok('wait --for=condition=Ready node/n1 --timeout=150s'),
      'node/n1 condition met\n',
    );
  });

  it('delete: at once, gracefully, and by selector', async () => {
    const labels = { app: 'gone' };
    for (const name of ['d1', 'd2', 'd3'])
      api.create('pods', podNamed(name, { nodeName: 'n1' }, { labels }));
    assert.equal(await ok('delete pod d1 --force --grace-period=0'), 'pod "d1" force deleted\n');
    assert.equal(await ok('delete pod d2'), 'pod "d2" deleted\n');
    assert.equal(await ok('delete pods -l app=gone'), 'pod "d3" deleted\n');
    assert.deepEqual(
      api.list('pods').filter((pod) => pod.metadata.labels?.app === 'gone'),
      [],
    );
    api.create('nodes', node('n9'));
    assert.equal(await ok('delete node n9'), 'node "n9" deleted\n');
  });

  it('get -w prints each change', async () => {
    const lines = client.start('get pods -l app=watched -w --no-headers');
    api.create('pods', podNamed('w0', {}, { labels: { app: 'watched' } }));
    assert.match(await lines.next(/^w0 /), /Pending/);
    api.create('pods', podNamed('w1', { nodeName: 'n1' }, { labels: { app: 'watched' } }));
    assert.match(await lines.next(/^w1 /), /Pending/);
    api.delete('pods', 'default', 'w1');
    assert.match(await lines.next(/^w1 /), /Terminating/);
    lines.stop();
  });

  it('drain: refused by a budget, then allowed', async () => {
    api.create('nodes', node('n2'));
    const labels = { app: 'kept' };
    for (const name of ['k1', 'k2']) {
      api.create('pods', podNamed(name, { nodeName: 'n2' }, { labels }));
      const pod = api.get('pods', 'default', name)!;
      const conditions = [{ type: 'Ready', status: 'True' }];
      api.update('pods', { ...pod, status: { phase: 'Running', conditions } }, 'status');
    }
    const budget = (status: object) => {
      const { metadata, spec } = api.get('poddisruptionbudgets', 'default', 'kept')!;
      const counts = { observedGeneration: metadata.generation, expectedPods: 2, ...status };
      api.update('poddisruptionbudgets', { metadata, spec, status: counts }, 'status');
    };
    api.create('poddisruptionbudgets', {
      metadata: { name: 'kept', namespace: 'default' },
      spec: { minAvailable: 2, selector: { matchLabels: labels } },
    });
    budget({ currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0 });
    const refused = await kubectl('drain n2 --force --timeout=1s');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /Cannot evict pod as it would violate the pod's disruption budget/);
    assert.equal(api.get('nodes', '', 'n2')?.spec.unschedulable, true);
    budget({ currentHealthy: 2, desiredHealthy: 0, disruptionsAllowed: 2 });
    assert.match(await ok('drain n2 --force --timeout=150s'), /node\/n2 drained\n$/);
    assert.deepEqual(
      Object.keys(api.get('poddisruptionbudgets', 'default', 'kept')?.status.disruptedPods),
      ['k1', 'k2'],
    );
    assert.equal(api.get('pods', 'default', 'k1'), null);
  });

  it('drain without evictions, whose options come as protobuf', async () => {
    api.create('nodes', node('n3'));
    api.create('pods', podNamed('k3', { nodeName: 'n3' }));
    assert.match(
      await ok('drain n3 --force --disable-eviction --timeout=150s'),
      /node\/n3 drained\n$/,
    );
  });

  it('events and auth', async () => {
    api.create('events', {
      metadata: { name: 'e1', namespace: 'default' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
      reason: 'TaintManagerEviction',
      message: 'Marking for deletion',
      type: 'Normal',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
    });
    assert.match(
      await ok('events'),
      /Normal +TaintManagerEviction +Pod\/web +Marking for deletion/,
    );
    assert.match(await ok('get events'), /TaintManagerEviction +pod\/web +Marking for deletion/);
    assert.equal(await ok('auth can-i delete pods'), 'yes\n');
    assert.equal(await ok('auth can-i create pods --subresource=eviction'), 'yes\n');
    assert.match(await ok('auth can-i --list'), /\*\.\* /);
    assert.match(await ok('auth whoami'), /Username +admin/);
    const stranger = await kubectl('--token=wrong get nodes');
    assert.match(stranger.err, /Unauthorized|must be logged in/);
  });

  it('is told what it may not do', async () => {
    const { code, err } = await kubectl(
      'create -f -',
      '{"apiVersion":"v1","kind":"Node","metadata":{"name":"BAD"}}',
    );
    assert.equal(code, 1);
    assert.match(err, /The Node "BAD" is invalid: metadata\.name: Invalid value: "BAD"/);
  });
});
