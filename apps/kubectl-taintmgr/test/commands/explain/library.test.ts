// An administrator, a user of one namespace and a program ask the same: where they may see the same they get the same
// answer, and where one may not, the answer says which right is missing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Access, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { explainNode, explainPod, explainWorkload } from '@taintmgr/k8s-adapter/explain';
import { parse } from 'yaml';
import { run } from '../../world/run.ts';
import { fillShop, renewLeases } from '../../world/shop-cluster.ts';
import {
  comeAs,
  leaveTaints,
  startWithDefinitions,
  type TestCluster,
} from '../../world/test-cluster.ts';

const viewer = parse(
  readFileSync(
    new URL('../../../../../deploy/kustomize/base/viewer.yaml', import.meta.url),
    'utf8',
  ),
);
/** The rights that docs/commands/README.md gives to those who ask. */
const asker = {
  metadata: { name: 'taintmgr-asker' },
  rules: [
    { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['nodes'] },
    { verbs: ['get', 'list', 'watch'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
  ],
};

let cluster: TestCluster;
before(async () => {
  cluster = await startWithDefinitions({ developer: [], oncall: [] });
  fillShop(cluster);
  leaveTaints(cluster.api);
  const { api } = cluster;
  for (const role of [viewer, asker]) api.create('clusterroles', role);
  const bind = (user: string, role: string, namespace?: string): void => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
    const subjects = [{ kind: 'User', name: user }];
    const metadata = { name: `${user}-${role}`, ...(namespace && { namespace }) };
    const resource = namespace ? 'rolebindings' : 'clusterrolebindings';
    api.create(resource, { metadata, roleRef, subjects });
  };
  for (const user of ['developer', 'oncall']) {
    bind(user, 'view', 'shop');
    bind(user, 'taintmgr-viewer');
  }
  bind('oncall', 'taintmgr-asker');
});
beforeEach(() => renewLeases(cluster));
after(() => cluster.stop());

type Document = Readonly<Record<string, unknown>>;

/** Of what counts from now only that it is there: an answer is some milliseconds later than another. */
function steady(document: object): Document {
  const since = (key: string): boolean => key !== 'gracePeriodSeconds' && /(Seconds|At)$/.test(key);
  return JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    // A taint of node-b1 counts from when it is seen, which may be a second later the next time.
    if (key === 'pods' && Array.isArray(value)) {
      return value.filter((pod) => Object(pod).node !== 'node-b1');
    }
    return since(key) ? typeof value : value;
  });
}

async function printed(user: string, ...args: readonly string[]): Promise<Document> {
  comeAs(cluster, user);
  const { code, out, err } = await run('explain', ...args, '-o', 'json');
  assert.equal(code, 0, err);
  return steady(JSON.parse(out));
}

async function accessOf(user: string): Promise<Access> {
  comeAs(cluster, user);
  return (await loadKubeconfig()).access;
}

/** The pods of the shop on nodes whose taints say when they were put on. */
function podNames(): readonly string[] {
  const pods = cluster.api.list('pods').filter(({ metadata }) => metadata.namespace === 'shop');
  return pods
    .filter(({ spec }) => spec.nodeName !== 'node-b1')
    .map(({ metadata }) => metadata.name)
    .sort();
}

/** The fields in which two answers differ. */
function differences(one: Document, other: Document): readonly string[] {
  const fields = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...fields].filter((key) => !isDeepStrictEqual(one[key], other[key])).sort();
}

describe('a program', () => {
  it('is told of a node what the plugin prints', async () => {
    const { document, report, refused } = await explainNode(await accessOf('admin'), 'node-a1');
    assert.deepEqual(steady(document), await printed('admin', 'node', 'node-a1'));
    assert.equal(document.pods?.length, report.nodes[0]?.pods?.length);
    assert.deepEqual(refused, []);
  });

  for (const user of ['admin', 'oncall', 'developer']) {
    it(`is told of each pod what the plugin prints to ${user}`, async () => {
      const access = await accessOf(user);
      for (const name of podNames()) {
        const { document } = await explainPod(access, 'shop', name);
        assert.deepEqual(steady(document), await printed(user, 'pod', name, '-n', 'shop'), name);
      }
    });
  }
});

describe('a program', () => {
  const workloads = [
    ['Deployment', 'web'],
    ['PodDisruptionBudget', 'web'],
    ['Namespace', 'shop'],
  ] as const;
  for (const user of ['admin', 'oncall', 'developer']) {
    it(`is told of workloads what the plugin prints to ${user}`, async () => {
      const access = await accessOf(user);
      for (const [kind, name] of workloads) {
        const { document } = await explainWorkload(access, { kind, namespace: 'shop', name });
        const line = [kind.toLowerCase(), name, '-n', 'shop'];
        assert.deepEqual(steady(document), await printed(user, ...line), kind);
      }
    });
  }
});

describe('a user of one namespace', () => {
  it('who may read nodes and leases is told what an administrator is, but for the evidence', async () => {
    for (const name of podNames()) {
      const [all, own] = [
        await printed('admin', 'pod', name, '-n', 'shop'),
        await printed('oncall', 'pod', name, '-n', 'shop'),
      ];
      assert.deepEqual(differences(all, own), ['evictor'], name);
      assert.match(Object(own.evictor).source, /^no permission to list pods in kube-system; /);
    }
  });

  it('who may not is told the same of the pod itself, and which right is missing', async () => {
    const access = await accessOf('developer');
    const seen = new Set<string>();
    for (const name of podNames()) {
      const all = await printed('admin', 'pod', name, '-n', 'shop');
      const { document, refused } = await explainPod(access, 'shop', name);
      const own = steady(document);
      seen.add(`${all.decision} ${own.decision}`);
      if (own.decision !== 'Unknown') continue;
      const fate = ['because', 'blockers', 'deadMachine', 'deadline', 'decision', 'deletedAt'];
      fate.push('estimate', 'evictedBy', 'evictor', 'limits', 'reason', 'remainingSeconds');
      const others = differences(all, own).filter((field) => !fate.includes(field));
      assert.deepEqual(others, [], name);
      assert.match(document.because[0]?.text ?? '', /^unknown: no permission to read node node-/);
      assert.match(refused.join(), /^nodes "node-\w+" is forbidden: User "developer" cannot get /);
    }
    assert.deepEqual([...seen].sort(), [
      'Evict Unknown',
      'Keep Unknown',
      'Terminating Terminating',
    ]);
  });
});
