// What takeover enable and disable must not do, and where they must not give up.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type KubeObject, pod } from '@taintmgr/sim-cluster';
import {
  beat,
  installPolicies,
  labelOf,
  setTaint,
  useTakeoverCluster,
} from '../../commands/takeover/taken-over.ts';
import { run, start } from '../../world/run.ts';
import { until } from '../../world/test-cluster.ts';

const all = { verbs: ['*'], resources: ['*'] };
const groups = ['admissionregistration.k8s.io', 'authorization.k8s.io', 'taintmgr.dev', 'policy'];
const ofPods = ['namespaces', 'pods', 'pods/eviction'];
const users = {
  /** Sees no nodes. */
  owner: [
    { ...all, apiGroups: groups },
    { verbs: ['*'], apiGroups: [''], resources: [...ofPods, 'pods/status'] },
  ],
  /** May not write what a mark is written to. */
  markless: [
    { ...all, apiGroups: groups },
    { verbs: ['*'], apiGroups: [''], resources: [...ofPods, 'nodes'] },
  ],
};

describe('takeover enable and disable', () => {
  const cluster = useTakeoverCluster(users);
  beforeEach(() => {
    installPolicies(cluster());
    beat(cluster(), { enabled: true });
  });

  const web = (namespace: string): KubeObject =>
    cluster().api.get('pods', namespace, 'web') ?? assert.fail('there is no pod');
  const isGoing = (namespace: string): boolean =>
    cluster().api.get('pods', namespace, 'web')?.metadata.deletionTimestamp !== undefined;
  const labels = (): readonly (string | undefined)[] =>
    ['shop', 'cart'].map((name) => labelOf(cluster(), name));

  it('change no namespace where one of them is not there', async () => {
    const on = await run('takeover', 'enable', 'shop', 'nowhere', '--yes');
    assert.match(on.err, /namespaces "nowhere" not found/);
    assert.deepEqual([on.code, ...labels()], [1, undefined, undefined]);
    await run('takeover', 'enable', 'shop', '--yes');
    const off = await run('takeover', 'disable', 'shop', 'nowhere', '--yes');
    assert.match(off.err, /namespaces "nowhere" not found/);
    assert.deepEqual([off.code, ...labels()], [1, 'enabled', undefined]);
  });

  it('ask before they change anything, and only then', async () => {
    await run('takeover', 'enable', 'shop', '--yes');
    for (const words of [
      ['enable', 'cart'],
      ['disable', 'shop'],
    ]) {
      const { code, err } = await run('takeover', ...words);
      assert.match(err, /error: this is no terminal to ask on: add --yes\n$/);
      assert.equal(code, 1);
    }
    assert.deepEqual(labels(), ['enabled', undefined]);
    const on = await run('takeover', 'enable', 'shop');
    assert.deepEqual([on.code, on.out], [0, 'namespace/shop not labeled\n']);
    const off = await run('takeover', 'disable', 'cart');
    assert.deepEqual([off.code, off.out], [0, 'namespace/cart not unlabeled\n']);
  });

  it('disable evicts nobody in a namespace that is not taken over', async () => {
    await run('takeover', 'enable', 'cart', '--yes');
    setTaint(cluster(), 'bad');
    const { code, err } = await run('takeover', 'disable', 'shop', 'cart', '--yes');
    assert.match(err, /^namespace shop: is not taken over\n/);
    assert.equal(code, 0, err);
    assert.deepEqual([isGoing('shop'), isGoing('cart')], [false, true]);
  });

  describe('disable, where a pod comes due when the label goes', () => {
    /** What `then` does at that moment is what kube-controller-manager may have been refused, or not. */
    const whenItGoes = (then: () => void): void => {
      const { api } = cluster();
      const stop = api.subscribe(({ resource, object: { metadata } }) => {
        const isGone = metadata.name === 'shop' && labelOf(cluster(), 'shop') === undefined;
        if (resource !== 'namespaces' || !isGone) return;
        stop();
        then();
      });
    };
    beforeEach(async () => {
      await run('takeover', 'enable', 'shop', '--yes');
    });

    it('names one whose time is over a moment later', async () => {
      const { api } = cluster();
      api.delete('pods', 'shop', 'web', { gracePeriodSeconds: 0 });
      const tolerations = [
        { key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 },
      ];
      api.create('pods', pod('shop', 'soon', { spec: { nodeName: 'n1', tolerations } }));
      whenItGoes(() => setTaint(cluster(), 'bad'));
      const { code, err } = await run('takeover', 'disable', 'shop', '--yes');
      assert.match(err, /Warning: pod shop\/soon is left: for bad\n/);
      assert.equal(code, 3);
    });

    it('does not name one that was not refused after all, and goes', async () => {
      let before = 0;
      whenItGoes(() => {
        setTaint(cluster(), 'bad');
        before = cluster().answers.length;
      });
      const { result } = start(['takeover', 'disable', 'shop', '--yes']);
      // It has looked once, and looks again when kube-controller-manager had its time.
      await until('the look at what is due', () => {
        const later = before === 0 ? [] : cluster().answers.slice(before);
        return later.some((answer) => answer.startsWith('GET /api/v1/namespaces?limit=1 '));
      });
      cluster().api.delete('pods', 'shop', 'web', { gracePeriodSeconds: 0 });
      const { code, err } = await result;
      assert.deepEqual([code, /is left/.test(err)], [0, false], err);
    });
  });

  it('enable waits for the service account of the namespace that it makes', async () => {
    const message =
      'error looking up service account p/default: serviceaccount "default" not found';
    const fault = { kind: 'deny', webhook: 'w.example.com', code: 403, message } as const;
    cluster().api.faults.add({ fault, verbs: ['create'], resource: 'pods', times: 1 });
    const { code, err } = await run('takeover', 'enable', 'shop', '--yes');
    assert.deepEqual([code, ...labels()], [0, 'enabled', undefined], err);
  });

  it('enable needs to see no nodes, and impersonates nobody whom it may not', async () => {
    setTaint(cluster(), 'bad');
    const { code, err } = await run('takeover', 'enable', 'shop', '--yes', '--token=owner');
    assert.equal(code, 0, err);
    assert.match(err, /\nproof: the API server refuses .* by owner\n/);
    assert.deepEqual(labels(), ['enabled', undefined]);
  });

  it('enable says how many pods are on nodes that pods have to leave', async () => {
    setTaint(cluster(), 'bad');
    const { err } = await run('takeover', 'enable', 'shop', '--yes');
    assert.match(err, /\nnamespace shop: 1 pod, 1 on nodes with NoExecute taints\n/);
  });

  it('enable changes nothing where the proof fails for another reason', async () => {
    const { code, err } = await run('takeover', 'enable', 'shop', '--yes', '--token=markless');
    assert.match(
      err,
      /error: it cannot be proved .*; this needs the right to patch pods\/status\n$/,
    );
    assert.deepEqual([code, ...labels()], [1, undefined, undefined]);
  });

  const unfit: readonly [string, () => void][] = [
    [
      'has its mark already',
      () => {
        const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'Other' }];
        cluster().api.update('pods', { ...web('shop'), status: { conditions } }, 'status');
      },
    ],
    [
      'goes already',
      () => {
        const found = web('shop');
        const metadata = { ...found.metadata, finalizers: ['example.com/wait'] };
        cluster().api.update('pods', { ...found, metadata });
        cluster().api.delete('pods', 'shop', 'web', {});
      },
    ],
  ];
  for (const [name, change] of unfit) {
    it(`enable shows nothing on a pod that ${name}`, async () => {
      change();
      await run('takeover', 'enable', 'shop', '--yes');
      const { code, err } = await run('takeover', 'enable', 'cart', '--yes');
      assert.match(err, /\nproof: .* of pod taintmgr-proof-/);
      assert.deepEqual([code, ...labels()], [0, 'enabled', 'enabled']);
    });
  }
});
