// A pause that is deleted and made anew under its name, while nobody watches: a list shows the new one alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, makeNode, makePod } from '@taintmgr/core';
import { pauseOf } from '../policy/objects.ts';

const tolerations = [{ operator: 'Exists', tolerationSeconds: 100 }];
const pod = makePod({ name: 'web', nodeName: 'n1', tolerations });
const first = pauseOf('night', { uid: 'u1', since: 0 });

/** When the pod goes where the pause is made anew at 50 s, which is seen at 60 s, and is gone at 80 s. */
function deadlineWith(anew: Partial<typeof first>, seesItGo: boolean): number {
  const engine = createEngine();
  engine.handle(0, { kind: 'nodeUpsert', node: makeNode({ name: 'n1' }) });
  engine.handle(0, { kind: 'podUpsert', pod });
  engine.handle(0, { kind: 'synced' });
  engine.handle(0, { kind: 'pauseUpsert', pause: first });
  const node = makeNode({ name: 'n1', taints: ['a:NoExecute'] });
  engine.handle(10_000, { kind: 'nodeUpsert', node });
  if (seesItGo) engine.handle(50_000, { kind: 'pauseDelete', name: 'night' });
  engine.handle(60_000, { kind: 'pauseUpsert', pause: { ...first, ...anew } });
  engine.handle(80_000, { kind: 'pauseDelete', name: 'night' });
  for (let now = 80_000; now <= 250_000; now += 1000) {
    const commands = engine.handle(now, { kind: 'tick' });
    if (commands.some(({ kind }) => kind === 'deletePod')) return now;
  }
  assert.fail('it never goes');
}

describe('a pause that was made anew', () => {
  it('takes no time from pods that the one before gave back', () => {
    const anew = { uid: 'u2', since: 50_000 };
    assert.equal(deadlineWith(anew, false), 180_000);
    assert.equal(deadlineWith(anew, true), 180_000);
  });

  it('is the same one where only its end is another', () => {
    assert.equal(deadlineWith({ until: 900_000 }, false), 180_000);
  });
});
