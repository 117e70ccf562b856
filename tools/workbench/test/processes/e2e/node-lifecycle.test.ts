// Kubernetes' own test "Node Lifecycle should run through the lifecycle of a node" of 1.36, step by step as
// its source has them, over HTTPS.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Suite } from './suite.ts';
import { strategicType } from './suite-client.ts';

const nodes = '/api/v1/nodes';
const confirmation = { everyMs: 5000, timesMax: 36 };

for (const form of ['json', 'protobuf'] as const) {
  it(`a node is created, read, patched, found, updated and deleted, bodies in ${form}`, async (t) => {
    const suite = await Suite.start(form, { systemPods: true });
    t.after(() => suite.close());
    await suite.setUp();
    await suite.begin('fake-node-1000');
    const { client } = suite;
    const name = 'e2e-fake-node-x7k2p';
    const ready = { type: 'Ready', status: 'True', reason: 'E2E', message: 'Set from e2e test' };
    const body = {
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { name },
      spec: { unschedulable: true },
      status: { phase: 'Running', conditions: [ready] },
    };
    const created = await client.send('POST', nodes, { body });
    assert.equal(created.metadata.name, name);
    assert.match(created.metadata.resourceVersion ?? '', /^[1-9]\d*$/);
    assert.equal((await client.get(`${nodes}/${name}`)).metadata.name, name);

    const labelled = { metadata: { labels: { [name]: 'patched' } } };
    const sent = { type: strategicType, body: labelled };
    const patched = await client.send('PATCH', `${nodes}/${name}`, sent);
    assert.equal(patched.metadata.labels?.[name], 'patched');
    const versions = [created, patched].map(({ metadata }) => Number(metadata.resourceVersion));
    assert.ok((versions[0] ?? 0) < (versions[1] ?? 0));
    const found = await client.get(nodes, { labelSelector: `${name}=patched` });
    assert.equal(found.items.length, 1);

    const read = await client.get(`${nodes}/${name}`);
    const labels = { ...read.metadata.labels, [name]: 'updated' };
    const next = { ...read, metadata: { ...read.metadata, labels } };
    const updated = await client.send('PUT', `${nodes}/${name}`, { body: next });
    assert.equal(updated.metadata.labels?.[name], 'updated');

    const options = { kind: 'DeleteOptions', apiVersion: 'v1' };
    await client.send('DELETE', `${nodes}/${name}`, { body: options });
    await suite.poll(confirmation, async () => {
      const { items } = await client.get(nodes);
      const names = items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
      return names.includes(name) ? null : names;
    });
    await suite.end();
  });
}
