// takeover status, enable and disable against an API server over HTTPS, beside a kube-controller-manager.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import { pdb, pod } from '@taintmgr/sim-cluster';
import {
  beat,
  deviceUser,
  installPolicies,
  labelOf,
  setPlainTaint,
  setTaint,
  us,
  useTakeoverCluster,
} from '../../commands/takeover/taken-over.ts';
import { run, start } from '../../world/run.ts';
import { until } from '../../world/test-cluster.ts';

const tolerated = { key: 'bad', operator: 'Exists', effect: 'NoExecute' };
const killSwitch =
  'kubectl label namespaces -l taintmgr.dev/takeover=enabled taintmgr.dev/takeover-';

describe('takeover where nothing is there to take over', () => {
  const cluster = useTakeoverCluster();

  it('says what is missing, and changes nothing', async () => {
    const { out, code } = await run('takeover', 'status');
    assert.equal(code, 0);
    assert.match(out, /^takeover does not work: kube-controller-manager evicts as before\n/);
    assert.match(
      out,
      /\n {2}no taintmgr-controller publishes its status here: start it with --takeover\n/,
    );
    assert.match(out, /\n {2}the admission policies of takeover are not installed\n/);
    assert.match(
      out,
      /\npolicies: not installed; run kubectl apply -k deploy\/takeover, or helm upgrade\n\nNo namespace/,
    );
    const refused = await run('takeover', 'enable', 'shop', '--yes');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /^error: nothing can be taken over here yet: no taintmgr/);
    assert.equal(labelOf(cluster(), 'shop'), undefined);
  });

  const obstacles: readonly [string, () => void, RegExp][] = [
    [
      'a leader that does not take over',
      () => beat(cluster()),
      /taintmgr does not take over: start taintmgr-controller with --takeover/,
    ],
    [
      'a leader that could not begin',
      () => beat(cluster(), { enabled: false, drift: ['policy a: spec.b is missing'] }),
      /taintmgr has not begun to take over: policy a: spec\.b is missing/,
    ],
    [
      'a heartbeat that is old',
      () => beat(cluster(), { enabled: true }, 90_000),
      /taintmgr last wrote its status 1m[23]\ds ago/,
    ],
    [
      'a policy that was changed',
      () => {
        const { api } = cluster();
        beat(cluster(), { enabled: true });
        const plural = 'validatingadmissionpolicybindings';
        const found = api.get(plural, '', 'taintmgr-takeover');
        assert.ok(found);
        api.update(plural, { ...found, spec: { ...found.spec, validationActions: ['Audit'] } });
      },
      /validatingadmissionpolicybinding\/taintmgr-takeover: spec.validationActions\[0\] is "Audit", not "Deny"/,
    ],
  ];
  for (const [name, provoke, text] of obstacles) {
    it(`does nothing with ${name}`, async () => {
      installPolicies(cluster());
      provoke();
      const { code, err } = await run('takeover', 'enable', 'shop', '--yes');
      assert.equal(code, 1);
      assert.match(err, text);
      assert.equal(labelOf(cluster(), 'shop'), undefined);
    });
  }

  for (const plural of ['policies', 'policybindings']) {
    it(`names what is missing and nothing else: one of ${plural}`, async () => {
      installPolicies(cluster());
      beat(cluster(), { enabled: true });
      cluster().api.delete(`validatingadmission${plural}`, '', 'taintmgr-takeover');
      const { out } = await run('takeover', 'status');
      assert.match(out, /^[^\n]*\n {2}\w+\/taintmgr-takeover is missing\nheartbeat/);
    });
  }

  it('does nothing where the API server takes the mark all the same', async () => {
    // They are for others than they should be, and nothing else is wrong with them.
    installPolicies(cluster(), [us, 'system:serviceaccount:kube-system:node-controller', 'admin']);
    beat(cluster(), { enabled: true });
    const { code, err } = await run('takeover', 'enable', 'shop', '--yes');
    assert.equal(code, 1);
    assert.match(
      err,
      /error: the API server does not refuse the mark of an eviction of pod taintmgr-/,
    );
    assert.equal(labelOf(cluster(), 'shop'), undefined);
  });

  for (const [users, code, text] of [
    [[us], 0, /will evict none of them for node and device taints; taintmgr-controller/],
    [
      [us, deviceUser],
      1,
      /does not refuse the mark of an eviction of pod \S+ for a taint of a dev/,
    ],
  ] as const) {
    it(`proves the mark for a device too where that is held: ${code}`, async () => {
      installPolicies(cluster(), users);
      beat(cluster(), { enabled: true, deviceTaints: true });
      const enabled = await run('takeover', 'enable', 'shop', '--yes');
      assert.match(enabled.err, text);
      assert.equal(enabled.code, code);
      assert.equal(labelOf(cluster(), 'shop'), code === 0 ? 'enabled' : undefined);
      const { out } = await run('takeover', 'status');
      if (code === 0) assert.match(out, /^takeover works: .* for node and device taints in the /);
    });
  }
});

