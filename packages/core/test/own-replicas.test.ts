// The last ready replica of the controller itself stays, whatever taints, drains and policies say, and goes
// when another is ready.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  type Config,
  createEngine,
  describeReason,
  type Engine,
  type Event,
  makeNode,
  makePod,
  type Node,
  type Outcome,
  type Pod,
} from '@taintmgr/core';
import { drainOf } from './drain/drain-of.ts';
import { World } from './drain/world.ts';
import { fc } from './fast-check.ts';
import {
  bad,
  labels,
  type Manners,
  namespace,
  nodeNames,
  nodeOf,
  owner,
  readyIs,
  replica,
  type Step,
  step,
  Town,
} from './replica-town.ts';

/** An engine of the pod controller-a, which has heard of all this. */
function engineWith(config: Partial<Config>, nodes: readonly Node[], pods: readonly Pod[]): Engine {
  const engine = createEngine({ ownPod: { namespace, name: 'a' }, ...config });
  for (const node of nodes) engine.handle(0, { kind: 'nodeUpsert', node });
  for (const pod of pods) engine.handle(0, { kind: 'podUpsert', pod });
  engine.handle(0, { kind: 'synced' });
  return engine;
}

function removed(commands: readonly Command[]): readonly string[] {
  return commands.flatMap((one) =>
    one.kind === 'deletePod' || one.kind === 'evictPod' ? [one.pod.name] : [],
  );
}

const everywhere = ['n1', 'n2', 'n3'].map((name) => nodeOf(name, [bad]));
const modes = ['delete', 'evict', 'evict-then-delete'] as const;

