// docs/commands/README.md: what a user needs for each command is enough, and none of it is needless; and
// what users are told who may not read nodes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { policyKinds } from '@taintmgr/k8s-adapter/kinds';
import { rightOf } from '@taintmgr/k8s-adapter/survey';
import {
  daemonSet,
  deployment,
  job,
  type KubeObject,
  namespace,
  node,
  pdb,
  pod,
  type Rule,
  statefulSet,
} from '@taintmgr/sim-cluster';
import { parseAllDocuments } from 'yaml';
import { run } from '../world/run.ts';
import {
  comeAs,
  leaveTaints,
  startWithDefinitions,
  type TestCluster,
  type Users,
} from '../world/test-cluster.ts';

const root = new URL('../../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

/** The table: what stands in the first cell, and the second. */
const rows = new Map(
  Array.from(
    read('docs/commands/README.md').matchAll(/^\| (`.*?) \| (.*`.*) \|$/gm),
    ([, commands = '', rights = '']) => [commands, rights],
  ),
);

/** Roles of deploy/kustomize by their names, and the file that has each. */
const roleFiles: Readonly<Record<string, string>> = {
  'taintmgr-drainer': 'components/node-drains/roles.yaml',
  'taintmgr-pauser': 'base/pauser.yaml',
  'taintmgr-resumer': 'components/limits/roles.yaml',
  'taintmgr-viewer': 'base/viewer.yaml',
};

function roleRules(name: string): readonly Rule[] {
  const objects: readonly KubeObject[] = parseAllDocuments(
    read(`deploy/kustomize/${roleFiles[name]}`),
  ).map((document) => document.toJS());
  const role = objects.find((one) => one.metadata.name === name) ?? assert.fail(name);
  const { namespace: place } = role.metadata;
  return role.rules.map((rule: Rule) => ({ ...rule, ...(place && { namespace: place }) }));
}

/** `get,list nodes,pods` are four rights, and `get leases -n a,b` two. */
function spelledOut(text: string): readonly string[] {
  const [verbs = '', resources = '', , places = ''] = text.split(' ');
  if (!/^(get|list|watch|create|patch|delete)(,|$)/.test(verbs)) return [];
  const rights = verbs
    .split(',')
    .flatMap((verb) => resources.split(',').map((resource) => `${verb} ${resource}`));
  if (places === '') return rights;
  return rights.flatMap((right) => places.split(',').map((place) => `${right} -n ${place}`));
}

const quoted = (cell: string): readonly string[] =>
  Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text);

function rulesIn(cell: string): readonly Rule[] {
  return quoted(cell).flatMap((text) => {
    if (roleFiles[text]) return roleRules(text);
    if (cell.includes(`those of \`${text}\``)) return rulesOf(text);
    return spelledOut(text).map((right) => {
      const { verb, group, resource, namespace: place } = rightOf(right);
      const rule = { verbs: [verb], apiGroups: [group], resources: [resource] };
      return { ...rule, ...(place !== undefined && { namespace: place }) };
    });
  });
}

function cellOf(command: string): string {
  const found = [...rows].find(([commands]) => commands.includes(`\`${command}\``));
  return found?.[1] ?? assert.fail(`no row of ${command}`);
}

function rulesOf(command: string): readonly Rule[] {
  return rulesIn(cellOf(command));
}

/** Those that stand in a cell themselves, without their namespaces. */
function namedRights(cell: string): readonly string[] {
  return quoted(cell)
    .flatMap(spelledOut)
    .map((right) => right.replace(/ -n .*/, ''));
}