describe('takeover beside a leader that takes over', () => {
  const cluster = useTakeoverCluster();
  let manager: UpstreamManager;
  beforeEach(async () => {
    installPolicies(cluster());
    beat(cluster(), { enabled: true });
    const { access } = await loadKubeconfig({ kubeconfig: cluster().kubeconfig });
    manager = new UpstreamManager(access);
  });
  afterEach(() => manager.stop());

  const scratch = (): readonly string[] =>
    cluster()
      .api.list('namespaces')
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('taintmgr-'));

  it('enable proves the path, tells what changes, and how to stop it', async () => {
    const { code, out, err } = await run('takeover', 'enable', 'shop', '--yes');
    assert.equal(code, 0, err);
    assert.equal(out, 'namespace/shop labeled\n');
    assert.equal(
      err.replace(/taintmgr-proof-\w+/, 'PROOF').replace(/ \d+s ago/, ' 0s ago'),
      `heartbeat: cp-1 last wrote its status 0s ago
policies: version 4, unchanged
proof: the API server refuses the mark of an eviction of pod PROOF/proof by admin, system:serviceaccount:kube-system:node-controller, and would accept it from ${us}
namespace shop: 1 pod, 0 on nodes with NoExecute taints
kube-controller-manager will evict none of them for node taints (for device taints it does, and ignores budgets); taintmgr-controller (mode evict) decides while its heartbeat is not older than 1m
undo: kubectl taintmgr takeover disable shop
stop it everywhere at once: ${killSwitch}
`,
    );
    assert.equal(labelOf(cluster(), 'shop'), 'enabled');
    assert.deepEqual(scratch(), []);
    const again = await run('takeover', 'enable', 'shop', 'cart', '--yes', '-o', 'json');
    assert.equal(again.code, 0, again.err);
    const { namespaces, proof } = JSON.parse(again.out);
    assert.equal(proof.pod, 'shop/web');
    assert.deepEqual(
      namespaces.map(({ name, changed }: { name: string; changed: boolean }) => [name, changed]),
      [
        ['shop', false],
        ['cart', true],
      ],
    );
  });

  it('enable asks as kube-controller-manager where we are the user that is exempt', async () => {
    cluster().api.delete('validatingadmissionpolicies', '', 'taintmgr-takeover');
    for (const one of ['takeover', 'readiness']) {
      cluster().api.delete('validatingadmissionpolicybindings', '', `taintmgr-${one}`);
    }
    cluster().api.delete('validatingadmissionpolicies', '', 'taintmgr-readiness');
    installPolicies(cluster(), ['admin']);
    const { code, err } = await run('takeover', 'enable', 'shop', '--yes');
    assert.equal(code, 0, err);
    assert.match(
      err,
      /by system:serviceaccount:kube-system:node-controller, and would accept it from admin\n/,
    );
  });

  it('enable takes its label off again where the pods are not spared after all', async () => {
    assert.equal((await run('takeover', 'enable', 'shop', '--yes')).code, 0);
    // The leader is gone in the very moment in which the label is there.
    const stop = cluster().api.subscribe(({ resource, object }) => {
      const isLabelled = labelOf(cluster(), 'cart') === 'enabled';
      if (resource !== 'namespaces' || object.metadata.name !== 'cart' || !isLabelled) return;
      beat(cluster(), { enabled: true }, 120_000);
      // The API server's own caches hear of label and heartbeat some ms later, in an order of their own.
      const fault = { kind: 'delay', ms: 100 } as const;
      cluster().api.faults.add({ fault, verbs: ['list'], resource: 'pods', times: 1 });
    });
    const { code, out, err } = await run('takeover', 'enable', 'cart', '--yes');
    stop();
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(
      err,
      /\nerror: the API server does not refuse the mark of an eviction of pod cart\/web: the label was taken off namespace cart again\n$/,
    );
    assert.equal(labelOf(cluster(), 'cart'), undefined);
    assert.equal(labelOf(cluster(), 'shop'), 'enabled');
  });

  it('enable changes nothing in a dry run, or where nobody can be asked', async () => {
    for (const dryRun of ['client', 'server']) {
      const { code, out, err } = await run('takeover', 'enable', 'shop', `--dry-run=${dryRun}`);
      assert.equal(code, 0, err);
      const text = dryRun === 'client' ? 'dry run' : 'server dry run';
      assert.equal(out, `namespace/shop labeled (${text})\n`);
      assert.match(err, /\nproof: none in this dry run, for it takes a pod /);
    }
    const asked = await run('takeover', 'enable', 'shop');
    assert.equal(asked.code, 1);
    assert.match(asked.err, /error: this is no terminal to ask on: add --yes\n$/);
    const unknown = await run('takeover', 'enable', 'nowhere', '--yes');
    assert.match(unknown.err, /namespaces "nowhere" not found/);
    assert.equal(labelOf(cluster(), 'shop'), undefined);
    assert.deepEqual(scratch(), []);
  });

  it('disable leaves static pods where they are', async () => {
    const { api } = cluster();
    const annotations = { 'kubernetes.io/config.mirror': 'abc' };
    const proxy = pod('shop', 'proxy', { spec: { nodeName: 'n1' } });
    const { uid = '' } = api.get('nodes', '', 'n1')?.metadata ?? assert.fail();
    const itsNode = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid, controller: true };
    const metadata = { ...proxy.metadata, annotations, ownerReferences: [itsNode] };
    api.create('pods', { ...proxy, metadata });
    await run('takeover', 'enable', 'shop', '--yes');
    setTaint(cluster(), 'bad');
    const { code, err } = await run('takeover', 'disable', 'shop', '--yes');
    assert.equal(code, 0, err);
    assert.match(err, /: web \(for bad\)\n/);
    assert.deepEqual([isGoing('shop', 'web'), isGoing('shop', 'proxy')], [true, false]);
  });

  it('disable evicts what was held, names what is left, and takes the label off', async () => {
    const { api } = cluster();
    const labels = { app: 'db' };
    const db = api.create('pods', pod('shop', 'db', { labels, spec: { nodeName: 'n1' } }));
    const conditions = [{ type: 'Ready', status: 'True' }];
    api.update('pods', { ...db, status: { phase: 'Running', conditions } }, 'status');
    api.create('poddisruptionbudgets', pdb('shop', 'db', { minAvailable: 1 }));
    await run('takeover', 'enable', 'shop', '--yes');
    manager.start();
    setTaint(cluster(), 'bad');
    await until('the other namespace', () => isGoing('cart', 'web'));
    const dry = await run('takeover', 'disable', 'shop', '--dry-run=server');
    assert.equal(dry.out, 'namespace/shop unlabeled (server dry run)\n');
    assert.match(
      dry.err,
      /^namespace shop: 2 pods; what kube-controller-manager wanted to evict is evicted first, as far as PodDisruptionBudgets allow: db \(for bad\), web \(for bad\)\n$/,
    );
    assert.equal(isGoing('shop', 'web'), false);
    const { code, out, err } = await run('takeover', 'disable', 'shop', '--yes', '--timeout=5s');
    assert.equal(out, 'namespace/shop unlabeled\n');
    assert.match(err, /\nWarning: pod shop\/db is left: .*disruption budget/);
    assert.match(err, /kube-controller-manager has forgotten what is left/);
    assert.equal(code, 3);
    assert.equal(isGoing('shop', 'web'), true);
    assert.equal(isGoing('shop', 'db'), false);
    assert.equal(labelOf(cluster(), 'shop'), undefined);
  });

  it('disable evicts what comes due while it runs, and lets be what is not due', async () => {
    const { api } = cluster();
    const soon = { ...tolerated, tolerationSeconds: 4 };
    const late = { ...tolerated, tolerationSeconds: 86_400 };
    api.create('pods', pod('shop', 'soon', { spec: { nodeName: 'n1', tolerations: [soon] } }));
    api.create('pods', pod('shop', 'late', { spec: { nodeName: 'n1', tolerations: [late] } }));
    const web = api.get('pods', 'shop', 'web') ?? assert.fail();
    const labels = { app: 'web' };
    const held = api.update('pods', { ...web, metadata: { ...web.metadata, labels } });
    const conditions = [{ type: 'Ready', status: 'True' }];
    api.update('pods', { ...held, status: { phase: 'Running', conditions } }, 'status');
    api.create('poddisruptionbudgets', pdb('shop', 'web', { minAvailable: 1 }));
    await run('takeover', 'enable', 'shop', '--yes');
    manager.start();
    setPlainTaint(cluster(), 'bad');
    const { code, err } = await run('takeover', 'disable', 'shop', '--yes', '--timeout=8s');
    assert.equal(code, 3, err);
    assert.match(err, /; what kube-controller-manager wanted .*: web \(for bad\)\n/);
    assert.match(err, /Warning: pod shop\/web is left: .*disruption budget/);
    assert.deepEqual([isGoing('shop', 'soon'), isGoing('shop', 'late')], [true, false]);
    assert.ok(cluster().answers.includes('POST /api/v1/namespaces/shop/pods/soon/eviction 201'));
    assert.doesNotMatch(err, /shop\/(soon|late) is left/);
  });

  it('disable names what was refused in the moment in which the label went', async () => {
    await run('takeover', 'enable', 'shop', '--yes');
    const stop = cluster().api.subscribe(({ resource, object }) => {
      const isGivenBack =
        object.metadata.name === 'shop' && labelOf(cluster(), 'shop') === undefined;
      if (resource !== 'namespaces' || !isGivenBack) return;
      stop();
      setTaint(cluster(), 'bad');
    });
    const { code, err } = await run('takeover', 'disable', 'shop', '--yes');
    assert.equal(code, 3, err);
    assert.match(err, /Warning: pod shop\/web is left: for bad\n/);
    assert.equal(labelOf(cluster(), 'shop'), undefined);
  });

  it('disable --held=delete asks no budget, --held=leave leaves it to the user', async () => {
    await run('takeover', 'enable', 'shop', 'cart', '--yes');
    setTaint(cluster(), 'bad');
    const left = await run('takeover', 'disable', 'cart', '--yes', '--held=leave', '-o', 'json');
    assert.equal(left.code, 3);
    assert.deepEqual(JSON.parse(left.out).namespaces[0].left, [{ name: 'web', why: 'for bad' }]);
    assert.equal(isGoing('cart', 'web'), false);
    const all = await run('takeover', 'disable', '--all', '--yes', '--held=delete');
    assert.equal(all.code, 0, all.err);
    assert.equal(all.out, 'namespace/shop unlabeled\n');
    assert.equal(isGoing('shop', 'web'), true);
    const wrong = await run('takeover', 'disable', 'shop', '--held=maybe');
    assert.equal(wrong.err, 'error: --held: got "maybe", want evict, delete, leave\n');
    assert.match((await run('takeover', 'disable')).err, /name namespaces, or give --all/);
  });

  it('completes namespaces, nodes and what becomes of held pods', async () => {
    const asked = async (...words: readonly string[]): Promise<readonly string[]> =>
      (await run('__complete', 'takeover', ...words)).out.split('\n');
    assert.ok((await asked('enable', 'sh')).includes('shop'));
    assert.ok((await asked('disable', 'ca')).includes('cart'));
    assert.ok((await asked('verify', '--node', '')).includes('n1'));
    assert.deepEqual((await asked('disable', '--held', '')).slice(0, 3), [
      'evict',
      'delete',
      'leave',
    ]);
  });

  it('verify takes no node from which others would have to go', async () => {
    const others = await run('takeover', 'verify', '--node', 'n1', '--yes');
    assert.equal(others.code, 1);
    assert.match(
      others.err,
      /pods of n1 would be evicted for the taint: cart\/web, shop\/web; choose/,
    );
    setTaint(cluster(), 'bad');
    const tainted = await run('takeover', 'verify', '--node', 'n1', '--yes');
    assert.match(tainted.err, /--node: n1 has NoExecute taints; choose one that has none/);
    const none = await run('takeover', 'verify', '--node', 'n9', '--yes');
    assert.match(none.err, /nodes "n9" not found/);
  });

  describe('verify on a node of its own', () => {
    beforeEach(() => {
      for (const namespace of ['cart', 'shop']) {
        cluster().api.delete('pods', namespace, 'web', { gracePeriodSeconds: 0 });
      }
    });
    const taints = (): readonly { readonly key: string }[] =>
      (cluster().api.get('nodes', '', 'n1')?.spec.taints ?? []).filter(
        ({ key }: { readonly key: string }) => key === 'taintmgr.dev/verify',
      );

    it('says what failed where nobody decides, and takes everything away', async () => {
      manager.start();
      const { code, out } = await run(
        ...['takeover', 'verify', '--node', 'n1', '--yes', '--timeout=15s', '-o', 'json'],
      );
      const { passed, cases } = JSON.parse(out);
      assert.deepEqual(
        cases.map((one: { readonly number: number; readonly passed: boolean }) => [
          one.number,
          one.passed,
        ]),
        [
          [1, false],
          [2, true],
          [3, true],
        ],
      );
      assert.match(cases[0].detail, /^it is there; taintmgr has said nothing about it$/);
      assert.equal(passed, false);
      assert.equal(code, 2);
      assert.deepEqual(taints(), []);
      assert.deepEqual(scratch(), []);
    });

    it('takes everything away after Ctrl-C too', async () => {
      const running = start(['takeover', 'verify', '--node', 'n1', '--yes']);
      await until('the taint', () => taints().length > 0);
      running.interrupt();
      assert.equal((await running.result).code, 130);
      assert.deepEqual(taints(), []);
      assert.deepEqual(scratch(), []);
    });

    it('changes nothing in a dry run', async () => {
      const { code, out, err } = await run(
        'takeover',
        'verify',
        '--node',
        'n1',
        '--dry-run=server',
      );
      assert.deepEqual([code, out], [0, '']);
      assert.match(err, /^creates the namespaces taintmgr-verify, which is taken over, and /);
      assert.deepEqual([taints(), scratch()], [[], []]);
    });
  });

  function isGoing(namespace: string, name: string): boolean {
    const found = cluster().api.get('pods', namespace, name);
    return found === null || found.metadata.deletionTimestamp !== undefined;
  }
});
