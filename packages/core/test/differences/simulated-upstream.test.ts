import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createEngine, type Engine, type Node, type Pod, parseTaint } from '@taintmgr/core';
import {
  type Difference,
  type DifferenceName,
  evictionDifferences,
  lifecycleDifferences,
  pressureDifferences,
  processDifferences,
} from '@taintmgr/core/differences';
import { pauseOf, policyOf } from '../policy/objects.ts';

const file = new URL('../../../../docs/differences.md', import.meta.url);
const tests = new URL('../', import.meta.url);
const tables: readonly (readonly Difference[])[] = [
  evictionDifferences,
  lifecycleDifferences,
  pressureDifferences,
  processDifferences,
];

describe('docs/differences.md', () => {
  it('is the tables of differences (rewrite it with REWRITE=1)', () => {
    if (process.env.REWRITE === '1') writeFileSync(file, differencesPage());
    assert.equal(readFileSync(file, 'utf8'), differencesPage());
  });

  it('gives each difference a name of its own', () => {
    for (const table of tables) {
      const names = table.map(({ name }) => name);
      assert.deepEqual(Array.from(new Set(names)), names);
    }
  });

  it('names proofs that exist', () => {
    const paths = tables
      .flat()
      .flatMap(({ proof }) => proof.split(', '))
      .filter((path) => /\.\w+$/.test(path));
    const missing = paths.filter((path) => !existsSync(new URL(path, tests)));
    assert.deepEqual(missing, []);
  });
});

function differencesPage(): string {
  return `# Where taintmgr differs from kube-controller-manager and the kubelet

With \`--semantics=upstream-1.36\` the engine does to the letter what kube-controller-manager 1.36.2 does:
\`npm run conformance\` replays its recorded behaviour case by case. By the rules of taintmgr
(\`--semantics=precise\`, the default) it differs in the ways below and in no others. Proofs are relative to \`packages/core/test\`.

## Taint eviction

${tableOf(evictionDifferences)}

## Node lifecycle

${tableOf(lifecycleDifferences)}

## Node pressure

Here upstream is the kubelet's eviction manager: with \`kubelet-1.36\` the machine does what that of
1.36.2 does, and taintmgr (\`precise\`) differs in these ways.

${tableOf(pressureDifferences, 'kubelet 1.36')}

## Requests, Events and the process

These hold in both semantics where the row does not say otherwise: they are about how a decision is
carried out, not about what is decided.

${tableOf(processDifferences)}
`;
}

function tableOf(
  table: readonly Difference[],
  theirs = 'kube-controller-manager 1.36',
  ours = 'taintmgr',
): string {
  const rows = table.map(
    ({ name, upstream, precise, why, proof }) =>
      `| \`${name}\` | ${upstream} | ${precise} | ${why} | ${proof} |`,
  );
  return `| difference | ${theirs} | ${ours} | why | proof |
|---|---|---|---|---|
${rows.join('\n')}`;
}

// Both in one engine, seeing the same: what each decides about one pod, and the difference
// that is named for it.

const bad = parseTaint('bad:NoExecute');
const pod: Pod = {
  namespace: 'shop',
  name: 'web-0',
  uid: 'u',
  nodeName: 'n1',
  tolerations: [],
  boundAt: 0,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 1,
  mirror: false,
  owner: null,
  hasEmptyDir: false,
};

function tolerating(seconds: number): Partial<Pod> {
  const { key, effect } = bad;
  return {
    tolerations: [{ key, operator: 'Exists', value: '', effect, tolerationSeconds: seconds }],
  };
}

function node(timeAdded: number | null, ...more: Node['taints']): Node {
  return { name: 'n1', uid: 'n1', taints: [{ ...bad, timeAdded }, ...more] };
}

it('a deletion of kube-controller-manager has the reason that it had, also when it is done', () => {
  const engine = createEngine({ leader: true, compare: true });
  engine.handle(0, { kind: 'synced' });
  engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
  engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(5), boundAt: 1000 } });
  engine.handle(6000, { kind: 'tick' });
  const explanation = engine.explain(9000, { kind: 'pod', namespace: 'shop', name: 'web-0' });
  assert.ok(explanation?.kind === 'pod' && explanation.upstream);
  const { decision } = explanation.upstream;
  assert.deepEqual([decision.kind, decision.because[0]?.code], ['evict', 'TolerationExpires']);
});