/** What is run with the rights of each row, one after the other. */
const lines: Readonly<Record<string, readonly string[]>> = {
  explain: [
    'explain node n1',
    'explain pod web -n shop',
    'explain pod batch -n shop',
    'explain taint bad',
    'pending -A',
    'pending -n shop',
  ],
  'explain workload': [
    'explain deployment front -n shop',
    'explain statefulset front -n shop',
    'explain daemonset agent -n shop',
    'explain replicaset front -n shop',
    'explain job front -n shop',
    'explain pdb front -n shop',
    'explain namespace shop',
    'explain nodes',
    'explain pods -n shop',
  ],
  history: ['history -A', 'history pod gone-1 -n shop', 'history node n1'],
  'explain device': ['explain device gpu.example.com/n1/gpu-0'],
  'taint-device': [
    'taint-device gpu.example.com health:NoExecute --yes --timeout=0s --name trial',
    'taint-device devicetaintrule/trial --snooze=1h',
    'undo devicetaintrule/trial',
  ],
  status: ['status'],
  doctor: ['doctor'],
  snapshot: ['snapshot'],
  simulate: ['simulate --until=10s'],
  'drain-by-taint': [
    'drain-by-taint one n2 --dry-run=client --force --ignore-daemonsets',
    'drain-by-taint one n2 --timeout=20s --force --ignore-daemonsets',
    'undo one',
    'drain-by-taint two n3 --timeout=20s --pdb-policy=ignore --force',
    'undo two',
  ],
  'drain-by-taint --server-side': [
    'drain-by-taint three n3 --force --server-side --dry-run=server',
  ],
  pause: ['pause trial', 'resume pause/trial'],
  resume: ['resume'],
  'takeover status': ['takeover status'],
};

const names = Object.keys(lines);
const users: Users = {
  ...Object.fromEntries(names.map((name, index) => [`user-${index}`, rulesOf(name)])),
  developer: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'], namespace: 'shop' }],
  // Reads nodes too, and the pods of one namespace.
  asker: [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes'] },
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'], namespace: 'shop' },
    {
      verbs: ['list'],
      apiGroups: ['policy'],
      resources: ['poddisruptionbudgets'],
      namespace: 'shop',
    },
  ],
  viewer: roleRules('taintmgr-viewer'),
};

let cluster: TestCluster;
before(async () => {
  cluster = await startWithDefinitions(users);
  const { api } = cluster;
  for (const name of ['shop', 'taintmgr-system']) api.create('namespaces', namespace(name));
  leaveTaints(api);
  const bad = [{ key: 'bad', effect: 'NoExecute' }];
  // A NodeDrain is at work there.
  const mark = { id: 'kernel', taint: 'work:NoSchedule', tainted: true, by: 'taintmgr-controller' };
  const marks = JSON.stringify([{ ...mark, run: 'r', heartbeat: new Date().toISOString() }]);
  const n1 = node('n1', { spec: { taints: bad } });
  const metadata = { ...n1.metadata, annotations: { 'taintmgr.dev/drain': marks } };
  api.create('nodes', { ...n1, metadata });
  for (const name of ['n2', 'n3']) api.create('nodes', node(name));
  api.create('pods', pod('shop', 'web', { spec: { nodeName: 'n1' } }));
  const own = (kind: string, apiVersion: string, name: string): object => {
    return { ownerReferences: [{ apiVersion, kind, name, uid: 'u', controller: true }] };
  };
  const owned = (name: string, nodeName: string, owner: object, use?: string): KubeObject => {
    const resourceClaims = use === undefined ? [] : [{ name: use, resourceClaimName: use }];
    const made = pod('shop', name, { spec: { nodeName, resourceClaims } });
    return api.create('pods', { ...made, metadata: { ...made.metadata, ...owner } });
  };
  owned('batch', 'n1', own('Job', 'batch/v1', 'batch'));
  owned('agent', 'n2', own('DaemonSet', 'apps/v1', 'agent'));
  api.create('daemonsets', daemonSet('shop', 'agent'));
  const front = api.create('deployments', deployment('shop', 'front'));
  const { selector, template } = front.spec;
  const set = { kind: 'ReplicaSet', spec: { replicas: 1, selector, template } };
  api.create('replicasets', { ...front, metadata: { name: 'front', namespace: 'shop' }, ...set });
  api.create('statefulsets', statefulSet('shop', 'front'));
  api.create('jobs', job('shop', 'front', 1));
  api.create('poddisruptionbudgets', pdb('shop', 'front', { minAvailable: 1 }));
  owned('front', 'n1', own('ReplicaSet', 'apps/v1', 'front'));
  claim(api, owned('train', 'n1', own('Job', 'batch/v1', 'batch'), 'gpu'));
  for (const name of ['n2', 'n3']) {
    // No kubelet stops pods here.
    const spec = { nodeName: name, terminationGracePeriodSeconds: 0 };
    api.create('pods', pod('shop', `on-${name}`, { spec }));
  }
  const ended = api.create('pods', pod('shop', 'over', { spec: { nodeName: 'n1' } }));
  api.update('pods', { ...ended, status: { ...ended.status, phase: 'Succeeded' } }, 'status');
  api.create('pods', pod('shop', 'quiet', { spec: { nodeName: 'n1' } }));
  const devices = [{ name: 'gpu-0', taints: [{ key: 'ecc', effect: 'NoExecute' }] }];
  api.create('resourceslices', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 'n1-gpu' },
    spec: {
      ...{ driver: 'gpu.example.com', nodeName: 'n1', devices },
      pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
    },
  });
  // Of so many nodes all are listed; of one it is asked for.
  for (let at = 0; at < 20; at++) leaveEvent(api, `gone-${at}`, `m${at}`);
  api.create('evictionpolicies.taintmgr.dev', {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPolicy',
    metadata: { name: 'quiet' },
    spec: { action: 'Keep', match: { namespaceSelector: { matchLabels: { quiet: 'yes' } } } },
  });
});
after(() => cluster.stop());

