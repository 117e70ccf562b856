// Rules whose condition counts only while the node is unreachable: the machine that is off.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  createEngine,
  type Node,
  type NodeCondition,
  type Taint,
} from '../../src/index.ts';

type TaintName = Pick<Taint, 'key' | 'effect'>;

const taint = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'nodeshutdown',
  effect: 'NoExecute',
};
const rule = {
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
function changes(conditions: readonly NodeCondition[], isTainted = false): readonly string[] {
  const engine = createEngine({
    lifecycle: { conditionRules: [rule], nodeMonitorGracePeriodMs: 3_600_000 },
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
      assert.deepEqual(changes(conditions, isTainted), expected);
    });
  }
});
