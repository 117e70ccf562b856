import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node, pod, type Rule } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

// What `doctor` says of this machine's clock, of the user's rights, and of webhooks.

const read: Rule = {
  verbs: ['get', 'list', 'watch', 'patch', 'create', 'delete'],
  apiGroups: ['*'],
  resources: ['*'],
};
const some = (apiGroups: readonly string[], resources: readonly string[]): readonly Rule[] => [
  { ...read, apiGroups, resources },
];
const kinds = ['nodes', 'pods', 'pods/eviction', 'namespaces', 'services', 'events'];
const groups = ['policy', 'coordination.k8s.io', 'apps', 'admissionregistration.k8s.io'];
const users = {
  /** Lacks what is needed for everything. */
  nodeless: [
    ...some(
      [''],
      kinds.filter((kind) => kind !== 'nodes'),
    ),
    ...some([...groups, 'taintmgr.dev'], ['*']),
  ],
  /** Sees none of our kinds. */
  foreign: [...some([''], kinds), ...some(groups, ['*'])],
  /** May not look into webhooks of one kind. */
  half: [
    ...some([''], kinds),
    ...some(['policy', 'coordination.k8s.io', 'apps', 'taintmgr.dev'], ['*']),
    ...some(['admissionregistration.k8s.io'], ['validatingwebhookconfigurations']),
  ],
};

let cluster: TestCluster;
before(async () => {
  cluster = await startWithDefinitions(users);
  process.env.KUBECONFIG = cluster.kubeconfig;
  const { api } = cluster;
  api.create('nodes', node('n1'));
  api.create('namespaces', { metadata: { name: 'shop' } });
  api.create('pods', pod('shop', 'web', { spec: { nodeName: 'n1' } }));
});
after(() => cluster.stop());

/** Level, what it is about, and the message of each finding of a check. */
async function findings(check: string, ...flags: readonly string[]): Promise<readonly string[]> {
  const path = `jsonpath={range .findings[?(@.check=="${check}")]}{.level} {.about}: {.message}{"\\n"}{end}`;
  const { out } = await run('doctor', '-o', path, ...flags);
  return out.trimEnd().split('\n');
}

describe('doctor of the clock of this machine', () => {
  const cases: readonly (readonly [seconds: number, expected: RegExp])[] = [
    [0, /^OK : this machine agrees with the API server$/],
    [10, /^WARN : this machine is \d+s behind the API server; /],
    [-10, /^WARN : this machine is \d+s ahead of the API server; /],
    [60, /^FAIL : this machine is (5\ds|1m) behind the API server; /],
    [-60, /^FAIL : this machine is (5\ds|1m) ahead of the API server; /],
  ];
  for (const [seconds, expected] of cases) {
    it(`where the API server is ${seconds} s ahead`, async (t) => {
      t.mock.method(cluster.api.clock, 'now', () => Date.now() + seconds * 1000);
      const [found] = await findings('clock');
      assert.match(found ?? '', expected);
    });
  }
});

describe('doctor of the clocks of nodes', () => {
  it('warns of a node whose lease has another time than the API server saw it at', async (t) => {
    const now = Date.now();
    const fieldsV1 = { 'f:spec': { 'f:renewTime': {} } };
    cluster.api.create('leases', {
      metadata: {
        ...{ name: 'n1', namespace: 'kube-node-lease' },
        managedFields: [
          { manager: 'kubelet', operation: 'Update', time: new Date(now).toISOString(), fieldsV1 },
        ],
      },
      spec: {
        holderIdentity: 'n1',
        renewTime: new Date(now - 3_600_500).toISOString().replace('Z', '000Z'),
      },
    });
    t.after(() => cluster.api.delete('leases', 'kube-node-lease', 'n1'));
    const [, node] = await findings('clock');
    assert.match(
      node ?? '',
      /^WARN node\/n1: its clock is (59m|1h).* behind the API server's, by its lease$/,
    );
  });
});