describe('the last ready replica of our own', () => {
  const cases: readonly [
    what: string,
    nodes: readonly Node[],
    pods: readonly Pod[],
    gone: readonly string[],
  ][] = [
    [
      'of two on tainted nodes ours stays',
      everywhere,
      [replica('a', 'n1'), replica('b', 'n2')],
      ['b'],
    ],
    ['the only one stays', everywhere, [replica('a', 'n1')], []],
    [
      'one that is not ready may go',
      everywhere,
      [replica('a', 'n1'), replica('b', 'n2', { ready: 'False' })],
      ['b'],
    ],
    [
      'ours stays where the other is not ready',
      [nodeOf('n1', [bad]), nodeOf('n2', [])],
      [replica('a', 'n1'), replica('b', 'n2', { ready: 'False' })],
      [],
    ],
    [
      'ours stays where the other is on a dead node',
      [nodeOf('n1', [bad]), nodeOf('n2', [], 'Unknown')],
      [replica('a', 'n1'), replica('b', 'n2')],
      [],
    ],
    [
      'ours stays where the other terminates',
      [nodeOf('n1', [bad]), nodeOf('n2', [])],
      [replica('a', 'n1'), replica('b', 'n2', { deletionTimestamp: 1 })],
      [],
    ],
    [
      'ours goes where another is ready',
      [nodeOf('n1', [bad]), nodeOf('n2', [])],
      [replica('a', 'n1'), replica('b', 'n2')],
      ['a'],
    ],
    [
      'a replica on a dead node goes',
      [nodeOf('n1', []), nodeOf('n2', ['node.kubernetes.io/unreachable:NoExecute'], 'Unknown')],
      [replica('a', 'n1'), replica('b', 'n2')],
      ['b'],
    ],
    [
      'one of the ReplicaSet before counts',
      [nodeOf('n1', [bad]), nodeOf('n2', [])],
      [
        replica('a', 'n1'),
        replica('b', 'n2', {
          owner: { ...owner, name: 'controller-77aa' },
          labels: { ...labels, 'pod-template-hash': '77aa' },
        }),
      ],
      ['a'],
    ],
    [
      'the labels of ours make no replica in another namespace',
      everywhere,
      [replica('a', 'n1'), replica('b', 'n2', { namespace: 'shop' })],
      ['b'],
    ],
    [
      'a pod of another controller does not stand in for ours',
      [nodeOf('n1', [bad]), nodeOf('n2', [])],
      [replica('a', 'n1'), replica('b', 'n2', { owner: { ...owner, name: 'x' } })],
      [],
    ],
    [
      'a pod without a controller stands alone',
      everywhere,
      [replica('a', 'n1', { owner: null }), replica('b', 'n2', { owner: null })],
      ['b'],
    ],
  ];
  for (const [what, nodes, pods, gone] of cases) {
    for (const mode of modes) {
      it(`${what} (${mode})`, () => {
        assert.deepEqual(
          removed(engineWith({ mode }, nodes, pods).handle(0, { kind: 'tick' })),
          gone,
        );
      });
    }
  }

  it('has no rule where nobody tells which pod runs this', () => {
    const pods = [replica('a', 'n1'), replica('b', 'n2')];
    const engine = engineWith({ ownPod: null }, everywhere, pods);
    assert.deepEqual(removed(engine.handle(0, { kind: 'tick' })), ['a', 'b']);
  });

  it('is named in explanations, and goes at once when another is ready', () => {
    const engine = engineWith({}, everywhere, [replica('a', 'n1')]);
    engine.handle(0, { kind: 'tick' });
    const explained = engine.explain(0, { kind: 'pod', namespace, name: 'a' });
    assert.ok(explained?.kind === 'pod' && explained.decision.kind === 'keep');
    assert.deepEqual(explained.decision.because.map(describeReason), [
      'the last ready replica of Deployment controller; it is evicted when another is ready',
      'no toleration for gpu=failed:NoExecute',
    ]);
    assert.equal(engine.lastReplica()?.pod.name, 'a');
    assert.deepEqual([engine.counts().pending, engine.counts().held], [0, 1]);
    engine.handle(5000, { kind: 'nodeUpsert', node: nodeOf('n4', []) });
    const [b, starting] = [replica('b', 'n4'), replica('b', 'n4', { ready: 'False' })];
    engine.handle(6000, { kind: 'podUpsert', pod: starting });
    assert.deepEqual(engine.handle(6000, { kind: 'tick' }), []);
    assert.equal(engine.nextWake(), null);
    engine.handle(7000, { kind: 'podUpsert', pod: b });
    assert.equal(engine.nextWake(), 7000);
    assert.equal(engine.lastReplica(), null);
    assert.deepEqual(removed(engine.handle(7000, { kind: 'tick' })), ['a']);
  });

  it('stays when the other one that stood in for it is not ready before its time is over', () => {
    const given = { tolerations: [{ operator: 'Exists', tolerationSeconds: 60n }] };
    const nodes = [nodeOf('n1', [bad]), nodeOf('n2', [])];
    const engine = engineWith({}, nodes, [replica('a', 'n1', given), replica('b', 'n2')]);
    engine.handle(0, { kind: 'tick' });
    assert.equal(engine.nextWake(), 60_000);
    engine.handle(59_000, { kind: 'nodeUpsert', node: nodeOf('n2', [], 'Unknown') });
    assert.deepEqual(removed(engine.handle(60_000, { kind: 'tick' })), []);
    engine.handle(90_000, { kind: 'nodeUpsert', node: nodeOf('n2', []) });
    assert.deepEqual(removed(engine.handle(90_000, { kind: 'tick' })), ['a']);
  });

  it('stays while a request for the other is under way that is wanted no more', () => {
    const calm = [nodeOf('n1', []), nodeOf('n2', [bad])];
    const pods = [replica('a', 'n1'), replica('b', 'n2')];
    const engine = engineWith({ mode: 'evict' }, calm, pods);
    const sent = engine.handle(0, { kind: 'tick' });
    assert.deepEqual(removed(sent), ['b']);
    engine.handle(100, { kind: 'nodeUpsert', node: nodeOf('n2', []) });
    engine.handle(100, { kind: 'nodeUpsert', node: nodeOf('n1', [bad]) });
    assert.deepEqual(removed(engine.handle(200, { kind: 'tick' })), []);
    const id = sent.flatMap((one) => (one.kind === 'evictPod' ? one.id : []))[0] ?? assert.fail();
    const outcome = { kind: 'blocked', message: 'a budget', retryAfter: null } as const;
    engine.handle(300, { kind: 'result', id, outcome });
    assert.deepEqual(removed(engine.handle(300, { kind: 'tick' })), ['a']);
  });

  it('goes after all when the request that sent the other away was refused', () => {
    const nodes = [nodeOf('n1', [bad]), nodeOf('n2', [bad])];
    const engine = engineWith({ mode: 'evict' }, nodes, [replica('a', 'n1'), replica('b', 'n2')]);
    const [sent] = engine.handle(0, { kind: 'tick' }).filter((one) => one.kind === 'evictPod');
    assert.ok(sent?.kind === 'evictPod' && sent.pod.name === 'b');
    const outcome: Outcome = { kind: 'blocked', message: 'a budget', retryAfter: null };
    engine.handle(0, { kind: 'result', id: sent.id, outcome });
    engine.handle(1, { kind: 'nodeUpsert', node: nodeOf('n2', []) });
    assert.deepEqual(removed(engine.handle(1, { kind: 'tick' })), ['a']);
  });
});