/** All that is left of a pod that is gone. */
function leaveEvent(api: TestCluster['api'], name: string, on: string): void {
  const time = new Date().toISOString().replace(/\.\d+/, '');
  api.create('events', {
    metadata: { namespace: 'shop', name: `${name}.1` },
    involvedObject: { kind: 'Pod', namespace: 'shop', name, uid: name },
    ...{ reason: 'Scheduled', message: `Successfully assigned shop/${name} to ${on}` },
    ...{ type: 'Normal', firstTimestamp: time, lastTimestamp: time },
  });
}

/** The claim of a pod: it has the only device. */
function claim(api: TestCluster['api'], { metadata: { name, uid = '' } }: KubeObject): void {
  const made = api.create('resourceclaims', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'gpu', namespace: 'shop' },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } },
  });
  const device = { request: 'r', driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' };
  const reservedFor = [{ resource: 'pods', name, uid }];
  const status = { allocation: { devices: { results: [device] } }, reservedFor };
  api.update('resourceclaims', { ...made, status }, 'status');
}

/** A NodeDrain would be carried out from now on. */
function startController(): void {
  const { api } = cluster;
  const managers = 'taintmanagers.taintmgr.dev';
  const made = api.create(managers, {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'TaintManager',
    metadata: { name: 'taintmgr' },
  });
  const renewTime = new Date().toISOString();
  const status = { leader: 'a', controllers: ['node-drain-controller'], renewTime };
  api.update(managers, { ...made, status }, 'status');
}

describe('the rights of docs/commands/README.md', () => {
  it('have a row for each that is tried here', () => {
    assert.equal(rows.size, names.length);
  });

  for (const [index, name] of names.entries()) {
    it(`are enough for ${name}`, async () => {
      comeAs(cluster, `user-${index}`);
      if (name.endsWith('server-side')) startController();
      for (const line of lines[name] ?? []) {
        const from = cluster.answers.length;
        const { code, err } = await run(...line.split(' '));
        assert.equal(code, 0, `${line}: ${err}`);
        const refused = cluster.answers.slice(from).filter((one) => one.endsWith(' 403'));
        assert.deepEqual(refused, [], line);
        assert.doesNotMatch(err, /could not be read|forbidden/, line);
      }
      const unused = cluster.api.access.unusedRights(`user-${index}`);
      const named = namedRights(cellOf(name));
      const needless = unused.map(({ verb, resource }) => `${verb} ${resource}`);
      assert.deepEqual(
        needless.filter((right) => named.includes(right)),
        [],
      );
    });
  }
});

