import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import { Loop, type Notice } from '../../src/controller/engine-loop.ts';
import type { LoopAction, LoopInput } from '../../src/controller/loop-parts.ts';
import { listJson, nodeJson, podJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';

const ofN1 = '?fieldSelector=spec.nodeName%3Dn1';

/** Plays the driver by hand, for a loop that reads the pods of tainted nodes. */
class Stage {
  readonly engine = createEngine();
  readonly loop: Loop;
  #now = Date.parse('2026-01-01T00:00:00Z');

  constructor() {
    const podWatch = { mode: 'tainted-nodes' } as const;
    const { engine: machine } = this;
    this.loop = new Loop({ machine, random: random(0), streamLists: false, podWatch });
    this.feed({ kind: 'start' });
    this.open('nodes/2', this.answer('nodes/1', listJson('Node', '10', nodeJson('n1', '3'))));
  }

  /** The requests, and whatever is done about pods. */
  feed(...inputs: LoopInput[]): string[] {
    const actions = inputs.flatMap((input) => this.loop.handle(this.#now, input));
    const wake = this.loop.nextWake();
    if (wake !== null && wake <= this.#now) {
      actions.push(...this.loop.handle(this.#now, { kind: 'tick' }));
    }
    return actions.flatMap(describeAction);
  }

  /** The next thing that is done by itself. */
  tickAtWake(): string[] {
    this.#now = this.loop.nextWake() ?? assert.fail('nothing is planned');
    return this.feed({ kind: 'tick' });
  }

  answer(id: string, body: object): string[] {
    return this.feed(
      { kind: 'head', id, status: 200, headers: {} },
      { kind: 'chunk', id, data: JSON.stringify(body) },
      { kind: 'end', id },
    );
  }

  open(id: string, sent: readonly string[]): void {
    assert.ok(
      sent.some((text) => text.startsWith(`${id} `)),
      sent.join('\n'),
    );
    this.feed({ kind: 'head', id, status: 200, headers: {} });
  }

  taintN1(): string[] {
    const object = nodeJson('n1', '12', 'bad');
    const data = `${JSON.stringify({ type: 'MODIFIED', object })}\n`;
    return this.feed({ kind: 'chunk', id: 'nodes/2', data });
  }

  view(): string | null {
    const explanation = this.engine.explain(this.#now, { kind: 'node', name: 'n1' });
    return explanation?.kind === 'node' ? explanation.podView : null;
  }
}

function describeAction(action: LoopAction<Notice>): string[] {
  if (action.kind === 'abort') return [`abort ${action.id}`];
  if (action.kind === 'send')
    return [`${action.id} ${action.request.method} ${action.request.path}`];
  return [];
}

describe('a loop that reads the pods of tainted nodes', () => {
  it('is synced with the nodes where none is tainted, and reads no pods', () => {
    const stage = new Stage();
    assert.equal(stage.loop.synced, true);
    assert.deepEqual(
      stage.loop.status().map(({ resource }) => resource),
      ['nodes'],
    );
    assert.equal(stage.view(), 'unread');
  });

  it('reads those of a node when it is tainted, and evicts what it finds', () => {
    const stage = new Stage();
    assert.deepEqual(
      stage.taintN1().filter((text) => text.startsWith('pods')),
      [`pods.1/1 GET /api/v1/pods${ofN1}&limit=500`],
    );
    assert.equal(stage.view(), 'reading');
    const actions = stage.answer('pods.1/1', listJson('Pod', '13', podJson('a', 'n1', '5')));
    assert.ok(
      actions.includes('call/1 PATCH /api/v1/namespaces/shop/pods/a/status'),
      actions.join('\n'),
    );
    assert.equal(stage.view(), 'watched');
  });

  it('reads pod and node again before a pod goes whose watch is cut off', () => {
    const stage = new Stage();
    stage.taintN1();
    stage.open(
      'pods.1/2',
      stage.answer('pods.1/1', listJson('Pod', '13', podJson('a', 'n1', '5'))),
    );
    stage.feed({ kind: 'failed', id: 'pods.1/2', message: 'reset' });
    assert.equal(stage.view(), 'old');
    // The first attempt comes to nothing; the next one is made on a view that is known to be old.
    stage.feed({ kind: 'failed', id: 'call/1', message: 'reset' });
    const again = stage.tickAtWake();
    assert.ok(again.includes('call/2 GET /api/v1/namespaces/shop/pods/a'), again.join('\n'));
  });
});
