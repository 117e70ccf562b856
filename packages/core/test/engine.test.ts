import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as core from '@taintmgr/core';

it('time that goes backwards is a mistake of the caller', () => {
  const engine = core.createEngine();
  engine.handle(5, { kind: 'tick' });
  assert.throws(() => engine.handle(4, { kind: 'tick' }), /time goes forward: 4 after 5/);
});

it('a loop that jumps to nextWake never goes back, whatever was heard before what', () => {
  const engine = core.createEngine();
  const pod = core.makePod({ name: 'web-0', nodeName: 'n1' });
  const node = core.makeNode({ name: 'n1', taints: ['bad:NoExecute'] });
  engine.handle(0, { kind: 'nodeUpsert', node });
  engine.handle(0, { kind: 'synced' });
  engine.handle(1000, { kind: 'podUpsert', pod });
  engine.handle(1500, { kind: 'leadership', held: true });
  const sent: string[] = [];
  for (let now = engine.nextWake(); now !== null; now = engine.nextWake()) {
    for (const command of engine.handle(now, { kind: 'tick' })) {
      sent.push(`${now} ${command.kind}`);
      if (!('id' in command)) continue;
      engine.handle(now, { kind: 'result', id: command.id, outcome: { kind: 'done' } });
      engine.handle(now, { kind: 'podDelete', uid: pod.uid });
    }
  }
  assert.deepEqual(sent, ['1500 recordEvent', '1500 deletePod']);
});

it('commands that change the cluster come with a tick; as kube-controller-manager with any event', () => {
  const pod = core.makePod({ name: 'web-0', nodeName: 'n1' });
  const node = core.makeNode({ name: 'n1', taints: ['bad:NoExecute'] });
  for (const semantics of ['precise', 'upstream-1.36'] as const) {
    const engine = core.createEngine({ semantics, keepTaintStarts: false });
    engine.handle(0, { kind: 'synced' });
    engine.handle(0, { kind: 'nodeUpsert', node });
    const onEvent = engine.handle(0, { kind: 'podUpsert', pod }).map(({ kind }) => kind);
    const onTick = engine.handle(0, { kind: 'tick' }).map(({ kind }) => kind);
    const sent = ['recordEvent', 'deletePod'];
    assert.deepEqual([onEvent, onTick], semantics === 'precise' ? [[], sent] : [sent, []]);
  }
});
