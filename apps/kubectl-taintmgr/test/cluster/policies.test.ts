import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { sourceNotes } from '@taintmgr/k8s-adapter/explain';
import {
  customResourceDefinitions,
  type PolicyObject,
  policyApiVersion,
  policyKinds,
  readManifest,
} from '@taintmgr/k8s-adapter/kinds';
import { type OwnSettings, policiesInForce, taintManagersIn } from '@taintmgr/k8s-adapter/survey';
import { type Json, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { leaveTaints, startTestCluster, type TestCluster } from '../world/test-cluster.ts';

// What explain says where policies and pauses are in the cluster.

const key = (kind: 'EvictionPolicy' | 'EvictionPause'): string =>
  `${policyKinds[kind].plural}.taintmgr.dev`;

function create(
  { api }: TestCluster,
  kind: 'EvictionPolicy' | 'EvictionPause',
  name: string,
  spec: Json,
): void {
  const apiVersion = 'taintmgr.dev/v1alpha1';
  api.create(key(kind), { apiVersion, kind, metadata: { name }, spec });
}

/** NAME, DECISION, IN and WHY of each pod; times are as of the second of the taint. */
async function explained(): Promise<readonly string[]> {
  const { code, out, err } = await run('explain', 'node', 'n1', '-o', 'wide');
  assert.equal(code, 0, err);
  const rows = out.split('\n').filter((line) => /^(default|vault) /.test(line));
  return rows.map((line) => {
    const [, name, decision, at, ...others] = line.trim().split(/ {2,}/);
    const when = at?.replace(/^overdue by .*/, 'now').replace(/^59m.*/, '1h');
    return [name, decision, when, others.at(-1)].join(' | ');
  });
}

describe('policies of the cluster', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    leaveTaints(api);
    api.create('nodes', node('n1', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }));
    for (const name of ['kept', 'other']) {
      const one = pod('default', name, { spec: { nodeName: 'n1' } });
      api.create('pods', { ...one, metadata: { ...one.metadata, labels: { app: name } } });
    }
  });
  after(() => cluster.stop());

  it('are none where the kinds are not installed', async () => {
    assert.deepEqual(await explained(), [
      'kept | Evict | now | no toleration for bad:NoExecute',
      'other | Evict | now | no toleration for bad:NoExecute',
    ]);
  });

  it('decide as they decide for the controller', async () => {
    const { api } = cluster;
    await installDefinitions(api, customResourceDefinitions());
    api.create('namespaces', { metadata: { name: 'vault', labels: { protected: 'yes' } } });
    api.create('pods', pod('vault', 'secret', { spec: { nodeName: 'n1' } }));
    const podSelector = { matchLabels: { app: 'kept' } };
    create(cluster, 'EvictionPolicy', 'keep', { match: { podSelector }, action: 'Keep' });
    const namespaceSelector = { matchLabels: { protected: 'yes' } };
    create(cluster, 'EvictionPolicy', 'vault', {
      match: { namespaceSelector },
      action: 'Delete',
      defaultTolerationSeconds: 3600,
    });
    assert.deepEqual(await explained(), [
      'other | Evict | now | no toleration for bad:NoExecute',
      'secret | Evict | 1h | no toleration for bad:NoExecute, given 1h, by policy vault',
      'kept | Keep | - | kept despite bad:NoExecute, by policy keep',
    ]);
  });

  it('are paused as they are for the controller', async () => {
    create(cluster, 'EvictionPause', 'night', { reason: 'network maintenance' });
    const paused = 'deadlines are paused by night; no toleration for bad:NoExecute';
    assert.deepEqual(await explained(), [
      `other | Held | now | ${paused}`,
      `secret | Held | 1h | ${paused}, given 1h, by policy vault`,
      'kept | Keep | - | kept despite bad:NoExecute, by policy keep',
    ]);
  });
});

// Which policies count: of the cluster, of the controller's own files, of files that are given.

function policy(name: string, priority: number): PolicyObject {
  const head = { apiVersion: policyApiVersion, kind: 'EvictionPolicy', metadata: { name } };
  const judged = readManifest({ ...head, spec: { priority, match: {}, action: 'Keep' } }, 0);
  assert.ok(judged.kind === 'allowed');
  return judged.value;
}

type Published = readonly {
  readonly kind: string;
  readonly name: string;
  readonly spec?: string;
}[];

/** How a controller runs that publishes these policies of its files. */
function settings(policies: Published, fields: Partial<OwnSettings> = {}): OwnSettings {
  const metadata = { name: 'taintmgr', uid: 'u' };
  const status = { leader: 'cp_1', policies };
  const [manager] = taintManagersIn([
    { apiVersion: policyApiVersion, kind: 'TaintManager', metadata, status },
  ]);
  assert.ok(manager);
  return {
    ...{ engine: {}, lifecycle: {}, followsCluster: true, unusable: [], mode: 'delete' },
    ...{ watchesNodes: true, allowsOverlap: false, policies: manager.policies },
    ...fields,
  };
}

const own = (name: string, priority: number): Published[number] => {
  const spec = JSON.stringify({ priority, match: {}, action: 'Keep' });
  return { kind: 'EvictionPolicy', name, spec };
};
const nameOnly = { kind: 'EvictionPolicy', name: 'a' };
const cluster = [policy('a', 1), policy('b', 1)];
const published = 'from the --policy files of taintmgr-controller: a';
const unknown =
  'what a of the --policy files of taintmgr-controller says is not known here, and may change this';

const cases: readonly (readonly [
  name: string,
  settings: OwnSettings | undefined,
  files: readonly PolicyObject[],
  expected: readonly string[],
  notes: readonly string[],
])[] = [
  ['of the cluster', undefined, [], ['a 1', 'b 1'], []],
  ["the controller's go before", settings([own('a', 2)]), [], ['a 2', 'b 1'], [published]],
  [
    'those that are given go before all',
    settings([own('a', 2)]),
    [policy('a', 3), policy('c', 3)],
    ['a 3', 'c 3', 'b 1'],
    [],
  ],
  ['of one there is only the name', settings([nameOnly]), [], ['b 1'], [unknown]],
  [
    'one that a later version wrote',
    settings([{ ...nameOnly, spec: '{"match":{},"action":"Ponder"}' }]),
    [],
    ['b 1'],
    [unknown],
  ],
  ['one that is no JSON', settings([{ ...nameOnly, spec: '{"match' }]), [], ['b 1'], [unknown]],
  [
    'those of the cluster are not followed',
    settings([own('a', 2)], { followsCluster: false }),
    [],
    ['a 2'],
    ['taintmgr-controller does not follow the policies and pauses of the cluster', published],
  ],
  [
    'by the rules of kube-controller-manager none counts',
    settings([own('a', 2)], { engine: { semantics: 'upstream-1.36' }, followsCluster: false }),
    [policy('c', 3)],
    [],
    ['taintmgr-controller does not follow the policies and pauses of the cluster'],
  ],
  [
    'what its files say is not published',
    { ...settings([]), policies: null },
    [],
    ['a 1', 'b 1'],
    ['what the --policy files of taintmgr-controller say is not known here, and may change this'],
  ],
];

describe('policies that count', () => {
  for (const [name, from, files, expected, notes] of cases) {
    it(name, () => {
      const inForce = policiesInForce(cluster, from, files);
      const shown = inForce.objects.map(({ value }) => {
        return `${value.name} ${'priority' in value ? value.priority : ''}`;
      });
      assert.deepEqual(shown, expected);
      assert.deepEqual(from ? sourceNotes(inForce, from) : [], notes);
    });
  }
});