describe('doctor of the rights of the user', () => {
  it('fails where nothing works without one, and only warns of others', async () => {
    const found = await findings('rights', '--token=nodeless');
    assert.deepEqual(found, [
      'FAIL : no permission to get nodes, needed for explain, pending, status and drain-by-taint',
      'FAIL : no permission to list nodes, needed for explain, pending, status and drain-by-taint',
      'WARN : no permission to get jobs.batch, needed for explain pod, of a pod of a Job',
      'WARN : no permission to watch nodes, needed for drain-by-taint and explain -w',
      'WARN : no permission to patch nodes, needed for drain-by-taint and undo',
      'WARN : no permission to patch pods/status, needed for drain-by-taint --pdb-policy=delete-after or ignore',
    ]);
    assert.equal((await run('doctor', '--token=nodeless')).code, 2);
  });

  it('asks for those to our kinds too, where the cluster has them', async () => {
    const plurals = ['evictionpolicies', 'evictionpauses', 'nodetaintrules', 'taintmanagers'];
    const rights = [...plurals.map((one) => ['list', one]), ['get', 'nodedrains']];
    const found = await findings('rights', '--token=foreign');
    assert.deepEqual(
      found.filter((one) => one.includes('.taintmgr.dev')).map((one) => one.split(',')[0]),
      rights.map(([verb, one]) => `WARN : no permission to ${verb} ${one}.taintmgr.dev`),
    );
    assert.equal((await run('doctor', '--token=foreign')).code, 0);
  });
});

describe('doctor of webhooks', () => {
  const well = 'OK : no admission webhook is asked about evictions';
  const eviction = { operations: ['CREATE'], apiGroups: [''], resources: ['pods/eviction'] };
  const service = { namespace: 'shop', name: 'keeper' };
  const gone = 'its Service shop/keeper does not exist';
  const cases: readonly (readonly [string, object, object, RegExp])[] = [
    ['one for evictions', eviction, {}, new RegExp(`^FAIL .*: ${gone}: evictions .* fail$`)],
    ['every operation', { ...eviction, operations: ['*'] }, {}, /^FAIL/],
    ['every group', { ...eviction, apiGroups: ['*'] }, {}, /^FAIL/],
    ['every part of pods', { ...eviction, resources: ['pods/*'] }, {}, /^FAIL/],
    ['evictions of all kinds', { ...eviction, resources: ['*/eviction'] }, {}, /^FAIL/],
    ['every part of everything', { ...eviction, resources: ['*/*'] }, {}, /^FAIL/],
    ['pods, and none of their parts', { ...eviction, resources: ['pods'] }, {}, /^OK/],
    ['deletions', { ...eviction, operations: ['DELETE'] }, {}, /^OK/],
    ['another group', { ...eviction, apiGroups: ['apps'] }, {}, /^OK/],
    [
      'one that may fail',
      eviction,
      { failurePolicy: 'Ignore' },
      new RegExp(`^WARN .*: ${gone}: it is not asked`),
    ],
    [
      'one at a URL',
      eviction,
      { clientConfig: { url: 'https://keeper.example.com' } },
      /^INFO .*: is asked about evictions .*within 10 seconds they fail$/,
    ],
  ];
  for (const [name, rule, fields, expected] of cases) {
    it(`of ${name}`, async (t) => {
      const { api } = cluster;
      const plural = 'validatingwebhookconfigurations';
      const webhook = {
        ...{ name: 'keeper.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] },
        clientConfig: { service },
        rules: [{ ...rule, apiVersions: ['*'] }],
        ...fields,
      };
      api.create(plural, { metadata: { name: 'keepers' }, webhooks: [webhook] });
      t.after(() => api.delete(plural, '', 'keepers'));
      const [found, ...more] = await findings('webhooks');
      assert.match(found ?? '', expected);
      assert.deepEqual(more, []);
    });
  }

  it('where there is none, and where not all may be seen', async () => {
    assert.deepEqual(await findings('webhooks'), [well]);
    assert.deepEqual(await findings('webhooks', '--token=half'), [
      'INFO : no permission to list admission webhooks',
    ]);
  });
});
