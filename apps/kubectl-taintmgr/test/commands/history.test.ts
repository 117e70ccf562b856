// history, and explain of what is gone or terminating, on a cluster that still has pods, Events and records of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { node, pod } from '@taintmgr/sim-cluster';
import { type Result, run } from '../world/run.ts';
import { comeAs, startWithDefinitions, type TestCluster } from '../world/test-cluster.ts';

const ago = (seconds: number): string =>
  `${new Date(Date.now() - seconds * 1000).toISOString().slice(0, 19)}Z`;

let cluster: TestCluster;
/** The instant of `ago(0)` when the cluster was filled. */
let filledAt = 0;

const rights = (resources: readonly string[], apiGroups = ['']) => [
  { verbs: ['get', 'list'], apiGroups, resources },
];

before(async () => {
  cluster = await startWithDefinitions({
    blind: [],
    podsOnly: rights(['pods', 'events']),
    developer: rights(['pods', 'events']).map((rule) => ({ ...rule, namespace: 'shop' })),
  });
  filledAt = Math.floor(Date.now() / 1000) * 1000;
  const { api } = cluster;
  for (const name of ['shop', 'taintmgr-system']) api.create('namespaces', { metadata: { name } });
  api.create('nodes', node('n1', { spec: { taints: [{ key: 'maint', effect: 'NoExecute' }] } }));
  const labels = { app: 'web' };
  api.create('deployments', {
    metadata: { namespace: 'shop', name: 'web' },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'web' }] } },
    },
  });
  fillEvents();
  fillRecords();
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'web-5d4f65d4d4',
    uid: 'r1',
    controller: true,
  };
  const made = pod('shop', 'web-5d4f65d4d4-new', { spec: { nodeName: 'n2' } });
  api.create('pods', { ...made, metadata: { ...made.metadata, ownerReferences: [owner] } });
  const held = pod('shop', 'held-0', { spec: { nodeName: 'n1' } });
  api.create('pods', { ...held, metadata: { ...held.metadata, finalizers: ['example.com/wait'] } });
  api.delete('pods', 'shop', 'held-0');
});
after(() => cluster.stop());
beforeEach(() => comeAs(cluster, 'admin'));

interface About {
  readonly by: string;
  readonly uid?: string;
  readonly kind?: string;
}

function addEvent(reason: string, name: string, seconds: number, message: string, about: About) {
  const { by, uid = '', kind = 'Pod' } = about;
  cluster.api.create('events', {
    metadata: { namespace: 'shop', name: `${name}.${reason.toLowerCase()}` },
    involvedObject: { kind, namespace: 'shop', name, uid },
    ...{ reason, message, type: 'Normal', count: 1, source: { component: by } },
    ...{ firstTimestamp: ago(seconds), lastTimestamp: ago(seconds), reportingComponent: by },
  });
}

function fillEvents(): void {
  const gone = 'web-5d4f65d4d4-gone1';
  const kubelet = { by: 'kubelet', uid: 'u1' };
  addEvent('Scheduled', gone, 900, `Successfully assigned shop/${gone} to n1`, {
    by: 'default-scheduler',
    uid: 'u1',
  });
  addEvent('TaintManagerEviction', gone, 600, `Marking for deletion Pod shop/${gone}`, {
    by: 'taint-eviction-controller',
  });
  addEvent('Killing', gone, 600, 'Stopping container app', kubelet);
  addEvent('SuccessfulCreate', 'web-5d4f65d4d4', 900, `Created pod: ${gone}`, {
    ...{ by: 'replicaset-controller', kind: 'ReplicaSet', uid: 'r1' },
  });
  addEvent('Killing', 'lonely', 300, 'Stopping container app', { by: 'kubelet', uid: 'u9' });
}

