import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createEngine,
  describePodView,
  type Node,
  type Pod,
  type PodView,
} from '../../src/index.ts';

const bad = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: 0 };

const node = (more: Partial<Node> = {}): Node => ({ name: 'n1', uid: 'u', taints: [], ...more });

const pod: Pod = {
  namespace: 'default',
  name: 'p',
  uid: 'p',
  nodeName: 'n1',
  tolerations: [],
  boundAt: null,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 0,
  mirror: false,
  owner: null,
  hasEmptyDir: false,
};

describe('the view of the pods of a node', () => {
  const views: readonly [PodView | null, boolean, string | null][] = [
    [null, false, null],
    ['watched', false, null],
    // How long ago those that are known were reported is judged by whoever reads them.
    ['reading', false, 'its pods are being read: nothing is decided about those not known yet'],
    ['old', true, 'its pods are not being watched: each is read again before it goes'],
    ['unread', true, 'its pods are not read: it has no NoExecute taint'],
  ];
  for (const [view, confirm, text] of views) {
    it(`is told and heeded: ${view ?? 'of all pods'}`, () => {
      const engine = createEngine();
      if (view) engine.handle(0, { kind: 'podViews', others: 'unread', nodes: { n1: view } });
      engine.handle(0, { kind: 'nodeUpsert', node: node({ taints: [bad] }) });
      engine.handle(0, { kind: 'podUpsert', pod });
      engine.handle(0, { kind: 'synced' });
      const [removal] = engine
        .handle(0, { kind: 'tick' })
        .flatMap((command) => (command.kind === 'deletePod' ? [command] : []));
      assert.equal(removal?.confirm, confirm);
      const explanation = engine.explain(0, { kind: 'node', name: 'n1' });
      assert.equal(explanation?.kind === 'node' && describePodView(explanation.podView), text);
    });
  }

  it('is that they are not read, where others are and nothing is to go', () => {
    const engine = createEngine();
    engine.handle(0, { kind: 'nodeUpsert', node: node() });
    engine.handle(0, { kind: 'podViews', others: 'unread', nodes: {} });
    const explanation = engine.explain(0, { kind: 'node', name: 'n1' });
    assert.equal(explanation?.kind === 'node' && explanation.podView, 'unread');
  });

  it('is no more than told for a node that is called as objects call things', () => {
    const engine = createEngine();
    engine.handle(0, { kind: 'nodeUpsert', node: node({ name: 'constructor' }) });
    const explanation = engine.explain(0, { kind: 'node', name: 'constructor' });
    assert.equal(explanation?.kind === 'node' && explanation.podView, 'watched');
  });
});
