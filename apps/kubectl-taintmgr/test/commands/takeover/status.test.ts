// takeover status against an API server over HTTPS; the leader's status is the test's.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { run } from '../../world/run.ts';
import { beat, installPolicies, managers, useTakeoverCluster } from './taken-over.ts';

/** Sees everything but the policies. */
const blind = [{ verbs: ['*'], apiGroups: ['', 'taintmgr.dev'], resources: ['*'] }];

describe('takeover status', () => {
  const cluster = useTakeoverCluster({ blind });

  beforeEach(() => {
    installPolicies(cluster());
    beat(cluster(), { enabled: true });
  });

  it('says how long a heartbeat that is late still counts', async () => {
    beat(cluster(), { enabled: true });
    const ready = await run('takeover', 'status');
    assert.match(ready.out, /^takeover is ready: .*\n(.*\n)*\nNo namespace is taken over: /);
    beat(cluster(), { enabled: true }, 40_000);
    const late = await run('takeover', 'status');
    assert.match(late.out, /^takeover ends in (2[01]|1[5-9])s, if no heartbeat comes: then kube-/);
    assert.match(late.out, /\n {2}taintmgr last wrote its status (39|4\d)s ago\n/);
    beat(cluster(), { enabled: true }, 70_000);
    const over = await run('takeover', 'status');
    assert.match(over.out, /^takeover does not work: kube-controller-manager evicts as before\n/);
  });

  it('says that the leader stands by, and for whom', async () => {
    const message = 'another taintmgr-controller (b_1, lease out/taintmgr-controller) runs here';
    const condition = {
      type: 'StandingBack',
      status: 'True',
      reason: 'ControllersOverlap',
      message,
    };
    beat(cluster(), { enabled: false }, 0, {
      conditions: [{ ...condition, lastTransitionTime: new Date().toISOString() }],
    });
    const [headline, obstacle] = (await run('takeover', 'status')).out.split('\n');
    assert.equal(headline, 'takeover does not work: kube-controller-manager evicts as before');
    assert.equal(obstacle, `  taintmgr stands by: ${message}`);
  });

  it('says that the definition of TaintManager is old, and how to install the present one', async () => {
    beat(cluster(), undefined, 0, { settings: { mode: 'evict', takeover: 'true' } });
    const [, obstacle] = (await run('takeover', 'status')).out.split('\n');
    assert.equal(
      obstacle,
      '  taintmgr cannot say that it takes over, as its definition here is older than ' +
        'taintmgr-controller: kubectl taintmgr install crds',
    );
  });

  it('says that nobody knows where a policy was changed', async () => {
    const { api } = cluster();
    const plural = 'validatingadmissionpolicybindings';
    const found = api.get(plural, '', 'taintmgr-readiness') ?? assert.fail('there is no binding');
    api.update(plural, { ...found, spec: { ...found.spec, validationActions: ['Warn'] } });
    const { out } = await run('takeover', 'status');
    const [headline, obstacle] = out.split('\n');
    assert.equal(headline, 'takeover may not work: the policies are outdated or changed');
    assert.match(obstacle ?? '', /taintmgr-readiness: spec\.validationActions\[0\] is "Warn", not/);
  });

  it('says what it has done in each namespace', async () => {
    await run('takeover', 'enable', 'shop', 'cart', '--yes');
    const counts = { spared: 4, held: 1, evicted: 3, letThrough: 0 };
    const holdReadiness = { reason: 'zone a is cut off', all: true };
    const byNamespace = [{ name: 'shop', ...counts }];
    beat(cluster(), { enabled: true, byNamespace, holdReadiness });
    const { out } = await run('takeover', 'status');
    assert.equal(
      out.replace(/ \d+s ago/, ' 0s ago'),
      `takeover works: kube-controller-manager is refused evictions for node taints, not for device taints, in the namespaces below
heartbeat: cp-1 last wrote its status 0s ago
policies: version 4, unchanged
readiness is held: zone a is cut off

NAMESPACE   SPARED   HELD   EVICTED   LET-THROUGH
cart        0        0      0         0
shop        4        1      3         0
`,
    );
    const { works, namespaces } = JSON.parse((await run('takeover', 'status', '-o', 'json')).out);
    assert.equal(works, true);
    assert.deepEqual(namespaces[1], { name: 'shop', ...counts });
  });

  it('names namespaces whose label has a value that counts for nothing', async () => {
    const { api } = cluster();
    for (const [name, value] of [
      ['shop', 'true'],
      ['cart', 'disabled'],
    ] as const) {
      const found = api.get('namespaces', '', name) ?? assert.fail();
      const labels = { ...found.metadata.labels, 'taintmgr.dev/takeover': value };
      api.update('namespaces', { ...found, metadata: { ...found.metadata, labels } });
    }
    const { out } = await run('takeover', 'status');
    const lines = out.split('\n').filter((line) => line.startsWith('not taken over'));
    assert.deepEqual(lines, [
      'not taken over: namespace shop has taintmgr.dev/takeover=true, and enabled alone counts',
    ]);
    assert.match(out, /No namespace is taken over/);
    const { mislabelled } = JSON.parse((await run('takeover', 'status', '-o', 'json')).out);
    assert.deepEqual(mislabelled, ['shop=true']);
  });

  it('goes by the heartbeat that the policies name, and by no other', async () => {
    const { api } = cluster();
    const apiVersion = 'taintmgr.dev/v1alpha1';
    const made = api.create(managers, {
      ...{ apiVersion, kind: 'TaintManager', metadata: { name: 'another' } },
    });
    const renewTime = new Date().toISOString();
    const status = { renewTime, leader: 'b', settings: {}, takeover: { enabled: true } };
    api.update(managers, { ...made, status }, 'status');
    beat(cluster(), { enabled: true }, 90_000);
    const { works, manager } = JSON.parse((await run('takeover', 'status', '-o', 'json')).out);
    assert.deepEqual([works, manager.name], [false, 'taintmgr']);
  });

  it('says that the leader has stopped', async () => {
    const lastTransitionTime = new Date().toISOString();
    const resigned = { type: 'Leading', status: 'False', reason: 'Resigned', message: 'm' };
    const conditions = [{ ...resigned, lastTransitionTime }];
    beat(cluster(), { enabled: true }, 0, { conditions });
    const { out } = await run('takeover', 'status');
    assert.match(out, /\n {2}taintmgr has stopped leading\n/);
  });

  it('has nothing against policies of a newer controller', async () => {
    const { api } = cluster();
    for (const plural of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']) {
      for (const found of api.list(plural)) {
        const annotations = { 'taintmgr.dev/takeover-version': '99' };
        const metadata = { ...found.metadata, annotations };
        const actions = found.spec.validationActions && { validationActions: ['Deny', 'Audit'] };
        api.update(plural, { ...found, metadata, spec: { ...found.spec, ...actions } });
      }
    }
    const { out } = await run('takeover', 'status');
    assert.match(out, /^takeover is ready: .*\n(.*\n)*policies: version 99, unchanged\n/);
  });

  it('ends no takeover for a policy that was changed while the heartbeat is late', async () => {
    const { api } = cluster();
    const plural = 'validatingadmissionpolicybindings';
    const found = api.get(plural, '', 'taintmgr-takeover') ?? assert.fail('there is no binding');
    api.update(plural, { ...found, spec: { ...found.spec, validationActions: ['Audit'] } });
    beat(cluster(), { enabled: true }, 40_000);
    const { out } = await run('takeover', 'status');
    assert.match(out, /^takeover does not work: kube-controller-manager evicts as before\n/);
  });

  it('is an error where the policies may not be read, which is not that they are missing', async () => {
    const { code, out, err } = await run('takeover', 'status', '--token=blind');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /Forbidden.*cannot get resource "validatingadmissionpolic/);
  });

  it('leaves a namespace out that goes already', async () => {
    const { api } = cluster();
    api.create('namespaces', {
      metadata: {
        ...{ name: 'old', labels: { 'taintmgr.dev/takeover': 'enabled' } },
        finalizers: ['example.com/wait'],
      },
    });
    const names = async (): Promise<readonly string[]> => {
      const { namespaces } = JSON.parse((await run('takeover', 'status', '-o', 'json')).out);
      return namespaces.map(({ name }: { readonly name: string }) => name);
    };
    assert.deepEqual(await names(), ['old']);
    api.delete('namespaces', '', 'old', {});
    assert.deepEqual(await names(), []);
  });
});
