import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startDeviceCluster, writeProgress } from '../../world/device-cluster.ts';
import { run } from '../../world/run.ts';
import { comeAs, startTestCluster, type TestCluster } from '../../world/test-cluster.ts';

// What doctor says of device taints in a cluster.

interface Finding {
  readonly check: string;
  readonly level: string;
  readonly about: string;
  readonly message: string;
  readonly fix: string;
}

/** `LEVEL ABOUT: message; fix` of each finding about devices. */
async function findings(): Promise<readonly string[]> {
  const { out, err } = await run('doctor', '-o', 'json');
  assert.equal(err, '');
  const report: { readonly findings: readonly Finding[] } = JSON.parse(out);
  return report.findings
    .filter(({ check }) => check === 'devices')
    .map(({ level, about, message, fix }) => `${level} ${about}: ${message}; ${fix}`);
}

const loop =
  'WARN resourceclaim/gpu-c -n shop: tolerates health without naming an effect: kube-scheduler accepts that and eviction does not, so pods on a device with such a NoExecute taint are evicted, and their replacements too, without end; write effect: NoExecute';
const scheduler =
  'WARN : kube-scheduler 1.36.0 to 1.36.2 with the feature gate DRADeviceTaintRules panics when there are rules, or overlooks them (k/k#139651); the API server is v1.36.2; leave that gate of kube-scheduler off, or upgrade';
const ignored =
  'WARN : kube-controller-manager has written no status of any DeviceTaintRule (old): it ignores them, or does not run; set --feature-gates=DRADeviceTaintRules=true there (Kubernetes 1.36), and leave device-taint-eviction-controller on';

describe('doctor and device taints', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startDeviceCluster({ blind: [] });
    comeAs(cluster, 'admin');
  });
  after(() => cluster.stop());

  const rule = (name: string, deviceSelector: object | null, effect = 'NoExecute') => ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceTaintRule',
    metadata: { name },
    spec: { ...(deviceSelector && { deviceSelector }), taint: { key: 'health', effect } },
  });

  it('finds claims that do not protect', async () => {
    assert.deepEqual(await findings(), [loop]);
  });

  it('finds that rules are ignored, once somebody could have looked at them', async () => {
    const metadata = { name: 'old', creationTimestamp: '2026-01-01T00:00:00Z' };
    const young = cluster.api.create('devicetaintrules', rule('old', { device: 'gpu-0' }, 'None'));
    assert.deepEqual(await findings(), [scheduler, loop]);
    cluster.api.delete('devicetaintrules', '', 'old');
    cluster.api.load([{ ...young, metadata: { ...young.metadata, ...metadata } }]);
    assert.deepEqual(await findings(), [ignored, scheduler, loop]);
    writeProgress(cluster.api, 'old', 'NoEffect', '');
    assert.deepEqual(await findings(), [scheduler, loop]);
  });

  it('finds selectors of everything, of nothing and of what is not there', async () => {
    cluster.api.create('devicetaintrules', rule('everything', {}, 'None'));
    cluster.api.create('devicetaintrules', rule('nothing', null));
    cluster.api.create('devicetaintrules', rule('typo', { driver: 'gpu.example.org' }));
    const fix = 'name driver, pool or device';
    assert.deepEqual((await findings()).slice(0, 3), [
      `WARN devicetaintrule/everything: deviceSelector is empty: it selects every device of every driver; with the effect NoExecute it would evict from all of them; ${fix}`,
      `WARN devicetaintrule/nothing: has no deviceSelector: it evicts no pods, and kube-scheduler up to 1.37 takes it for every device, so that no new pod gets one; ${fix}`,
      'WARN devicetaintrule/typo: no ResourceSlice has a device of driver gpu.example.org, and no claim holds one: it taints nothing; fix the selector, or delete the rule',
    ]);
  });

  it('finds pods that stay on a tainted device', async () => {
    cluster.api.create('devicetaintrules', rule('gpu-4', { device: 'gpu-4' }));
    assert.equal(
      (await findings()).at(-1),
      'WARN pod/ext-1 -n shop: stays on a device with health:NoExecute: the device came as an extended resource, and Kubernetes up to 1.37 does not evict such pods (k/k#141290); delete it yourself if it must leave',
    );
  });

  it('does not know what it may not read', async () => {
    comeAs(cluster, 'blind');
    assert.deepEqual(await findings(), [
      'INFO : the pods that leave for taints of devices are unknown: you may not list resourceslices, resourceclaims, devicetaintrules and pods; ',
    ]);
  });
});

describe('doctor where no devices are claimed', () => {
  it('says nothing of them', async () => {
    const cluster = await startTestCluster(null);
    try {
      comeAs(cluster, 'admin');
      assert.deepEqual(await findings(), []);
    } finally {
      await cluster.stop();
    }
  });
});
