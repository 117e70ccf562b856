import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command, Taint } from '@taintmgr/core';
import { Executor, type ExecutorEffect } from '../../src/controller/executor.ts';
import { type EngineNotice, engineProcedures } from '../../src/controller/procedures/engine.ts';

type EventCommand = Extract<Command, { kind: 'recordEvent' | 'recordNodeEvent' }>;
type EngineExecutor = Executor<Command, EngineNotice>;

const pod = { namespace: 'shop', name: 'a', uid: 'u', nodeName: 'n1' };

function newExecutor(): EngineExecutor {
  const procedures = engineProcedures();
  return new Executor({ procedures, component: 'taintmgr', random: () => 0 });
}

function event(message: string): EventCommand {
  return { kind: 'recordEvent', pod, type: 'Normal', reason: 'Because', message, because: [] };
}

function kinds(effects: readonly ExecutorEffect<EngineNotice>[]): string[] {
  return effects.map((effect) => (effect.kind === 'notice' ? effect.notice.kind : effect.kind));
}

function answered(executor: EngineExecutor, id: string, status: number): string[] {
  const headers = {};
  return [
    ...kinds(executor.receive(0, { kind: 'head', id, status, headers })),
    ...kinds(executor.receive(0, { kind: 'end', id })),
  ];
}

describe('Kubernetes Events', () => {
  it('are the recorder’s: equal ones are counted in one', () => {
    const executor = newExecutor();
    assert.deepEqual(kinds(executor.execute(0, event('x'))), ['send']);
    assert.deepEqual(kinds(executor.execute(0, event('x'))), []);
    assert.deepEqual(answered(executor, 'event/2', 201), ['eventRecorded', 'send']);
  });

  it('name who tells them: the machine that evicts, or the one that watches nodes', () => {
    const executor = newExecutor();
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

  it('are recorded no more after a stop, and those that wait are written', () => {
    const executor = newExecutor();
    for (let n = 0; n < 11; n++) executor.execute(0, event(`${n}`));
    executor.stop(0);
    assert.deepEqual(kinds(executor.execute(0, event('late'))), []);
    assert.deepEqual(answered(executor, 'event/2', 201), ['eventRecorded', 'send']);
    assert.equal(executor.idle, false);
    assert.equal(executor.rests, true, 'no command is under way');
  });

  it('yield to evictions', () => {
    const executor = newExecutor();
    const sent: string[] = [];
    const podEvent = event('x');
    assert.ok(podEvent.kind === 'recordEvent');
    for (let n = 0; n < 20; n++) {
      const one = { ...pod, name: `p${n}`, uid: `u${n}` };
      const effects = [
        ...executor.execute(n, { ...podEvent, pod: one }),
        ...executor.execute(n, { ...command, id: `c${n}`, pod: one, confirm: false }),
      ];
      for (const effect of effects) if (effect.kind === 'send') sent.push(effect.request.method);
    }
    assert.equal(sent.filter((method) => method === 'PATCH').length, 20);
    assert.equal(sent.filter((method) => method === 'POST').length, 8, 'before it was a burst');
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

describe('an answer that lay unread while the process stood still', () => {
  for (const [readAfterMs, expected] of [
    [29_999, ['send']],
    [30_000, ['abort', 'commandFinished', 'result']],
  ] as const) {
    it(`read after ${readAfterMs} ms leads to: ${expected.join(', ')}`, () => {
      const executor = newExecutor();
      executor.execute(0, command);
      const answer = [
        { kind: 'head', id: 'call/1', status: 200, headers: {} },
        {
          kind: 'chunk',
          id: 'call/1',
          data: '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"shop","uid":"u"}}',
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

describe('a stop', () => {
  const node = { name: 'n1', uid: 'u-n1' };
  const taint: Taint = { key: 'lost', value: '', effect: 'NoExecute', timeAdded: null };
  const kind = { kind: 'Node', apiVersion: 'v1' };
  const read = { ...kind, metadata: { name: 'n1', uid: 'u-n1', resourceVersion: '1' }, spec: {} };
  const commands: readonly [Command, object][] = [
    [
      {
        ...{ kind: 'changeTaints', id: 'c1', node },
        ...{ add: [taint], remove: [], fresh: false, because: [] },
      },
      read,
    ],
    [
      {
        ...{ kind: 'writeDrainNode', id: 'c1', nodeName: 'n1', drain: 'kernel', uid: 'u-k' },
        ...{ taint, write: { kind: 'cordon' } },
      },
      read,
    ],
    [
      command,
      { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', namespace: 'shop', uid: 'u' } },
    ],
  ];
  for (const [one, object] of commands) {
    const parts = [
      { kind: 'head', id: 'call/1', status: 200, headers: {} },
      { kind: 'chunk', id: 'call/1', data: JSON.stringify(object) },
      { kind: 'end', id: 'call/1' },
    ] as const;
    const takes = (executor: EngineExecutor) =>
      kinds(parts.flatMap((part) => executor.receive(0, part)));

    it(`lets a ${one.kind} that has only read send nothing more`, () => {
      const going = newExecutor();
      going.execute(0, one);
      assert.deepEqual(takes(going), ['send'], 'it would write');
      const stopped = newExecutor();
      stopped.execute(0, one);
      stopped.stop(0);
      assert.deepEqual(takes(stopped), []);
      assert.equal(stopped.idle, true);
    });
  }
});
