// The differences by name, and the page that says what each of them is.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createEngine, type Engine, parseTaint, type Toleration } from '@taintmgr/core';
import type { PodClaim } from '@taintmgr/core/devices';
import { differenceCases } from '../../src/differences/classify.ts';
import { pauseOf, policyOf } from '../policy/objects.ts';
import { node, pod, tolerating } from './objects.ts';
import { proofs } from './proofs.ts';

const page = readFileSync(new URL('../../../../docs/differences.md', import.meta.url), 'utf8');
const tests = new URL('../', import.meta.url);
/** The rows of each table: name, their behaviour, and ours. */
const tables = page
  .split(/^## /m)
  .slice(1)
  .map((part) => part.split('\n').filter((line) => line.startsWith('| `')))
  .map((lines) => lines.map((line) => line.slice(2, -2).replaceAll('`', '').split(' | ')));

describe('docs/differences.md', () => {
  it('says of each difference what both do', () => {
    assert.deepEqual(
      tables.map(({ length }) => length),
      [25, 5, 28, 21, 9],
    );
    for (const row of tables.flat()) {
      assert.equal(row.length, 3, row[0]);
      assert.ok(
        row.every((cell) => cell.trim() !== ''),
        row[0],
      );
    }
  });

  it('gives each difference a name of its own', () => {
    for (const table of tables) {
      const names = table.map(([name]) => name);
      assert.deepEqual(Array.from(new Set(names)), names);
    }
  });

  it('has every difference that is named of a decision', () => {
    const known = tables.flatMap((table) => table.map(([name]) => name));
    assert.deepEqual(
      differenceCases.filter(({ name }) => !known.includes(name)),
      [],
    );
  });

  it('is proved row by row by tests that exist', () => {
    assert.deepEqual(
      Object.keys(proofs),
      tables.flatMap((table) => table.map(([name]) => name)),
    );
    const paths = Object.values(proofs).flat();
    const missing = paths.filter((path) => !existsSync(new URL(path, tests)));
    assert.deepEqual(missing, []);
  });
});

// Both in one engine, seeing the same: what each decides about one pod, and the difference
// that is named for it.

type Story = (engine: Engine) => void;

const withoutEffect: Toleration = {
  ...{ key: '', operator: 'Exists', value: '', effect: '', tolerationSeconds: null },
};

interface Claimed {
  readonly origin: PodClaim['origin'];
  readonly tolerations: readonly Toleration[];
}

function claimed(origin: PodClaim['origin']): Claimed {
  return { origin, tolerations: [] };
}

/** The pod uses a device that is tainted, on a node that is not. */
function tellDevices(engine: Engine, { origin, tolerations }: Claimed): void {
  const [driver, pool, device] = ['gpu', 'n1', 'd0'];
  const claims = [{ name: 'c', claim: 'c', origin }];
  engine.handle(1000, { kind: 'nodeUpsert', node: { ...node(null), taints: [] } });
  engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, claims } });
  const allocated = [{ request: 'r', driver, pool, device, tolerations }];
  const known = { namespace: 'shop', name: 'c', uid: 'c', ownerUid: null, reservedFor: ['u'] };
  engine.handle(1000, { kind: 'resourceClaimUpsert', claim: { ...known, allocated } });
  const taint = { ...parseTaint('bad:NoExecute'), timeAdded: 1000 };
  const selector = { driver: null, pool: null, device: null };
  const rule = { name: 'r', uid: 'r', generation: 1, selector, taint, progress: null };
  engine.handle(1000, { kind: 'deviceTaintRuleUpsert', rule });
}

const stories: readonly [string, Story, readonly string[]][] = [
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
    'a toleration of a claim that names no effect',
    (engine) => tellDevices(engine, { ...claimed('named'), tolerations: [withoutEffect] }),
    ['device-toleration-without-effect'],
  ],
  [
    'a device that came as an extended resource',
    (engine) => tellDevices(engine, claimed('extended')),
    ['device-extended-resource'],
  ],
  [
    'a claim whose seconds are more than fit',
    (engine) => {
      const tolerationSeconds = 9_223_372_037;
      const long = { ...withoutEffect, effect: 'NoExecute', tolerationSeconds };
      tellDevices(engine, { ...claimed('named'), tolerations: [long] });
    },
    ['seconds-wrap'],
  ],
  [
    'a device that both make the pod leave for at once',
    (engine) => tellDevices(engine, claimed('named')),
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
      const engine = createEngine({ compare: true, deviceTaints: true, leader: false });
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
