import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as core from '@taintmgr/core';

describe('what JavaScript lets pass', () => {
  const engine = core.createEngine();
  const raw = { metadata: { name: 'n1', uid: 'u' }, spec: {}, status: {} };
  const cases: readonly (readonly [name: string, act: () => unknown, message: RegExp])[] = [
    [
      'an option that is none',
      () => core.createEngine(JSON.parse('{"moode":"evict"}')),
      /^config\.moode: no such option, want one of .*mode, /,
    ],
    [
      'an option of the lifecycle that is none',
      () => core.createEngine(JSON.parse('{"lifecycle":{"heathyMs":1}}')),
      /^config\.lifecycle\.heathyMs: no such option, want one of .*healthyMs/,
    ],
    [
      'an event of an unknown kind',
      () => engine.handle(0, JSON.parse('{"kind":"nodeUpdate"}')),
      /^event\.kind: got "nodeUpdate", want one of nodeUpsert, /,
    ],
    [
      'no event at all',
      () => Reflect.apply(engine.handle, engine, [0, undefined]),
      /^event\.kind: got undefined, want one of nodeUpsert, /,
    ],
    [
      'null for an event',
      () => engine.handle(0, JSON.parse('null')),
      /^event\.kind: got undefined, want one of nodeUpsert, /,
    ],
    [
      'a Node as the API has it, for makeNode',
      () => core.makeNode(JSON.parse(JSON.stringify(raw))),
      /^name: got undefined, want a text; nodeFromJson of @taintmgr\/k8s-adapter reads objects /,
    ],
    [
      'a Pod as the API has it, for makePod',
      () => core.makePod(JSON.parse(JSON.stringify(raw))),
      /^name: got undefined, want a text; podFromJson of /,
    ],
    [
      'a Node as the API has it',
      () => engine.handle(0, { kind: 'nodeUpsert', node: JSON.parse(JSON.stringify(raw)) }),
      /^event\.node: want what makeNode makes, or what nodeFromJson of @taintmgr\/k8s-adapter /,
    ],
    [
      'a Pod as the API has it',
      () => engine.handle(0, { kind: 'podUpsert', pod: JSON.parse(JSON.stringify(raw)) }),
      /^event\.pod: want what makePod makes, or what podFromJson /,
    ],
    [
      'a Namespace as the API has it',
      () =>
        engine.handle(0, { kind: 'namespaceUpsert', namespace: JSON.parse(JSON.stringify(raw)) }),
      /^event\.namespace: want what namespaceFromJson of @taintmgr\/k8s-adapter makes of an object /,
    ],
    [
      'a Lease as the API has it',
      () => engine.handle(0, { kind: 'leaseUpsert', lease: JSON.parse(JSON.stringify(raw)) }),
      /^event\.lease: want what nodeLeaseFromJson /,
    ],
    [
      'a DaemonSet as the API has it',
      () =>
        engine.handle(0, { kind: 'daemonSetUpsert', daemonSet: JSON.parse(JSON.stringify(raw)) }),
      /^event\.daemonSet: want what daemonSetFromJson /,
    ],
    [
      'no Pod at all',
      () => engine.handle(0, JSON.parse('{"kind":"podUpsert"}')),
      /^event\.pod: want what makePod makes/,
    ],
  ];
  for (const [name, act, message] of cases) {
    it(`is refused: ${name}`, () => assert.throws(act, { name: 'RangeError', message }));
  }

  it('leaves the engine as it was', () => {
    assert.deepEqual([engine.counts().nodes, engine.nodes()], [0, []]);
  });
});
