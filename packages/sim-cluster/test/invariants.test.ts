import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isActive, isReady } from '../src/controllers/pods.ts';
import type { KubeObject } from '../src/objects/kube-object.ts';
import { threeZones } from '../src/topology.ts';
import { fixture, podNamed } from './world/api-fixture.ts';
import { fc } from './world/fast-check.ts';
import { evict, podsOf, stored, virtualCluster } from './world/virtual-cluster.ts';

// What holds whatever is asked of the cluster, and in whatever order.

describe('budgets', () => {
  const steps = fc.array(
    fc.oneof(fc.record({ evict: fc.nat() }), fc.record({ passMs: fc.nat(20_000) })),
    { minLength: 10, maxLength: 60 },
  );

  it('are not overdrawn by any order of evictions', () => {
    const count = { evicted: 0, refused: 0 };
    fc.assert(
      fc.property(steps, (drawn) => {
        const { api, pass, untilIdle } = virtualCluster({ topology: threeZones });
        untilIdle();
        for (const step of drawn) {
          if ('passMs' in step) {
            pass(step.passMs);
          } else {
            const pods = ['web', 'db'].flatMap((app) => podsOf(api, app)).filter(isActive);
            const pod = pods[step.evict % pods.length] ?? assert.fail('no pod');
            const { namespace = '', name } = pod.metadata;
            count[evict(api, namespace, name) === 201 ? 'evicted' : 'refused'] += 1;
          }
          for (const app of ['web', 'db']) {
            const { desiredHealthy } = stored(api, 'poddisruptionbudgets', 'shop', app).status;
            const healthy = podsOf(api, app).filter((pod) => isActive(pod) && isReady(pod));
            assert.ok(healthy.length >= desiredHealthy, `${app}: ${healthy.length} healthy`);
          }
        }
      }),
      { numRuns: 30 },
    );
    assert.ok(count.evicted > 0 && count.refused > 0, JSON.stringify(count));
  });
});

describe('writes', () => {
  const steps = fc.array(fc.record({ writer: fc.nat(2), kind: fc.constantFrom('read', 'write') }), {
    minLength: 10,
    maxLength: 60,
  });

  it('of several writers are refused or kept, none is lost, and versions grow', () => {
    const count = { kept: 0, refused: 0 };
    fc.assert(
      fc.property(steps, (drawn) => {
        const { api } = fixture();
        const versions: number[] = [];
        api.subscribe(({ object }) => versions.push(Number(object.metadata.resourceVersion)));
        const created = api.create('pods', {
          ...podNamed('a'),
          metadata: { namespace: 'default', name: 'a' },
        });
        const views: KubeObject[] = [created, created, created];
        let kept = 0;
        for (const { writer, kind } of drawn) {
          if (kind === 'read') views[writer] = stored(api, 'pods', 'default', 'a');
          else if (add(views[writer] ?? created)) kept += 1;
          else count.refused += 1;
        }
        assert.equal(counted(stored(api, 'pods', 'default', 'a')), kept);
        assert.deepEqual(
          versions,
          [...new Set(versions)].sort((a, b) => a - b),
        );
        assert.equal(versions.length, kept + 1);
        count.kept += kept;

        function add(view: KubeObject): boolean {
          const labels = { n: String(counted(view) + 1) };
          try {
            api.update('pods', { ...view, metadata: { ...view.metadata, labels } });
            return true;
          } catch (error) {
            assert.match(String(error), /the object has been modified/);
            return false;
          }
        }
      }),
    );
    assert.ok(count.kept > 0 && count.refused > 0, JSON.stringify(count));
  });

  function counted({ metadata }: KubeObject): number {
    return Number(metadata.labels?.n ?? 0);
  }
});
