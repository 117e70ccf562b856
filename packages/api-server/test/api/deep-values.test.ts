// Values in values in values, of clients and of files.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cluster, VirtualClock } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType, jsonPatch, merge } from '../../../sim-cluster/test/world/client.ts';
import { type Fixture, fixture, start } from '../world/api-fixture.ts';

const maps = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const lists = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const definition = {
  metadata: { name: 'boxes.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'boxes', kind: 'Box' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: free } }],
  },
};
const boxes = '/apis/example.com/v1/boxes';

function world(): Fixture {
  const running = fixture();
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  assert.equal(running.client.post(path, definition).status, 201);
  running.pass(2000);
  return running;
}

const box = (name: string, x: string): string =>
  `{"apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "${name}"}, "x": ${x}}`;

for (const [what, deep] of [
  ['maps', maps],
  ['lists', lists],
] as const) {
  describe(`${what} in ${what}`, () => {
    it('are kept, with who owns them, as deep as the API server allows', () => {
      const { client } = world();
      const created = client.post(boxes, box('a', deep(900)));
      assert.equal(created.status, 201, created.text.slice(0, 300));
      assert.equal(JSON.stringify(client.get(`${boxes}/a`).body.x), deep(900));
      const answers = [
        client.patch(`${boxes}/a`, `{"y": ${deep(900)}}`, merge),
        client.patch(
          `${boxes}/a`,
          `[{"op": "add", "path": "/z", "value": ${deep(900)}}]`,
          jsonPatch,
        ),
        client.patch(`${boxes}/a`, box('a', deep(899)), applyType, {
          query: { fieldManager: 'b', force: 'true' },
        }),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
    });

    it('are refused where they are deeper', () => {
      const { client } = world();
      client.post(boxes, box('a', '1'));
      const query = { fieldManager: 'b', force: 'true' };
      for (const { status, body } of [
        client.post(boxes, box('b', deep(9_500))),
        client.put(`${boxes}/a`, box('a', deep(9_500))),
        client.patch(`${boxes}/a`, `{"y": ${deep(9_500)}}`, merge),
        client.patch(
          `${boxes}/a`,
          `[{"op": "add", "path": "/z", "value": ${deep(9_500)}}]`,
          jsonPatch,
        ),
        client.patch(`${boxes}/a`, box('a', deep(9_500)), applyType, { query }),
      ]) {
        assert.equal(status, 400);
        assert.match(String(body.message), /exceeded max depth/);
      }
    });
  });
}

it('a patch that copies an object into itself makes no object that is deeper than allowed', () => {
  const { client } = world();
  client.post(boxes, box('a', maps(600)));
  const inside = `/x${'/a'.repeat(599)}`;
  const copy = (path: string): string => `{"op": "copy", "from": "/x", "path": "${path}/a"}`;
  const once = client.patch(`${boxes}/a`, `[${copy(inside)}]`, jsonPatch);
  const often = Array.from({ length: 4 }, (_, at) => copy(`/x${'/a'.repeat(600 * 2 ** at - 1)}`));
  const grown = client.patch(`${boxes}/a`, `[${often.join()}]`, jsonPatch);
  for (const { status, body } of [once, grown]) {
    assert.deepEqual([status, body.message], [400, 'error decoding patch: exceeded max depth']);
  }
});

it('an object of a snapshot that is deeper is left out, and so are lists in lists in lists', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: {}, status: {} };
  const deep = { ...node, metadata: { name: 'd' }, spec: JSON.parse(maps(9_500)) };
  const list = JSON.parse(`${'{"kind": "List", "items": ['.repeat(5_000)}${']}'.repeat(5_000)}`);
  const clock = new VirtualClock(start);
  const { api, loadReport } = new Cluster({
    clock,
    seed: 1,
    snapshot: [{ items: [node, deep, list] }],
  });
  const nodes = api.list('nodes').map(({ metadata }) => metadata.name);
  const reasons = loadReport.unloaded.map(({ reason }) => reason);
  assert.deepEqual([nodes, reasons], [['n'], ['exceeded max depth', 'exceeded max depth']]);
});
