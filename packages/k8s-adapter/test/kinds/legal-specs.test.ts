// No object that an API server lets pass stops the engine.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, type Event, makeNode, makePod } from '@taintmgr/core';
import { readManifest } from '@taintmgr/k8s-adapter/kinds';
import fc from 'fast-check';
import { type KindName, policyApiVersion, policyKinds } from '../../src/kinds/kinds.ts';
import { legalSpecs } from './legal-specs.ts';

const labels = { pool: 'blue' };
const taint = { key: 'work', value: '', effect: 'NoExecute', timeAdded: 0 } as const;
const nodes = ['n1', 'n2', 'n3'].map((name) => {
  return makeNode({ name, labels, ...(name === 'n3' && { taints: [taint] }) });
});
const pods = nodes.map(({ name }) => makePod({ name: `on-${name}`, nodeName: name, labels }));

/** Values that matter to these nodes and pods. */
const sometimes = {
  nodes: [['n1'], ['n2', 'n1', 'n2'], ['n1', 'none']],
  nodeSelector: [{}, { matchLabels: labels }],
  podSelector: [{}, { matchLabels: labels }],
};

function eventOf(kind: KindName, spec: unknown): Event {
  const metadata = {
    name: 'one',
    uid: 'u1',
    generation: 1,
    finalizers: ['taintmgr.dev/undo-drain'],
  };
  const judged = readManifest({ apiVersion: policyApiVersion, kind, metadata, spec }, 0);
  assert.equal(judged.kind, 'allowed');
  const object = judged.kind === 'allowed' ? judged.value : assert.fail();
  switch (object.kind) {
    case 'NodeDrain':
      return { kind: 'nodeDrainUpsert', drain: object.value };
    case 'EvictionPolicy':
      return { kind: 'policyUpsert', policy: object.value };
    case 'EvictionPause':
      return { kind: 'pauseUpsert', pause: object.value };
    case 'NodeTaintRule':
      return { kind: 'taintRuleUpsert', rule: object.value };
    default:
      return assert.fail(object.kind);
  }
}

/** Half an hour of a cluster that does whatever is asked for, or refuses all of it. */
function play(event: Event, isRefused: boolean): void {
  const engine = createEngine({ nodeDrains: true, mode: 'evict' });
  const outcome = isRefused
    ? ({ kind: 'failed', status: 403, message: 'may not', retryAfter: null } as const)
    : ({ kind: 'done' } as const);
  let now = 0;
  const tell = (told: Event): void => {
    for (const command of engine.handle(now, told)) {
      if ('id' in command) tell({ kind: 'result', id: command.id, outcome });
    }
  };
  for (const node of nodes) tell({ kind: 'nodeUpsert', node });
  for (const pod of pods) tell({ kind: 'podUpsert', pod });
  tell(event);
  tell({ kind: 'synced' });
  for (let ticks = 0; ticks < 200; ticks++) {
    const wake = engine.nextWake();
    if (wake === null || wake > 1_800_000) break;
    now = Math.max(now, wake);
    tell({ kind: 'tick' });
  }
  engine.policyCounts(now);
  for (const { name } of nodes) engine.explain(now, { kind: 'node', name });
}

describe('whatever a schema allows, the engine can be given', () => {
  for (const kind of ['EvictionPolicy', 'NodeTaintRule', 'EvictionPause', 'NodeDrain'] as const) {
    it(kind, () => {
      const specs = legalSpecs(policyKinds[kind].spec ?? assert.fail(), sometimes);
      fc.assert(
        fc.property(specs, fc.boolean(), (spec, isRefused) => play(eventOf(kind, spec), isRefused)),
        { numRuns: 50 },
      );
    });
  }
});
