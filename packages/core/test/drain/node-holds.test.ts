// A NodeDrain waits for windows, gates, and the steps of others before and after each node.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, type Outcome } from '@taintmgr/core';
import type { DrainQuestion } from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';
import { drainOf, knownNode } from './drain-of.ts';
import { World } from './world.ts';

const schedule = '0 2 * * SAT';
const windows = [{ schedule, timeZone: 'Europe/Berlin', duration: '2h' }];
const object = { apiVersion: 'v1', kind: 'Node', name: '{node}', condition: { type: 'Upgraded' } };
const yes: Outcome = { kind: 'done' };
const no = (message: string): Outcome => ({ kind: 'changed', message });

/** A world of two nodes whose questions are answered by a function that the test changes. */
function worldOf(spec: object, answers: World['answers'], status: Partial<NodeDrain> = {}): World {
  const drain = drainOf({ nodes: ['n1', 'n2'], ...spec }, { isGuarded: true, ...status });
  const world = new World(drain, ['n1', 'n2']);
  world.answers = answers;
  return world;
}

/** Until `now` is this instant. */
function passTo(world: World, at: number): void {
  world.pass(at - world.now);
  world.now = at;
  world.tell({ kind: 'tick' });
}

function nameOf(question: DrainQuestion): string {
  return question.kind === 'object' ? question.object.name : question.kind;
}

const nodeStates = (world: World): readonly string[] =>
  world.state().nodes.map(({ phase, reason }) => `${phase} ${reason}`.trim());

const bothDrained = [...['taint n1', 'evict on-n1', 'end n1', 'taint n2', 'evict on-n2', 'end n2']];

describe('a NodeDrain with windows', () => {
  const closed = { ...no('opens Sat'), until: 60_000 } as Outcome;

  it('begins when one opens, to the millisecond, and says before that what it waits for', () => {
    const world = worldOf({ windows }, () => (world.now < 60_000 ? closed : yes));
    passTo(world, 59_999);
    assert.deepEqual(world.log, []);
    assert.equal(world.state().phase, 'Blocked');
    assert.deepEqual(world.state().blockers, ['waits for its window: opens Sat']);
    assert.deepEqual(nodeStates(world), ['Held OutsideWindow', 'Held OutsideWindow']);
    passTo(world, 61_000);
    assert.deepEqual(world.log, bothDrained);
  });

  it('cordons nothing before one opens, where all nodes are cordoned at the start', () => {
    const spec = { windows, cordon: 'AtStart' };
    const world = worldOf(spec, () => (world.now < 60_000 ? closed : yes));
    passTo(world, 59_999);
    assert.deepEqual(world.log, []);
    passTo(world, 61_000);
    assert.match(world.log.join(), /cordon n1/);
  });

  it('finishes a node that has begun when it closes, and begins no other', () => {
    const open: Outcome = { kind: 'done', until: 30_000 };
    const world = worldOf({ windows }, () => (world.now < 30_000 ? open : no('opens Sun')));
    world.refuses.add('on-n1');
    passTo(world, 31_000);
    world.refuses.clear();
    passTo(world, 120_000);
    assert.deepEqual(world.log, ['taint n1', 'evict on-n1', 'end n1']);
    assert.deepEqual(nodeStates(world), ['Drained', 'Held OutsideWindow']);
  });

  it('takes one for open no longer than was said', () => {
    const open: Outcome = { kind: 'done', until: 30_000 };
    const world = worldOf({ windows }, () => (world.now < 30_000 ? open : ''));
    world.refuses.add('on-n1');
    passTo(world, 30_000);
    world.refuses.clear();
    passTo(world, 90_000);
    assert.deepEqual(world.log, ['taint n1', 'evict on-n1', 'end n1']);
    assert.match(world.state().blockers[0] ?? '', /the last answer is too old/);
  });

  it('does not name a closed one where no node waits for its turn', () => {
    const open: Outcome = { kind: 'done', until: 30_000 };
    const world = worldOf({ windows, nodes: ['n1'] }, () =>
      world.now < 30_000 ? open : no('opens Sun'),
    );
    world.refuses.add('on-n1');
    passTo(world, 120_000);
    assert.deepEqual(world.state().blockers, ['pod shop/on-n1: needs 1 healthy pod']);
  });

  it('sends no further pod away while it is closed, where that is asked for', () => {
    const open: Outcome = { kind: 'done', until: 30_000 };
    const isOpen = (): boolean => world.now < 30_000 || world.now >= 90_000;
    const spec = { windows, whileClosed: 'HoldPods' };
    const world = worldOf(spec, () =>
      isOpen()
        ? { ...open, until: world.now < 30_000 ? 30_000 : 900_000 }
        : ({ ...no('opens'), until: 90_000 } as Outcome),
    );
    world.refuses.add('on-n1');
    passTo(world, 31_000);
    world.refuses.clear();
    passTo(world, 89_999);
    assert.deepEqual(world.log, ['taint n1']);
    assert.deepEqual(nodeStates(world), ['Draining OutsideWindow', 'Held OutsideWindow']);
    assert.equal(world.state().phase, 'Blocked');
    passTo(world, 120_000);
    assert.deepEqual(world.log, bothDrained);
  });
});

