import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCommand } from '@taintmgr/core';
import type { ExchangeInput } from '../src/proto/exchange.ts';
import { type EventCommand, Executor, type ExecutorEffect } from '../src/proto/executor.ts';

const pod = { namespace: 'shop', name: 'a', uid: 'u', nodeName: 'n1' };

function event(message: string): EventCommand {
  return { kind: 'recordEvent', pod, type: 'Normal', reason: 'Because', message, because: [] };
}

function kinds(effects: readonly ExecutorEffect[]): string[] {
  return effects.map((effect) => (effect.kind === 'notice' ? effect.notice.kind : effect.kind));
}

function answerHead(id: string): Extract<ExchangeInput, { kind: 'head' }> {
  return { kind: 'head', id, status: 200, headers: {} };
}

function answered(executor: Executor, id: string, status: number): string[] {
  const headers = {};
  return [
    ...kinds(executor.receive(0, { kind: 'head', id, status, headers })),
    ...kinds(executor.receive(0, { kind: 'end', id })),
  ];
}

describe('Kubernetes Events', () => {
  it('are the recorder’s: equal ones are counted in one', () => {
    const executor = new Executor('taintmgr', {}, () => 0);
    assert.deepEqual(kinds(executor.execute(0, event('x'))), ['send']);
    assert.deepEqual(kinds(executor.execute(0, event('x'))), []);
    assert.deepEqual(answered(executor, 'event/2', 201), ['eventRecorded', 'send']);
  });

  it('name who tells them: the machine that evicts, or the one that watches nodes', () => {
    const executor = new Executor('taintmgr', {}, () => 0);
    const node = { name: 'n1', uid: 'u-n1' };
    const text = { type: 'Normal', reason: 'NodeNotReady', message: '' } as const;
    const events: readonly EventCommand[] = [
      event('x'),
      { ...event('y'), reporter: 'lifecycle' } as EventCommand,
      { kind: 'recordNodeEvent', node, ...text },
    ];
    const told = events
      .flatMap((command) => executor.execute(0, command))
      .map((effect) => {
        assert.ok(effect.kind === 'send');
        const { source, involvedObject } = JSON.parse(effect.request.body ?? '');
        return [source.component, involvedObject.kind, effect.request.path];
      });
    assert.deepEqual(told, [
      ['taintmgr', 'Pod', '/api/v1/namespaces/shop/events'],
      ['node-controller', 'Pod', '/api/v1/namespaces/shop/events'],
      ['node-controller', 'Node', '/api/v1/namespaces/default/events'],
    ]);
  });

  it('do not begin after a stop', () => {
    const executor = new Executor('taintmgr', {}, () => 0);
    for (let n = 0; n < 11; n++) executor.execute(0, event(`${n}`));
    executor.stop();
    assert.deepEqual(kinds(executor.execute(0, event('late'))), []);
    assert.deepEqual(answered(executor, 'event/2', 201), ['eventRecorded']);
    assert.equal(executor.idle, false);
  });
});

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

describe('a removal between its requests', () => {
  for (const [leads, expected] of [
    [true, ['send']],
    [false, ['commandFinished', 'result']],
  ] as const) {
    it(`of a replica that ${leads ? 'leads' : 'leads no more'}: ${expected.join(', ')}`, () => {
      const executor = new Executor('taintmgr', {}, () => 0);
      executor.execute(0, command);
      executor.lead(leads);
      assert.deepEqual(answered(executor, 'call/1', 200), expected);
    });
  }
});

describe('a write to a node between its read and its write', () => {
  const node = { name: 'n1', uid: 'u' };
  const taint = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: null };
  const condition = { type: 'Ready', status: 'Unknown', reason: 'r', message: 'm' };
  const taints = { kind: 'changeTaints', id: 'c1', node, add: [taint], remove: [] } as const;
  const writes: readonly NodeCommand[] = [
    { ...taints, fresh: true, because: [] },
    {
      kind: 'setNodeConditions',
      id: 'c1',
      node,
      conditions: [{ ...condition, heartbeatAt: null, transitionAt: 0 }],
      seen: null,
    },
    { kind: 'markPodNotReady', id: 'c1', pod },
  ];
  for (const write of writes) {
    for (const [leads, expected] of [
      [true, ['send']],
      [false, ['nodeWriteFinished', 'result']],
    ] as const) {
      const who = `a replica that ${leads ? 'leads' : 'leads no more'}`;
      it(`${write.kind} of ${who}: ${expected.join(', ')}`, () => {
        const executor = new Executor('taintmgr', {}, () => 0);
        executor.execute(0, write);
        executor.lead(leads);
        const conditions = [{ type: 'Ready', status: 'True' }];
        const object = { metadata: { name: 'n1', uid: 'u' }, status: { conditions } };
        const isOfPod = write.kind === 'markPodNotReady';
        const body = isOfPod ? object : { ...object, status: {} };
        assert.deepEqual(kinds(executor.receive(0, answerHead('call/1'))), []);
        const data = { kind: 'chunk', id: 'call/1', data: JSON.stringify(body) } as const;
        executor.receive(0, data);
        const ended = executor.receive(0, { kind: 'end', id: 'call/1' });
        assert.deepEqual(kinds(ended), expected);
        // To the engine that would be a sign of life.
        assert.ok(ended.every((one) => one.kind !== 'result' || one.outcome.kind === 'failed'));
      });
    }
  }

  it('does not even begin where the replica leads no more', () => {
    const executor = new Executor('taintmgr', {}, () => 0);
    executor.lead(false);
    const labels: NodeCommand = { kind: 'setNodeLabels', id: 'c1', node, labels: { os: 'linux' } };
    assert.deepEqual(kinds(executor.execute(0, labels)), ['nodeWriteFinished', 'result']);
  });
});

describe('an answer that lay unread while the process stood still', () => {
  for (const [readAfterMs, expected] of [
    [29_999, ['send']],
    [30_000, ['abort', 'commandFinished', 'result']],
  ] as const) {
    it(`read after ${readAfterMs} ms leads to: ${expected.join(', ')}`, () => {
      const executor = new Executor('taintmgr', {}, () => 0);
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
