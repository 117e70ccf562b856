// The annotations of Deployments and ReplicaSets that kubectl rollout reads, in a cluster that is asked for them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment } from '../../src/builders.ts';
import { setSpec, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const revision = 'deployment.kubernetes.io/revision';
const past = 'deployment.kubernetes.io/revision-history';
const cause = 'kubernetes.io/change-cause';
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

function start(rolloutHistory: boolean) {
  const running = virtualCluster({
    topology: small(['a'], [deployment('default', 'web')]),
    rolloutHistory,
  });
  const { api, untilIdle } = running;
  const web = () => stored(api, 'deployments', 'default', 'web');
  untilIdle();
  return {
    ...running,
    web,
    annotate: (annotations: Readonly<Record<string, string>>): void => {
      const { metadata, ...rest } = web();
      const all = { ...metadata.annotations, ...annotations };
      api.update('deployments', { ...rest, metadata: { ...metadata, annotations: all } });
      untilIdle();
    },
    setImage: (image: string): void => {
      const { template } = web().spec;
      const [container] = template.spec.containers;
      const spec = { ...template.spec, containers: [{ ...container, image }] };
      setSpec(api, 'deployments', web(), { template: { ...template, spec } });
      untilIdle();
    },
    /** The annotations of the ReplicaSet of an image. */
    setOf: (image: string) => {
      const set = api
        .list('replicasets')
        .find(({ spec }) => spec.template.spec.containers[0].image === image);
      // Those that say its size are no part of its revision.
      const given = Object.entries(set?.metadata.annotations ?? {});
      return Object.fromEntries(given.filter(([key]) => !key.endsWith('-replicas')));
    },
  };
}

describe('annotations of rollouts', () => {
  it('name the revision on the Deployment too, from its first on', () => {
    const { web, setImage } = start(true);
    assert.deepEqual(web().metadata.annotations, { [revision]: '1' });
    setImage('two');
    assert.deepEqual(web().metadata.annotations, { [revision]: '2' });
    assert.equal(web().status.observedGeneration, web().metadata.generation);
  });

  it('are those of the Deployment on the ReplicaSet of its template, but for what kubectl applied', () => {
    const { annotate, setImage, setOf } = start(true);
    setImage('two');
    annotate({ [cause]: 'the second', [lastApplied]: '{}', note: 'one' });
    const second = { [cause]: 'the second', note: 'one', [revision]: '2' };
    assert.deepEqual(setOf('two'), second);
    setImage('three');
    annotate({ [cause]: 'the third' });
    assert.deepEqual(setOf('two'), second);
    assert.deepEqual(setOf('three'), { ...second, [cause]: 'the third', [revision]: '3' });
  });

  it('keep the revisions that a ReplicaSet had before', () => {
    const { setImage, setOf, web } = start(true);
    for (const image of ['one', 'two', 'one', 'two', 'one']) setImage(image);
    assert.deepEqual(setOf('one'), { [revision]: '6', [past]: '2,4' });
    assert.equal(web().metadata.annotations?.[revision], '6');
  });

  it('are written while the Deployment is paused', () => {
    const { annotate, api, setOf, setImage, web } = start(true);
    setImage('one');
    setSpec(api, 'deployments', web(), { paused: true });
    annotate({ note: 'paused' });
    assert.equal(setOf('one')?.note, 'paused');
  });

  it('are the revision of the ReplicaSet alone where nobody asks for them', () => {
    const { annotate, setImage, setOf, web } = start(false);
    setImage('one');
    annotate({ note: 'one' });
    assert.deepEqual(web().metadata.annotations, { note: 'one' });
    assert.deepEqual(setOf('one'), { [revision]: '2' });
  });
});