describe('a NodeDrain with gates', () => {
  const gates = [
    { name: 'storage', object: { ...object, name: 'ceph' } },
    { name: 'alerts', noAlerts: { url: 'http://prometheus', query: 'ALERTS' } },
  ];

  it('begins while all of them are open', () => {
    let alerts: Outcome = no('DiskFull fires');
    const world = worldOf({ gates }, ({ kind }) => (kind === 'noAlerts' ? alerts : yes));
    passTo(world, 20_000);
    assert.deepEqual(world.log, []);
    assert.deepEqual(world.state().blockers, ['waits for gate alerts: DiskFull fires']);
    alerts = yes;
    passTo(world, 30_000);
    assert.deepEqual(world.log, bothDrained);
  });

  it('does not begin while nobody answers, or the answer is an error', () => {
    let answer: Outcome | '' = '';
    const world = worldOf({ gates }, () => answer);
    passTo(world, 600_000);
    assert.deepEqual(world.log, []);
    assert.match(world.state().blockers[0] ?? '', /storage: it is not known yet/);
    const message = 'no answer within 5s';
    answer = { kind: 'failed', status: null, message, retryAfter: null };
    world.start();
    passTo(world, 700_000);
    assert.deepEqual(world.log, []);
    assert.match(world.state().blockers[0] ?? '', /storage: no answer within 5s/);
  });

  it('begins no further node by an answer that is too old', () => {
    let answer: Outcome | '' = yes;
    const world = worldOf({ gates }, () => answer);
    world.refuses.add('on-n1');
    passTo(world, 1_000);
    answer = '';
    passTo(world, 60_000);
    world.refuses.clear();
    passTo(world, 300_000);
    assert.deepEqual(world.log, ['taint n1', 'evict on-n1', 'end n1']);
    assert.match(world.state().blockers[0] ?? '', /the last answer is too old/);
  });
});

