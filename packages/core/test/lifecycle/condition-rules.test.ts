import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Command, createEngine, type Node, type Taint } from '../../src/index.ts';

const rule = {
  name: 'disk',
  condition: 'DiskBroken',
  status: 'True',
  holdsMs: 0,
  clearMs: 0,
  taint: { key: 'bad-disk', value: '', effect: 'NoExecute' },
  nodes: {},
  nodesMax: null,
  dryRun: false,
} as const;
const ours: Taint = { ...rule.taint, timeAdded: 1000 };

/** What is done about a node whose note says that the rule put the taint on, and whose disk is well. */
function changes(taint: Taint): readonly Extract<Command, { kind: 'changeTaints' }>[] {
  const engine = createEngine({ lifecycle: { conditionRules: [rule] } });
  const well = { reason: '', message: '', heartbeatAt: 0, transitionAt: 0 };
  const node: Node = {
    name: 'n1',
    uid: 'u1',
    taints: [taint],
    ownedTaints: { 'bad-disk:NoExecute': 'disk' },
    conditions: [
      { type: 'Ready', status: 'True', ...well },
      { type: 'DiskBroken', status: 'False', ...well },
    ],
  };
  engine.handle(0, { kind: 'nodeUpsert', node });
  const told = engine.handle(0, { kind: 'synced' });
  const commands = [...told, ...engine.handle(0, { kind: 'tick' })];
  return commands.flatMap((command) => (command.kind === 'changeTaints' ? [command] : []));
}

describe('the note of the taints that condition rules put on', () => {
  it('lets a rule take its own taint off', () => {
    const [change] = changes(ours);
    assert.deepEqual(change?.remove, [{ key: 'bad-disk', effect: 'NoExecute' }]);
    assert.equal(change?.owned, null);
  });

  it('claims no taint that does not say since when, as kubectl writes it', () => {
    for (const change of changes({ ...ours, timeAdded: null })) {
      assert.deepEqual(change.remove, []);
    }
  });

  it('claims no taint of another value', () => {
    for (const change of changes({ ...ours, value: 'by-hand' })) {
      assert.deepEqual(change.remove, []);
    }
  });
});
