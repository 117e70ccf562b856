// A pause that comes to hold more while it stands counts from its beginning, as for whoever starts then.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, type Engine, type Event, makeNode, makePod } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import { pauseOf } from '../policy/objects.ts';

const tolerations = [{ operator: 'Exists', tolerationSeconds: 100 }];
const pod = makePod({ namespace: 'shop', name: 'web', nodeName: 'n1', tolerations });
const begin = 1_000_000;
const editedAt = begin + 60_000;
const node = makeNode({
  ...{ name: 'n1', zone: 'a', taints: ['bad:NoExecute'], taintsWrittenAt: begin },
});
const other = { taintKeys: [], namespaces: [], nodes: null, zones: [] };

type Scope = Partial<EvictionPause['scope']>;

function night(scope: Scope): Event {
  const pause = pauseOf('night', { uid: 'u1', since: begin, scope: { ...other, ...scope } });
  return { kind: 'pauseUpsert', pause };
}

/** An engine that hears of all of this at once, and then that it is all. */
function started(now: number, events: readonly Event[]): Engine {
  const engine = createEngine();
  for (const event of events) engine.handle(now, event);
  engine.handle(now, { kind: 'podUpsert', pod });
  engine.handle(now, { kind: 'synced' });
  return engine;
}

function remainingOf(engine: Engine, now: number): number | null {
  const told = engine.explain(now, { kind: 'pod', namespace: 'shop', name: 'web' });
  assert.ok(told?.kind === 'pod');
  assert.equal(told.decision.kind, 'pause');
  return told.remaining;
}

const labelled = { ...node, labels: { pool: 'spot' } };
const spot = { nodes: { matchLabels: { pool: 'spot' } } };

const cases: readonly (readonly [what: string, before: Event, edit: Event, after: Scope])[] = [
  ['of another zone', night({ zones: ['b'] }), night({ zones: ['a', 'b'] }), {}],
  ['of other nodes', night(spot), night({}), {}],
  ['of other taints', night({ taintKeys: ['b'] }), night({}), {}],
  ['of other namespaces', night({ namespaces: ['pay'] }), night({}), {}],
  ['into whose scope a node comes', night(spot), { kind: 'nodeUpsert', node: labelled }, spot],
];

describe('a pause', () => {
  for (const [what, before, edit, after] of cases) {
    it(`${what}: a restart changes no deadline`, () => {
      const engine = started(begin, [{ kind: 'nodeUpsert', node }, before]);
      engine.handle(editedAt, edit);
      const now = editedAt + 10_000;
      const last = edit.kind === 'nodeUpsert' ? edit.node : node;
      const next = started(now, [{ kind: 'nodeUpsert', node: last }, night(after)]);
      assert.equal(remainingOf(next, now), 100_000);
      assert.equal(remainingOf(engine, now), 100_000);
    });
  }
});
