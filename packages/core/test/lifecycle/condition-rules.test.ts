import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LifecycleConfig } from '../../src/doors/lifecycle.ts';
import {
  type Command,
  createEngine,
  type Node,
  type NodeCondition,
  type Taint,
} from '../../src/index.ts';
import { itAnswersNodes } from './script.ts';

const rule = {
  name: 'disk',
  condition: 'DiskBroken',
  status: 'True',
  holdsMs: 0,
  clearMs: 0,
  taint: { key: 'bad-disk', value: '', effect: 'NoExecute' },
  nodes: {},
  nodesMax: null,
  dryRun: false,
} as const;

const ours: Taint = { ...rule.taint, timeAdded: 1000 };

/**
 * What is done about a node whose note says that the rule put the taint on, and whose disk is well, or
 * as `status` says.
 */
function changes(
  taint: Taint,
  lifecycle: Partial<LifecycleConfig> = { conditionRules: [rule] },
  status = 'False',
): readonly Extract<Command, { kind: 'changeTaints' }>[] {
  const engine = createEngine({ lifecycle });
  const well = { reason: '', message: '', heartbeatAt: 0, transitionAt: 0 };
  const node: Node = {
    name: 'n1',
    uid: 'u1',
    taints: [taint],
    ownedTaints: { 'bad-disk:NoExecute': 'disk' },
    conditions: [
      { type: 'Ready', status: 'True', ...well },
      { type: 'DiskBroken', status, ...well },
    ],
  };
  engine.handle(0, { kind: 'nodeUpsert', node });
  const told = engine.handle(0, { kind: 'synced' });
  const commands = [...told, ...engine.handle(0, { kind: 'tick' })];
  return commands.flatMap((command) => (command.kind === 'changeTaints' ? [command] : []));
}

describe('the note of the taints that condition rules put on', () => {
  it('lets a rule take its own taint off', () => {
    const [change] = changes(ours);
    assert.deepEqual(change?.remove, [{ key: 'bad-disk', effect: 'NoExecute' }]);
    assert.equal(change?.owned, null);
  });

  it('claims no taint that does not say since when, as kubectl writes it', () => {
    for (const change of changes({ ...ours, timeAdded: null })) {
      assert.deepEqual(change.remove, []);
    }
  });

  it('claims no taint of another value', () => {
    for (const change of changes({ ...ours, value: 'by-hand' })) {
      assert.deepEqual(change.remove, []);
    }
  });
});

describe('a rule of an earlier run', () => {
  const retiredRules = [rule];
  const cases: readonly [
    name: string,
    conditionRules: LifecycleConfig['conditionRules'],
    gone: boolean,
  ][] = [
    ['has its taint taken off where it is no more', [], true],
    ['keeps it where it is there still', [rule], false],
    ['leaves it to a rule that wants it too', [{ ...rule, name: 'other' }], false],
    [
      'has it taken off where the other rule wants another taint',
      [{ ...rule, name: 'other', taint: { ...rule.taint, key: 'worse-disk' } }],
      true,
    ],
  ];
  for (const [name, conditionRules, gone] of cases) {
    it(name, () => {
      const [change] = changes(ours, { conditionRules, retiredRules }, 'True');
      const { key, effect } = rule.taint;
      assert.deepEqual(change?.remove ?? [], gone ? [{ key, effect }] : []);
    });
  }

  it('claims no taint of somebody else', () => {
    const [change] = changes({ ...ours, timeAdded: null }, { retiredRules }, 'True');
    assert.deepEqual(change?.remove ?? [], []);
  });
});

