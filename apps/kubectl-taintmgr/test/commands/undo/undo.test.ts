import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node } from '@taintmgr/sim-cluster';
import { type Result, run, steady } from '../../world/run.ts';
import { startTestCluster, type TestCluster, versions } from '../../world/test-cluster.ts';

// What a drain has set is taken back, and nothing else.

const kernel = 'maintenance=kernel:NoSchedule';
const annotation = 'taintmgr.dev/drain';

describe('undo', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  const command = async (line: string): Promise<Result> => steady(await run(...line.split(' ')));
  const add = (name: string, spec: object = {}) =>
    cluster.api.create('nodes', node(name, { spec: { ...spec } }));
  const get = (name: string) => {
    const found = cluster.api.get('nodes', '', name);
    assert.ok(found);
    const taints: readonly Record<string, string>[] = found.spec.taints ?? [];
    return {
      taints: taints
        .filter(({ key }) => !key?.startsWith('node.kubernetes.io/'))
        .map(({ key, value = '', effect }) => `${key}=${value}:${effect}`),
      isCordoned: found.spec.unschedulable === true,
      marks: JSON.parse(found.metadata.annotations?.[annotation] ?? '[]').length,
      object: found,
    };
  };
  const idOf = (name: string): string =>
    JSON.parse(get(name).object.metadata.annotations?.[annotation] ?? '[]')[0].id;
  const state = (name: string) => {
    const { taints, isCordoned, marks } = get(name);
    return [taints.join(' '), isCordoned, marks];
  };

  it('takes the taint and the cordon off, and the mark', async () => {
    add('plain', { taints: [{ key: 'other', effect: 'NoSchedule' }] });
    await command(`drain-by-taint ${kernel} plain`);
    assert.deepEqual(state('plain'), ['other=:NoSchedule maintenance=kernel:NoSchedule', true, 1]);
    const unchanged = versions(cluster.api);
    const dry = await command(`undo ${idOf('plain')} --dry-run=client`);
    assert.deepEqual(dry, {
      code: 0,
      out: 'node/plain uncordoned (dry run)\nnode/plain untainted (dry run)\n',
      err: '',
    });
    assert.deepEqual(versions(cluster.api), unchanged);
    const { code, out } = await command(`undo ${idOf('plain')}`);
    assert.deepEqual([code, out], [0, 'node/plain uncordoned\nnode/plain untainted\n']);
    assert.deepEqual(state('plain'), ['other=:NoSchedule', false, 0]);
  });

  it('leaves what was so before', async () => {
    const timeAdded = '2026-01-02T03:04:05Z';
    const taint = { key: 'maintenance', value: 'kernel', effect: 'NoSchedule', timeAdded };
    add('tainted', { taints: [taint] });
    add('cordoned', { unschedulable: true });
    await command(`drain-by-taint ${kernel} tainted cordoned`);
    const { out } = await command(`undo ${kernel} tainted cordoned`);
    assert.equal(out, 'node/tainted uncordoned\nnode/cordoned untainted\n');
    assert.deepEqual(state('tainted'), ['maintenance=kernel:NoSchedule', false, 0]);
    assert.deepEqual(state('cordoned'), ['', true, 0]);
  });

  it('gives back the taint that gave way', async () => {
    add('replaced', { taints: [{ key: 'maintenance', value: 'disk', effect: 'NoSchedule' }] });
    await command(`drain-by-taint ${kernel} replaced`);
    assert.deepEqual(state('replaced'), ['maintenance=kernel:NoSchedule', true, 1]);
    await command(`undo ${kernel} replaced`);
    assert.deepEqual(state('replaced'), ['maintenance=disk:NoSchedule', false, 0]);
  });

  it('leaves a taint that somebody else has put on since', async () => {
    add('anew');
    await command(`drain-by-taint ${kernel} anew`);
    const { object } = get('anew');
    const taints = [{ key: 'maintenance', value: 'kernel', effect: 'NoSchedule' }];
    cluster.api.update('nodes', { ...object, spec: { ...object.spec, taints } });
    const { code, out, err } = await command(`undo ${kernel} anew`);
    assert.deepEqual([code, out], [0, 'node/anew uncordoned\n']);
    assert.equal(
      err,
      'Warning: node anew keeps maintenance=kernel:NoSchedule: another client has added it since\n',
    );
    assert.deepEqual(state('anew'), ['maintenance=kernel:NoSchedule', false, 0]);
  });

  /** What somebody with a client of this name does with the cordon of a node. */
  const cordonBy = (manager: string, name: string, unschedulable: boolean): void => {
    const { object } = get(name);
    const { unschedulable: _before, ...spec } = object.spec;
    const next = { ...spec, ...(unschedulable && { unschedulable }) };
    cluster.api.as(manager).update('nodes', { ...object, spec: next });
  };

  it('leaves a cordon that somebody else has set since', async () => {
    add('recordoned');
    await command(`drain-by-taint ${kernel} recordoned`);
    cordonBy('kubectl', 'recordoned', false);
    cordonBy('kubectl', 'recordoned', true);
    const { code, out, err } = await command(`undo ${kernel} recordoned`);
    assert.deepEqual([code, out], [0, 'node/recordoned untainted\n']);
    assert.equal(err, 'Warning: node recordoned stays cordoned: kubectl has cordoned it since\n');
    assert.deepEqual(state('recordoned'), ['', true, 0]);
  });

  it('takes its own cordon off, also where others have written on the node since', async () => {
    add('rewritten');
    await command(`drain-by-taint ${kernel} rewritten`);
    cordonBy('kubectl', 'rewritten', true);
    const { object } = get('rewritten');
    const labels = { ...object.metadata.labels, rack: '7' };
    const metadata = { ...object.metadata, labels };
    cluster.api.as('kubectl-label').update('nodes', { ...object, metadata });
    const { out } = await command(`undo ${kernel} rewritten`);
    assert.equal(out, 'node/rewritten uncordoned\nnode/rewritten untainted\n');
  });

  it('takes its cordon off once more where the same drain has set it again', async () => {
    add('again');
    await command(`drain-by-taint ${kernel} again`);
    cordonBy('kubectl', 'again', false);
    const second = await command(`drain-by-taint ${kernel} again`);
    assert.match(second.out, /^node\/again cordoned\nnode\/again already tainted\n/);
    const { out } = await command(`undo ${kernel} again`);
    assert.equal(out, 'node/again uncordoned\nnode/again untainted\n');
  });

  it('without managed fields believes the mark', async () => {
    add('stripped');
    await command(`drain-by-taint ${kernel} stripped`);
    const { object } = get('stripped');
    const { managedFields: _fields, ...metadata } = object.metadata;
    cluster.api.delete('nodes', '', 'stripped');
    cluster.api.load([{ ...object, metadata }]);
    const { out } = await command(`undo ${kernel} stripped`);
    assert.equal(out, 'node/stripped uncordoned\nnode/stripped untainted\n');
  });

  it('a node that two drains have closed stays cordoned until the second is undone', async () => {
    add('twice');
    await command(`drain-by-taint ${kernel} twice`);
    await command('drain-by-taint disk:NoSchedule twice');
    assert.deepEqual(state('twice'), ['maintenance=kernel:NoSchedule disk=:NoSchedule', true, 2]);
    const first = await command(`undo ${kernel} twice`);
    assert.equal(first.out, 'node/twice untainted\n');
    assert.equal(first.err, 'Warning: node twice stays cordoned for <drain>\n');
    assert.deepEqual(state('twice'), ['disk=:NoSchedule', true, 1]);
    const second = await command('undo disk:NoSchedule twice');
    assert.equal(second.out, 'node/twice uncordoned\nnode/twice untainted\n');
    assert.deepEqual(state('twice'), ['', false, 0]);
  });

  it('--no-cordon is undone without an uncordon', async () => {
    add('bare');
    const drained = await command(`drain-by-taint ${kernel} bare --no-cordon`);
    assert.equal(drained.out, 'node/bare tainted\nnode/bare drained (0 pods)\n');
    assert.equal((await command(`undo ${kernel} bare`)).out, 'node/bare untainted\n');
  });

  it('goes on where somebody else changes the node at the same time', async () => {
    add('clash');
    await command(`drain-by-taint ${kernel} clash`);
    const fault = { kind: 'answer', code: 409 } as const;
    cluster.api.faults.add({ fault, verbs: ['patch'], resource: 'nodes', name: 'clash', times: 1 });
    assert.equal((await command(`undo ${kernel} clash`)).code, 0);
    assert.deepEqual(state('clash'), ['', false, 0]);
  });

  it('lists what can be undone', async () => {
    add('listed');
    await command(`drain-by-taint ${kernel} listed`);
    const { out } = await command('undo');
    assert.equal(
      out.replace(/ +/g, ' '),
      'DRAIN NODE TAINT CHANGES\n<drain> listed maintenance=kernel:NoSchedule cordon, taint\n',
    );
    const missing = await command('undo drain-x listed');
    assert.deepEqual(missing, {
      code: 1,
      out: '',
      err: 'error: no drain "drain-x" found; drains on these nodes: <drain>\n',
    });
    await command(`undo ${kernel}`);
    assert.equal((await command('undo')).out, 'No drains to undo.\n');
  });

  it('an annotation that is no mark does no harm', async () => {
    for (const [name, text] of Object.entries({
      torn: '[{"id"',
      odd: '[1, {"id": "x", "taint": "::"}]',
    })) {
      const one = node(name);
      const annotations = { [annotation]: text };
      cluster.api.create('nodes', { ...one, metadata: { ...one.metadata, annotations } });
      assert.equal((await command(`drain-by-taint ${kernel} ${name}`)).code, 0);
      assert.deepEqual(state(name), ['maintenance=kernel:NoSchedule', true, 1]);
      await command(`undo ${kernel} ${name}`);
      assert.deepEqual(state(name), ['', false, 0]);
    }
  });
});
