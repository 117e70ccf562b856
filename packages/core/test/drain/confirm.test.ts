import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { confirmEviction, describeReason, type Pod, parseTaint } from '@taintmgr/core';
import { resolveDrainConfig, StandaloneDrain } from '@taintmgr/core/drain';

// Where the view is old, pod and node are read again before a pod goes: what decided has to hold there.

const tolerations = [
  { key: 'm', operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds: 30 },
];

describe('what decided about a pod of a drain', () => {
  const cases: readonly (readonly [string, readonly string[], Pod['tolerations']])[] = [
    ['m=x:NoExecute', ['tolerates m=x:NoExecute for 30s'], tolerations],
    ['m=x:NoSchedule', ['tolerates m=x for 30s'], tolerations],
    ['m=x:NoSchedule', ['no toleration for m=x'], []],
  ];
  for (const [text, words, tolerated] of cases) {
    it(`holds on the node as it is: ${text}, ${words.join()}`, () => {
      const taint = { ...parseTaint(text), timeAdded: -1000 };
      const node = { name: 'n1', uid: 'n1', taints: [taint] };
      const pod: Pod = {
        namespace: 'shop',
        name: 'web',
        uid: 'web',
        nodeName: 'n1',
        tolerations: tolerated,
        boundAt: null,
        deletionTimestamp: null,
        phase: 'Running',
        generation: 1,
        mirror: false,
        owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' },
        hasEmptyDir: false,
      };
      const drain = new StandaloneDrain(
        resolveDrainConfig({ taint, targets: [{ name: 'n1', zone: '' }] }),
      );
      drain.handle(0, { kind: 'nodeUpsert', node });
      drain.handle(0, { kind: 'podUpsert', pod });
      drain.handle(0, { kind: 'synced' });
      drain.handle(0, { kind: 'tick' });
      drain.handle(30_000, { kind: 'tick' });
      const [drained] = drain.machine.pods();
      assert.equal(drained?.tries, 1);
      const { because } = drained;
      assert.deepEqual(because.map(describeReason), words);
      const options = { comparisonOperators: false };
      assert.equal(confirmEviction(because, pod, node, options), null);
      const bare = { ...node, taints: [] };
      assert.match(confirmEviction(because, pod, bare, options) ?? '', /has no taint m=x:No/);
    });
  }
});
