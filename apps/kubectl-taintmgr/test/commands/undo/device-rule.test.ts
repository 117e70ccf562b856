import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startDeviceCluster } from '../../world/device-cluster.ts';
import { type Result, run } from '../../world/run.ts';
import { comeAs, type TestCluster } from '../../world/test-cluster.ts';

// What taint-device has made or changed is taken back, and nothing else.

let cluster: TestCluster;
before(async () => {
  cluster = await startDeviceCluster();
  comeAs(cluster, 'admin');
});
after(() => cluster.stop());

const type = (line: string): Promise<Result> => run(...line.split(' '));
const ruleOf = (name: string) => cluster.api.get('devicetaintrules', '', name);
const taint = 'taint-device gpu.example.com/n1/gpu-0 health:NoExecute --yes --timeout 0s --name';

/** A rule that somebody else has made. */
function makeRule(name: string, effect: string): void {
  cluster.api.create('devicetaintrules', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceTaintRule',
    metadata: { name },
    spec: { deviceSelector: { device: 'gpu-1' }, taint: { key: 'other', effect } },
  });
}

describe('undo devicetaintrule/NAME', () => {
  it('deletes one that taint-device has made, and says who stays', async () => {
    await type(`${taint} a`);
    const listed = await type('undo');
    assert.equal(
      listed.out,
      'DRAIN               NODE   TAINT              CHANGES\ndevicetaintrule/a   -      health:NoExecute   rule\n',
    );
    const dry = await type('undo devicetaintrule/a --dry-run=client');
    assert.equal(
      dry.out,
      'devicetaintrule.resource.k8s.io/a deleted (dry run)\n2 pods that were to leave would stay: shop/train-1, shop/train-2\n',
    );
    assert.ok(ruleOf('a'));
    assert.equal(
      (await type('undo a')).err,
      'error: a is a rule: kubectl taintmgr undo devicetaintrule/a\n',
    );
    assert.deepEqual(await type('undo devicetaintrule/a'), {
      code: 0,
      out: 'devicetaintrule.resource.k8s.io/a deleted\n2 pods that were to leave stay: shop/train-1, shop/train-2\n',
      err: '',
    });
    assert.ok(!ruleOf('a'));
  });

  it('says who is terminating and does not come back', async () => {
    await type(`${taint} a`);
    cluster.api.delete('pods', 'shop', 'train-2', { gracePeriodSeconds: 3600 });
    assert.deepEqual(await type('undo devicetaintrules/a'), {
      code: 0,
      out: 'devicetaintrule.resource.k8s.io/a deleted\n1 pod that was to leave stays: shop/train-1\n',
      err: 'Warning: shop/train-2 is terminating and does not come back\n',
    });
  });

  it('gives one that it has changed its effect back, and says whom others evict', async () => {
    makeRule('theirs', 'None');
    makeRule('more', 'NoExecute');
    await type('taint-device devicetaintrule/theirs --yes --timeout 0s');
    assert.equal(ruleOf('theirs')?.metadata.annotations?.['taintmgr.dev/taint-device'], 'None');
    assert.deepEqual(await type('undo devicetaintrule/theirs'), {
      code: 0,
      out: 'devicetaintrule.resource.k8s.io/theirs has effect None again\n',
      err: 'Warning: other taints make shop/train-3 leave anyway\n',
    });
    const { metadata, spec } = ruleOf('theirs') ?? assert.fail('no rule');
    const { taint: left } = spec as { readonly taint: { readonly effect: string } };
    assert.deepEqual(
      [left.effect, metadata.annotations?.['taintmgr.dev/taint-device']],
      ['None', undefined],
    );
  });

  const wrong: readonly (readonly [line: string, err: string])[] = [
    ['undo devicetaintrule/none', 'error: there is no DeviceTaintRule none\n'],
    [
      'undo devicetaintrule/more',
      'error: devicetaintrule/more was not made by taint-device; to delete it anyway: kubectl delete devicetaintrule more\n',
    ],
    [
      'undo devicetaintrule/more n1',
      'error: a rule that taints devices is on no node: leave out the names of nodes\n',
    ],
  ];
  for (const [line, err] of wrong) {
    it(`refuses ${line}`, async () =>
      assert.deepEqual(await type(line), { code: 1, out: '', err }));
  }
});
