import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { job } from '../../src/builders.ts';
import { conditionOf, isTerminating } from '../../src/controllers/pods.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { podsOf, setSpec, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const zones = ['a', 'b', 'c'];

describe('a Job', () => {
  it('runs its pods one after the other and completes', () => {
    const topology = small(zones, [job('default', 'report', 30, { completions: 2 })]);
    const { api, until } = virtualCluster({ topology });
    const isComplete = (): boolean => {
      const found = api.get('jobs', 'default', 'report');
      return found !== null && conditionOf(found, 'Complete')?.status === 'True';
    };
    until(isComplete, 'completion');
    assert.equal(stored(api, 'jobs', 'default', 'report').status.succeeded, 2);
    assert.deepEqual(
      podsOf(api, 'report').map(({ status }) => status.phase),
      ['Succeeded', 'Succeeded'],
    );
  });

  it('of a parallelism alone runs so many workers, and completes when one has succeeded and all have ended', () => {
    const { spec, ...rest } = job('default', 'report', 30, { spec: { parallelism: 3 } });
    const { completions: _none, ...alone } = spec;
    const workers = { ...rest, spec: alone };
    const { api, until, untilIdle } = virtualCluster({ topology: small(zones, [workers]) });
    untilIdle();
    assert.equal(podsOf(api, 'report').length, 3);
    assert.equal(stored(api, 'jobs', 'default', 'report').spec.completions, undefined);
    const found = (): KubeObject => stored(api, 'jobs', 'default', 'report');
    until(() => conditionOf(found(), 'Complete')?.status === 'True', 'completion');
    assert.equal(found().status.succeeded, 3);
    assert.equal(podsOf(api, 'report').length, 3);
  });

  it('replaces a pod that is evicted and gives up after too many failures', () => {
    const topology = small(zones, [job('default', 'report', 30, { spec: { backoffLimit: 1 } })]);
    const { api, pass, untilIdle } = virtualCluster({ topology });
    untilIdle();
    const [first] = podsOf(api, 'report');
    api.delete('pods', 'default', first?.metadata.name ?? '');
    pass(8000);
    assert.deepEqual(podsOf(api, 'report'), []);
    pass(5000);
    const [second = assert.fail()] = podsOf(api, 'report');
    assert.notEqual(second.metadata.name, first?.metadata.name);
    const status = { ...second.status, phase: 'Failed', conditions: [] };
    api.update('pods', { ...second, status }, 'status');
    // Changes of pods are gathered for a second.
    pass(1100);
    const found = stored(api, 'jobs', 'default', 'report');
    assert.equal(found.status.failed, 2);
    assert.equal(conditionOf(found, 'Failed')?.reason, 'BackoffLimitExceeded');
    assert.equal(found.status.active, undefined);
  });

  it('counts a pod that has succeeded also when it is deleted', () => {
    const topology = small(zones, [job('default', 'report', 30, { completions: 3 })]);
    const { api, until, untilIdle } = virtualCluster({ topology });
    const made = new Set<string | undefined>();
    api.subscribe(({ object }) => made.add(object.metadata.uid), new Set(['pods']));
    const succeeded = (): number => stored(api, 'jobs', 'default', 'report').status.succeeded ?? 0;
    untilIdle();
    for (const count of [1, 2, 3]) {
      until(() => succeeded() === count, `${count} successes`);
      for (const { metadata, status } of podsOf(api, 'report')) {
        if (status.phase === 'Succeeded') api.delete('pods', 'default', metadata.name);
      }
    }
    untilIdle();
    const found = stored(api, 'jobs', 'default', 'report');
    assert.equal(conditionOf(found, 'Complete')?.status, 'True');
    assert.equal(made.size, 3);
  });

  for (const spec of [
    { podFailurePolicy: { rules: 'x' } },
    { podFailurePolicy: { rules: [{ onExitCodes: { values: 'x' } }] } },
    { podFailurePolicy: 'x' },
    { completionMode: 'Indexed', successPolicy: { rules: 5 } },
  ]) {
    it(`whose policy is of another type is refused: ${JSON.stringify(spec)}`, () => {
      const { api } = virtualCluster();
      const made = (): unknown => api.create('jobs', job('default', 'report', 30, { spec }));
      assert.throws(made, /cannot unmarshal/);
    });
  }

  it('that is deleted lets go of its pods', () => {
    const topology = small(zones, [job('default', 'report', 600)]);
    const { api, pass, untilIdle } = virtualCluster({ topology });
    untilIdle();
    const [pod = assert.fail()] = podsOf(api, 'report');
    assert.deepEqual(pod.metadata.finalizers, ['batch.kubernetes.io/job-tracking']);
    api.delete('jobs', 'default', 'report');
    pass(5000);
    assert.deepEqual(podsOf(api, 'report'), []);
  });

  it('that is deleted without its pods leaves them without its finalizer', () => {
    const topology = small(zones, [job('default', 'report', 600)]);
    const { api, untilIdle } = virtualCluster({ topology });
    untilIdle();
    api.delete('jobs', 'default', 'report', { propagationPolicy: 'Orphan' });
    untilIdle();
    const [pod = assert.fail()] = podsOf(api, 'report');
    assert.deepEqual([pod.metadata.finalizers ?? [], isTerminating(pod)], [[], false]);
  });

  it('goes on from what its status says when its pods are not in a snapshot', () => {
    const given = job('default', 'report', 30, { completions: 3 });
    const before = virtualCluster({ topology: small(zones, [given]) });
    before.untilIdle();
    const known = stored(before.api, 'jobs', 'default', 'report');
    const status = { ...known.status, active: 0, ready: 0, succeeded: 2 };
    const items = [...before.api.list('nodes'), { ...known, status }];
    const { api, until } = virtualCluster({ snapshot: items, adopt: true });
    const isComplete = (): boolean =>
      conditionOf(stored(api, 'jobs', 'default', 'report'), 'Complete') !== null;
    until(isComplete, 'completion');
    assert.equal(podsOf(api, 'report').length, 1);
    assert.equal(stored(api, 'jobs', 'default', 'report').status.succeeded, 3);
  });

  it('has no pods while it is suspended, and starts anew when it goes on', () => {
    const topology = small(zones, [job('default', 'report', 600)]);
    const { api, pass, untilIdle } = virtualCluster({ topology });
    const set = (suspend: boolean): void =>
      setSpec(api, 'jobs', stored(api, 'jobs', 'default', 'report'), { suspend });
    const said = (): readonly unknown[] => {
      const found = stored(api, 'jobs', 'default', 'report');
      const { status, reason } = conditionOf(found, 'Suspended') ?? {};
      return [found.status.startTime, found.status.active, status, reason];
    };
    untilIdle();
    const [startTime] = said();
    set(true);
    pass(60_000);
    untilIdle();
    assert.deepEqual(podsOf(api, 'report'), []);
    assert.deepEqual(said(), [undefined, undefined, 'True', 'JobSuspended']);
    set(false);
    untilIdle();
    assert.equal(podsOf(api, 'report').length, 1);
    const [restartTime, ...rest] = said();
    assert.deepEqual(rest, [1, 'False', 'JobResumed']);
    assert.ok(String(restartTime) > String(startTime));
  });

  it('that is suspended from the start makes no pods', () => {
    const topology = small(zones, [job('default', 'report', 30, { spec: { suspend: true } })]);
    const { api, pass } = virtualCluster({ topology });
    pass(60_000);
    assert.deepEqual(podsOf(api, 'report'), []);
    const { status } = stored(api, 'jobs', 'default', 'report');
    assert.deepEqual([status.startTime, status.conditions[0].reason], [undefined, 'JobSuspended']);
  });

  it('makes no more pods than are still to succeed', () => {
    const spec = { parallelism: 2 };
    const topology = small(zones, [job('default', 'report', 30, { completions: 3, spec })]);
    const { api, until } = virtualCluster({ topology });
    const active = new Set<number>();
    api.subscribe(({ object }) => active.add(object.status?.active ?? 0), new Set(['jobs']));
    until(() => {
      const found = api.get('jobs', 'default', 'report');
      return found !== null && conditionOf(found, 'Complete') !== null;
    }, 'completion');
    assert.equal(podsOf(api, 'report').length, 3);
    assert.equal(Math.max(...active), 2);
  });

  it('of a parallelism alone replaces no worker after one has succeeded, and waits for the others', () => {
    const { spec, ...rest } = job('default', 'report', 600, { spec: { parallelism: 3 } });
    const { completions: _none, ...alone } = spec;
    const topology = small(zones, [{ ...rest, spec: alone }]);
    const { api, pass, untilIdle } = virtualCluster({ topology });
    untilIdle();
    const [first = assert.fail(), second = assert.fail()] = podsOf(api, 'report');
    api.update('pods', { ...first, status: { ...first.status, phase: 'Succeeded' } }, 'status');
    pass(1000);
    api.delete('pods', 'default', second.metadata.name);
    pass(5000);
    const found = (): KubeObject => stored(api, 'jobs', 'default', 'report');
    assert.equal(conditionOf(found(), 'Complete'), null);
    assert.deepEqual([found().status.active, found().status.succeeded], [1, 1]);
    pass(600_000);
    assert.equal(conditionOf(found(), 'Complete')?.status, 'True');
    assert.equal(podsOf(api, 'report').length, 2);
  });

  it('that is complete stays as it is when its pods are deleted', () => {
    const topology = small(zones, [job('default', 'report', 30)]);
    const { api, pass } = virtualCluster({ topology });
    pass(60_000);
    const before = stored(api, 'jobs', 'default', 'report');
    assert.ok(before.status.completionTime);
    for (const { metadata } of podsOf(api, 'report')) {
      api.delete('pods', 'default', metadata.name);
    }
    pass(60_000);
    assert.deepEqual(podsOf(api, 'report'), []);
    assert.deepEqual(stored(api, 'jobs', 'default', 'report'), before);
  });

  const failures: readonly (readonly [limit: object, failed: number, hasFailed: boolean])[] = [
    [{}, 6, false],
    [{}, 7, true],
    [{ backoffLimit: 0 }, 0, false],
    [{ backoffLimit: 0 }, 1, true],
  ];
  for (const [limit, failed, hasFailed] of failures) {
    it(`of a snapshot with ${failed} failures and ${JSON.stringify(limit)} has${hasFailed ? '' : ' not'} failed`, () => {
      const { spec, ...rest } = job('default', 'report', 600);
      const { backoffLimit: _given, ...others } = spec;
      const loaded = { ...rest, spec: { ...others, ...limit }, status: { failed } };
      const { api, pass } = virtualCluster({ snapshot: [loaded] });
      pass(1000);
      const found = stored(api, 'jobs', 'default', 'report');
      assert.equal(conditionOf(found, 'Failed')?.status, hasFailed ? 'True' : undefined);
      assert.equal(found.status.completionTime, undefined);
      const there = podsOf(api, 'report').filter((pod) => !isTerminating(pod));
      assert.equal(there.length, hasFailed ? 0 : 1);
    });
  }
});

describe('a Job that has ended', () => {
  for (const seconds of [0, 5]) {
    it(`is deleted after its ttl, its pods before it: ${seconds} s`, () => {
      const given = job('default', 'report', 3, { spec: { ttlSecondsAfterFinished: seconds } });
      const { api, pass, until } = virtualCluster({ topology: small(zones, [given]) });
      const isDone = (): boolean => {
        const found = api.get('jobs', 'default', 'report');
        return found !== null && conditionOf(found, 'Complete')?.status === 'True';
      };
      until(isDone, 'completion');
      const order: string[] = [];
      api.subscribe(({ type, resource }) => {
        if (type === 'DELETED' && ['jobs', 'pods'].includes(resource)) order.push(resource);
      });
      // The status has the second in which it ended.
      pass(1000 * Math.max(0, seconds - 1));
      assert.deepEqual(order, []);
      pass(2100);
      assert.deepEqual(order, ['pods', 'jobs']);
    });
  }
});
