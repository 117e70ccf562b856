import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import type { EvictionPolicy, PolicyVerdict } from '@taintmgr/core/policy';
import { customResourceDefinitions, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { node, pod } from '@taintmgr/sim-cluster';
import { verdictText } from '../../../src/commands/explain/policy.ts';
import { run } from '../../world/run.ts';
import { leaveTaints, startTestCluster, type TestCluster } from '../../world/test-cluster.ts';

// `explain policy`, with the policies of the cluster and with the same ones from a file.

const apiVersion = 'taintmgr.dev/v1alpha1';
const kind = 'EvictionPolicy';
const app = (name: string): object => ({ podSelector: { matchLabels: { app: name } } });
const vault = { namespaceSelector: { matchLabels: { protected: 'yes' } } };
const limits = [{ per: 'Zone', percent: 20, window: '10m' }];
const specs = [
  ['keep', { match: app('kept'), action: 'Keep', priority: 10 }],
  ['soft', { match: app('kept'), action: 'Evict' }],
  ['vault', { match: vault, action: 'Delete' }],
  ['zones', { limits }],
] as const;
const manifests = specs.map(([name, spec]) => ({ apiVersion, kind, metadata: { name }, spec }));

const head = `Namespace:    default
Node:         n1
Taints:       bad:NoExecute
Evicted by:   no controller
Limits:       zones: per zone at most 20 % within 10m
`;
const keptAnswer = `Name:         kept
${head}
TAINT           POLICY   PRIORITY   ACTION   COUNTS   WHY
bad:NoExecute   keep     10         Keep     yes      counts: highest priority of those that match
bad:NoExecute   soft     0          Evict    no       matches; keep (priority 10) goes before
bad:NoExecute   vault    0          Delete   no       does not match: namespaceSelector
bad:NoExecute   zones    0          <none>   no       matches; has no action, only limits
`;
const otherAnswer = `Name:         other
${head}
TAINT           POLICY   PRIORITY   ACTION   COUNTS   WHY
bad:NoExecute   keep     10         Keep     no       does not match: podSelector
bad:NoExecute   soft     0          Evict    no       does not match: podSelector
bad:NoExecute   vault    0          Delete   no       does not match: namespaceSelector
bad:NoExecute   zones    0          <none>   no       matches; has no action, only limits

bad:NoExecute: none counts: the controller's settings apply
`;

async function answer(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await run('explain', 'policy', ...args);
  assert.equal(code, 0, err);
  return out;
}

const verbs = ['get', 'list'];
const rules = [{ apiGroups: [''], resources: ['pods', 'nodes'], verbs }];
const all = [...rules, { apiGroups: ['taintmgr.dev'], resources: ['*'], verbs }];

describe('explain policy', () => {
  let cluster: TestCluster;
  let file: string;
  before(async () => {
    cluster = await startTestCluster(null, { stranger: rules, viewer: all });
    process.env.KUBECONFIG = cluster.kubeconfig;
    leaveTaints(cluster.api);
    file = join(cluster.directory, 'policies.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }));
    const { api } = cluster;
    api.create('nodes', node('n1', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }));
    api.create('nodes', node('n2'));
    for (const [name, nodeName] of [
      ['kept', 'n1'],
      ['other', 'n1'],
      ['fine', 'n2'],
    ] as const) {
      const one = pod('default', name, { spec: { nodeName } });
      api.create('pods', { ...one, metadata: { ...one.metadata, labels: { app: name } } });
    }
  });
  after(() => cluster.stop());

  it('says that the own settings count where there are no policies', async () => {
    const out = await answer('kept');
    assert.match(out, /\n\nbad:NoExecute: none counts: the controller's settings apply\n$/);
  });

  it('answers by the policies of files', async () => {
    assert.equal(await answer('pod/kept', '--policy', file), keptAnswer);
    assert.equal(await answer('other', '--policy', file), otherAnswer);
  });

  it('answers the same by the policies of the cluster', async () => {
    const { api } = cluster;
    await installDefinitions(api, customResourceDefinitions());
    for (const manifest of manifests) {
      api.create('evictionpolicies.taintmgr.dev', structuredClone(manifest));
    }
    assert.equal(await answer('pod/kept', '-n', 'default'), keptAnswer);
    assert.equal(await answer('other'), otherAnswer);
  });

  it('lets a file count before the policy of its name in the cluster', async () => {
    const soon = join(cluster.directory, 'soon.json');
    const metadata = { name: 'keep' };
    writeFileSync(soon, JSON.stringify({ apiVersion, kind, metadata, spec: { action: 'Delete' } }));
    const out = await answer('other', '--policy', soon);
    assert.match(out, /keep +0 +Delete +yes +counts: highest priority of those that match/);
  });

  it('answers for each pod of a node', async () => {
    assert.match(
      await answer('node/n1'),
      new RegExp(
        [
          'bad:NoExecute +default +kept +keep +10 +Keep +counts: highest priority .*',
          "bad:NoExecute +default +other +<none> +- +- +none counts: the controller's settings apply",
          '$',
        ].join('\n'),
      ),
    );
    assert.match(
      await answer('node/n2'),
      /The node has no NoExecute taint: no policy is asked\. Ask about one with --with-taint KEY\.$/m,
    );
  });

  it('answers for a taint that the node does not have', async () => {
    const out = await answer('kept', '--with-taint', 'worse=1');
    assert.match(out, /^Taints: +bad:NoExecute, worse=1:NoExecute$/m);
    assert.match(out, /^bad:NoExecute +keep +10 +Keep +yes /m);
    assert.match(out, /^worse=1:NoExecute +keep +10 +Keep +yes /m);
  });

  it('takes the kind and the name apart, as kubectl does', async () => {
    assert.equal(await answer('node', 'n1'), await answer('node/n1'));
    assert.equal(await answer('pod', 'kept'), await answer('pod/kept'));
    const { err, code } = await run('explain', 'policy', 'service', 'n1');
    assert.deepEqual(
      [code, err],
      [1, 'error: got "service/n1", want NAME, pod/NAME or node/NAME\n'],
    );
  });

  it('has a document with every verdict, and names what counts', async () => {
    const { pods, subject } = JSON.parse(await answer('kept', '-o', 'json'));
    assert.deepEqual(subject, { kind: 'pod', name: 'kept' });
    const [{ counts, policies }] = pods[0].taints;
    assert.equal(counts, 'keep');
    assert.deepEqual(
      policies.map(({ verdict }: { readonly verdict: string }) => verdict),
      ['counts', 'outranked', 'notMatched', 'onlyLimits'],
    );
    assert.match(await answer('kept', '-o', 'yaml'), /counts: keep/);
    assert.equal(await answer('node/n1', '-o', 'name'), 'evictionpolicy.taintmgr.dev/keep\n');
  });

  it('says that nobody who knows policies acts', async () => {
    const { err } = await run('explain', 'policy', 'kept');
    assert.match(err, /only taintmgr-controller knows policies, and it was not seen to act here/);
  });

  it('is an error where policies may not be seen', async () => {
    const { code, out, err } = await run('explain', 'policy', 'kept', '--token', 'stranger');
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(err, /which policy counts is unknown: no permission to list evictionpolicies/);
  });

  it('leaves open what asks for labels of a namespace that may not be seen', async () => {
    const { code, out, err } = await run('explain', 'policy', 'other', '--token', 'viewer');
    assert.equal(code, 0, err);
    const why =
      'asks for labels of namespace default, which are not known: undecided, the pod stays';
    assert.match(out, new RegExp(`vault +0 +Delete +no +${why}`));
    assert.match(out, new RegExp(`\nbad:NoExecute: vault ${why}\n$`));
    assert.match(err, /Warning: not everything could be read: namespaces is forbidden/);
  });

  it('warns of a policy that cannot be read', async () => {
    const { api } = cluster;
    const plural = 'evictionpolicies.taintmgr.dev';
    const broken = api.list('customresourcedefinitions').find(({ metadata }) => {
      return metadata.name === plural;
    });
    assert(broken);
    const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const version = { name: 'v1alpha1', served: true, storage: true };
    const versions = [{ ...version, schema: { openAPIV3Schema } }];
    const spec = { ...Object(broken.spec), versions };
    api.update('customresourcedefinitions', { ...broken, spec });
    api.create(plural, { apiVersion, kind, metadata: { name: 'odd' }, spec: { action: 'Drop' } });
    const { err } = await run('explain', 'policy', 'kept');
    assert.match(err, /Warning: EvictionPolicy "odd" cannot be followed: .*"Drop"/);
    assert.match(err, /taintmgr-controller holds all evictions until it can be/);
  });

  it('names what is not there, and what cannot be asked', async () => {
    const failures = [
      [['absent'], /pods "absent" not found/],
      [['node/absent'], /nodes "absent" not found/],
      [['zone/a'], /got "zone\/a", want NAME, pod\/NAME or node\/NAME/],
      [['kept', '--policy', '/absent.yaml'], /--policy .*absent\.yaml/],
    ] as const;
    for (const [args, message] of failures) {
      const { code, err } = await run('explain', 'policy', ...args);
      assert.equal(code, 1, err);
      assert.match(err, message);
    }
  });

  it('says that kube-controller-manager ignores policies, where it evicts', async () => {
    const now = new Date().toISOString().replace('Z', '000Z');
    const holder = { holderIdentity: 'cp_1', leaseDurationSeconds: 15 };
    cluster.api.create('leases', {
      metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
      spec: { ...holder, acquireTime: now, renewTime: now },
    });
    const name = 'kube-controller-manager';
    cluster.api.delete('pods', 'kube-system', name, { gracePeriodSeconds: 0 });
    const { out, err } = await run('explain', 'policy', 'kept');
    assert.match(out, /\nEvicted by: +kube-controller-manager/);
    assert.match(err, /Note: kube-controller-manager evicts here and ignores policies/);
  });
});

// The words for each verdict on a policy, with the names that manifests have.

function policy(name: string, spec: object): EvictionPolicy {
  const manifest = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy' };
  const judged = readManifest({ ...manifest, metadata: { name }, spec }, 0);
  assert(judged.kind === 'allowed' && judged.value.kind === 'EvictionPolicy', name);
  return judged.value.value;
}

const plain = policy('plain', { action: 'Evict' });
const byName = policy('by-name', { action: 'Evict', match: { namespaces: ['a'] } });
const namespaceSelector = { matchLabels: { a: 'b' } };
const byLabel = policy('by-label', { action: 'Evict', match: { namespaceSelector } });
const byBoth = policy('by-both', {
  action: 'Evict',
  match: { namespaces: ['a'], namespaceSelector },
});
const first = policy('first', { action: 'Keep', priority: 10 });

const table: readonly (readonly [PolicyVerdict, EvictionPolicy, string])[] = [
  [{ kind: 'notMatched', part: 'taints' }, plain, 'does not match: taints'],
  [{ kind: 'notMatched', part: 'nodes' }, plain, 'does not match: nodeSelector'],
  [{ kind: 'notMatched', part: 'namespaces' }, byName, 'does not match: namespaces'],
  [{ kind: 'notMatched', part: 'namespaces' }, byLabel, 'does not match: namespaceSelector'],
  [
    { kind: 'notMatched', part: 'namespaces' },
    byBoth,
    'does not match: namespaces or namespaceSelector',
  ],
  [{ kind: 'notMatched', part: 'pods' }, plain, 'does not match: podSelector'],
  [{ kind: 'notMatched', part: 'podPriority' }, plain, 'does not match: podPriority'],
  [{ kind: 'outranked', by: 'first' }, plain, 'matches; first (priority 10) goes before'],
  [{ kind: 'onlyLimits' }, plain, 'matches; has no action, only limits'],
  [{ kind: 'unknownNamespace' }, byLabel, 'asks for labels of namespace shop, which are not known'],
];

describe('why a policy does not count', () => {
  for (const [verdict, one, text] of table) {
    it(text, () => assert.equal(verdictText(verdict, one, first, 'shop'), text));
  }
});
