// What takeover enable and verify make for a while, where it cannot be taken away again.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  beat,
  installPolicies,
  labelOf,
  useTakeoverCluster,
} from '../commands/takeover/taken-over.ts';
import { run, start } from '../world/run.ts';
import { until } from '../world/test-cluster.ts';

const all = { verbs: ['*'], resources: ['*'] };
const groups = ['admissionregistration.k8s.io', 'authorization.k8s.io', 'taintmgr.dev', 'policy'];
const users = {
  maker: [
    { ...all, apiGroups: groups },
    { verbs: ['get', 'list', 'create', 'patch'], apiGroups: [''], resources: ['*'] },
  ],
};

describe('takeover that cannot take away what it makes', () => {
  const cluster = useTakeoverCluster(users);
  beforeEach(() => {
    installPolicies(cluster());
    beat(cluster(), { enabled: true });
    for (const namespace of ['cart', 'shop']) {
      cluster().api.delete('pods', namespace, 'web', { gracePeriodSeconds: 0 });
    }
  });
  const scratch = (): readonly string[] => {
    const names = cluster().api.list('namespaces');
    return names.map(({ metadata }) => metadata.name).filter((one) => one.startsWith('taintmgr-'));
  };
  const verify = ['takeover', 'verify', '--node', 'n1', '--yes'];

  for (const words of [['takeover', 'enable', 'shop', '--yes'], verify]) {
    it(`makes nothing where it must not: ${words[1]}`, async () => {
      const { code, err } = await run(...words, '--token=maker');
      assert.equal(code, 1);
      assert.match(
        err,
        /error: no permission to delete namespaces.*: needed to make objects and to delete them again/,
      );
      assert.deepEqual(scratch(), []);
    });
  }

  it('enable warns with the command, and takes the label off', async () => {
    const fault = { kind: 'answer', code: 500 } as const;
    cluster().api.faults.add({ fault, verbs: ['delete'], resource: 'namespaces' });
    const { code, err } = await run('takeover', 'enable', 'shop', '--yes');
    assert.equal(code, 0, err);
    const [proof = ''] = scratch();
    assert.match(err, new RegExp(`Warning: it could not .*: kubectl delete namespace ${proof}\n`));
    assert.equal(labelOf(cluster(), proof), undefined);
  });

  it('enable takes away what it has made after Ctrl-C too', async () => {
    const running = start(['takeover', 'enable', 'shop', '--yes']);
    await until('the namespace of the proof', () => scratch().length > 0);
    running.interrupt();
    const { code, err } = await running.result;
    assert.deepEqual([code, err], [130, 'error: interrupted\n']);
    await until('nothing left', () => scratch().length === 0);
    assert.equal(labelOf(cluster(), 'shop'), undefined);
  });

  it('verify warns with the commands, and does not end as though all were well', async () => {
    const { api } = cluster();
    const running = start([...verify, '--timeout=1s']);
    await until('the taint', () => {
      const { taints = [] } = api.get('nodes', '', 'n1')?.spec ?? {};
      return taints.some(({ key }: { readonly key: string }) => key === 'taintmgr.dev/verify');
    });
    const fault = { kind: 'answer', code: 500 } as const;
    api.faults.add({ fault, verbs: ['patch'], resource: 'nodes' });
    api.faults.add({ fault, verbs: ['delete'], resource: 'namespaces' });
    const { code, err } = await running.result;
    assert.equal(code, 2, err);
    assert.match(err, /; to do it: kubectl taint node n1 taintmgr\.dev\/verify-\n/);
    assert.match(err, /; to do it: kubectl delete namespace taintmgr-verify\n/);
    assert.equal(labelOf(cluster(), 'taintmgr-verify'), undefined);
  });

  it('verify names the commands where the API server is away by then', async () => {
    const running = start(verify);
    await until('the taint', () => {
      const { taints = [] } = cluster().api.get('nodes', '', 'n1')?.spec ?? {};
      return taints.some(({ key }: { readonly key: string }) => key === 'taintmgr.dev/verify');
    });
    cluster().api.faults.down = true;
    const { code, err } = await running.result;
    assert.equal(code, 1, err);
    assert.match(err, /; to do it: kubectl taint node n1 taintmgr\.dev\/verify-\n/);
    assert.match(err, /; to do it: kubectl delete namespace taintmgr-verify-out\n/);
  });
});
