import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import {
  applyType,
  type Client,
  merge,
  strategic,
} from '../../../sim-cluster/test/world/client.ts';
import { fixture, nodes } from '../world/api-fixture.ts';

// What several managers of one object get to see, as a kube-apiserver 1.36 shows it.

const node = `${nodes}/n1`;

interface Part {
  readonly labels?: object;
  readonly annotations?: object;
  readonly finalizers?: readonly string[];
}

function apply(client: Client, fieldManager: string, metadata: Part, more: object = {}) {
  const { at = node, force = '', ...rest } = more as { at?: string; force?: string };
  const named = { name: 'n1', ...metadata };
  const configuration = { apiVersion: 'v1', kind: 'Node', metadata: named, ...rest };
  const query = force ? { fieldManager, force } : { fieldManager };
  return client.patch(at, configuration, applyType, { query });
}

describe('an apply that others object to', () => {
  it('names one field in a line and several in a list', () => {
    const { client } = fixture();
    apply(client, 'one', { labels: { a: '1', b: '1' } });
    const text = (labels: object): string => apply(client, 'two', { labels }).body.message;
    assert.equal(
      text({ a: '2' }),
      'Apply failed with 1 conflict: conflict with "one": .metadata.labels.a',
    );
    assert.equal(
      text({ a: '2', b: '2' }),
      'Apply failed with 2 conflicts: conflicts with "one":\n- .metadata.labels.a\n- .metadata.labels.b',
    );
  });

  it('says through which subresource the other wrote', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1' } });
    const at = `${node}/status`;
    const status = (value: string) => ({ conditions: [{ type: 'T', status: value }] });
    apply(client, 'one', {}, { at, status: status('True') });
    assert.equal(
      apply(client, 'two', {}, { at, status: status('False') }).body.message,
      'Apply failed with 1 conflict: conflict with "one" with subresource "status": .status.conditions[type="T"].status',
    );
  });

  it('names what is a field itself before what has fields in it', () => {
    const { client } = fixture();
    apply(client, 'one', { labels: {}, annotations: { x: '1' } });
    assert.equal(
      apply(client, 'two', { labels: { a: '1' }, annotations: { x: '2' } }).body.message,
      'Apply failed with 2 conflicts: conflicts with "one":\n- .metadata.labels\n- .metadata.annotations.x',
    );
  });

  it('is refused what is put into a map that another applied empty', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1' } });
    apply(client, 'one', { labels: {} });
    assert.equal(
      apply(client, 'two', { labels: { a: '1' } }).body.message,
      'Apply failed with 1 conflict: conflict with "one": .metadata.labels',
    );
  });
});

describe('an empty map that is applied', () => {
  it('changes nothing of what is in it, neither then nor when it is left out', () => {
    const { client } = fixture();
    apply(client, 'one', { labels: { a: '1' } });
    assert.equal(apply(client, 'two', { labels: {} }).status, 200);
    assert.equal(apply(client, 'two', {}).body.metadata.labels?.a, '1');
  });
});

describe('an apply that changes nothing', () => {
  it('gives its manager no time', () => {
    const { client } = fixture();
    apply(client, 'one', { labels: { a: '1' } });
    const { metadata } = apply(client, 'two', { labels: { a: '1' } }).body;
    const times = (metadata.managedFields ?? []).map(({ manager, time }) => [manager, time]);
    assert.deepEqual(times, [
      ['two', undefined],
      ['one', '2026-01-01T00:00:00Z'],
    ]);
  });
});

describe('a list of which each item has owners of its own', () => {
  const cases = [
    ['items that are new come last', ['a/1', 'b/1'], ['c/1'], ['a/1', 'b/1', 'c/1']],
    ['what both have comes as it is applied', ['a/1', 'b/1'], ['b/1', 'a/1'], ['b/1', 'a/1']],
    ['others stay where they were', ['a/1', 'b/1', 'c/1'], ['c/1', 'a/1'], ['b/1', 'c/1', 'a/1']],
    ['new ones come before their followers', ['a/1', 'b/1'], ['c/1', 'b/1'], ['a/1', 'c/1', 'b/1']],
  ] as const;
  for (const [name, had, applied, wanted] of cases) {
    it(name, () => {
      const { client } = fixture();
      apply(client, 'one', { finalizers: had });
      const { body } = apply(client, 'two', { finalizers: applied }, { force: 'true' });
      assert.deepEqual(body.metadata.finalizers, wanted);
    });
  }
});

describe('an item that is not applied any more', () => {
  it('goes with all that others own in it', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1' } });
    const at = `${node}/status`;
    const status = (...conditions: readonly object[]) => ({ status: { conditions } });
    apply(client, 'one', {}, { at, ...status({ type: 'T', status: 'True' }) });
    client.patch(at, status({ type: 'T', status: 'False', reason: 'R' }), strategic, {
      query: { fieldManager: 'two' },
    });
    const labels = { a: '1' };
    const { metadata, status: left } = apply(client, 'one', { labels }, { at, ...status() }).body;
    assert.deepEqual(left.conditions ?? [], []);
    assert.deepEqual(
      (metadata.managedFields ?? []).map(({ manager }) => manager),
      ['one'],
    );
  });
});

describe('the first apply to an object without owners', () => {
  it('takes what was there as written the same way', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1' } });
    client.patch(node, { metadata: { labels: { a: '1' } } }, merge);
    const at = `${node}/status`;
    const { metadata } = apply(client, 'one', {}, { at }).body;
    const [first] = metadata.managedFields ?? [];
    assert.deepEqual(
      [first?.manager, first?.subresource, Object.keys(first?.fieldsV1 ?? {})[0]],
      ['before-first-apply', 'status', 'f:metadata'],
    );
  });
});
