import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

// What `doctor` passes on of what leaders say of themselves.

const managers = 'taintmanagers.taintmgr.dev';

describe('doctor beside controllers that publish their status', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  function publish(status: object, agoMs = 0): void {
    const { api } = cluster;
    const name = 'taintmgr';
    const apiVersion = 'taintmgr.dev/v1alpha1';
    const found =
      api.get(managers, '', name) ??
      api.create(managers, { apiVersion, kind: 'TaintManager', metadata: { name } });
    const renewTime = new Date(Date.now() - agoMs).toISOString();
    api.update(managers, { ...found, status: { renewTime, leader: 'cp-1', ...status } }, 'status');
  }

  function condition(type: string, message: string): object {
    const lastTransitionTime = new Date().toISOString().replace(/[.]\d+/, '');
    return { type, status: 'True', reason: type, message, lastTransitionTime };
  }

  async function findings(): Promise<readonly string[]> {
    const path =
      'jsonpath={range .findings[?(@.check=="controllers")]}{.level} {.about}: {.message} ({.fix}){"\\n"}{end}';
    return (await run('doctor', '-o', path)).out.trimEnd().split('\n');
  }

  it('says how the leader runs, as it publishes that', async () => {
    const { api } = cluster;
    const now = new Date().toISOString().replace('Z', '000Z');
    const lease = {
      holderIdentity: 'cp-1',
      leaseDurationSeconds: 60,
      acquireTime: now,
      renewTime: now,
    };
    const metadata = { name: 'taintmgr-controller', namespace: 'kube-system' };
    api.create('leases', { metadata, spec: lease });
    const settings = {
      mode: 'delete',
      'cluster-policies': 'false',
      'eviction.minTaintAge': 'ages',
    };
    publish({ settings });
    const policy = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy' };
    const spec = { match: {}, action: 'Keep' };
    api.create('evictionpolicies.taintmgr.dev', { ...policy, metadata: { name: 'keep' }, spec });
    const path =
      'jsonpath={range .findings[?(@.check=="settings")]}{.level} {.message}{"\\n"}{end}';
    assert.deepEqual((await run('doctor', '-o', path)).out.trimEnd().split('\n'), [
      'INFO taintmgr-controller runs with --mode=delete: PodDisruptionBudgets are not asked',
      'WARN taintmgr-controller runs with eviction.minTaintAge=ages, which is not understood here and left out',
      'INFO taintmgr-controller does not follow the policies and pauses of the cluster',
    ]);
    api.delete('leases', 'kube-system', 'taintmgr-controller');
    api.delete(managers, '', 'taintmgr');
  });

  it('says nothing where nobody publishes', async () => {
    assert.deepEqual(await findings(), ['']);
  });

  it('is content with a leader that is', async () => {
    publish({ takeover: { enabled: true } });
    assert.deepEqual(await findings(), [
      'OK taintmanager/taintmgr: the leader reports no problems ()',
    ]);
  });

  it('names clocks that are apart, and what to do about them', async () => {
    publish({ conditions: [condition('ClockSkew', 'the clock is 45s behind')] });
    assert.deepEqual(await findings(), [
      'WARN taintmanager/taintmgr: ClockSkew: the clock is 45s behind (set the clock of the machine that the controller runs on)',
    ]);
  });

  it('takes a dry run for nothing unusual', async () => {
    publish({ conditions: [condition('DryRun', 'it evicts nobody')] });
    assert.deepEqual(await findings(), [
      'OK taintmanager/taintmgr: the leader reports no problems ()',
    ]);
  });

  it('does not miss the heartbeat of a leader that has said that it stops', async () => {
    const stopped = { ...condition('Leading', 'it has stopped'), status: 'False' };
    publish({ conditions: [stopped] }, 300_000);
    assert.deepEqual(await findings(), ['']);
  });

  it('fails where takeover does not work, and says why', async () => {
    const drift = ['validatingadmissionpolicy/taintmgr-takeover: spec.x is missing, not 1'];
    publish({ takeover: { enabled: false, drift } });
    assert.deepEqual(await findings(), [
      'FAIL taintmanager/taintmgr: takeover does not work: kube-controller-manager evicts as before ()',
      `WARN taintmanager/taintmgr: takeover: ${drift[0]} (see kubectl taintmgr takeover status)`,
    ]);
    assert.equal((await run('doctor')).code, 2);
  });

  it('says that a heartbeat has stopped', async () => {
    publish({ takeover: { enabled: true } }, 300_000);
    const [found, ...more] = await findings();
    assert.deepEqual(more, []);
    assert.match(
      found ?? '',
      /^WARN taintmanager\/taintmgr: its leader last wrote its status 5m\d* ?s? ?ago \(see/,
    );
  });
});