/** Two pods that a leader has evicted; one is of another namespace. */
function fillRecords(): void {
  const at = filledAt;
  const departure = {
    ...{ namespace: 'shop', pod: 'db-0', uid: 'u5', node: 'n3', seenAt: at - 7_200_000 },
    owner: { kind: 'StatefulSet', name: 'db' },
    by: { kind: 'taintmgr', source: 'ownAct' },
    taint: {
      key: 'kernel',
      value: 'old',
      effect: 'NoExecute',
      setBy: 'kubectl-taint',
      since: at - 7_300_000,
    },
    ...{
      way: 'eviction',
      askedAt: at - 7_200_000,
      answeredAt: at - 7_100_000,
      goneAt: at - 7_090_000,
    },
    refusals: [
      {
        status: 429,
        words: 'budget db',
        count: 3,
        firstAt: at - 7_200_000,
        lastAt: at - 7_150_000,
      },
    ],
    successor: { pod: 'db-0', uid: 'u6', node: 'n4', readyAt: at - 7_060_000 },
  };
  const gap = { to: at - 86_400_000, why: 'leaderChanged', leader: 'taintmgr-controller-0_1' };
  const lines = [gap, departure, { ...departure, namespace: 'infra', uid: 'u7', pod: 'dns' }];
  const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
  const facts = { sequence: 0, savedAt: at, savedBy: 'taintmgr-controller-0_1', ended: false };
  cluster.api.create('configmaps', {
    metadata: { namespace: 'taintmgr-system', name: 'taintmgr-controller-history-0' },
    data: { segment: JSON.stringify(facts) },
    binaryData: { 'block-0': gzipSync(text).toString('base64') },
  });
}

/** Times as `<time>`: the tests run when they run. */
function steady({ code, out, err }: Result): Result {
  const plain = (text: string): string =>
    text
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
      .replace(/\d\d:\d\d:\d\dZ/g, '<time>')
      .replace(/\b(\d+[hms])+ ago/g, '<long> ago')
      .replace(/\b(\d+[ms])+ left/g, '<long> left');
  return { code, out: plain(out), err: plain(err) };
}

const told = async (...args: readonly string[]): Promise<Result> => steady(await run(...args));

const gapNote = 'Note: no records until <time>: taintmgr-controller-0_1 began to lead then\n';