describe('what a taint rule has come to', () => {
  const sick = { reason: '', message: '', heartbeatAt: 0, transitionAt: 0, status: 'True' };
  const conditions = ['Ready', 'DiskBroken'].map((type) => ({ type, ...sick }));
  const nodeNamed = (name: string, more: Partial<Node> = {}): Node => {
    return { name, uid: name, labels: { pool: 'a' }, taints: [], conditions, ...more };
  };

  it('is the nodes it is for, those it has tainted, and those its limit keeps from it', () => {
    const limited = { ...rule, nodes: { matchLabels: { pool: 'a' } }, nodesMax: 1 };
    const engine = createEngine({ lifecycle: { conditionRules: [limited] } });
    const status = () => engine.policyCounts(0).taintRules?.get('disk');
    const none = { name: 'disk', selected: 0, tainted: [], waiting: 0 };
    assert.deepEqual(status(), none);
    const others = nodeNamed('n3', { labels: {} });
    for (const node of [nodeNamed('n2'), nodeNamed('n1'), others])
      engine.handle(0, { kind: 'nodeUpsert', node });
    engine.handle(0, { kind: 'synced' });
    engine.handle(0, { kind: 'tick' });
    assert.deepEqual(status(), { ...none, selected: 2, tainted: ['n1'], waiting: 1 });
    engine.handle(0, { kind: 'nodeDelete', name: 'n2' });
    assert.deepEqual(status(), { ...none, selected: 1, tainted: ['n1'] });
    engine.handle(0, { kind: 'nodeUpsert', node: nodeNamed('n2') });
    engine.handle(0, { kind: 'tick' });
    // Somebody takes the limit away.
    const more = { ...limited, nodesMax: null, uid: 'u', generation: 2 };
    engine.handle(0, { kind: 'taintRuleUpsert', rule: more });
    engine.handle(0, { kind: 'tick' });
    assert.deepEqual(status(), { ...none, selected: 2, tainted: ['n1', 'n2'] });
    engine.handle(0, { kind: 'nodeDelete', name: 'n1' });
    assert.deepEqual(status(), { ...none, selected: 1, tainted: ['n2'] });
  });

  it('counts the nodes that have its taint when it starts, in whatever order they come', () => {
    for (const nodesMax of [1, '50%'] as const) {
      const engine = createEngine({ lifecycle: { conditionRules: [{ ...rule, nodesMax }] } });
      const carrier = { taints: [ours], ownedTaints: { 'bad-disk:NoExecute': 'disk' } };
      for (const node of [nodeNamed('n1'), nodeNamed('n2', carrier)])
        engine.handle(0, { kind: 'nodeUpsert', node });
      engine.handle(0, { kind: 'synced' });
      const commands = engine.handle(0, { kind: 'tick' });
      assert.deepEqual(
        commands.filter(({ kind }) => kind === 'changeTaints'),
        [],
      );
      const { tainted = [] } = engine.policyCounts(0).taintRules?.get('disk') ?? {};
      assert.deepEqual(tainted, ['n2'], `${nodesMax}`);
    }
  });

  it('is not known where nobody applies rules', () => {
    assert.equal(createEngine().policyCounts(0).taintRules, null);
    const lifecycle = { conditionRules: [] };
    const upstream = createEngine({ semantics: 'upstream-1.36', lifecycle });
    assert.equal(upstream.policyCounts(0).taintRules, null);
  });
});

it('a condition that was over and back while nobody looked holds from when it came back', () => {
  const holding = { ...rule, holdsMs: 600_000 };
  const engine = createEngine({
    lifecycle: {
      conditionRules: [holding],
      nodeMonitorGracePeriodMs: 10_000_000,
      massUnreachable: null,
    },
  });
  const node = (at: number, transitionAt: number): Node => ({
    name: 'n1',
    uid: 'u1',
    taints: [],
    conditions: [
      { type: 'Ready', status: 'True', reason: '', message: '', heartbeatAt: at, transitionAt: 0 },
      {
        type: 'DiskBroken',
        status: 'True',
        reason: '',
        message: '',
        heartbeatAt: at,
        transitionAt,
      },
    ],
  });
  engine.handle(0, { kind: 'nodeUpsert', node: node(0, 0) });
  engine.handle(0, { kind: 'synced' });
  engine.handle(0, { kind: 'tick' });
  engine.handle(300_000, { kind: 'tick' });
  engine.handle(300_000, { kind: 'view', current: false });
  const back = node(570_000, 540_000);
  engine.handle(570_000, { kind: 'nodeUpsert', node: back, afterGap: true });
  engine.handle(570_000, { kind: 'view', current: true });
  const tainted: number[] = [];
  for (let wake = engine.nextWake(); wake !== null && wake < 2_000_000; wake = engine.nextWake()) {
    const commands = engine.handle(wake, { kind: 'tick' });
    if (commands.some(({ kind }) => kind === 'changeTaints')) tainted.push(wake);
  }
  assert.ok((tainted[0] ?? 0) >= 540_000 + 600_000, `${tainted}`);
});

