import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { SimulationDocument } from '@taintmgr/page';
import { Cluster, deployment, type KubeObject, pdb, VirtualClock } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import { temporaryFiles, topology } from '../../../world/simulate-files.ts';

const { path, write: file } = temporaryFiles();
const drain = '{at: 1m, drain: {node: node-1}}';

/** A cluster of three nodes as kubectl prints it: shop/web with 3 pods and a budget, shop/api with 2. */
function snapshot(): string {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const nodes = ['node-1', 'node-2', 'node-3'].map((name) => ({ name, zone: 'zone-a' }));
  const cluster = new Cluster({ clock, seed: 1 });
  for (const node of nodes) cluster.addNode(node);
  cluster.start();
  clock.advanceTo(clock.now() + 60_000);
  cluster.api.create('namespaces', { metadata: { name: 'shop' } });
  cluster.api.create('deployments', deployment('shop', 'web', { replicas: 3 }));
  cluster.api.create('deployments', deployment('shop', 'api', { replicas: 2 }));
  cluster.api.create('poddisruptionbudgets', pdb('shop', 'web', { maxUnavailable: 1 }));
  clock.advanceTo(clock.now() + 60_000);
  const items = cluster.api.stored().flatMap(({ storeKey }) => cluster.api.list(storeKey));
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

const budget = (spec: string): string =>
  `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: shop}, spec: {${spec}}}`;

const workload = (name: string, spec: string, podSpec = ''): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: shop}
spec:
  ${spec}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: ${name}, image: 'registry.example/${name}:2'${podSpec}}]}
