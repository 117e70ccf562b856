// Jobs whose pods end in many ways, beside what kube-controller-manager 1.36.2 made of the same.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { job, type KubeObject } from '@taintmgr/sim-cluster';
import { type Condition, isTerminating } from '@taintmgr/sim-cluster/server';
import type { ApiServer } from '../../src/server/api-server.ts';
import { evict, setTaints, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

type Act = readonly [at: number, what: string, pod?: string, exitCode?: number];

interface PodStory {
  readonly index?: number;
  /** Seconds after the first act. */
  readonly created: number;
  readonly gone?: number;
  /** Of a pod that is there at the end. */
  readonly phase?: string;
}

/** Recorded with fake kubelets: pods start in 1 s, and stop in 2 s with exit code 143. */
interface Story {
  readonly name: string;
  readonly spec: KubeObject['spec'];
  readonly pod?: object;
  readonly acts: readonly Act[];
  /** Seconds. */
  readonly until: number;
  readonly real: Outcome;
}

interface Outcome {
  readonly pods: readonly PodStory[];
  readonly status: Readonly<Record<string, number | string>>;
  readonly conditions: readonly string[];
}

const stories: readonly Story[] = JSON.parse(
  readFileSync(new URL('job-stories.json', import.meta.url), 'utf8'),
);

/** The real controller looks at pods a second after they change; it collects unbound pods each 20 s. */
const toleranceOf = ({ name }: Story): number => (name === 'tolerant-pending-deleted' ? 21 : 1.7);

const counts = ['active', 'ready', 'terminating', 'succeeded', 'failed'] as const;

describe('a Job as kube-controller-manager has it', () => {
  for (const story of stories) {
    it(`${story.name}: ${JSON.stringify({ ...story.spec, ...story.pod })}`, () => {
      const seen = play(story);
      const { real } = story;
      const within = toleranceOf(story);
      assert.deepEqual(seen.conditions, real.conditions);
      for (const count of counts) {
        assert.equal(seen.status[count] ?? 0, real.status[count] ?? 0, count);
      }
      assert.equal(seen.status.completedIndexes, real.status.completedIndexes);
      assert.equal(seen.status.failedIndexes, real.status.failedIndexes);
      const told = JSON.stringify(seen.pods);
      assert.equal(seen.pods.length, real.pods.length, told);
      for (const [at, pod] of real.pods.entries()) {
        const mine = seen.pods[at];
        assert.equal(mine?.index, pod.index, told);
        assert.equal(mine?.phase, pod.phase, told);
        assert.equal(mine?.gone === undefined, pod.gone === undefined, told);
        assert.ok(Math.abs((mine?.created ?? 0) - pod.created) <= within, told);
        assert.ok(Math.abs((mine?.gone ?? 0) - (pod.gone ?? 0)) <= within, told);
      }
    });
  }
});

interface Seen {
  readonly index: number | undefined;
  readonly key: string;
  readonly created: number;
  gone?: number;
}

function play({ spec, pod, acts, until }: Story): Outcome {
  const given = { ...spec };
  if (given.completions === null) delete given.completions;
  const built = job('default', 'w', 1000, { podSpec: { containers: [container], ...pod } });
  const { completions: _one, ...rest } = built.spec;
  const asked = { ...built, spec: { completions: 1, ...rest, ...given } };
  if (spec.completions === null) delete asked.spec.completions;
  const { api, cluster, clock, pass, untilIdle } = virtualCluster({
    topology: small(['a']),
    timing: { startupMs: [1000, 1000], podStartMs: [1000, 1000], podStopMs: [2000, 2000] },
  });
  untilIdle();
  const zero = clock.now() + 5000;
  const seen: Seen[] = [];
  api.subscribe(
    ({ type, key, object }) => {
      const at = (clock.now() - zero) / 1000;
      const index = object.metadata.annotations?.['batch.kubernetes.io/job-completion-index'];
      if (type === 'ADDED') {
        seen.push({ index: index === undefined ? undefined : Number(index), key, created: at });
      }
      const known = seen.find((one) => one.key === key);
      if (type === 'DELETED' && known) known.gone = at;
    },
    new Set(['pods']),
  );
  api.create('jobs', asked);
  pass(5000);
  for (const [at, what, which = '', exitCode = 0] of acts) {
    clock.advanceTo(zero + at * 1000);
    const found = which.startsWith('i')
      ? seen.findLast(({ index }) => `i${index}` === which)
      : seen[Number(which)];
    act(api, what, found ? api.find('pods', found.key) : null, exitCode);
  }
  clock.advanceTo(zero + until * 1000);
  cluster.stop();
  return outcome(api, seen);
}

const container = { name: 'c', image: 'i' };

function act(api: ApiServer, what: string, pod: KubeObject | null, exitCode: number): void {
  const { name = '' } = pod?.metadata ?? {};
  if (what === 'evict') assert.equal(evict(api, 'default', name), 201);
  if (what === 'delete') api.delete('pods', 'default', name);
  if (what === 'force') api.delete('pods', 'default', name, { gracePeriodSeconds: 0 });
  if (what === 'taint') {
    setTaints(api, 'a-1', 'm=k:NoExecute');
    for (const one of api.list('pods', 'default')) leave(api, one);
  }
  if (what === 'untaint') setTaints(api, 'a-1');
  if (what === 'suspend' || what === 'resume') {
    const found = stored(api, 'jobs', 'default', 'w');
    api.update('jobs', { ...found, spec: { ...found.spec, suspend: what === 'suspend' } });
  }
  if (what === 'exit' && pod) exit(api, pod, exitCode);
}

/** All that a Job sees of an eviction by taint: the pod is marked, and then deleted. */
function leave(api: ApiServer, pod: KubeObject): void {
  const mark = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' };
  const conditions = [...pod.status.conditions, mark];
  api.update('pods', { ...pod, status: { ...pod.status, conditions } }, 'status');
  api.delete('pods', 'default', pod.metadata.name);
}

function exit(api: ApiServer, pod: KubeObject, exitCode: number): void {
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
  const finishedAt = new Date(api.clock.now()).toISOString().replace(/\.\d+/, '');
  const containerStatuses = pod.status.containerStatuses.map((status: { name: string }) => ({
    ...status,
    ready: false,
    state: { terminated: { exitCode: status.name === 'c' ? exitCode : 0, finishedAt } },
  }));
  const conditions = pod.status.conditions.map((condition: Condition) =>
    ['Ready', 'ContainersReady'].includes(condition.type)
      ? { ...condition, status: 'False', lastTransitionTime: finishedAt }
      : condition,
  );
  const status = { ...pod.status, phase, containerStatuses, conditions };
  api.update('pods', { ...pod, status }, 'status');
}

function outcome(api: ApiServer, seen: readonly Seen[]): Outcome {
  const { status } = stored(api, 'jobs', 'default', 'w');
  const pods = seen.map(({ index, key, created, gone }): PodStory => {
    const now = api.find('pods', key);
    const phase = now && `${now.status.phase}${isTerminating(now) ? '/terminating' : ''}`;
    return {
      ...(index === undefined ? {} : { index }),
      created,
      ...(gone === undefined ? {} : { gone }),
      ...(phase ? { phase } : {}),
    };
  });
  pods.sort(
    (one, other) =>
      Math.round(one.created) - Math.round(other.created) || (one.index ?? 0) - (other.index ?? 0),
  );
  const conditions: readonly Condition[] = status.conditions ?? [];
  return {
    pods,
    status,
    conditions: conditions
      .filter((one) => one.status === 'True')
      .map(({ type, reason }) => `${type}/${reason}`),
  };
}
