import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionPolicy } from '../../src/doors/policy.ts';
import {
  confirmEviction,
  createEngine,
  type Engine,
  makeNode,
  makePod,
  type Pod,
  type Taint,
} from '../../src/index.ts';
import { policyOf } from '../policy/objects.ts';

// The time that policies give: it is confirmed as it was decided, and counts from when a taint came.

const taint: Taint = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: null };

const writtenAt = 60_000;

/** An engine that finds a node whose taint was written down to count from 10 s on. */
function engineWith(fields: Partial<EvictionPolicy>, pod: Pod): Engine {
  const engine = createEngine();
  const kept = { taintsWrittenAt: writtenAt, taintStarts: { 'bad:NoExecute': 10_000 } };
  engine.handle(90_000, { kind: 'policyUpsert', policy: policyOf('p', fields) });
  engine.handle(90_000, {
    kind: 'nodeUpsert',
    node: { ...makeNode({ name: 'n' }), taints: [taint], ...kept },
  });
  engine.handle(90_000, { kind: 'podUpsert', pod });
  return engine;
}

function deadlineIn(engine: Engine, { namespace, name }: Pod): number | null {
  const explained = engine.explain(90_000, { kind: 'pod', namespace, name });
  assert.ok(explained?.kind === 'pod');
  const { decision } = explained;
  return decision.kind === 'evict' ? decision.deadline : null;
}

const pod = makePod({ name: 'web', nodeName: 'n' });

const tolerating = {
  ...pod,
  tolerations: [
    { key: 'bad', operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds: 100 },
  ],
} as const;

describe('the time that a policy gives', () => {
  it('is confirmed for a pod that tolerates nothing, and not for one that does by now', () => {
    const engine = engineWith({ action: 'Evict', defaultTolerationSeconds: 33 }, pod);
    const explained = engine.explain(90_000, {
      kind: 'pod',
      namespace: pod.namespace,
      name: 'web',
    });
    assert.ok(explained?.kind === 'pod');
    const { because } = explained.decision;
    const node = { ...makeNode({ name: 'n' }), taints: [taint] };
    const options = { comparisonOperators: false };
    assert.equal(confirmEviction(because, pod, node, options), null);
    assert.equal(
      confirmEviction(because, tolerating, node, options),
      'the pod tolerates bad:NoExecute differently now',
    );
  });

  it('counts from when the taint is written down to have come, with KubeControllerManager too', () => {
    const given = engineWith({ action: 'Evict', defaultTolerationSeconds: 33 }, pod);
    assert.equal(deadlineIn(given, pod), 43_000);
    const upstream = engineWith({ action: 'KubeControllerManager' }, tolerating);
    assert.equal(deadlineIn(upstream, tolerating), 110_000);
  });
});
