import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Evictors } from '@taintmgr/k8s-adapter';
import { readEvictor } from '../../src/survey/evictors.ts';
import { taintManagersIn } from '../../src/survey/taint-managers.ts';

// Whether our controller asks budgets: by what its leader publishes, else by the flags of its pod.

const holder = 'cp_1';
const lease = {
  ...{ namespace: 'kube-system', name: 'taintmgr-controller', uid: 'u', resourceVersion: '1' },
  ...{ holder, duration: 15_000, renewedAt: Date.now(), acquiredAt: null },
};
const none = { kind: 'doesNotAct', evidence: [] } as const;
const evictors: Evictors = {
  upstream: {
    'taint-eviction-controller': none,
    'node-lifecycle-controller': none,
    'device-taint-eviction-controller': none,
  },
  taintmgr: {
    kind: 'acts',
    who: holder,
    evidence: [{ kind: 'lease', lease, life: 'alive', age: 1000 }],
  },
};

/** A pod that says otherwise than what is published. */
function podWith(mode: string): object {
  return { spec: { containers: [{ args: [`--mode=${mode}`] }] } };
}

function published(leader: string, mode: string, seconds: number): unknown {
  const renewTime = new Date(Date.now() - seconds * 1000).toISOString();
  return {
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' },
    metadata: { name: 'taintmgr', uid: 'u1' },
    status: { leader, renewTime, settings: { mode } },
  };
}

const cases: readonly (readonly [string, readonly unknown[], string, boolean])[] = [
  ['published', [published(holder, 'evict', 3)], 'delete', true],
  ['published', [published(holder, 'delete', 3)], 'evict', false],
  ['too old', [published(holder, 'evict', 42)], 'delete', false],
  ['of another leader', [published('cp_0', 'evict', 3)], 'delete', false],
  ['nothing is published', [], 'evict', true],
  ['something that cannot be read', [{ kind: 'TaintManager' }], 'evict', true],
];

describe('whether our controller asks budgets', () => {
  for (const [name, objects, podMode, asksBudgets] of cases) {
    it(`${name}, beside a pod with --mode=${podMode}: ${asksBudgets}`, async () => {
      const evictor = await readEvictor(evictors, {
        taintManagers: () => Promise.resolve(taintManagersIn(objects)),
        podObject: () => Promise.resolve(podWith(podMode)),
      });
      assert.equal(evictor.asksBudgets, asksBudgets);
    });
  }
});
