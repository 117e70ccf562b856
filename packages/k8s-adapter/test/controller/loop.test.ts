import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import { Loop, type LoopOptions, type Notice } from '../../src/controller/engine-loop.ts';
import type { LoopAction, LoopInput } from '../../src/controller/loop-parts.ts';
import { listJson, nodeJson, podJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';

/** Plays the driver by hand: prints actions as short lines, answers requests by their id. */
class Stage {
  readonly loop: Loop;
  now = Date.parse('2026-01-01T00:00:00Z');

  constructor(options: Partial<LoopOptions> = {}) {
    this.loop = new Loop({
      machine: createEngine(),
      random: random(0),
      streamLists: false,
      ...options,
    });
  }

  /** Hands it the inputs, and then the tick that it asks for now, as a driver does. */
  feed(...inputs: LoopInput[]): string[] {
    const actions = inputs.flatMap((input) => this.loop.handle(this.now, input));
    const wake = this.loop.nextWake();
    if (wake !== null && wake <= this.now) {
      actions.push(...this.loop.handle(this.now, { kind: 'tick' }));
    }
    return actions.map(describeAction);
  }

  /** Lets time pass, with the ticks that are due in it. */
  wait(ms: number): string[] {
    const until = this.now + ms;
    const actions: string[] = [];
    for (;;) {
      const wake = this.loop.nextWake();
      this.now = Math.max(this.now, Math.min(wake ?? until, until));
      actions.push(...this.feed({ kind: 'tick' }));
      if (wake === null || wake >= until) return actions;
    }
  }

  answer(
    id: string,
    status: number,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ): string[] {
    return this.feed(
      { kind: 'head', id, status, headers },
      { kind: 'chunk', id, data: JSON.stringify(body) },
      { kind: 'end', id },
    );
  }

  event(id: string, type: string, object: object): string[] {
    return this.feed({ kind: 'chunk', id, data: `${JSON.stringify({ type, object })}\n` });
  }

  /** Nothing was heard for 20 s, then the first eviction, which had failed, is tried again. */
  static late(): Stage {
    const [stage] = Stage.synced();
    stage.answer('call/1', 500, {}, { 'retry-after': '20' });
    stage.now += 20_000;
    assert.ok(stage.feed({ kind: 'tick' }).includes('call/2 GET /api/v1/namespaces/shop/pods/a'));
    return stage;
  }

  /** Started, and both lists answered. */
  static synced(options: Partial<LoopOptions> = {}): [Stage, string[]] {
    const stage = new Stage(options);
    stage.feed({ kind: 'start' });
    stage.answer(
      'nodes/1',
      200,
      listJson('Node', '10', nodeJson('n1', '3', 'bad'), nodeJson('n2', '4')),
    );
    const pods = listJson('Pod', '11', podJson('a', 'n1', '5'), podJson('b', 'n2', '6'));
    return [stage, stage.answer('pods/1', 200, pods)];
  }
}

function describeAction(action: LoopAction<Notice>): string {
  if (action.kind === 'abort') return `abort ${action.id}`;
  if (action.kind === 'send') {
    const { method, path } = action.request;
    return `${action.id} ${method} ${path.split('?')[0]}`;
  }
  const { notice } = action;
  switch (notice.kind) {
    case 'commandSent':
      return `sent ${notice.command.kind} ${notice.command.pod.name}`;
    case 'commandFinished':
      return `finished ${notice.command.pod.name} ${notice.outcome.kind} after ${notice.took}`;
    case 'report':
      return `report ${notice.report.kind} ${'pod' in notice.report ? notice.report.pod.name : ''}`;
    case 'reconnecting':
      return `reconnecting ${notice.resource} ${notice.next}`;
    default:
      return notice.kind;
  }
}

const evictionOfA = ['sent deletePod a', 'call/1 PATCH /api/v1/namespaces/shop/pods/a/status'];

describe('what a loop is told before it starts', () => {
  it('is heard by its machine', () => {
    const heard: string[] = [];
    const engine = createEngine();
    const handle: typeof engine.handle = (now, event) => {
      heard.push(event.kind);
      return engine.handle(now, event);
    };
    const stage = new Stage({ machine: { handle, nextWake: () => engine.nextWake() } });
    const others = { kind: 'nobody', text: '', advice: '' } as const;
    stage.feed({ kind: 'event', event: { kind: 'otherEvictors', others } });
    stage.feed({ kind: 'start' });
    assert.deepEqual(heard.slice(0, 1), ['otherEvictors']);
  });
});

describe('loop', () => {
  it('is late since a tick is due for all it knows, and not since a pod is', () => {
    const stage = new Stage();
    const taints = [{ key: 'bad', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }];
    stage.now += 7_200_000;
    stage.feed({ kind: 'start' });
    stage.answer(
      'nodes/1',
      200,
      listJson('Node', '10', { ...nodeJson('n1', '3'), spec: { taints } }),
    );
    const { loop, now } = stage;
    assert.equal(loop.lateBy(now), 0);
    const pods = JSON.stringify(listJson('Pod', '11', podJson('a', 'n1', '5')));
    for (const input of [
      { kind: 'head', id: 'pods/1', status: 200, headers: {} },
      { kind: 'chunk', id: 'pods/1', data: pods },
      { kind: 'end', id: 'pods/1' },
    ] as const)
      loop.handle(now, input);
    assert.equal(loop.nextWake(), now, 'who has been due for long is due now');
    assert.deepEqual([loop.lateBy(now), loop.lateBy(now + 90_000)], [0, 90_000]);
    loop.handle(now + 90_000, { kind: 'tick' });
    assert.equal(loop.lateBy(now + 90_000), 0);
  });

  it('lists, and acts when nodes and pods are both known', () => {
    const stage = new Stage();
    assert.deepEqual(stage.feed({ kind: 'start' }), [
      'nodes/1 GET /api/v1/nodes',
      'pods/1 GET /api/v1/pods',
    ]);
    const pods = listJson('Pod', '11', podJson('a', 'n1', '5'));
    assert.deepEqual(stage.answer('pods/1', 200, pods), ['listed', 'pods/2 GET /api/v1/pods']);
    assert.equal(stage.loop.synced, false);
    const actions = stage.answer(
      'nodes/1',
      200,
      listJson('Node', '10', nodeJson('n1', '3', 'bad')),
    );
    assert.deepEqual(
      actions.filter((text) => !text.startsWith('report')),
      [
        'listed',
        'synced',
        'nodes/2 GET /api/v1/nodes',
        'event/2 POST /api/v1/namespaces/shop/events',
        ...evictionOfA,
      ],
    );
    assert.equal(stage.loop.synced, true);
  });

  it('marks, deletes and is done', () => {
    const [stage] = Stage.synced();
    stage.now += 40;
    assert.deepEqual(stage.answer('call/1', 200, {}), [
      'call/2 DELETE /api/v1/namespaces/shop/pods/a',
    ]);
    stage.now += 60;
    assert.deepEqual(stage.answer('call/2', 200, {}), ['finished a done after 100']);
    assert.deepEqual(stage.answer('event/2', 201, {}), ['eventRecorded']);
  });

  it('tells when the mark is refused, and deletes all the same', () => {
    const [stage] = Stage.synced();
    assert.deepEqual(stage.answer('call/1', 403, { message: 'no' }), [
      'markRefused',
      'call/2 DELETE /api/v1/namespaces/shop/pods/a',
    ]);
  });

  it('hears of a taint by the watch', () => {
    const [stage] = Stage.synced();
    stage.feed({ kind: 'head', id: 'nodes/2', status: 200, headers: {} });
    const actions = stage.event('nodes/2', 'MODIFIED', nodeJson('n2', '12', 'bad'));
    assert.ok(actions.includes('sent deletePod b'), actions.join('\n'));
  });

  it('leaves no command without an end: a call has 30 s, what comes later is not heard', () => {
    const [stage] = Stage.synced();
    stage.now += 29_999;
    assert.deepEqual(stage.feed({ kind: 'tick' }), []);
    stage.now += 1;
    const actions = stage.feed({ kind: 'tick' });
    const about = actions.filter((text) => /call|finished|report/.test(text));
    assert.deepEqual(about, ['abort call/1', 'finished a failed after 30000', 'report retry a']);
    assert.deepEqual(stage.answer('call/1', 200, {}), []);
    const wake = stage.loop.nextWake() ?? assert.fail('nothing planned');
    stage.now = wake;
    const again = stage.feed({ kind: 'tick' });
    assert.ok(
      again.includes('call/2 GET /api/v1/namespaces/shop/pods/a'),
      'the view is old by now',
    );
  });

  it('reads pod and node again before it removes a pod on an old view', () => {
    const stage = Stage.late();
    assert.deepEqual(stage.answer('call/2', 200, podJson('a', 'n1', '5')), [
      'call/3 GET /api/v1/nodes/n1',
    ]);
    assert.deepEqual(stage.answer('call/3', 200, nodeJson('n1', '3', 'bad')), [
      'call/4 PATCH /api/v1/namespaces/shop/pods/a/status',
    ]);
  });

  it('reads nothing again while the connection brings what there is', () => {
    const [stage] = Stage.synced();
    const watches = ['nodes/2', 'pods/2'];
    for (const id of watches) stage.feed({ kind: 'head', id, status: 200, headers: {} });
    stage.answer('call/1', 500, {}, { 'retry-after': '20' });
    stage.now += 20_000;
    const sent = stage.feed(...watches.map((id) => ({ kind: 'alive', id, age: 5_000 }) as const));
    assert.ok(sent.includes('call/2 PATCH /api/v1/namespaces/shop/pods/a/status'), sent.join());
  });

  const changes: readonly [string, number, object, string][] = [
    ['the taint is gone', 200, nodeJson('n1', '9'), 'changed'],
    ['the node is gone', 404, {}, 'changed'],
  ];
  for (const [name, status, node, outcome] of changes) {
    it(`leaves the pod where ${name}, and waits for the watch to tell`, () => {
      const stage = Stage.late();
      stage.answer('call/2', 200, podJson('a', 'n1', '5'));
      assert.deepEqual(stage.answer('call/3', status, node), [
        `finished a ${outcome} after 0`,
        'report retry a',
      ]);
    });
  }

  it('leaves another pod of the name alone', () => {
    const stage = Stage.late();
    const other = { ...podJson('a', 'n1', '5'), metadata: { name: 'a', uid: 'other' } };
    assert.deepEqual(stage.answer('call/2', 200, other), ['finished a gone after 0']);
  });

  it('writes on the node since when a taint counts that does not say it', () => {
    const tolerations = [{ key: 'bad', operator: 'Exists', tolerationSeconds: 60 }];
    const stage = new Stage();
    stage.feed({ kind: 'start' });
    const node = nodeJson('n1', '3', 'bad');
    const fieldsV1 = { 'f:spec': { 'f:taints': {} } };
    const managedFields = [{ manager: 'm', time: '2020-01-01T00:00:00Z', fieldsV1 }];
    Object.assign((node as { metadata: object }).metadata, { managedFields });
    stage.answer('nodes/1', 200, listJson('Node', '10', node));
    const pod = { ...podJson('a', 'n1', '5'), spec: { nodeName: 'n1', tolerations } };
    const actions = stage.answer('pods/1', 200, listJson('Pod', '11', pod));
    assert.ok(actions.includes('call/1 PATCH /api/v1/nodes/n1'), actions.join('\n'));
    assert.deepEqual(stage.answer('call/1', 200, {}), ['taintStartsKept']);
  });

  it('stops: watches end, the call under way comes to its end, nothing new begins', () => {
    const [stage] = Stage.synced();
    assert.deepEqual(stage.feed({ kind: 'stop' }), ['abort nodes/2', 'abort pods/2']);
    assert.equal(stage.loop.closed, false);
    assert.deepEqual(stage.event('nodes/2', 'MODIFIED', nodeJson('n2', '12', 'bad')), []);
    assert.deepEqual(stage.answer('event/2', 201, {}), ['eventRecorded']);
    assert.deepEqual(stage.answer('call/1', 200, {}), []);
    assert.equal(stage.loop.closed, true);
    assert.equal(stage.loop.nextWake(), null);
  });

  it('reads only: no watch, no request but the lists', () => {
    const [stage, actions] = Stage.synced({ readOnly: true });
    assert.deepEqual(
      actions.filter((text) => !text.startsWith('report')),
      ['listed', 'synced'],
    );
    assert.deepEqual(
      stage.loop.status().map(({ state }) => state),
      ['Rested', 'Rested'],
    );
  });

  it('does not tell the machine of what is not accepted', () => {
    const [, actions] = Stage.synced({ acceptsPod: (pod) => pod.name !== 'a' });
    assert.ok(!actions.some((text) => text.startsWith('sent')));
  });

  it('takes an object for deleted that is accepted no longer', () => {
    const acceptsNode = (node: { taints: readonly object[] }): boolean => node.taints.length < 2;
    const [stage] = Stage.synced({ acceptsNode });
    stage.answer('call/1', 500, { message: 'not now' });
    stage.feed({ kind: 'head', id: 'nodes/2', status: 200, headers: {} });
    const actions = stage.event('nodes/2', 'MODIFIED', nodeJson('n1', '12', 'bad', 'worse'));
    assert.ok(actions.includes('report deadline a'), actions.join('\n'));
  });

  it('hands on events from elsewhere', () => {
    const machine = createEngine({ leader: false });
    const [stage, actions] = Stage.synced({ machine });
    assert.ok(!actions.some((text) => text.startsWith('sent')));
    const led = stage.feed({ kind: 'event', event: { kind: 'leadership', held: true } });
    assert.ok(led.includes('sent deletePod a'), led.join('\n'));
  });

  it('told to stand by, ends evictions under way and begins none, until told otherwise', () => {
    const [stage] = Stage.synced();
    const told = stage.feed({ kind: 'event', event: { kind: 'leadership', held: false } });
    assert.deepEqual(told, ['abort call/1', 'finished a failed after 0', 'report retry a']);
    assert.deepEqual(stage.answer('call/1', 200, {}), []);
    assert.ok(!stage.wait(60_000).some((text) => text.startsWith('call/')));
    const led = stage.feed({ kind: 'event', event: { kind: 'leadership', held: true } });
    assert.ok(led.includes('sent deletePod a'), led.join('\n'));
  });

  it('is cut off from the first failure on, however often it tries in vain, until it hears', () => {
    const [stage] = Stage.synced();
    assert.equal(stage.loop.cutOffSince, null);
    const since = stage.now;
    let sent = stage.feed({ kind: 'failed', id: 'nodes/2', message: 'refused' });
    for (let tries = 0; tries < 4; tries++) {
      assert.equal(stage.loop.cutOffSince, since);
      stage.now = stage.loop.nextWake() ?? assert.fail('nothing planned');
      sent = [...sent, ...stage.feed({ kind: 'tick' })];
      const [id = ''] = sent.findLast((text) => text.startsWith('nodes/'))?.split(' ') ?? [];
      assert.equal(stage.loop.cutOffSince, since);
      if (tries < 3) sent = stage.feed({ kind: 'failed', id, message: 'refused' });
      else stage.feed({ kind: 'head', id, status: 200, headers: {} });
    }
    assert.equal(stage.loop.cutOffSince, null);
  });

  it('says how far it has read', () => {
    const [stage] = Stage.synced();
    assert.deepEqual(stage.loop.status(), [
      { resource: 'nodes', state: 'Watching', heardAt: stage.now },
      { resource: 'pods', state: 'Watching', heardAt: stage.now },
    ]);
  });
});