describe('a user of one namespace', () => {
  const unknown = 'unknown: no permission to read nodes';
  before(() => comeAs(cluster, 'developer'));

  it('is told what is known of a pod, and what is not', async () => {
    const { code, out, err } = await run('explain', 'pod', 'web', '-n', 'shop');
    assert.equal(code, 0, err);
    assert.match(out, /^Name: +web\nNamespace: +shop\nDecision: +Unknown\n/);
    assert.match(out, /\nNode: +n1\n/);
    assert.match(
      out,
      /\nBecause: +unknown: no permission to read node n1, so its taints are not known\n/,
    );
    assert.match(err, new RegExp(`Note: .* is ${unknown}`));
    assert.match(err, /Warning: not everything could be read: nodes "n1" is forbidden: User "dev/);
  });

  it('is told the same as JSON', async () => {
    const { out } = await run('explain', 'pod', 'web', '-n', 'shop', '-o', 'json');
    const { decision, because } = JSON.parse(out);
    assert.equal(decision, 'Unknown');
    assert.equal(because[0].code, 'NodeUnknown');
  });

  it('sees the pods that may have to go', async () => {
    const { code, out, err } = await run('pending', '-n', 'shop', '-l', 'app in (web,quiet)');
    assert.equal(code, 0, err);
    assert.equal(
      out,
      'NAMESPACE   POD     NODE   IN        TAINT     BLOCKED BY\n' +
        'shop        quiet   n1     unknown   unknown   ?\n' +
        'shop        web     n1     unknown   unknown   ?\n',
    );
    assert.match(err, new RegExp(`Note: .* is ${unknown}`));
  });

  it('sees none that stays whatever its node is like', async () => {
    const { out } = await run('pending', '-n', 'shop', '-o', 'name');
    assert.doesNotMatch(out, /over/);
  });

  it('learns of missing rights from doctor', async () => {
    const { out } = await run('doctor');
    assert.match(
      out,
      /^FAIL +rights\n +no permission to get nodes, .*\n +no permission to list nodes, /,
    );
    const said = new Set(
      Array.from(out.matchAll(/no permission to (\w+ [\w./]+)/g), ([, one]) => one),
    );
    for (const command of ['explain', 'drain-by-taint']) {
      const [always = ''] = cellOf(command).split('; where pods claim devices');
      for (const right of namedRights(always)) assert.ok(said.has(right), right);
    }
  });

  it('is refused the pods of others', async () => {
    const { code, err } = await run('pending', '-A');
    assert.equal(code, 1);
    assert.match(err, /^Error from server \(Forbidden\): pods is forbidden/);
  });
});

describe('a user of one namespace who may read nodes', () => {
  before(() => comeAs(cluster, 'asker'));

  it('is told what becomes of a pod', async () => {
    const { code, out, err } = await run('explain', 'pod', 'web', '-n', 'shop');
    assert.equal(code, 0, err);
    assert.match(out, /\nDecision: +Evict/);
    assert.match(err, /Warning: not everything could be read: pods is forbidden: User "asker"/);
  });

  it('sees which pods have to go', async () => {
    const { code, out, err } = await run('pending', '-n', 'shop', '-l', 'app in (web,quiet)');
    assert.equal(code, 0, err);
    assert.match(out, /\nshop +web +n1 +(?:overdue|now) .* bad:NoExecute /);
    assert.doesNotMatch(out, /on-n3/);
  });

  it('sees the budgets of the namespace', async () => {
    const { out, err } = await run('pending', '-n', 'shop', '-l', 'app=web');
    // Otherwise it would be unknown what holds the pod back.
    assert.match(out, /\nshop +web +n1 .* bad:NoExecute +<none>\n/);
    assert.doesNotMatch(err, /could not be read: poddisruptionbudgets/);
  });
});

describe('taintmgr-viewer', () => {
  it('is aggregated to view, and reads kinds of ours, the history and nothing else', () => {
    const rules = roleRules('taintmgr-viewer');
    assert.deepEqual(
      rules.map(({ apiGroups, verbs }) => [apiGroups, verbs]),
      [
        [['taintmgr.dev'], ['get', 'list', 'watch']],
        [[''], ['get']],
      ],
    );
    const { resources, resourceNames = [] } = rules[1] ?? {};
    assert.deepEqual(resources, ['configmaps']);
    assert.ok(resourceNames.every((name) => name.startsWith('taintmgr-controller-history-')));
    assert.ok(resourceNames.length > 0);
    const kinds = Object.values(policyKinds).map(({ plural }) => plural);
    assert.deepEqual([...(rules[0]?.resources ?? [])].sort(), [...kinds].sort());
    assert.match(read('deploy/kustomize/base/viewer.yaml'), /aggregate-to-view: "true"/);
  });
});
