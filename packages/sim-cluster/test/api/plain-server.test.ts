import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../src/objects/errors.ts';
import { fixture, podNamed, start } from '../world/api-fixture.ts';

const refusal =
  (code: number, text: RegExp) =>
  (error: unknown): boolean =>
    error instanceof ApiError && error.code === code && text.test(error.message);

describe('the API from inside', () => {
  it('has the namespaces that every cluster has', () => {
    const names = fixture()
      .api.list('namespaces')
      .map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['default', 'kube-node-lease', 'kube-public', 'kube-system']);
  });

  it('obeys the same rules as from outside', () => {
    const { api } = fixture();
    const { metadata } = api.create('nodes', { metadata: { name: 'n1' } });
    api.update('nodes', { metadata: { name: 'n1', labels: { a: 'b' } }, spec: {} });
    const stale = { metadata: { ...metadata, labels: {} }, spec: {} };
    assert.throws(() => api.update('nodes', stale), refusal(409, /has been modified/));
    assert.throws(
      () => api.create('nodes', { metadata: { name: 'n1' } }),
      refusal(409, /already exists/),
    );
    assert.throws(() => api.create('pods', podNamed('P')), refusal(422, /RFC 1123/));
    assert.throws(
      () => api.create('nodes', { metadata: { name: 'n2' }, spec: { taints: 5 } }),
      refusal(400, /cannot unmarshal number/),
    );
    assert.throws(
      () => api.delete('nodes', '', 'n1', { uid: 'other' }),
      refusal(409, /UID in the precondition/),
    );
    assert.throws(
      () => api.bind('default', 'nobody', 'n1'),
      refusal(404, /pods "nobody" not found/),
    );
    assert.throws(() => api.get('gadgets', '', 'x'), /no resource is stored as "gadgets"/);
  });

  it('writes status and the rest apart', () => {
    const { api } = fixture();
    const pod = api.create('pods', podNamed('p', { nodeName: 'n' }));
    const both = {
      ...pod,
      metadata: { ...pod.metadata, labels: { a: 'b' } },
      status: { phase: 'Running' },
    };
    assert.equal(api.update('pods', both).status.phase, 'Pending');
    const { resourceVersion: _rv, ...metadata } = pod.metadata;
    const written = api.update('pods', { ...both, metadata }, 'status');
    assert.deepEqual([written.status.phase, written.status.qosClass], ['Running', 'BestEffort']);
  });

  it('deletes a bound pod gracefully and then for good', () => {
    const { api } = fixture();
    api.create('pods', podNamed('p'));
    api.bind('default', 'p', 'n1');
    api.delete('pods', 'default', 'p', { gracePeriodSeconds: 5 });
    const { deletionTimestamp, deletionGracePeriodSeconds } = api.get(
      'pods',
      'default',
      'p',
    )!.metadata;
    assert.deepEqual(
      [Date.parse(deletionTimestamp ?? '') - start, deletionGracePeriodSeconds],
      [5000, 5],
    );
    api.delete('pods', 'default', 'p', { gracePeriodSeconds: 0 });
    assert.equal(api.get('pods', 'default', 'p'), null);
  });

  it('gives out frozen objects', () => {
    const { api } = fixture();
    api.create('pods', podNamed('p'));
    const pod = api.get('pods', 'default', 'p')!;
    assert.throws(() => Object.assign(pod.spec.containers[0], { image: 'other' }), TypeError);
  });

  it('tells every listener of every write in the order of writes, also of those made while telling', () => {
    const { api } = fixture();
    const [first, second]: [string[], string[]] = [[], []];
    api.subscribe(({ type, object, previous }) => {
      first.push(`${type} ${object.metadata.name} ${previous === null}`);
      if (type === 'ADDED' && object.metadata.name === 'a') {
        api.create('nodes', { metadata: { name: 'b' } });
        assert.ok(api.get('nodes', '', 'b'));
      }
    });
    const stop = api.subscribe(({ type, object }) =>
      second.push(`${type} ${object.metadata.name}`),
    );
    api.create('nodes', { metadata: { name: 'a' } });
    stop();
    api.delete('nodes', '', 'a');
    assert.deepEqual(first, ['ADDED a true', 'ADDED b true', 'DELETED a false']);
    assert.deepEqual(second, ['ADDED a', 'ADDED b']);
  });

  it('gives equal histories for equal seeds', () => {
    const run = () => {
      const { api } = fixture();
      return [
        api.create('pods', { ...podNamed(''), metadata: { name: '', generateName: 'g-' } }),
        api.create('pods', podNamed('p')),
      ];
    };
    assert.deepEqual(run(), run());
  });
});
