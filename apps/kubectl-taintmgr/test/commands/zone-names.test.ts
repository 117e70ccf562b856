// Zones by the names that are printed, and by whichever labels nodes have them: old ones count as new ones do.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../world/test-cluster.ts';

const labelsOf = (prefix: string, region: string, zone: string): Record<string, string> => {
  return { [`${prefix}/region`]: region, [`${prefix}/zone`]: zone };
};
const [now, old] = ['topology.kubernetes.io', 'failure-domain.beta.kubernetes.io'];

const nodes: Readonly<Record<string, Record<string, string>>> = {
  'a-new': labelsOf(now, 'r1', 'a'),
  'a-old': labelsOf(old, 'r1', 'a'),
  'a-both': { ...labelsOf(now, 'r1', 'a'), ...labelsOf(old, 'r1', 'a') },
  // The old label counts.
  'a-moved': { ...labelsOf(now, 'r1', 'b'), ...labelsOf(old, 'r1', 'a') },
  'b-new': labelsOf(now, 'r1', 'b'),
  // Of the same name, in another region.
  'other-a': labelsOf(now, 'r2', 'a'),
  'region-only': { [`${now}/region`]: 'r3' },
};

interface Zoned {
  readonly zone: { readonly name: string; readonly nodes: number };
}

describe('zones of nodes with old and new labels', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    for (const [name, labels] of Object.entries(nodes)) {
      const conditions = [{ type: 'Ready', status: 'True' }];
      const made = cluster.api.create('nodes', node(name, { labels }));
      cluster.api.update('nodes', { ...made, status: { ...made.status, conditions } }, 'status');
    }
  });
  after(() => cluster.stop());

  async function json<T>(...args: readonly string[]): Promise<T> {
    const { code, out, err } = await run(...args, '-o', 'json');
    assert.equal(code, 0, err);
    return JSON.parse(out);
  }

  for (const name of ['a-new', 'a-old', 'a-both', 'a-moved']) {
    it(`explain counts all of the zone of ${name}`, async () => {
      const { zone } = await json<Zoned>('explain', 'node', name);
      assert.deepEqual([zone.name, zone.nodes], ['r1/a', 4]);
    });
  }

  it('explain finds a zone by its name and by its label', async () => {
    const found = async (name: string): Promise<number> => {
      return (await json<Zoned>('explain', 'zone', name)).zone.nodes;
    };
    assert.deepEqual([await found('r1/a'), await found('a'), await found('r3')], [4, 5, 1]);
  });

  it('what status prints is a zone of pause', async () => {
    const { zones } = await json<{ zones: readonly { name: string }[] }>('status');
    const names = zones.map(({ name }) => name);
    assert.deepEqual(names, ['r1/a', 'r1/b', 'r2/a', 'r3']);
    const { code, err } = await run('pause', 'p', '--zones', names.join(','), '--dry-run=server');
    assert.equal(code, 0);
    assert.doesNotMatch(err, /no node is in zone/);
  });

  it('a zone of pause may be named as its label, and is every zone of that name', async () => {
    const args = ['pause', 'p', '--zones', 'a,r3', '--dry-run=server'];
    const { spec } = await json<{ spec: { scope: { zones: string[] } } }>(...args);
    assert.deepEqual(spec.scope.zones.sort(), ['r1/a', 'r2/a', 'r3']);
  });

  const targets: readonly (readonly [zone: string, nodes: readonly string[]])[] = [
    ['r1/a', ['a-both', 'a-moved', 'a-new', 'a-old']],
    ['r2/a', ['other-a']],
    ['a', ['a-both', 'a-moved', 'a-new', 'a-old', 'other-a']],
    ['r3', ['region-only']],
  ];
  for (const [zone, names] of targets) {
    it(`zone ${zone} of an event is ${names.join(', ')}`, async () => {
      const event = `{at: 1s, cordon: {zone: ${zone}}}`;
      const { runs } = await json<{
        runs: readonly {
          nodes: readonly { name: string; states: readonly { cordoned: boolean }[] }[];
        }[];
      }>('simulate', '--event', event, '--until', '5s');
      const cordoned = runs[0]?.nodes.filter(({ states }) => states.at(-1)?.cordoned);
      assert.deepEqual(cordoned?.map(({ name }) => name).sort(), names);
    });
  }

  const mistakes: readonly (readonly [zone: string, fault: string])[] = [
    ['r1/c', 'no node is meant by zone r1/c, did you mean r1/a? there are r1/a, r1/b, r2/a, r3'],
    ['nowhere', 'no node is meant by zone nowhere; there are a, b, r3'],
  ];
  for (const [zone, fault] of mistakes) {
    it(`zone ${zone} of an event is refused with those that there are`, async () => {
      const { err } = await run('simulate', '--event', `{at: 1s, cordon: {zone: ${zone}}}`);
      assert.ok(err.includes(fault), err);
    });
  }
});