describe('a NodeDrain of all nodes', () => {
  for (const mode of modes) {
    it(`says that it waits for another replica, and takes the last one then (${mode})`, () => {
      const nodes = ['n1', 'n2', 'n3'].map((name) => ({ name, conditions: readyIs('True') }));
      const pods = [replica('a', 'n1'), replica('b', 'n2')].map((pod) => ({
        ...pod,
        tolerations: [],
      }));
      const drain = drainOf({
        taint: { key: 'work', effect: 'NoSchedule' },
        nodes: ['n1', 'n2'],
        limits: { nodesAtOnce: 2 },
      });
      const world = new World(drain, nodes, pods, { mode, ownPod: { namespace, name: 'a' } });
      world.pass(300_000);
      assert.deepEqual(
        world.log.filter((line) => line.startsWith('evict')),
        ['evict a'],
      );
      const { phase, pods: left, blockers } = world.state();
      const why =
        'the last ready replica of Deployment controller; it is evicted when another is ready';
      assert.deepEqual(blockers, [`pod ${namespace}/b: ${why}`]);
      assert.equal(phase, 'Blocked');
      assert.deepEqual(
        left.map(({ pod, hold }) => [pod, hold]),
        [
          [
            `${namespace}/b`,
            'the last ready replica of Deployment controller; it is evicted when another is ready',
          ],
        ],
      );
      world.show({ ...replica('c', 'n3'), tolerations: [] });
      world.pass(1_000);
      assert.equal(world.log.filter((line) => line.startsWith('evict')).at(-1), 'evict b');
      assert.equal(world.state().phase, 'Drained');
    });
  }
  it('lets ours go once a request that another drain sent has come to nothing', () => {
    const nodes = ['n1', 'n2', 'n3'].map((name) => ({ name, conditions: readyIs('True') }));
    const pods = [replica('a', 'n1'), replica('b', 'n2')].map((pod) => ({
      ...pod,
      tolerations: [],
    }));
    const refused: Outcome = { kind: 'blocked', message: 'a budget', retryAfter: null };
    const first = drainOf({ nodes: ['n2'] });
    for (const [outcome, end] of [
      [refused, { isDeleted: true }],
      [{ kind: 'done' }, { isDeleted: true }],
      [{ kind: 'done' }, { spec: { ...first.spec, paused: true } }],
    ] as const) {
      const config = { mode: 'evict', ownPod: { namespace, name: 'a' } } as const;
      const world = new World(first, nodes, pods, config);
      world.mishap = () => ({ outcome, after: 3_000 });
      world.pass(1_000);
      world.declare({ ...first, isGuarded: true, ...end });
      world.pass(10_000);
      world.mishap = () => null;
      const second = { name: 'second', uid: 'u2' };
      world.declare(drainOf({ nodes: ['n1'], taint: { key: 'other' } }, second));
      world.pass(1_000);
      assert.equal(world.state('second').phase, 'Blocked');
      world.pass(180_000);
      assert.equal(world.state('second').phase, 'Drained', `${outcome.kind} ${Object.keys(end)}`);
    }
  });
});

