// What the leader writes into the status of policies, taint rules and pauses, and when.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, makeNode, type Outcome, parseTaint } from '@taintmgr/core';
import { at, Stage, start } from '../world/status-stage.ts';

function condition(type: string, status: string, reason: string, message: string, seconds = 0) {
  const lastTransitionTime = at(seconds);
  return { type, status, reason, message, lastTransitionTime, observedGeneration: 4 };
}

const followed = condition('InForce', 'True', 'Followed', 'the controller follows it');
const rule = {
  condition: { type: 'DiskBroken' },
  taint: { key: 'bad-disk', effect: 'NoSchedule' },
};

describe('the status of policies, taint rules and pauses', () => {
  it('is written as soon as the leader knows them, and not again', () => {
    const stage = new Stage();
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    stage.put('NodeTaintRule', 'disk', rule);
    stage.lead();
    assert.deepEqual(stage.pass(60), ['0s spot', '0.2s disk']);
    assert.deepEqual(stage.status('EvictionPolicy', 'spot'), {
      observedGeneration: 4,
      ...{ pods: 4, pending: 4, held: 0, blocked: 0 },
      conditions: [followed],
    });
    assert.deepEqual(stage.status('NodeTaintRule', 'disk'), {
      observedGeneration: 4,
      ...{ nodesSelected: 2, nodesTainted: 0, nodes: [] },
      conditions: [followed],
    });
  });

  it('of a pause says since when, how many pods, and once a minute for how long', () => {
    const stage = new Stage();
    stage.now += 30_000;
    stage.put('EvictionPause', 'night', { until: at(200) });
    stage.lead();
    assert.deepEqual(stage.pass(125), ['30s night', '60s night', '120s night']);
    assert.deepEqual(stage.status('EvictionPause', 'night'), {
      observedGeneration: 4,
      since: at(0),
      pods: 4,
      timeGivenBack: '2m',
      conditions: [condition('InForce', 'True', 'Holds', 'evictions are held', 30)],
    });
    assert.deepEqual(stage.pass(300), ['180s night', '201s night']);
    assert.deepEqual(stage.status('EvictionPause', 'night'), {
      observedGeneration: 4,
      since: at(0),
      pods: 0,
      timeGivenBack: '3m20s',
      conditions: [condition('InForce', 'False', 'Over', 'its time is over', 201)],
    });
  });

  it('of a pause that lasts says for how many hours', () => {
    const stage = new Stage();
    stage.put('EvictionPause', 'night', {});
    stage.lead();
    stage.pass(2 * 3600 + 65);
    assert.partialDeepStrictEqual(stage.status('EvictionPause', 'night'), {
      timeGivenBack: '2h1m',
    });
  });

  it('leaves since as exact as it is, and moves no deadline', () => {
    const stage = new Stage();
    stage.stored.set('EvictionPause/night', { since: '2025-12-31T23:00:00.123Z' });
    stage.put('EvictionPause', 'night', { deadlines: false, readiness: true });
    stage.lead();
    assert.deepEqual(stage.pass(1), ['0s night']);
    assert.deepEqual(stage.status('EvictionPause', 'night'), {
      observedGeneration: 4,
      since: '2025-12-31T23:00:00.123Z',
      pods: 0,
      conditions: [condition('InForce', 'True', 'Holds', 'only what readiness is about is held')],
    });
  });

  it('names the limit that has tripped and how to go on, and the nodes that wait', () => {
    const stage = new Stage();
    const limits = [{ per: 'Total', pods: 1, onLimit: 'Trip' }];
    stage.put('EvictionPolicy', 'one', { limits });
    stage.put('NodeTaintRule', 'disk', { ...rule, maxNodes: 0 });
    const well = { reason: '', message: '', heartbeatAt: 0, transitionAt: start };
    const conditions = ['Ready', 'DiskBroken'].map((type) => ({ type, status: 'True', ...well }));
    const node = {
      ...makeNode({ name: 'n3', taints: [parseTaint('gone:NoExecute')] }),
      conditions,
    };
    stage.engine.handle(stage.now, { kind: 'nodeUpsert', node });
    for (const name of ['a', 'b']) stage.pod(name, 'n3');
    stage.lead();
    stage.engine.handle(stage.now, { kind: 'tick' });
    assert.deepEqual(stage.pass(4), ['0s one', '0.2s disk']);
    assert.deepEqual(stage.status('EvictionPolicy', 'one'), {
      observedGeneration: 4,
      ...{ pods: 0, pending: 0, held: 1, blocked: 0 },
      conditions: [
        followed,
        condition(
          'LimitTripped',
          'True',
          'Tripped',
          "its pods wait until you run: kubectl taintmgr resume 'total policy=one'",
        ),
      ],
    });
    assert.deepEqual(stage.status('NodeTaintRule', 'disk'), {
      observedGeneration: 4,
      ...{ nodesSelected: 3, nodesTainted: 0, nodes: [] },
      conditions: [
        followed,
        condition(
          'LimitReached',
          'True',
          'MaxNodes',
          '1 more would get the taint if maxNodes let them',
        ),
      ],
    });
  });

  it('names the right that is missing for an action while pods wait for it', () => {
    const stage = new Stage();
    stage.put('EvictionPolicy', 'broken', { action: 'Delete' });
    const taints = [parseTaint('broken:NoExecute')];
    const { engine } = stage;
    engine.handle(stage.now, { kind: 'nodeUpsert', node: makeNode({ name: 'n3', taints }) });
    const answer = (outcome: Outcome): void => {
      const [removal] = engine
        .handle(stage.now, { kind: 'tick' })
        .flatMap((command) => (command.kind === 'deletePod' ? [command] : []));
      engine.handle(stage.now, { kind: 'result', id: removal?.id ?? '', outcome });
    };
    const who = 'User "system:serviceaccount:taintmgr:taintmgr-controller"';
    const what = 'cannot delete resource "pods" in API group "" in the namespace "shop"';
    const message = `pods "web-2" is forbidden: ${who} ${what}`;
    stage.pod('web-2', 'n3');
    engine.handle(stage.now, { kind: 'leadership', held: true });
    answer({ kind: 'failed', status: 403, message, retryAfter: null });
    stage.lead();
    assert.deepEqual(stage.pass(0.1), ['0s broken']);
    const lacked =
      'its pods stay, as the controller has no right to delete pods (add components/deletions to its kustomization, or set policies.deletions of its chart)';
    assert.deepEqual(stage.status('EvictionPolicy', 'broken'), {
      observedGeneration: 4,
      ...{ pods: 5, pending: 5, held: 0, blocked: 0 },
      conditions: [condition('InForce', 'False', 'Forbidden', lacked)],
    });
    stage.now += 1000;
    answer({ kind: 'done' });
    assert.deepEqual(stage.pass(9), ['3s broken']);
    assert.deepEqual(stage.status('EvictionPolicy', 'broken'), {
      observedGeneration: 4,
      ...{ pods: 5, pending: 4, held: 0, blocked: 0 },
      conditions: [{ ...followed, lastTransitionTime: at(3) }],
    });
  });

  it('says why an object is not followed, and keeps since when a pause holds', () => {
    const stage = new Stage(createEngine({ mode: 'evict' }));
    const since = '2025-12-31T23:00:00Z';
    stage.stored.set('EvictionPause/odd', { since, pods: 7, observedGeneration: 3 });
    stage.put('EvictionPause', 'odd', { readiness: 'yes' });
    stage.put('EvictionPolicy', 'ours', { action: 'Keep' }, 'u1', true);
    stage.put('NodeTaintRule', 'disk', rule);
    stage.put('EvictionPause', 'health', { deadlines: false, readiness: true });
    stage.lead();
    assert.deepEqual(stage.pass(60), ['0s odd', '0.2s ours', '0.4s disk', '0.6s health']);
    const not = (reason: string, message: string) => ({
      conditions: [condition('InForce', 'False', reason, message)],
    });
    const fault =
      'spec.readiness: Invalid value: "string": spec.readiness in body must be of type boolean: "string"; some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
    assert.deepEqual(stage.status('EvictionPause', 'odd'), {
      since,
      ...not('CannotBeFollowed', fault),
    });
    assert.deepEqual(
      stage.status('EvictionPolicy', 'ours'),
      not('FileCounts', 'a file of --policy has an object of this name, which counts instead'),
    );
    for (const [kind, name] of [
      ['NodeTaintRule', 'disk'],
      ['EvictionPause', 'health'],
    ] as const) {
      assert.deepEqual(stage.status(kind, name), {
        observedGeneration: 4,
        ...not(
          'ControllerDisabled',
          'node-lifecycle-controller is not among the --controllers that run',
        ),
      });
    }
  });

  it('leaves the progress of a drain that it does not follow to the next leader', () => {
    const stage = new Stage(createEngine({ mode: 'evict' }));
    const drained = {
      type: 'Drained',
      status: 'False',
      lastTransitionTime: at(0),
      reason: 'Running',
      message: '',
    };
    const progress = {
      phase: 'Suspended',
      newer: 1,
      nodeStates: [{ name: 'n1', phase: 'Drained' }],
    };
    const spec = { nodes: ['n1'], taint: { key: 'kernel' } };
    stage.stored.set('NodeDrain/kernel', { ...progress, conditions: [drained] });
    stage.put('NodeDrain', 'kernel', spec);
    stage.stored.set('NodeDrain/other', { ...progress, phase: 'Running' });
    stage.put('NodeDrain', 'other', spec);
    stage.lead();
    stage.pass(60);
    const isOff = condition(
      'InForce',
      'False',
      'ControllerDisabled',
      'node-drain-controller is not among the --controllers that run',
    );
    const fault =
      'status.phase: Unsupported value: "Suspended": supported values: "Blocked", "Drained", "Failed", "Paused", "Pending", "Running", "TimedOut", "Undoing"; some validation rules were not checked because the object was invalid; correct the existing errors to complete validation; remove it, or run the newer version of taintmgr-controller that knows it';
    const unfollowed = condition('InForce', 'False', 'CannotBeFollowed', fault);
    const conditions = [drained, unfollowed];
    assert.deepEqual(stage.status('NodeDrain', 'kernel'), { ...progress, conditions });
    const other = stage.status('NodeDrain', 'other');
    assert.deepEqual(other, { ...progress, phase: 'Running', conditions: [isOff] });
  });

  it('writes nothing on an object whose definition hides fields', () => {
    const stage = new Stage();
    stage.hidden.add('hold');
    stage.put('EvictionPolicy', 'spot', { action: 'Keep' });
    stage.lead();
    assert.deepEqual(stage.pass(60), []);
  });
});