describe('history', () => {
  it('prints what its page shows', async () => {
    const page = readFileSync(
      new URL('../../../../docs/commands/history.md', import.meta.url),
      'utf8',
    );
    const [, line = '', shown = ''] =
      /```console\n\$ kubectl taintmgr (.*)\n([^`]*)```/.exec(page) ?? [];
    const { out, err } = await told(...line.split(' '));
    assert.equal(`${out}${err}`, steady({ code: 0, out: shown, err: '' }).out);
  });

  it('lists those of a namespace, the earliest first', async () => {
    const { out } = await told(
      'history',
      '-n',
      'shop',
      '-o',
      'custom-columns=P:.pod,S:.state,B:.by.who',
    );
    assert.equal(
      out,
      `P                      S         B
db-0                   gone      taintmgr-controller
web-5d4f65d4d4-gone1   gone      kube-controller-manager
lonely                 gone      <none>
held-0                 leaving   <none>
`,
    );
  });

  for (const args of [['deployment', 'web'], ['deploy/web'], ['rs', 'web-5d4f65d4d4']]) {
    it(`knows the pods of ${args.join(' ')}`, async () => {
      const { out } = await told('history', ...args, '-n', 'shop', '-o', 'name');
      assert.equal(out, 'pod/web-5d4f65d4d4-gone1\n');
    });
  }

  it('lists those of a node in all namespaces, and of a time', async () => {
    const names = async (...args: readonly string[]) =>
      (await told('history', ...args, '-o', 'jsonpath={.items[*].pod}')).out;
    assert.equal(await names('node', 'n3'), 'dns db-0');
    assert.equal(await names('node/n3', '--since', '1h'), '');
    assert.equal(await names('-A', '--since', '1h'), 'web-5d4f65d4d4-gone1 lonely held-0');
  });

  it('says with a table how to ask who leaves next', async () => {
    for (const [args, next] of [
      [['-n', 'shop'], 'pending -n shop'],
      [['-A'], 'pending -A'],
      [['node', 'n1'], 'explain node n1'],
      [['deploy/web', '-n', 'shop'], 'explain deployment web -n shop'],
    ] as const) {
      const { err } = await told('history', ...args);
      assert.match(err, new RegExp(`\nhint: who leaves next: kubectl taintmgr ${next}; `));
      assert.doesNotMatch((await told('history', ...args, '-o', 'name')).err, /hint/);
    }
  });

  it('says that there is no such workload or node, and where it looked', async () => {
    const looked =
      'records of taintmgr-controller until <time>.\nNote: no records until <time>: taintmgr-controller-0_1 began to lead then\n';
    for (const format of [[], ['-o', 'json']]) {
      assert.deepEqual(await told('history', 'deployment/wbe', '-n', 'shop', ...format), {
        code: 1,
        out: '',
        err: `Error from server (NotFound): deployments.apps "wbe" not found
No record of a pod of Deployment shop/wbe that left. Looked at: pods and Events of namespace shop, ${looked}`,
      });
    }
    assert.deepEqual(await told('history', 'node', 'nope'), {
      code: 1,
      out: '',
      err: `Error from server (NotFound): nodes "nope" not found
No record of a pod that left node nope. Looked at: pods and Events of all namespaces, ${looked}`,
    });
  });

  it('says of whom pods left that it is gone, and names no question that would fail', async () => {
    const names = ['-o', 'name'];
    const sts = await told('history', 'sts/db', '-n', 'shop', ...names);
    const note = (text: string) => `Note: ${text}\n${gapNote}`;
    assert.deepEqual(sts, {
      code: 0,
      out: 'pod/db-0\n',
      err: note('the StatefulSet is gone: statefulsets.apps "db" not found'),
    });
    const { code, err } = await told('history', 'node', 'n3');
    assert.equal(code, 0);
    assert.equal(
      err,
      `${note('the node is gone: nodes "n3" not found')}hint: one story in full: history pod NAME -n NAMESPACE\n`,
    );
  });

  it('is where a question about a node that is gone leads', async () => {
    const hint = 'hint: which pods left it, if it is gone: kubectl taintmgr history node n3';
    assert.deepEqual(await told('explain', 'node', 'n3'), {
      code: 1,
      out: '',
      err: `Error from server (NotFound): nodes "n3" not found\n${hint}\n`,
    });
  });

  it('shows a table', async () => {
    const { out } = await told('history', 'node', 'n1');
    assert.deepEqual(
      out.split('\n').map((line) => line.split(/ {3,}/)),
      [
        ['NAMESPACE', 'POD', 'NODE', 'WHEN', 'STATE', 'BY', 'SAID BY', 'WHY', 'REPLACED BY'],
        [
          ...['shop', 'web-5d4f65d4d4-gone1', 'n1', '<long> ago', 'gone'],
          ...['kube-controller-manager', 'event', '<none>', 'web-5d4f65d4d4-new on n2, not ready'],
        ],
        ['shop', 'held-0', 'n1', '<long> ago', 'terminating', '?', '<none>', '<none>', '<none>'],
        [''],
      ],
    );
  });

  it('says where it looked where nobody left', async () => {
    assert.deepEqual(await told('history', 'pod', 'nobody', '-n', 'shop'), {
      code: 0,
      out: '',
      err: `No source says that pod shop/nobody left or is leaving. Looked at: pods and Events of namespace shop, records of taintmgr-controller until <time>.\n${gapNote}`,
    });
  });

  it('tells a user of pods and Events alone what those say, and what is missing', async () => {
    comeAs(cluster, 'podsOnly');
    const { code, out, err } = await told('history', '-n', 'shop', '-o', 'name');
    assert.equal(code, 0);
    assert.equal(out, 'pod/web-5d4f65d4d4-gone1\npod/lonely\npod/held-0\n');
    assert.match(err, /Warning: not everything could be read: nodes "n1" is forbidden/);
    assert.match(
      err,
      /records of evictions of taintmgr-controller, in taintmgr-system, may not be read/,
    );
  });

  it('tells a user of one namespace of a node what that namespace shows', async () => {
    comeAs(cluster, 'developer');
    const { code, out, err } = await told('history', 'node', 'n1', '-n', 'shop', '-o', 'name');
    assert.deepEqual([code, out], [0, 'pod/web-5d4f65d4d4-gone1\npod/held-0\n']);
    assert.match(err, /Warning: not everything could be read: nodes "n1" is forbidden/);
    assert.match(
      err,
      /\nNote: of 1 more pod that left, no source names the node: kubectl taintmgr history -n shop\n/,
    );
  });

  it('claims nothing where nothing may be read', async () => {
    comeAs(cluster, 'blind');
    const { code, out, err } = await told('history', '-n', 'shop');
    assert.deepEqual([code, out], [0, '']);
    assert.match(
      err,
      /^No record of a pod that left in shop namespace\. Looked at: neither pods nor Events of namespace shop, no records of taintmgr-controller \(they may not be read\)\./,
    );
  });

  for (const [args, message] of [
    [['zone', 'a'], 'error: history: got "zone a", want pod, node, deployment'],
    [['web-0'], 'error: "web-0" is no kind; did you mean: kubectl taintmgr history pod web-0'],
    [['pod'], 'error: history pod: got none, want the name of an object'],
    [['pod', 'Web'], 'error: history pod: got "Web", want the name of an object'],
    [['pod', 'web', '-A'], 'error: a resource cannot be retrieved by name across all namespaces'],
    [
      ['--since', 'yesterday'],
      "error: option '--since <duration>' argument 'yesterday' is invalid.",
    ],
  ] as const) {
    it(`refuses ${args.join(' ')}`, async () => {
      const { code, err } = await told('history', ...args);
      assert.equal(code, 1);
      assert.ok(err.startsWith(message), err);
    });
  }
});

describe('explain pod', () => {
  it('tells the history of one that is gone', async () => {
    const { code, out } = await told('explain', 'pod', 'lonely', '-n', 'shop');
    assert.equal(code, 0);
    assert.equal(
      out,
      `shop/lonely was deleted at <time> (<long> ago), as Events say; no source says by whom.

Times (UTC):
  <time>  stopping container app [Event Killing of kubelet]

Instead: no source names an owner of the pod, or a pod that came instead.

Not known:
  who deleted it: no condition and no Event says so, as with kubectl delete, and as with kubectl drain once the pod is gone
  which node it was on
`,
    );
  });

  it('knows the name alone of one that is gone', async () => {
    const [named, alone] = [
      ['explain', 'pod', 'lonely'],
      ['explain', 'lonely'],
    ];
    const answers = [named, alone].map((args) => told(...args, '-n', 'shop'));
    const [first, second] = await Promise.all(answers);
    assert.deepEqual(second, first);
    assert.match(
      (await run('explain', 'nobody', '-n', 'shop')).err,
      /^error: there is no node "nobody"/,
    );
  });

  it('says that it is not found, and where it looked', async () => {
    assert.deepEqual(await told('explain', 'pod', 'nobody', '-n', 'shop'), {
      code: 1,
      out: '',
      err: `Error from server (NotFound): pods "nobody" not found
No source says that it left. Looked at: pods and Events of namespace shop, records of taintmgr-controller until <time>.
`,
    });
    assert.equal((await run('explain', 'pod', 'nobody', '-n', 'shop', '--exit-code')).code, 2);
  });

  it('says of one that is terminating since when, and what holds it', async () => {
    const { code, out } = await told('explain', 'pod', 'held-0', '-n', 'shop');
    assert.equal(code, 0);
    assert.match(
      out,
      /^Because: +shop\/held-0 is terminating: it was deleted from n1 at <time> \(<long> ago\); no source says by whom\. .*the finalizers example\.com\/wait hold its object\.$/m,
    );
    assert.match(
      out,
      /^Not known: +who deleted it: no condition and no Event says so, as with kubectl delete$/m,
    );
  });
});
