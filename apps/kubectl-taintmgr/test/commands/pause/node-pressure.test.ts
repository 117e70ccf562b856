// No pause holds node-pressure-controller: `pause` says so where that runs.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

const kind = 'taintmanagers.taintmgr.dev';
const warning =
  'Warning: node-pressure-controller (cp-1, TaintManager taintmgr) continues to evict from nodes that run out of memory, disk or processes, as kubelets do; pauses do not hold these evictions\n';

describe('pause beside node-pressure-controller', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    const apiVersion = 'taintmgr.dev/v1alpha1';
    cluster.api.create(kind, { apiVersion, kind: 'TaintManager', metadata: { name: 'taintmgr' } });
  });
  after(() => cluster.stop());

  function publish(fields: object): void {
    const { api } = cluster;
    const found = api.get(kind, '', 'taintmgr') ?? assert.fail('no TaintManager');
    const controllers = ['taint-eviction-controller', 'node-pressure-controller'];
    const renewTime = new Date().toISOString();
    const status = { leader: 'cp-1', renewTime, controllers, ...fields };
    api.update(kind, { ...found, status }, 'status');
  }

  const longAgo = new Date(Date.now() - 3_600_000).toISOString();
  const none = { same: 0, earlier: 0, later: 0, kept: 0, onlyTaintmgr: 0, budgetsAsked: 0 };
  const shadow = { since: longAgo, ...none };
  const cases: readonly [
    name: string,
    published: object,
    flags: readonly string[],
    warns: boolean,
  ][] = [
    ['a pause of everything', {}, [], true],
    ['a pause of a namespace', {}, ['--namespaces=shop'], true],
    ['a pause for a taint', {}, ['--taint-keys=maintenance'], false],
    ['a pause that holds no evictions', {}, ['--readiness', '--deadlines=false'], false],
    ['where it does not run', { controllers: ['taint-eviction-controller'] }, [], false],
    ['where it ran once', { renewTime: longAgo }, [], false],
    ['where it only says what it would do', { shadow }, [], false],
  ];
  for (const [name, published, flags, warns] of cases) {
    it(`${warns ? 'warns' : 'does not warn'}: ${name}`, async () => {
      publish(published);
      const { code, err } = await run('pause', 'one', '--dry-run=server', ...flags);
      assert.equal(code, 0, err);
      assert.equal(err.includes(warning), warns, err);
    });
  }
});