describe('when a status is written', () => {
  const many = (stage: Stage, count: number): void => {
    for (let n = 0; n < count; n++)
      stage.put('EvictionPolicy', `p${n}`, { priority: n, action: 'Keep' });
  };

  it('is at most once in 3 s for each, after what has changed', () => {
    const stage = new Stage();
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    stage.lead();
    stage.pass(1);
    const written = Array.from({ length: 100 }, (_, n) => {
      stage.pod(`more-${n}`, 'n1');
      return stage.pass(0.1);
    }).flat();
    assert.deepEqual(written, ['3s spot', '6s spot', '9s spot']);
    assert.deepEqual(stage.pass(60), ['12s spot']);
  });

  it('is five times in a second, whoever waits longest first', () => {
    const stage = new Stage();
    many(stage, 25);
    stage.lead();
    const times = stage.pass(4).map((line) => line.split('s ')[0]);
    assert.deepEqual(times.slice(0, 6), ['0', '0.2', '0.4', '0.6', '0.8', '1']);
    assert.equal(times.length, 21);
    // All others than those that were written have their turn before any is written again.
    for (const nodeName of ['n1', 'n2']) stage.pod(`new-${nodeName}`, nodeName);
    const names = stage.pass(1).map((line) => line.split(' ')[1]);
    assert.deepEqual(names.slice(0, 4), ['p21', 'p22', 'p23', 'p24']);
  });

  it('is not at once again by the next leader', () => {
    const stage = new Stage();
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    stage.lead();
    stage.pass(1);
    const before = JSON.stringify(stage.status('EvictionPolicy', 'spot'));
    // As an API server shows it: with its members in another order.
    const turned = Object.fromEntries(Object.entries(JSON.parse(before)).reverse());
    const next = new Stage();
    next.now = start + 100_000;
    next.stored.set('EvictionPolicy/spot', turned);
    next.put('EvictionPolicy', 'spot', { action: 'Evict' });
    next.lead();
    assert.deepEqual(next.pass(60), []);
  });

  it('is written again after a minute where somebody took it away, and once', () => {
    const stage = new Stage();
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    stage.lead();
    stage.pass(1);
    const before = stage.status('EvictionPolicy', 'spot');
    stage.stored.delete('EvictionPolicy/spot');
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    assert.deepEqual(stage.pass(58), []);
    assert.deepEqual(stage.pass(4), ['60s spot']);
    assert.deepEqual(
      Object.keys(Object(stage.status('EvictionPolicy', 'spot'))),
      Object.keys(Object(before)),
    );
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    assert.deepEqual(stage.pass(300), []);
  });

  it('is not to undo at once what somebody else wrote, before there is something new to say', () => {
    const stage = new Stage();
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    stage.lead();
    stage.pass(1);
    stage.stored.set('EvictionPolicy/spot', { pending: 999 });
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    assert.deepEqual(stage.pass(50), []);
    stage.pod('late', 'n2');
    assert.equal(stage.pass(3).length, 1);
  });

  it('is at once for another object of the name', () => {
    const stage = new Stage();
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    stage.lead();
    stage.pass(1);
    stage.stored.delete('EvictionPolicy/spot');
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' }, 'another');
    assert.deepEqual(stage.pass(60), ['3s spot']);
  });

  it('is never without leading, nor at the end', () => {
    const standby = new Stage();
    standby.leads = false;
    standby.put('EvictionPolicy', 'spot', { action: 'Evict' });
    standby.synced();
    assert.deepEqual(standby.pass(60), []);
    const deposed = new Stage();
    deposed.put('EvictionPolicy', 'spot', { action: 'Evict' });
    deposed.lead();
    deposed.end('deposed');
    assert.deepEqual(deposed.pass(60), []);
    const ending = new Stage();
    ending.put('EvictionPolicy', 'spot', { action: 'Evict' });
    ending.lead();
    ending.end('stopped');
    assert.deepEqual(ending.pass(60), []);
  });

  it('begins when everything is read', () => {
    const stage = new Stage();
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    stage.lead(false);
    assert.deepEqual(stage.pass(5), []);
    stage.synced();
    assert.equal(stage.pass(2).length, 1);
  });
});

