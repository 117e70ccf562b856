import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Command, createEngine } from '@taintmgr/core';
import type { ReadinessHold } from '@taintmgr/core/lifecycle';
import { pauseOf } from '../policy/objects.ts';
import { itAnswersNodes } from './script.ts';

/** What is published of a pause for the nodes of one pool, of which there are so many. */
function holdOf(nodes: number): ReadinessHold | null | undefined {
  const engine = createEngine({ takeover: true });
  const commands: Command[] = [];
  const labels = { pool: 'old' };
  for (let at = 0; at < nodes; at++) {
    const name = `n-${String(at).padStart(4, '0')}`;
    engine.handle(0, { kind: 'nodeUpsert', node: { name, uid: name, labels, taints: [] } });
  }
  const scope = { nodes: { matchLabels: labels } };
  const pause = pauseOf('night', { readiness: true, scope });
  commands.push(...engine.handle(0, { kind: 'pauseUpsert', pause }));
  commands.push(...engine.handle(0, { kind: 'synced' }), ...engine.handle(1, { kind: 'tick' }));
  const reports = commands.flatMap((command) => {
    return command.kind === 'report' && command.report.kind === 'readinessHold'
      ? [command.report.hold]
      : [];
  });
  return reports.at(-1);
}

describe('whose pods nobody is to mark not ready', () => {
  it('is said node by node', () => {
    const hold = holdOf(1024);
    assert.deepEqual([hold?.all, hold?.nodes.length], [false, 1024]);
  });
  it('is all, where a status has no room for the names', () => {
    const hold = holdOf(1025);
    assert.deepEqual([hold?.all, hold?.nodes], [true, []]);
  });
});

itAnswersNodes('readiness-pauses labels-and-readiness observed');
