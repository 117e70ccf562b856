import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

describe('the grace of a pod that is ending already', () => {
  const cases: readonly (readonly [asked: number | null, grace: number])[] = [
    [null, 30],
    [60, 30],
    [30, 30],
    [10, 10],
    [-5, 1],
  ];
  for (const [asked, grace] of cases) {
    it(`asked for ${asked ?? 'nothing'} it is ${grace} s`, () => {
      const { client, pass } = fixture();
      client.post(pods, podNamed('p', { nodeName: 'n' }));
      client.delete(`${pods}/p`);
      pass(5000);
      const query = asked === null ? {} : { gracePeriodSeconds: asked };
      const { metadata } = client.delete(`${pods}/p`, { query }).body;
      assert.equal(metadata.deletionGracePeriodSeconds, grace);
      const end = new Date(Date.parse('2026-01-01T00:00:00Z') + grace * 1000).toISOString();
      assert.equal(metadata.deletionTimestamp, end.replace('.000Z', 'Z'));
    });
  }
});

describe('what a deletion leaves for the garbage collector', () => {
  const configMaps = '/api/v1/namespaces/default/configmaps';
  const cases: readonly (readonly [body: object, finalizers: readonly string[] | null])[] = [
    [{}, null],
    [{ propagationPolicy: 'Background' }, null],
    [{ propagationPolicy: 'Foreground' }, ['foregroundDeletion']],
    [{ propagationPolicy: 'Orphan' }, ['orphan']],
    [{ orphanDependents: true }, ['orphan']],
    [{ orphanDependents: false }, null],
  ];
  for (const [body, finalizers] of cases) {
    it(`${JSON.stringify(body)}: ${finalizers ?? 'nothing'}`, () => {
      const { client } = fixture();
      client.post(configMaps, { metadata: { name: 'c' } });
      // Twice: the second one adds nothing.
      for (let times = 0; times < 2; times++) client.delete(`${configMaps}/c`, { body });
      const left = client.get(`${configMaps}/c`);
      assert.equal(left.status, finalizers ? 200 : 404);
      if (finalizers) assert.deepEqual(left.body.metadata.finalizers, finalizers);
    });
  }
});

describe('a deletion with a policy, of an object that has one already', () => {
  const configMaps = '/api/v1/namespaces/default/configmaps';
  const cases: readonly (readonly [
    had: readonly string[],
    propagationPolicy: string | undefined,
    left: readonly string[] | null,
  ])[] = [
    [['orphan'], undefined, ['orphan']],
    [['orphan'], 'Background', null],
    [['orphan', 'x.io/a'], 'Background', ['x.io/a']],
    [['foregroundDeletion', 'x.io/a'], 'Orphan', ['x.io/a', 'orphan']],
    [['orphan'], 'Foreground', ['foregroundDeletion']],
    [['orphan', 'x.io/a'], 'Orphan', ['orphan', 'x.io/a']],
  ];
  for (const [finalizers, propagationPolicy, left] of cases) {
    it(`${finalizers.join(' ')}, ${propagationPolicy}: ${left?.join(' ') ?? 'nothing'}`, () => {
      const { client } = fixture();
      client.post(configMaps, { metadata: { name: 'c', finalizers } });
      client.delete(`${configMaps}/c`, { body: propagationPolicy ? { propagationPolicy } : {} });
      const { status, body } = client.get(`${configMaps}/c`);
      assert.deepEqual(status === 404 ? null : body.metadata.finalizers, left);
    });
  }
});

describe('the deletion of a namespace', () => {
  const namespaces = '/api/v1/namespaces';
  const inOwnWay = `${namespaces}/team/finalize`;

  it('that is tried alone changes nothing', () => {
    const { client } = fixture();
    const { body } = client.post(namespaces, { metadata: { name: 'team' } });
    const tried = client.delete(`${namespaces}/team`, { query: { dryRun: 'All' } });
    assert.equal(tried.body.status.phase, 'Terminating');
    assert.deepEqual(client.get(`${namespaces}/team`).body, body);
  });

  it('waits for the finalizers of its metadata too', () => {
    const { client } = fixture();
    const metadata = { name: 'team', finalizers: ['example.com/kept'] };
    const { body } = client.post(namespaces, { metadata });
    client.put(inOwnWay, { ...body, spec: {} });
    client.delete(`${namespaces}/team`);
    assert.equal(client.get(`${namespaces}/team`).body.status?.phase, 'Terminating');
    client.patch(`${namespaces}/team`, { metadata: { finalizers: null } });
    assert.equal(client.get(`${namespaces}/team`).status, 404);
  });
});

it('what finalizers hold can be changed while it goes, and is gone with the last of them', () => {
  const { client } = fixture();
  const node = '/api/v1/nodes/n';
  client.post('/api/v1/nodes', { metadata: { name: 'n', finalizers: ['x.io/a', 'x.io/b'] } });
  client.delete(node);
  const changes: readonly (readonly [metadata: object, left: readonly string[] | null])[] = [
    [{ labels: { l: '1' } }, ['x.io/a', 'x.io/b']],
    [{ finalizers: ['x.io/b'] }, ['x.io/b']],
    [{ finalizers: [] }, null],
  ];
  for (const [metadata, left] of changes) {
    assert.equal(client.patch(node, { metadata }).status, 200);
    const { status, body } = client.get(node);
    assert.equal(status, left ? 200 : 404);
    if (left) assert.deepEqual(body.metadata.finalizers, left);
  }
});