describe('a status that cannot be written', () => {
  const play = (status: number, body: object): Stage => {
    const stage = new Stage();
    stage.answers.set('EvictionPolicy', { status, body });
    stage.put('EvictionPolicy', 'spot', { action: 'Evict' });
    stage.put('EvictionPolicy', 'other', { action: 'Keep' });
    stage.put('NodeTaintRule', 'disk', rule);
    stage.lead();
    return stage;
  };
  const named = { details: { name: 'spot' } };
  const schema = { details: { causes: [{ field: 'status.pods', message: 'unknown' }] } };
  const cases: readonly (readonly [string, number, object, readonly string[]])[] = [
    [
      'without the right: the kind waits a minute',
      403,
      {},
      ['0s spot', '0s evictionpolicies refused', '0.2s disk', '60s other'],
    ],
    [
      'without the kind, or its status: the same',
      404,
      {},
      ['0s spot', '0s evictionpolicies notInstalled', '0.2s disk', '60s other'],
    ],
    [
      'of an object that is gone: nothing is said',
      404,
      named,
      ['0s spot', '0.2s other', '0.4s disk', '60s spot', '63s other'],
    ],
    [
      'of another object of its name: nothing is said',
      422,
      {},
      ['0s spot', '0.2s other', '0.4s disk', '60s spot', '63s other'],
    ],
    [
      'that the definition refuses: each waits a minute',
      422,
      schema,
      ['0s spot', '0s evictionpolicies refused', '0.2s other', '0.4s disk', '60s spot'],
    ],
    [
      'in a conflict: it is tried again after 10 s',
      409,
      {},
      ['0s spot', '0s evictionpolicies failed', '0.2s other', '0.4s disk', '12s spot'],
    ],
    [
      'by a server that is down: nothing is written for 10 s',
      500,
      {},
      ['0s spot', '0s evictionpolicies failed', '10s other', '20s disk', '20.2s spot'],
    ],
  ];
  for (const [name, status, body, want] of cases) {
    it(name, () => {
      const lines = play(status, body).pass(63);
      assert.deepEqual(lines.slice(0, want.length), want);
      assert.ok(lines.length < 15, lines.join('\n'));
    });
  }

  it('is written when it can be, and that is said', () => {
    const stage = play(403, {});
    stage.pass(10);
    stage.answers.clear();
    const lines = stage.pass(60);
    assert.deepEqual(lines, ['60s other', '60s evictionpolicies again', '60.2s spot']);
  });

  it('holds up no heartbeat', () => {
    const stage = play(500, {});
    stage.pass(45);
    assert.deepEqual(stage.heartbeats, [0, 10, 20, 30, 40]);
  });
});
