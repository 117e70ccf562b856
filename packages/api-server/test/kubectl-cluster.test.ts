import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { threeZones } from '@taintmgr/sim-cluster';
import { type EmbeddedCluster, startEmbedded } from '../src/embedded.ts';
import { Kubectl, withoutKubectl } from './world/kubectl.ts';

// What a person sees who works on a whole cluster with the machine's own kubectl.

describe('kubectl on a cluster at work', { skip: withoutKubectl }, () => {
  const kubectl = new Kubectl();
  let embedded: EmbeddedCluster;
  const ok = (line: string, input = ''): Promise<string> => kubectl.ok(line, input);

  /** Resolves when a program has begun to follow a collection. */
  const watchedBy = (program: string, plural: string): Promise<void> =>
    new Promise((resolve) => {
      const { watchers } = embedded.cluster.api;
      const stop = watchers.subscribe(() => {
        if (!watchers.has(program, plural)) return;
        stop();
        resolve();
      });
    });

  before(async () => {
    embedded = await startEmbedded({
      kubeconfig: kubectl.kubeconfig,
      topology: threeZones,
      timing: { startupMs: [1, 1], podStartMs: [1, 50], podStopMs: [1, 50], heartbeatMs: 1000 },
    });
    await ok('wait --for=create deployment/web -n shop --timeout=150s');
    await ok('rollout status deployment/web -n shop --timeout=150s');
    await ok('wait --for=jsonpath={.status.readyReplicas}=3 statefulset/db -n shop --timeout=150s');
  });
  after(async () => {
    await embedded.stop();
    kubectl.remove();
  });

  const outputs: readonly (readonly [string, RegExp])[] = [
    [
      'get nodes',
      /^NAME +STATUS +ROLES +AGE +VERSION\n(zone-[abc]-[123] +Ready +<none> +\S+ +v1\.36\.2\n){9}$/,
    ],
    [
      'get pods -n shop -o wide',
      /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\n[\s\S]*\ndb-0 +1\/1 +Running +0 +\S+ +10\.\S+ +zone-[abc]-[123] +<none> +<none>\n/,
    ],
    [
      'get deploy -n shop',
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\napi +4\/4 +4 +4 +\S+\nweb +6\/6 +6 +6 +\S+\n$/,
    ],
    ['get rs -n shop', /^NAME +DESIRED +CURRENT +READY +AGE\napi-\S+ +4 +4 +4 /],
    [
      'get sts,ds -A',
      /statefulset\.apps\/db +3\/3 [\s\S]*daemonset\.apps\/node-agent +9 +9 +9 +9 +9 +<none>/,
    ],
    [
      'get pdb -n shop',
      /^NAME +MIN AVAILABLE +MAX UNAVAILABLE +ALLOWED DISRUPTIONS +AGE\ndb +2 +N\/A +1 +\S+\nweb +N\/A +1 +1 +\S+\n$/,
    ],
    ['get leases -n kube-node-lease', /^NAME +HOLDER +AGE\nzone-a-1 +zone-a-1 +\S+\n/],
    [
      'get jobs -n shop',
      /^NAME +STATUS +COMPLETIONS +DURATION +AGE\nreport +Running +0\/1 +\S+ +\S+\n$/,
    ],
    [
      'get node zone-a-1 -o yaml',
      /^apiVersion: v1\nkind: Node\nmetadata:\n[\s\S]*\n {2}name: zone-a-1\n[\s\S]*\n {4}type: Ready\n/,
    ],
    ['get node zone-a-1 -o json', /^\{\n {4}"apiVersion": "v1",\n {4}"kind": "Node",/],
    ['get nodes -o name', /^(node\/zone-[abc]-[123]\n){9}$/],
    ['get nodes -o jsonpath={.items[*].metadata.name}', /^zone-a-1 zone-a-2 .* zone-c-3$/],
    [
      'get nodes -o custom-columns=NODE:.metadata.name,ZONE:.metadata.labels.topology\\.kubernetes\\.io/zone',
      /^NODE +ZONE\nzone-a-1 +zone-a\n/,
    ],
    [
      'get nodes -o go-template={{range.items}}{{.metadata.name}};{{end}}',
      /^(zone-[abc]-[123];){9}$/,
    ],
    ['get nodes -L topology.kubernetes.io/zone --no-headers', /^zone-a-1 .* zone-a\n/],
    [
      'get pods -A --field-selector=spec.nodeName=zone-b-2 --no-headers',
      /(^|\n)infra +node-agent-\S+ +1\/1 /,
    ],
    [
      'describe pdb web -n shop',
      /Max unavailable: +1\nSelector: +app=web\nStatus:\n +Allowed disruptions: +1\n +Current: +6\n +Desired: +5\n +Total: +6\n/,
    ],
    [
      'describe deploy web -n shop',
      /Replicas: +6 desired \| 6 updated \| 6 total \| 6 available \| 0 unavailable\n[\s\S]*Available +True +MinimumReplicasAvailable/,
    ],
    [
      'describe node zone-a-1',
      /Taints: +<none>\n[\s\S]*Lease:\n +HolderIdentity: +zone-a-1\n[\s\S]*Ready +True [\s\S]*KubeletReady [\s\S]*Non-terminated Pods: +\(\d+ in total\)/,
    ],
    [
      'describe pod db-0 -n shop',
      /Status: +Running\n[\s\S]*Controlled By: +StatefulSet\/db\n[\s\S]*Tolerations: +node\.kubernetes\.io\/not-ready:NoExecute op=Exists for 30s\n/,
    ],
    [
      'get all -n infra',
      /pod\/metrics-[\s\S]*daemonset\.apps\/node-agent[\s\S]*deployment\.apps\/metrics[\s\S]*replicaset\.apps\/metrics-/,
    ],
  ];
  for (const [line, expected] of outputs) {
    it(line, async () => assert.match(await ok(line), expected));
  }

  it('drain: respects the budget, waits for the pods, and names what it leaves', async () => {
    const refused = await kubectl.run('drain zone-a-1 --timeout=150s');
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /cannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\): infra\/node-agent-/,
    );
    const drained = await ok('drain zone-a-1 --ignore-daemonsets --timeout=150s');
    assert.match(drained, /^(node\/zone-a-1 already cordoned\n)/);
    assert.match(drained, /\nnode\/zone-a-1 drained\n$/);
    const left = await ok('get pods -A --field-selector=spec.nodeName=zone-a-1 --no-headers');
    assert.match(left, /^infra +node-agent-\S+ .*\n$/);
    assert.equal(await ok('uncordon zone-a-1'), 'node/zone-a-1 uncordoned\n');
  });

  it('taint: is described, and taken off again', async () => {
    await ok('taint nodes zone-c-3 gpu=broken:NoExecute');
    assert.match(await ok('describe node zone-c-3'), /Taints: +gpu=broken:NoExecute\n/);
    assert.equal(await ok('taint nodes zone-c-3 gpu-'), 'node/zone-c-3 untainted\n');
    assert.match(await ok('describe node zone-c-3'), /Taints: +<none>\n/);
  });

  it('patch and set image: the Deployment rolls out', async () => {
    const template = '{"spec":{"template":{"metadata":{"annotations":{"turn":"2"}}}}}';
    assert.equal(
      await ok(`patch deploy api -n shop -p ${template}`),
      'deployment.apps/api patched\n',
    );
    assert.match(
      await ok('rollout status deploy/api -n shop --timeout=150s'),
      /deployment "api" successfully rolled out\n$/,
    );
    assert.match(
      await ok('set image deploy/api -n shop *=x:2'),
      /deployment\.apps\/api image updated\n/,
    );
    await ok('rollout status deploy/api -n shop --timeout=150s');
    assert.match(await ok('rollout history deploy/api -n shop'), /\n1 .*\n2 .*\n3 /);
  });

  it('rollout undo of a Deployment gives back its template and its annotations', async () => {
    const image = 'jsonpath={.spec.template.spec.containers[0].image}';
    const first = await ok(`get deploy web -n shop -o ${image}`);
    await ok('annotate deploy web -n shop kubernetes.io/change-cause=first note=kept');
    await ok('set image deploy/web -n shop *=registry.example/other:2');
    await ok('annotate --overwrite deploy web -n shop kubernetes.io/change-cause=second');
    await ok('rollout status deploy/web -n shop --revision=2 --timeout=150s');
    assert.match(await ok('rollout history deploy/web -n shop'), /\n1 +first\n2 +second\n/);
    assert.match(await ok('rollout undo deploy/web -n shop'), / rolled back\n$/);
    await ok('rollout status deploy/web -n shop --revision=3 --timeout=150s');
    assert.equal(await ok(`get deploy web -n shop -o ${image}`), first);
    const annotations = 'jsonpath={.metadata.annotations}';
    assert.deepEqual(JSON.parse(await ok(`get deploy web -n shop -o ${annotations}`)), {
      'deployment.kubernetes.io/revision': '3',
      'kubernetes.io/change-cause': 'first',
      note: 'kept',
    });
    assert.match(await ok('rollout history deploy/web -n shop'), /\n2 +second\n3 +first\n/);
  });

  for (const [what, namespace] of [
    ['statefulset/db', 'shop'],
    ['daemonset/node-agent', 'infra'],
  ]) {
    it(`rollout history and undo of ${what}`, async () => {
      const image = (): Promise<string> =>
        ok(`get ${what} -n ${namespace} -o jsonpath={.spec.template.spec.containers[0].image}`);
      const history = `rollout history ${what} -n ${namespace}`;
      const first = await image();
      assert.match(await ok(history), /^\S+ \nREVISION +CHANGE-CAUSE\n1 +<none>\n\n?$/);
      await ok(`set image ${what} -n ${namespace} *=registry.example/other:2`);
      await ok(`rollout status ${what} -n ${namespace} --timeout=150s`);
      assert.match(await ok(history), /\n1 +<none>\n2 +<none>\n/);
      assert.match(await ok(`${history} --revision=2`), /Image:\s+registry\.example\/other:2\n/);
      assert.match(await ok(`rollout undo ${what} -n ${namespace}`), / rolled back\n$/);
      await ok(`rollout status ${what} -n ${namespace} --timeout=150s`);
      assert.equal(await image(), first);
      // The first is the third now, as after a kube-controller-manager.
      assert.match(await ok(history), /\n2 +<none>\n3 +<none>\n/);
    });
  }

  it('get -w -o name and wait --for=delete see a pod go', async () => {
    // It has to look first: where another pod of the name is there by then, it waits for the end of that.
    const looks = watchedBy('kubectl', 'pods');
    const waiting = ok('wait --for=delete pod/db-2 -n shop --timeout=150s');
    await looks;
    const lines = kubectl.start('get pods -n shop -l app=db -w -o name');
    await lines.next(/^pod\/db-2$/);
    assert.equal(await ok('delete pod db-2 -n shop --wait=false'), 'pod "db-2" deleted\n');
    await lines.next(/^pod\/db-2$/);
    lines.stop();
    assert.equal(await waiting, 'pod/db-2 condition met\n');
    assert.equal(
      await ok('wait --for=condition=Ready pod/db-2 -n shop --timeout=150s'),
      'pod/db-2 condition met\n',
    );
  });

  it('delete ns: everything in it goes, then the namespace', async () => {
    assert.equal(await ok('delete ns shop --timeout=150s'), 'namespace "shop" deleted\n');
    const { code, err } = await kubectl.run('get ns shop');
    assert.deepEqual(
      [code, err],
      [1, 'Error from server (NotFound): namespaces "shop" not found\n'],
    );
    assert.deepEqual(embedded.cluster.api.list('pods', 'shop'), []);
  });

  it('may not delete kube-system', async () => {
    const { err } = await kubectl.run('delete ns kube-system');
    assert.match(
      err,
      /Error from server \(Forbidden\): namespaces "kube-system" is forbidden: this namespace may not be deleted/,
    );
  });
});