describe('the legacy mode that deletes the pods of nodes which are not ready', () => {
  it('keeps the last replica, takes the other pods of its node, and takes it when another is ready', () => {
    const minute = 60_000;
    const engine = createEngine({
      ownPod: { namespace, name: 'a' },
      semantics: 'upstream-1.36',
      lifecycle: { enforcement: 'pods', podEvictionTimeoutMs: minute },
    });
    const gone: string[] = [];
    const handle = (now: number, event: Event): void => {
      for (const command of engine.handle(now, event)) {
        gone.push(...removed([command]));
        if ('id' in command)
          handle(now, { kind: 'result', id: command.id, outcome: { kind: 'done' } });
      }
    };
    const tell = (now: number, name: string, status: string): void => {
      const condition = { type: 'Ready', status, reason: '', message: '' };
      const times = { heartbeatAt: now, transitionAt: 0 };
      const conditions = [{ ...condition, ...times }];
      handle(now, { kind: 'nodeUpsert', node: makeNode({ name, conditions }) });
    };
    const run = (from: number, to: number): void => {
      for (let now = from; now < to; now += 5000) {
        tell(now, 'n1', 'False');
        for (const name of ['n2', 'n3']) tell(now, name, 'True');
        handle(now, { kind: 'tick' });
      }
    };
    for (const name of ['n1', 'n2', 'n3']) tell(0, name, 'True');
    handle(0, { kind: 'podUpsert', pod: replica('a', 'n1') });
    handle(0, { kind: 'podUpsert', pod: makePod({ name: 'web', nodeName: 'n1' }) });
    handle(0, { kind: 'synced' });
    run(0, 10 * minute);
    assert.deepEqual([...new Set(gone)], ['web']);
    handle(10 * minute, { kind: 'podUpsert', pod: replica('b', 'n2') });
    run(10 * minute, 12 * minute);
    assert.deepEqual([...new Set(gone)], ['web', 'a']);
  });
});

const answers = fc.array(fc.constantFrom('done', 'done', 'blocked', 'lost'), {
  minLength: 1,
  maxLength: 6,
});

function manners(config: fc.Arbitrary<Partial<Config>>, given = answers): fc.Arbitrary<Manners> {
  return fc.record({
    config,
    graceMs: fc.constantFrom(100, 2_000, 60_000),
    startMs: fc.constantFrom(500, 20_000),
    answers: given.map((all) => [...all, 'done'] as Manners['answers']),
  });
}

const steps = fc.array(step, { maxLength: 40 });

describe('a Deployment of the controller', () => {
  const precise = fc.record({ mode: fc.constantFrom(...modes) });
  /** After these steps two nodes are well, `free` and the next one. */
  const calmsDown = (how: Manners, all: readonly Step[], free: number): void => {
    const town = new Town(how);
    for (const one of all) town.do(one);
    town.do({ kind: 'heal' });
    for (const [at, name] of nodeNames.entries()) {
      town.node(name, at === free || at === (free + 1) % 4 ? [] : [bad]);
    }
    town.pass(3_600_000);
    assert.deepEqual(town.podsOnTainted, []);
  };

  it('keeps one replica that works, and in calm has none where it may not be', () => {
    fc.assert(fc.property(manners(precise), steps, fc.nat({ max: 3 }), calmsDown), {
      numRuns: 150,
    });
  });

  it("does so by kube-controller-manager's rules too", () => {
    const upstream = fc.constant({ semantics: 'upstream-1.36' } as const);
    const accepted = fc.constant<'done'[]>(['done']);
    fc.assert(fc.property(manners(upstream, accepted), steps, fc.nat({ max: 3 }), calmsDown), {
      numRuns: 150,
    });
  });
});
