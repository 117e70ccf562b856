// A name that every object inherits, wherever somebody else may give a name: nothing looks it up in an object that
// does not have it as its own, as `constructor` and `__proto__` would be found there.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { deployment, job, node, pdb, pod } from '@taintmgr/sim-cluster';
import { run } from './world/run.ts';
import { temporaryFiles } from './world/simulate-files.ts';
import { startWithDefinitions, type TestCluster } from './world/test-cluster.ts';

const name = 'inherited';
const places = new Set<string>();

/** Where it was looked up; the two know __proto__, and sim-cluster has a test of its own. */
function note(): void {
  const [place = null] = (new Error().stack ?? '').match(/ at .*\/src\/.*/g) ?? [];
  if (place !== null && !/ at (setOwn|labelsFrom) |sim-cluster/.test(place))
    places.add(place.replace(/file:.*?\/(packages|apps)\//, ''));
}

const own = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries([[name, value]]);
const { write: file } = temporaryFiles();
let cluster: TestCluster;

before(async () => {
  cluster = await startWithDefinitions();
  process.env.KUBECONFIG = cluster.kubeconfig;
  Object.defineProperty(Object.prototype, name, {
    configurable: true,
    get() {
      note();
      return note;
    },
    set(this: object, value: unknown) {
      note();
      Object.defineProperty(this, name, {
        value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    },
  });
});
after(async () => {
  Reflect.deleteProperty(Object.prototype, name);
  await cluster.stop();
});

const kinds = [
  'EvictionPolicy',
  'NodeDrain',
  'EvictionPause',
  'NodeTaintRule',
  'NodePressurePolicy',
  name,
];
const selector = {
  matchLabels: own(name),
  matchExpressions: [{ key: name, operator: 'In', values: [name] }],
};
const taint = { key: name, value: name, effect: 'NoExecute' };
const toleration = { key: name, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 };

/** A manifest of ours; what its kind does not know is a fault of it. */
const manifest = (kind: string, spec: object): string =>
  JSON.stringify({
    apiVersion: policyApiVersion,
    kind,
    metadata: { name, labels: own(name) },
    spec,
  });

const everything = {
  ...own(name),
  action: name,
  taint,
  taints: [taint],
  taintSelector: [{ key: name }],
  nodes: [name],
  nodeSelector: selector,
  podSelector: selector,
  namespaceSelector: selector,
  condition: { type: name, status: name },
  scope: { nodes: [name], zones: [name], namespaces: [name] },
  limits: [{ per: name, podsPerSecond: 1 }],
  waves: [name],
  window: { schedule: name, timeZone: name, duration: name },
  priority: 1,
};

const wellFormed: readonly string[] = [
  manifest('EvictionPolicy', {
    action: 'Evict',
    match: {
      taints: [{ key: name, value: name }],
      podSelector: selector,
      nodeSelector: selector,
      namespaceSelector: selector,
    },
  }),
  manifest('EvictionPause', {
    scope: { nodeSelector: selector, namespaces: [name] },
    reason: name,
  }),
  manifest('NodeTaintRule', { condition: { type: name }, taint }),
];

function fill(): void {
  const { api } = cluster;
  const labels = own(name);
  api.create('namespaces', { metadata: { name, labels } });
  api.create('nodes', { ...node(name, { labels, spec: { taints: [taint] } }) });
  const owner = { apiVersion: 'apps/v1', kind: name, name, uid: name, controller: true };
  const bare = pod(name, name, {
    labels,
    spec: { nodeName: name, nodeSelector: labels, tolerations: [toleration] },
  });
  api.create('pods', {
    ...bare,
    metadata: { ...bare.metadata, annotations: labels, ownerReferences: [owner] },
  });
  api.create('pods', pod(name, 'other', { labels, spec: { nodeSelector: labels } }));
  api.create('jobs', job(name, name, 3600, { podSpec: { nodeName: name } }));
  api.create('deployments', deployment(name, name, { podSpec: { nodeSelector: labels } }));
  api.create('poddisruptionbudgets', pdb(name, name, { minAvailable: 1 }, selector));
  api.create('leases', {
    metadata: { name, namespace: 'kube-system' },
    spec: { holderIdentity: name },
  });
}

it('is looked up in no object that does not have it', async () => {
  fill();
  const { api } = cluster;
  const files = [
    ...kinds.map((kind) => file(`${kind}.json`, manifest(kind, everything))),
    ...wellFormed.map((text, index) => file(`good-${index}.json`, text)),
  ];
  for (const text of wellFormed) {
    const { kind, ...rest } = JSON.parse(text);
    const plural =
      {
        EvictionPolicy: 'evictionpolicies',
        EvictionPause: 'evictionpauses',
        NodeTaintRule: 'nodetaintrules',
      }[kind as string] ?? '';
    api.create(`${plural}.taintmgr.dev`, { apiVersion: policyApiVersion, kind, ...rest });
  }
  const taintText = `${name}=${name}:NoExecute`;
  const [good = ''] = files.slice(kinds.length);
  const { out: snapshotText } = await run('snapshot');
  const snapshot = file('snapshot.json', snapshotText);
  const script = file(
    'script.yaml',
    `
times: [{workload: ${name}/${name}, start: 5s, stop: 2s}]
events:
- {at: 1s, taint: {node: ${name}, taint: '${taintText}'}}
- {at: 5s, taint: {nodes: all, taint: '${taintText}'}}
`,
  );
  const odd = file('odd.yaml', `events: [{at: 6s, ${name}: {node: ${name}}}]`);
  const lines = [
    ...[
      'table',
      'json',
      'yaml',
      'wide',
      'name',
      `jsonpath={.${name}.${name}}`,
      `custom-columns=A:.${name}`,
      name,
    ].map((format) => `explain node ${name} -o ${format}`),
    `explain pod ${name} -n ${name}`,
    `explain pod ${name} -n ${name} --with-taint=${name}:${name} --compare`,
    `explain pod ${name} -n ${name} --with-taint=${taintText} --compare`,
    `explain zone ${name}`,
    `explain taint ${name}`,
    `explain policy ${name} -n ${name}`,
    `explain policy node/${name}`,
    `explain ${name} ${name}`,
    `explain pressure ${name}`,
    `${name} ${name}`,
    `completion ${name}`,
    `status`,
    `status ${name}`,
    'pending',
    `pending -n ${name}`,
    `doctor`,
    `doctor --checks ${name}`,
    ...files.map((path) => `doctor -f ${path}`),
    ...['client', 'server', name].map(
      (run) => `drain-by-taint ${taintText} ${name} --dry-run=${run} --allow-overlap --force`,
    ),
    `drain-by-taint ${taintText} -l ${name}=${name} --dry-run=client --wave=${name}=${name} --wave=${name} --allow-overlap --pod-selector ${name}=${name} -o json`,
    `drain-by-taint -f ${files[1]} --dry-run=client`,
    `drain-by-taint ${name}=${name}:NoSchedule ${name} --force --delete-emptydir-data --timeout=1s`,
    `undo ${name}`,
    `pause ${name}`,
    `resume ${name}`,
    `takeover ${name}`,
    `snapshot ${name}`,
    `simulate -f ${snapshot} --until 10s`,
    `simulate --script ${script} --until 1m -o json`,
    `simulate --script ${script} --until 1m -o wide --variant ${name}=${good} --fail-if down(${name}/${name})>0`,
    `simulate --script ${odd} --until 10s`,
    `simulate --until 10s --fail-if ${name}(${name}/${name})>0`,
    `simulate -f ${snapshot} --policy ${good} --until 10s`,
    ...files.map((path) => `explain node ${name} --policy ${path}`),
  ];
  let done = 0;
  for (const line of lines) {
    const { code, err } = await run(...line.split(' '));
    if (code === 0) done++;
    assert.doesNotMatch(err, /a bug|is not a function|of undefined/, line);
  }
  assert.ok(done > 25, `${done} of ${lines.length} answers`);
  assert.deepEqual([...places], []);
});