describe('a NodeDrain with steps of others', () => {
  const beforeNode = [{ name: 'backup', object, timeout: '1m' }];
  const afterNode = [{ name: 'upgrade', object, timeout: '10m' }];

  it('waits for them before the pods of a node go: it is cordoned and tainted then', () => {
    const ready = new Set<string>();
    const world = worldOf({ beforeNode }, (question) =>
      ready.has(nameOf(question)) ? yes : no('it is False'),
    );
    passTo(world, 20_000);
    assert.equal(world.state().nodes[0]?.waitsSince, null);
    assert.deepEqual(world.log, ['taint n1']);
    assert.deepEqual(nodeStates(world), ['Draining BeforeNode', 'Pending']);
    const words =
      /^node n1: waits for backup: it is False; the node fails at 1970-01-01T00:01:00Z$/;
    assert.match(world.state().blockers[0] ?? '', words);
    ready.add('n1');
    passTo(world, 40_000);
    assert.deepEqual(world.log, ['taint n1', 'evict on-n1', 'end n1', 'taint n2']);
    ready.add('n2');
    passTo(world, 60_000);
    assert.deepEqual(world.log, bothDrained);
  });

  it('waits for them after the pods of a node are gone, before the next one begins', () => {
    const done = new Set<string>();
    const world = worldOf({ afterNode }, (question) =>
      done.has(nameOf(question)) ? yes : no('it is False'),
    );
    passTo(world, 60_000);
    assert.deepEqual(world.log, ['taint n1', 'evict on-n1']);
    assert.deepEqual(nodeStates(world), ['Draining AfterNode', 'Pending']);
    assert.equal(world.state().nodes[0]?.waitsSince, 0);
    done.add('n1');
    done.add('n2');
    passTo(world, 70_000);
    assert.deepEqual(world.log, bothDrained);
    assert.equal(world.state().phase, 'Drained');
  });

  it('waits for steps before a node that has no pods too: it is not drained without them', () => {
    let isReady = false;
    const world = worldOf({ nodes: ['n1'], beforeNode }, () => (isReady ? yes : no('it is False')));
    world.remove('shop/on-n1');
    passTo(world, 20_000);
    assert.deepEqual(nodeStates(world), ['Draining BeforeNode']);
    isReady = true;
    passTo(world, 40_000);
    assert.deepEqual(nodeStates(world), ['Drained']);
  });

  it('fails the node when its time is over, and goes on with the next', () => {
    const world = worldOf({ beforeNode }, (question) =>
      nameOf(question) === 'n2' ? yes : no('it is False'),
    );
    passTo(world, 90_000);
    assert.deepEqual(world.log, ['taint n1', 'taint n2', 'end n1', 'evict on-n2', 'end n2']);
    const [first] = world.state().nodes;
    assert.equal(first?.reason, 'StepTimedOut');
    assert.equal(first?.message, 'waits for backup: it is False');
  });

  it('fails the node when its time is over, to the millisecond', () => {
    const [step] = beforeNode;
    const spec = { nodes: ['n1'], beforeNode: [{ ...step, timeout: '61s' }] };
    const world = worldOf(spec, () => no('it is False'));
    world.pass(60_999);
    assert.deepEqual(nodeStates(world), ['Draining BeforeNode']);
    world.pass(1);
    assert.deepEqual(nodeStates(world), ['Failed StepTimedOut']);
  });

  it('fails the node for a step that is late beside one that may take any time', () => {
    const [step] = beforeNode;
    const steps = [
      { name: 'approval', object },
      { ...step, timeout: '61s' },
    ];
    const world = worldOf({ nodes: ['n1'], beforeNode: steps }, () => no('it is False'));
    world.pass(61_000);
    assert.deepEqual(nodeStates(world), ['Failed StepTimedOut']);
  });

  it('asks for the object of each node, and for none that was done once', () => {
    const asked: string[] = [];
    const step = { ...beforeNode[0], object: { ...object, name: '{node}-of-{node}' } };
    const world = worldOf({ nodes: ['n1'], beforeNode: [step] }, (question) => {
      asked.push(nameOf(question));
      return asked.length < 3 ? no('it is False') : yes;
    });
    world.refuses.add('on-n1');
    world.pass(600_000);
    assert.deepEqual(asked, ['n1-of-n1', 'n1-of-n1', 'n1-of-n1']);
  });

  it('asks for twenty things at one time, and waits for an answer before it asks more', () => {
    const names = Array.from({ length: 25 }, (_, index) => `n${index + 1}`);
    const drain = drainOf({ nodes: names, limits: { nodesAtOnce: 0 }, beforeNode });
    const world = new World(drain, names);
    let asked = 0;
    world.answers = () => {
      asked += 1;
      return '';
    };
    for (let i = 0; i < 5; i++) world.tell({ kind: 'tick' });
    assert.equal(asked, 20);
    assert.notEqual(world.engine.nextWake(), 0);
  });

  it('counts the time of those after it anew where pods came back', () => {
    const world = worldOf({ nodes: ['n1'], afterNode }, () => no('it is False'));
    world.pass(300_000);
    world.refuses.add('late');
    world.show({ name: 'late', nodeName: 'n1' });
    world.pass(400_000);
    assert.equal(world.state().nodes[0]?.waitsSince, null);
    world.remove('shop/late');
    world.pass(599_000);
    assert.deepEqual(nodeStates(world), ['Draining AfterNode']);
    world.pass(1_000);
    assert.deepEqual(nodeStates(world), ['Failed StepTimedOut']);
  });

  it('counts the time of those after it anew for another node of the name', () => {
    const labels = { pool: 'blue' };
    const drain = drainOf({
      ...{ nodeSelector: { matchLabels: labels } },
      laterNodes: 'Drain',
      afterNode,
    });
    const world = new World(drain, [{ name: 'n1', labels }]);
    world.answers = () => no('it is False');
    world.pass(300_000);
    assert.deepEqual(nodeStates(world), ['Draining AfterNode']);
    world.tell({ kind: 'nodeDelete', name: 'n1' });
    world.showNode({ ...makeNode({ name: 'n1', labels }), uid: 'other', createdAt: world.now });
    world.pass(599_000);
    assert.deepEqual(nodeStates(world), ['Draining AfterNode']);
    world.pass(1_000);
    assert.deepEqual(nodeStates(world), ['Failed StepTimedOut']);
  });

  it('goes on as though they were done, where that is asked for', () => {
    const [step] = beforeNode;
    const spec = { beforeNode: [{ ...step, onTimeout: 'GoOn' }] };
    const world = worldOf(spec, () => no('it is False'));
    passTo(world, 150_000);
    assert.deepEqual(world.log, bothDrained);
  });

  it('counts their time from before a restart', () => {
    const known = [knownNode('n1', 'Draining', { startedAt: 0, waitsSince: 0 })];
    const status = { observedGeneration: 1, startedAt: 0, known };
    const world = worldOf({ nodes: ['n1'], afterNode }, () => no('it is False'), status);
    world.pods.clear();
    world.nodes.set('n1', makeNode({ name: 'n1', taints: ['work:NoSchedule'] }));
    world.now = 599_000;
    world.start();
    passTo(world, 599_900);
    assert.deepEqual(nodeStates(world), ['Draining AfterNode']);
    passTo(world, 600_000);
    assert.deepEqual(nodeStates(world), ['Failed StepTimedOut']);
  });
});
