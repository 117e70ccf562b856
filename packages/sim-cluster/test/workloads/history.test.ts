// The ControllerRevisions of DaemonSets and StatefulSets, in a cluster that is asked for them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { daemonSet, statefulSet } from '../../src/builders.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { podsOf, setSpec, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const zones = ['a', 'b'];
const kinds = [
  ['statefulsets', statefulSet('default', 'app', { replicas: 2 })],
  ['daemonsets', daemonSet('default', 'app')],
] as const;

const revisions = (api: PlainServer): readonly KubeObject[] =>
  [...api.list('controllerrevisions')].sort((a, b) => a.revision - b.revision);

/** The label `version` of each template, after its number. */
const versions = (api: PlainServer): readonly string[] =>
  revisions(api).map(({ revision, data }) => {
    return `${revision} ${data.spec.template.metadata.labels.version ?? 'none'}`;
  });

describe('ControllerRevisions', () => {
  for (const [resource, workload] of kinds) {
    const start = (spec: object = {}) => {
      const given = { ...workload, spec: { ...workload.spec, ...spec } };
      const running = virtualCluster({
        topology: small(zones, [given]),
        rolloutHistory: true,
      });
      running.untilIdle();
      /** Gives the pods of the template the label `version: TEXT`. */
      const setVersion = (version: string): void => {
        const found = stored(running.api, resource, 'default', 'app');
        const { template } = found.spec;
        const labels = { ...template.metadata.labels, version };
        setSpec(running.api, resource, found, { template: { ...template, metadata: { labels } } });
        running.untilIdle();
      };
      return { ...running, setVersion };
    };

    it(`of ${resource} have the template, its owner, and the name that pods say`, () => {
      const { api } = start();
      const [one, ...others] = revisions(api);
      const set = stored(api, resource, 'default', 'app');
      assert.equal(others.length, 0);
      const { template } = set.spec;
      assert.deepEqual(one?.data, { spec: { template: { ...template, $patch: 'replace' } } });
      assert.equal(one?.metadata.ownerReferences?.[0]?.uid, set.metadata.uid);
      const [pod] = podsOf(api, 'app');
      const said = pod?.metadata.labels?.['controller-revision-hash'] ?? '';
      const hash = said.replace(/^app-/, '');
      assert.equal(one?.metadata.name, `app-${hash}`);
      const label =
        resource === 'daemonsets' ? 'controller-revision-hash' : 'controller.kubernetes.io/hash';
      assert.equal(one?.metadata.labels?.[label], hash);
    });

    it(`of ${resource} are kept in the order in which they were used last, so many as asked for`, () => {
      const { api, setVersion } = start({ revisionHistoryLimit: 2 });
      for (const version of ['b', 'c']) setVersion(version);
      assert.deepEqual(versions(api), ['1 none', '2 b', '3 c']);
      setVersion('b');
      assert.deepEqual(versions(api), ['1 none', '3 c', '4 b']);
      for (const version of ['d', 'e']) setVersion(version);
      assert.deepEqual(versions(api), ['4 b', '5 d', '6 e']);
    });

    it(`of ${resource} that were left go to the next of the name`, () => {
      const { api, untilIdle, pass } = start();
      const { metadata, spec } = stored(api, resource, 'default', 'app');
      api.delete(resource, 'default', 'app', { propagationPolicy: 'Orphan' });
      pass(5000);
      const { name, namespace = '' } = metadata;
      const again = { ...workload, metadata: { name, namespace }, spec };
      const { uid } = api.create(resource, again).metadata;
      untilIdle();
      assert.deepEqual(versions(api), ['1 none']);
      assert.equal(revisions(api)[0]?.metadata.ownerReferences?.[0]?.uid, uid);
    });

    it(`of ${resource} go with their owner`, () => {
      const { api, untilIdle, pass } = start();
      api.delete(resource, 'default', 'app');
      untilIdle();
      pass(5000);
      assert.deepEqual(revisions(api), []);
    });
  }

  it('that pods are of stay, however few are asked for', () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } };
    const spec = { updateStrategy, revisionHistoryLimit: 0 };
    const set = statefulSet('default', 'app', { replicas: 2, spec });
    const { api, untilIdle } = virtualCluster({
      topology: small(zones, [set]),
      rolloutHistory: true,
    });
    untilIdle();
    for (const version of ['b', 'c']) {
      const found = stored(api, 'statefulsets', 'default', 'app');
      const { template } = found.spec;
      const labels = { ...template.metadata.labels, version };
      setSpec(api, 'statefulsets', found, { template: { ...template, metadata: { labels } } });
      untilIdle();
    }
    assert.deepEqual(versions(api), ['1 none', '3 c']);
  });

  it('are not written where nobody asks for them', () => {
    const { api, untilIdle } = virtualCluster({ topology: small(zones, [kinds[0][1]]) });
    untilIdle();
    assert.deepEqual(revisions(api), []);
  });
});