type TaintName = Pick<Taint, 'key' | 'effect'>;

const taint = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'nodeshutdown',
  effect: 'NoExecute',
};

const offRule = {
  name: 'off',
  condition: 'MachineOff',
  status: 'True',
  holdsMs: 0,
  clearMs: 0,
  taint,
  nodes: {},
  nodesMax: null,
  dryRun: false,
  onlyUnreachable: true,
} as const;

function condition(type: string, status: string, at: number | null): NodeCondition {
  return { type, status, reason: '', message: '', heartbeatAt: 1_000, transitionAt: at };
}

/** What the rule changes on a node with these conditions, and whether it has put its taint on before. */
function changesIf(conditions: readonly NodeCondition[], isTainted = false): readonly string[] {
  const engine = createEngine({
    lifecycle: { conditionRules: [offRule], nodeMonitorGracePeriodMs: 3_600_000 },
  });
  const node: Node = {
    name: 'n1',
    uid: 'u1',
    taints: isTainted ? [{ ...taint, timeAdded: 1_000 }] : [],
    ...(isTainted && { ownedTaints: { [`${taint.key}:NoExecute`]: 'off' } }),
    conditions,
  };
  const found: string[] = [];
  const isIt = (one: { readonly key: string }): boolean => one.key === taint.key;
  let known = node;
  const take = (commands: readonly Command[]): void => {
    for (const command of commands) {
      if (command.kind !== 'changeTaints') continue;
      const { id, add, remove } = command;
      found.push(...add.filter(isIt).map(() => 'on'), ...remove.filter(isIt).map(() => 'off'));
      const isGone = (one: Taint): boolean => remove.some((name) => isSameTaint(name, one));
      const { ownedTaints = {}, ...rest } = known;
      const owned = add.some(isIt) ? { [`${taint.key}:NoExecute`]: 'off' } : ownedTaints;
      const taints = [...known.taints.filter((one) => !isGone(one)), ...add];
      known = { ...rest, ownedTaints: remove.some(isIt) ? {} : owned, taints };
      engine.handle(60_000, { kind: 'nodeUpsert', node: known });
      engine.handle(60_000, { kind: 'result', id, outcome: { kind: 'done' } });
    }
  };
  take(engine.handle(60_000, { kind: 'nodeUpsert', node }));
  take(engine.handle(60_000, { kind: 'synced' }));
  for (let tick = 0; tick < 10; tick++) take(engine.handle(60_000, { kind: 'tick' }));
  return found;
}

function isSameTaint(one: TaintName, other: TaintName): boolean {
  return one.key === other.key && one.effect === other.effect;
}

describe('a rule with onlyUnreachable', () => {
  const cases: readonly (readonly [
    what: string,
    ready: readonly [status: string, at: number | null],
    off: readonly [status: string, at: number | null],
    isTainted: boolean,
    changes: readonly string[],
  ])[] = [
    ['puts its taint on', ['Unknown', 10_000], ['True', 20_000], false, ['on']],
    ['takes what came in the same second', ['Unknown', 10_000], ['True', 10_000], false, ['on']],
    ['believes nothing from before', ['Unknown', 10_000], ['True', 9_000], false, []],
    ['believes nothing without a time', ['Unknown', 10_000], ['True', null], false, []],
    ['needs to know since when it is unreachable', ['Unknown', null], ['True', 1], false, []],
    ['leaves a node alone that answers', ['True', 10_000], ['True', 20_000], false, []],
    ['leaves one alone that says it is not ready', ['False', 10_000], ['True', 20_000], false, []],
    ['waits for the condition', ['Unknown', 10_000], ['False', 20_000], false, []],
    [
      'takes its taint off when the node is back',
      ['True', 30_000],
      ['True', 20_000],
      true,
      ['off'],
    ],
    ['and when it is not ready yet', ['False', 30_000], ['True', 20_000], true, ['off']],
    ['keeps it on', ['Unknown', 10_000], ['True', 20_000], true, []],
  ];
  for (const [what, [ready, readyAt], [off, offAt], isTainted, expected] of cases) {
    it(what, () => {
      const conditions = [condition('Ready', ready, readyAt), condition('MachineOff', off, offAt)];
      assert.deepEqual(changesIf(conditions, isTainted), expected);
    });
  }
});

itAnswersNodes('rules rule-again rule-events shared-taint');