`;

async function played(manifests: string, ...args: readonly string[]) {
  const source = file('snapshot.json', snapshot());
  const applied = file('pr.yaml', manifests);
  return await run('simulate', '-f', source, '--apply', applied, '--event', drain, ...args);
}

async function documentOf(manifests: string): Promise<SimulationDocument> {
  const { code, out, err } = await played(manifests, '-o', 'json');
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

const cases: readonly (readonly [what: string, manifests: string, lines: readonly RegExp[]])[] = [
  [
    'a budget that can never be kept',
    budget("minAvailable: '100%'"),
    [
      /^after: 1 changed \(PDB shop\/web\)$/m,
      /^PDB shop\/web allows no eviction after: 0 of 3 may be down$/m,
      /^after: \d evictions?, \d{2,} refused by PDBs/m,
    ],
  ],
  [
    'half of the replicas',
    '{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 1}}',
    [
      /^after: 1 changed \(Deployment shop\/web\)$/m,
      /^events begin \ds after that, before as well$/m,
    ],
  ],
  [
    'nothing',
    budget('maxUnavailable: 1'),
    [/^after: nothing of it changes the cluster, 1 unchanged$/m],
  ],
  [
    'a new workload',
    workload('new', 'replicas: 2'),
    [/^after: 1 created \(Deployment shop\/new\)$/m, /shop\/new/],
  ],
  [
    'another image',
    workload('api', 'minReadySeconds: 5'),
    [/^after: 1 changed \(Deployment shop\/api\)$/m, /^events begin \d\ds after that/m],
  ],
  [
    'pods that fit nowhere',
    workload('api', '', ', resources: {requests: {cpu: 100}}'),
    [
      /^Deployment shop\/api does not come to rest after: 1 of 2 pods updated; 1 of its pods fits on no node: 0\/3 nodes are available: 3 Insufficient cpu/m,
    ],
  ],
  [
    'a class that is not there',
    workload('api', '').replace('spec: {containers', 'spec: {priorityClassName: gone, containers'),
    [
      /^Deployment shop\/api does not come to rest after: 0 of 2 pods updated; its pods are refused: there is no PriorityClass gone$/m,
    ],
  ],
];

describe('--apply lays over the cluster', () => {
  for (const [what, manifests, lines] of cases) {
    it(what, async () => {
      const { code, out, err } = await played(manifests);
      assert.equal(code, 0, err);
      const unwrapped = out.replaceAll('\n    ', ' ');
      for (const line of lines) assert.match(unwrapped, line);
    });
  }

  it('says which fields it changes, and what did not count', async () => {
    const config = '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}';
    const { applied, runs, notes } = await documentOf(
      [workload('web', 'replicas: 1'), budget('maxUnavailable: 1'), config].join('\n---\n'),
    );
    const [before, after] = runs;
    assert.deepEqual(
      applied?.map(({ line, kind, change, fields }) => [line, kind, change, fields]),
      [
        [
          4,
          'Deployment',
          'changed',
          [
            'spec.replicas 3 -> 1',
            'spec.template.spec.containers[0].image registry.example/web:1.0 -> registry.example/web:2',
          ],
        ],
        [13, 'PodDisruptionBudget', 'unchanged', []],
      ],
    );
    assert.deepEqual([before?.name, after?.name], ['before', 'after']);
    assert.equal(before?.rollout?.seconds, after?.rollout?.seconds);
    assert.deepEqual(
      runs.map(({ summary }) => summary.workloads.find(({ name }) => name === 'web')?.wanted),
      [3, 1],
    );
    assert.deepEqual(notes.slice(-2), [
      'nothing says what was applied last to Deployment web, PodDisruptionBudget web: fields that manifests have no more stay',
      'kinds of --apply that play no part are left out: ConfigMap 1',
    ]);
  });
});

const evictionPolicy = `
apiVersion: taintmgr.dev/v1alpha1
kind: EvictionPolicy
metadata: {name: gentle}
spec: {action: Keep}
`;

describe('--apply', () => {
  it('is of policies too, which count in the run with them alone', async () => {
    const source = file('snapshot.json', snapshot());
    const taint = '{at: 1m, taint: {node: node-1, taint: "m=k:NoExecute"}}';
    const applied = file('policy.yaml', evictionPolicy);
    const args = ['-f', source, '--apply', applied, '--event', taint, '-o', 'json'];
    const { out } = await run('simulate', ...args);
    const { applied: laid, runs } = JSON.parse(out) as SimulationDocument;
    assert.deepEqual(
      laid?.map(({ kind, namespace, name, change }) => [kind, namespace, name, change]),
      [['EvictionPolicy', '', 'gentle', 'created']],
    );
    const [before, after] = runs;
    assert.ok(before && before.summary.evictions > 0);
    assert.equal(after?.summary.evictions, 0);
    assert.deepEqual(
      runs.map(({ semantics, rollout }) => [semantics, rollout?.seconds]),
      [
        ['taintmgr', 0],
        ['taintmgr', 0],
      ],
    );
  });

  it('compares a policy with the one of its name, and says what it changes', async () => {
    const items = JSON.parse(snapshot());
    items.items.push({
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'EvictionPolicy',
      metadata: { name: 'gentle', uid: 'u', generation: 4 },
      spec: { action: 'Keep' },
    });
    const source = file('with-policy.json', JSON.stringify(items));
    const laid = async (text: string): Promise<unknown> => {
      const args = ['-f', source, '--apply', file('policy.yaml', text), '--until', '1m'];
      const { out } = await run('simulate', ...args, '-o', 'json');
      const { applied } = JSON.parse(out) as SimulationDocument;
      return applied?.map(({ change, fields }) => [change, ...fields]);
    };
    assert.deepEqual(await laid(evictionPolicy), [['unchanged']]);
    assert.deepEqual(await laid(evictionPolicy.replace('Keep', 'Delete')), [
      ['changed', 'spec.action Keep -> Delete'],
    ]);
  });

  it('knows a class that comes with it, before what needs it', async () => {
    const important =
      '{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: first}, value: 9}';
    const web = workload('web', '').replace(
      'spec: {containers',
      'spec: {priorityClassName: first, containers',
    );
    const { applied, runs } = await documentOf(`${web}\n---\n${important}`);
    assert.deepEqual(
      applied?.map(({ kind, change }) => [kind, change]),
      [
        ['PriorityClass', 'created'],
        ['Deployment', 'changed'],
      ],
    );
    assert.deepEqual(runs[1]?.rollout?.unfinished, []);
  });

  it('lies over a topology too, as each seed has it', async () => {
    const source = file('topology.yaml', topology);
    const applied = file('pr.yaml', budget('maxUnavailable: 0'));
    const { code, out, err } = await run(
      ...['simulate', '-f', source, '--apply', applied, '--seeds', '3', '--until', '5m'],
      ...['--event', '{at: 1m, drain: {zone: zone-a}}'],
      ...['--fail-if', 'refusals(shop/web, after) > refusals(shop/web, before)'],
    );
    assert.equal(code, 2, err);
    assert.match(err, /^limit crossed: .*: with 3 of 3 seeds: /m);
    assert.match(out, /^PDB shop\/web allows no eviction after: 0 of 6 may be down$/m);
  });

  const two = `${budget('minAvailable: 1')}\n---\n${budget('minAvailable: 2')}`;
  const wrong: readonly (readonly [what: string, manifests: string, err: RegExp])[] = [
    [
      'a field that is none',
      workload('web', 'replica: 1'),
      /^error: \S+pr\.yaml:6:12: Deployment web: unknown field "spec\.replica"$/m,
    ],
    [
      'a value of another type',
      workload('web', 'replicas: "3"'),
      /pr\.yaml:6:13: spec\.replicas: Deployment web: json: cannot unmarshal string into Go struct field/,
    ],
    [
      'what an API server refuses',
      workload('web', 'replicas: -1'),
      /pr\.yaml:6:13: Deployment web: spec\.replicas: Invalid value: -1: must be greater than or equal to 0$/m,
    ],
    ['an earlier version', budget('').replace('/v1', '/v1beta1'), /:1:14: .* want policy\/v1$/m],
    [
      'one object twice',
      two,
      /pr\.yaml:3:\d+: PodDisruptionBudget web is in \S+pr\.yaml:1:1 already$/m,
    ],
    [
      'a machine',
      '{apiVersion: v1, kind: Node, metadata: {name: node-9}}',
      /pr\.yaml:1:1: Node node-9: there is no such node, .* want addNode of --script$/m,
    ],
    [
      'an object without a name',
      '{apiVersion: v1, kind: Pod, metadata: {generateName: p-}, spec: {containers: [{name: c, image: i}]}}',
      /pr\.yaml:1:1: Pod p-: metadata\.name: Required value/,
    ],
    [
      'a policy that cannot be followed',
      evictionPolicy.replace('Keep', 'Explode'),
      /pr\.yaml:5:16: spec\.action: Unsupported value: "Explode"/,
    ],
    ['what is no object', 'a: 1', /pr\.yaml:1: is not an object of Kubernetes: apiVersion, kind/],
    [
      'a template of Helm',
      '{{- if .Values.on }}\nkind: Pod\n{{- end }}',
      /pr\.yaml:1: a template of Helm; want what it makes, as of helm template CHART \| kubectl/,
    ],
  ];
  for (const [what, manifests, message] of wrong) {
    it(`refuses ${what}, and goes on without it if asked to`, async () => {
      const { code, out, err } = await played(manifests);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, message);
      assert.match(err, /^Part of the cluster or of --apply could not be taken; --partial /m);
      const partial = await played(manifests, '--partial');
      assert.equal(partial.code, 0, partial.err);
      assert.match(partial.out, /^PARTIAL: /);
    });
  }

  it('reads folders in folders, beside other files, but not those that kustomize builds', async () => {
    mkdirSync(path('repository/apps'), { recursive: true });
    file('repository/values.yaml', 'replicas: 3');
    file('repository/apps/web.yaml', budget('maxUnavailable: 0'));
    const source = file('snapshot.json', snapshot());
    const args = ['simulate', '-f', source, '--until', '1m', '--apply', path('repository')];
    assert.match((await run(...args)).out, /^after: 1 changed \(PDB shop\/web\)$/m);
    file('repository/apps/kustomization.yaml', 'resources: [web.yaml]');
    const { code, err } = await run(...args);
    assert.equal(code, 1);
    assert.match(
      err,
      /apps\/kustomization\.yaml: .*kubectl kustomize \S+apps \| kubectl taintmgr simulate --apply -$/m,
    );
  });

  it('leaves a pod as it is, of which next to nothing can change', async () => {
    const items: readonly KubeObject[] = JSON.parse(snapshot()).items;
    const pod = items.find(({ kind }) => kind === 'Pod');
    const { applied } = await documentOf(JSON.stringify(pod));
    assert.deepEqual(
      applied?.map(({ kind, change }) => [kind, change]),
      [['Pod', 'unchanged']],
    );
  });

  const refused: readonly (readonly [args: readonly string[], err: RegExp])[] = [
    [['--apply', 'nowhere'], /^error: --apply nowhere: no such file or folder$/m],
    [['--apply', '-', '-f', '-'], /^error: -f - and --apply -: standard input is there once; /m],
    [['--compare'], /'--apply <path>' cannot be used with option '--compare'/],
    [['--variant', 'A=unchanged'], /'--apply <path>' cannot be used with option '--variant/],
    [['--fail-if', 'lost(shop/web) > 1'], /want a variant after the name, one of before, after$/m],
    [['--fail-if', 'lost(shop/web, x) > 1'], /no variant x; there are before, after$/m],
  ];
  for (const [args, message] of refused) {
    it(`refuses ${args.join(' ')}`, async () => {
      const { code, err } = await played(budget('maxUnavailable: 1'), ...args);
      assert.equal(code, 1);
      assert.match(err, message);
    });
  }

  it('refuses a folder without manifests', async () => {
    mkdirSync(path('empty'));
    const { code, err } = await run(
      'simulate',
      '-f',
      file('s.json', snapshot()),
      '--apply',
      path('empty'),
    );
    assert.equal(code, 1);
    assert.match(
      err,
      /^error: --apply \S+empty: no manifest in it, want what kubectl apply takes$/m,
    );
  });
});

it('tells no value of the cluster that may be a secret, only where it differs', async () => {
  const secrets = JSON.parse(snapshot());
  for (const { kind, metadata, spec } of secrets.items) {
    if (kind !== 'Deployment') continue;
    metadata.annotations = { ...metadata.annotations, note: 'secret-note' };
    const [container] = spec.template.spec.containers;
    container.env = [{ name: 'PASSWORD', value: 'secret-value' }];
    container.args = ['secret-argument'];
  }
  const source = file('secrets.json', JSON.stringify(secrets));
  const spec = ', env: [{name: PASSWORD, value: other}], args: [other]';
  const manifest = workload('web', 'replicas: 3', spec).replace(
    '{name: web,',
    '{annotations: {note: other}, name: web,',
  );
  const applied = file('other.yaml', manifest);
  const { code, out, err } = await run(
    ...['simulate', '-f', source, '--apply', applied, '--event', drain, '-o', 'json'],
  );
  assert.equal(code, 0, err);
  assert.doesNotMatch(out, /secret-/);
  const { applied: [web] = [] }: SimulationDocument = JSON.parse(out);
  for (const place of [
    'metadata.annotations.note',
    'spec.template.spec.containers[0].env[0].value',
  ]) {
    assert.ok(web?.fields.includes(`${place} differs`), web?.fields.join());
  }
});

it('refuses manifests that ask for more pods than any memory holds', async () => {
  const { code, err } = await played(
    `${workload('web', 'replicas: 2000000000')}---\n${budget('maxUnavailable: 1')}`,
  );
  assert.equal(code, 1);
  assert.doesNotMatch(err, /PodDisruptionBudget/);
  assert.match(
    err,
    /^error: .*: Deployment web: 2000000000 pods are asked for up to here, want at most 150000 /m,
  );
});