it('kube-controller-manager deletes a pod when it is due, whether anybody asks or something happens then', () => {
  const subject = { kind: 'pod', namespace: 'shop', name: 'web-0' } as const;
  for (const asked of [[], [5000], [3_600_000], [6000, 3_600_000]]) {
    const engine = createEngine({ leader: false, compare: true });
    engine.handle(0, { kind: 'synced' });
    engine.handle(0, { kind: 'leadership', held: true });
    engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(5), boundAt: 1000 } });
    engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
    for (const now of asked) engine.explain(now, subject);
    engine.handle(7000, { kind: 'nodeUpsert', node: { ...node(null), taints: [] } });
    const explanation = engine.explain(9000, subject);
    assert.ok(explanation?.kind === 'pod' && explanation.upstream);
    const { decision } = explanation.upstream;
    assert.deepEqual([decision.kind, 'deadline' in decision && decision.deadline], ['evict', 6000]);
  }
});

type Story = (engine: Engine) => void;

const stories: readonly [string, Story, readonly DifferenceName[]][] = [
  [
    'both agree about a pod that does not tolerate the taint',
    (engine) => {
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, boundAt: 1000 } });
    },
    [],
  ],
  [
    'a taint that says when it was added',
    (engine) => {
      engine.handle(50_000, { kind: 'nodeUpsert', node: node(20_000) });
      engine.handle(50_000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(60) } });
    },
    ['time-added-ignored'],
  ],
  [
    'a taint that was seen within the second in which it was added',
    (engine) => {
      engine.handle(20_300, { kind: 'podUpsert', pod: { ...pod, ...tolerating(60) } });
      engine.handle(20_300, { kind: 'nodeUpsert', node: node(20_000) });
    },
    ['rest-of-second'],
  ],
  [
    'a taint that was seen as soon as its second began, and whose time is over',
    (engine) => {
      engine.handle(20_000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(30) } });
      engine.handle(20_000, { kind: 'nodeUpsert', node: node(20_000) });
      engine.handle(50_000, { kind: 'tick' });
    },
    ['rest-of-second'],
  ],
  [
    'a pod that was seen within the second of its binding',
    (engine) => {
      engine.handle(5_000, { kind: 'nodeUpsert', node: node(5_000) });
      const bound = { ...pod, ...tolerating(60), boundAt: 20_000 };
      engine.handle(20_300, { kind: 'podUpsert', pod: bound });
    },
    ['rest-of-second'],
  ],
  [
    'a pod that was seen long after its binding',
    (engine) => {
      engine.handle(5_000, { kind: 'nodeUpsert', node: node(5_000) });
      const bound = { ...pod, ...tolerating(60), boundAt: 20_000 };
      engine.handle(40_000, { kind: 'podUpsert', pod: bound });
    },
    ['late-binding'],
  ],
  [
    'a taint that was added more than its second ago',
    (engine) => {
      engine.handle(21_300, { kind: 'podUpsert', pod: { ...pod, ...tolerating(60) } });
      engine.handle(21_300, { kind: 'nodeUpsert', node: node(20_000) });
    },
    ['time-added-ignored'],
  ],
  [
    'a toleration that was made longer',
    (engine) => {
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(60) } });
      engine.handle(2000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(600) } });
    },
    ['first-timer-kept'],
  ],
  [
    'a node that is gone',
    (engine) => {
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(60) } });
      engine.handle(2000, { kind: 'nodeDelete', name: 'n1' });
    },
    ['node-deletion-keeps-timers'],
  ],
  [
    'a static pod',
    (engine) => {
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, mirror: true } });
    },
    ['static-pods'],
  ],
  [
    'a pod that terminates already',
    (engine) => {
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, deletionTimestamp: 5 } });
    },
    ['terminating-again'],
  ],
  [
    'more seconds than nanoseconds fit',
    (engine) => {
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(18_446_744_074) } });
    },
    ['seconds-wrap'],
  ],
  [
    'the most seconds that the API takes, as JSON.parse rounds them',
    (engine) => {
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(2 ** 63) } });
    },
    [],
  ],
  [
    'paused deadlines',
    (engine) => {
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(60) } });
      engine.handle(2000, { kind: 'pauseUpsert', pause: pauseOf('night') });
    },
    ['pauses'],
  ],
  [
    'a policy that keeps the pod',
    (engine) => {
      engine.handle(1000, { kind: 'policyUpsert', policy: policyOf('p', { action: 'Keep' }) });
      engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
      engine.handle(1000, { kind: 'podUpsert', pod });
    },
    ['policies'],
  ],
];

describe('beside kube-controller-manager', () => {
  for (const [name, story, expected] of stories) {
    it(`${name}: ${expected[0] ?? 'no difference'}`, () => {
      const engine = createEngine({ compare: true, leader: false });
      engine.handle(0, { kind: 'synced' });
      engine.handle(0, { kind: 'leadership', held: true });
      story(engine);
      const subject = { kind: 'pod', namespace: 'shop', name: 'web-0' } as const;
      const explanation = engine.explain(60_000, subject);
      assert.ok(explanation?.kind === 'pod' && explanation.upstream);
      assert.deepEqual(explanation.upstream.differences, expected);
    });
  }
});
