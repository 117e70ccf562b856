import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EventCommand, Executor, type ExecutorEffect } from '../src/proto/executor.ts';

const pod = { namespace: 'shop', name: 'a', uid: 'u', nodeName: 'n1' };

function event(message: string): EventCommand {
  return { kind: 'recordEvent', pod, type: 'Normal', reason: 'Because', message, because: [] };
}

function kinds(effects: readonly ExecutorEffect[]): string[] {
  return effects.map((effect) => (effect.kind === 'notice' ? effect.notice.kind : effect.kind));
}

function answered(executor: Executor, id: string, status: number): string[] {
  const headers = {};
  return [
    ...kinds(executor.receive(0, { kind: 'head', id, status, headers })),
    ...kinds(executor.receive(0, { kind: 'end', id })),
  ];
}

describe('Kubernetes Events', () => {
  it('wait their turn beyond ten under way', () => {
    const executor = new Executor('taintmgr', {});
    const begun = Array.from({ length: 12 }, (_, n) => kinds(executor.execute(0, event(`${n}`))));
    assert.equal(begun.flat().length, 10);
    assert.deepEqual(answered(executor, 'call/1', 201), ['eventRecorded', 'send']);
    assert.deepEqual(answered(executor, 'call/2', 403), ['eventLost', 'send']);
    assert.deepEqual(answered(executor, 'call/3', 201), ['eventRecorded']);
  });

  it('are lost, and said to be, beyond a thousand waiting', () => {
    const executor = new Executor('taintmgr', {});
    for (let n = 0; n < 1010; n++) executor.execute(0, event(`${n}`));
    assert.deepEqual(kinds(executor.execute(0, event('one more'))), ['eventLost']);
  });

  it('have names of their own within one millisecond', () => {
    const executor = new Executor('taintmgr', {});
    const names = ['x', 'y'].flatMap((message) =>
      executor.execute(0, event(message)).map((effect) => {
        assert.ok(effect.kind === 'send');
        return JSON.parse(effect.request.body ?? '').metadata.name;
      }),
    );
    assert.equal(new Set(names).size, 2);
  });

  it('do not begin after a stop', () => {
    const executor = new Executor('taintmgr', {});
    for (let n = 0; n < 11; n++) executor.execute(0, event(`${n}`));
    executor.stop();
    assert.deepEqual(kinds(executor.execute(0, event('late'))), []);
    assert.deepEqual(answered(executor, 'call/1', 201), ['eventRecorded']);
  });
});

describe('an answer that lay unread while the process stood still', () => {
  const command = {
    kind: 'deletePod',
    id: 'c1',
    pod,
    guard: 'uid',
    confirm: true,
    generation: 1,
    gracePeriodSeconds: null,
    escalated: false,
    because: [],
  } as const;

  for (const [readAfterMs, expected] of [
    [29_999, ['send']],
    [30_000, ['abort', 'commandFinished', 'result']],
  ] as const) {
    it(`read after ${readAfterMs} ms leads to: ${expected.join(', ')}`, () => {
      const executor = new Executor('taintmgr', {});
      executor.execute(0, command);
      const answer = [
        { kind: 'head', id: 'call/1', status: 200, headers: {} },
        {
          kind: 'chunk',
          id: 'call/1',
          data: '{"metadata":{"name":"a","namespace":"shop","uid":"u"}}',
        },
        { kind: 'end', id: 'call/1' },
      ] as const;
      assert.deepEqual(
        kinds(answer.flatMap((part) => executor.receive(readAfterMs, part))),
        expected,
      );
    });
  }
});
