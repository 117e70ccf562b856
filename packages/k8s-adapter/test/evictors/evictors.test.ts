import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  ApiServer,
  type KubeObject,
  namespace,
  pod,
  RealClock,
  type Rule,
  seededRandom,
} from '@taintmgr/sim-cluster';
import { ApiClient } from '../../src/client/client.ts';
import { findEvictors } from '../../src/client/find-evictors.ts';
import { exchangeSink } from '../../src/driver/virtual.ts';
import { actorOf } from '../../src/evictors/actor.ts';
import type { Asker } from '../../src/evictors/look.ts';
import type { Duty, DutyVerdict } from '../../src/evictors/verdict.ts';
import { contradictionText, taintEvictors, verdictText } from '../../src/evictors/words.ts';
import type { Transport } from '../../src/transport/sink.ts';

// Who evicts here, by what the API server shows: leases, pods with their flags, its version.

const everything: Rule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  nonResourceURLs: ['*'],
};
const eviction: Duty = 'taint-eviction-controller';
const lifecycle: Duty = 'node-lifecycle-controller';
/** The API server's time in each answer: not that of this process. */
const serverTime: Instant = Date.UTC(2026, 0, 2, 3, 4, 5);
const minute: Millis = 60_000;

interface World {
  readonly api: ApiServer;
  readonly client: ApiClient;
  /** TaintManagers, which this API server does not know by itself. */
  readonly published: object[];
}

function world(rules: readonly Rule[] = [everything], gitVersion = 'v1.36.2'): World {
  const tokens = new Map([['token', { name: 'asker', groups: [], rules }]]);
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1), tokens });
  const published: object[] = [];
  const transport: Transport = {
    send(request, sink) {
      const headers = { ...request.headers, authorization: 'Bearer token' };
      return api.exchange(
        { ...request, headers },
        {
          ...exchangeSink(sink),
          head: (status, given) => {
            const head = { ...given, date: new Date(serverTime).toUTCString() };
            sink.head(isTheirs(request.path) && published.length > 0 ? 200 : status, head);
          },
          data: (chunk) => {
            if (request.path === '/version') sink.data(JSON.stringify({ gitVersion }));
            else if (isTheirs(request.path) && published.length > 0)
              sink.data(JSON.stringify({ items: published }));
            else sink.data(chunk);
          },
        },
      );
    },
  };
  return { api, client: new ApiClient({ transport, server: 'https://test' }), published };
}

function isTheirs(path: string): boolean {
  return path.startsWith(taintManagers);
}

/** A lease that was renewed so long ago, by the clock of its holder. */
function putLease({ api }: World, name: string, age: Millis, where = 'kube-system'): void {
  const renewTime = new Date(serverTime - age).toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: `${name}_1`, leaseDurationSeconds: 15, renewTime };
  if (!api.get('namespaces', '', where)) api.create('namespaces', namespace(where));
  const known = api.get('leases', where, name);
  if (known) api.update('leases', { ...known, spec });
  else api.create('leases', { metadata: { namespace: where, name }, spec });
}

function putManager(
  { api }: World,
  name: string,
  flags: readonly string[],
  fields: object = {},
): KubeObject {
  const command = ['kube-controller-manager', '--bind-address=127.0.0.1', ...flags];
  const containers = [{ name: 'kube-controller-manager', image: 'registry/kcm', command }];
  const one = pod('kube-system', name, { spec: { nodeName: 'cp', containers }, ...fields });
  const labels = { component: 'kube-controller-manager' };
  return api.create('pods', { ...one, metadata: { ...one.metadata, labels } });
}

const taintManagers = '/apis/taintmgr.dev/v1alpha1/taintmanagers';

/** What a leader publishes of itself now. */
function publish({ published }: World, name: string, status: object): void {
  const renewTime = new Date(serverTime).toISOString();
  published.push({
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager', metadata: { name } },
    status: { renewTime, controllers: [eviction, lifecycle], ...status },
  });
}

/** A pod of kube-controller-manager as the kubelet of a node has made it. */
function putMirror(one: World, nodeName: string, ...flags: readonly string[]): void {
  const made = putManager(one, `kcm-${nodeName}`, flags, {
    spec: {
      nodeName,
      containers: [
        {
          name: 'kube-controller-manager',
          image: 'x',
          command: ['kube-controller-manager', ...flags],
        },
      ],
    },
  });
  const annotations = { 'kubernetes.io/config.mirror': 'x' };
  one.api.update('pods', { ...made, metadata: { ...made.metadata, annotations } });
}

function putNode(
  { api }: World,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): void {
  api.create('nodes', { metadata: { name, labels } });
}

const controlPlane = { 'node-role.kubernetes.io/control-plane': '' };
const off = '--controllers=*,-taint-eviction-controller,-node-lifecycle-controller';

const soon = { secondLookMs: 1 };
const find = async ({ client }: World, duty: Duty = eviction): Promise<DutyVerdict> =>
  (await findEvictors(client, soon)).upstream[duty];

describe('kube-controller-manager, by its lease', () => {
  const cases: readonly (readonly [
    name: string,
    age: Millis,
    kind: DutyVerdict['kind'],
    text: string,
  ])[] = [
    [
      'renewed a second ago runs, and may evict: its flags are not to be seen',
      1000,
      'unknown',
      'may evict (kube-controller-manager_1, renewed 1s ago): its flags cannot be seen, as it has no pod here',
    ],
    [
      'of which the holder’s clock is 20 s ahead lives too',
      -20_000,
      'unknown',
      'may evict (kube-controller-manager_1, renewed 0s ago): its flags cannot be seen, as it has no pod here',
    ],
    [
      'that stays as it is between two looks says nothing: it may run without one',
      minute,
      'unknown',
      'unknown (it shows no pod, and nobody renews its lease)',
    ],
  ];
  for (const [name, age, kind, text] of cases) {
    it(name, async () => {
      const one = world();
      putLease(one, 'kube-controller-manager', age);
      const verdict = await find(one);
      assert.equal(verdict.kind, kind);
      assert.equal(verdictText(verdict), text);
    });
  }

  it('that changes between two looks lives, however old its holder’s clock says it is', async () => {
    const one = world();
    putLease(one, 'kube-controller-manager', 10 * minute);
    let age = 10 * minute;
    const ask: ApiClient['ask'] = async (request) => {
      const answer = await one.client.ask(request);
      age -= 2000;
      if (request.path.endsWith('/kube-controller-manager')) {
        putLease(one, 'kube-controller-manager', age);
      }
      return answer;
    };
    const { upstream } = await findEvictors({ ask }, soon);
    assert.equal(upstream[eviction].kind, 'unknown');
    assert.equal(
      'who' in upstream[eviction] && upstream[eviction].who,
      'kube-controller-manager_1',
    );
  });

  it('does not care what time this process has', async (t: TestContext) => {
    const one = world();
    putLease(one, 'kube-controller-manager', 1000);
    for (const now of [serverTime + 31_000, serverTime - 31_000, serverTime + 400 * minute]) {
      t.mock.timers.enable({ apis: ['Date'], now });
      const verdict = await find(one);
      assert.equal('who' in verdict && verdict.who, 'kube-controller-manager_1');
      t.mock.timers.reset();
    }
  });

  it('that we may not read is unknown, never nobody', async () => {
    const pods: Rule = { verbs: ['list'], apiGroups: [''], resources: ['pods'] };
    const one = world([pods, { ...everything, resources: ['nodes'] }]);
    putLease(one, 'kube-controller-manager', 0);
    const verdict = await find(one);
    assert.equal(verdict.kind, 'unknown');
    assert.equal(
      verdictText(verdict),
      'unknown (no permission to get lease kube-system/kube-controller-manager)',
    );
  });

  it('that is not there, where pods may not be read, is unknown', async () => {
    const leases: Rule = { ...everything, apiGroups: ['coordination.k8s.io'] };
    const verdict = await find(world([leases]));
    assert.equal(verdictText(verdict), 'unknown (no permission to list pods in kube-system)');
  });
});

describe('kube-controller-manager, by its pods', () => {
  const cases: readonly (readonly [
    name: string,
    flags: readonly string[],
    eviction: DutyVerdict['kind'],
    lifecycle: DutyVerdict['kind'],
  ])[] = [
    ['runs everything by default', [], 'acts', 'acts'],
    ['needs no lease for it', ['--leader-elect=false'], 'acts', 'acts'],
    ['runs one', ['--controllers=*,-taint-eviction-controller'], 'doesNotAct', 'acts'],
    ['by a former name', ['--controllers=*,-nodelifecycle'], 'acts', 'doesNotAct'],
    ['names what it runs', ['--controllers=nodelifecycle,job'], 'doesNotAct', 'acts'],
    ['in a word of its own', ['--controllers', '-*', '--v=2'], 'doesNotAct', 'doesNotAct'],
    [
      'has the flag twice',
      ['--controllers=*', '--controllers=-taint-eviction-controller'],
      'doesNotAct',
      'acts',
    ],
    [
      'has it in node-lifecycle, by its feature gate',
      [
        '--controllers=*,-taint-eviction-controller',
        '--feature-gates=SeparateTaintEvictionController=false',
      ],
      'acts',
      'acts',
    ],
    [
      'has it in node-lifecycle, which is off',
      [
        '--controllers=*,-nodelifecycle',
        '--feature-gates=kube:SeparateTaintEvictionController=false',
      ],
      'doesNotAct',
      'doesNotAct',
    ],
    [
      'has the gate on again',
      [
        '--controllers=*,-taint-eviction-controller',
        '--feature-gates=SeparateTaintEvictionController=false,A=true',
        '--feature-gates=SeparateTaintEvictionController=true',
      ],
      'doesNotAct',
      'acts',
    ],
    [
      'has all beta features off',
      ['--controllers=*,-taint-eviction-controller', '--feature-gates=AllBeta=false'],
      'unknown',
      'acts',
    ],
    [
      'has flags from a variable',
      ['--controllers=*,-taint-eviction-controller', '$(EXTRA_FLAGS)'],
      'unknown',
      'unknown',
    ],
    ['has its choice from a variable', ['--controllers=$(CHOICE)'], 'unknown', 'unknown'],
  ];
  for (const [name, flags, ...wanted] of cases) {
    it(name, async () => {
      const one = world();
      putManager(one, 'kcm-cp', flags);
      const { upstream } = await findEvictors(one.client, soon);
      assert.deepEqual([upstream[eviction].kind, upstream[lifecycle].kind], wanted);
    });
  }

  it('in the script of a shell', async () => {
    const one = world();
    const containers = [
      {
        name: 'kube-controller-manager',
        image: 'registry/kcm',
        command: ['/bin/sh', '-c'],
        args: [
          "exec kube-controller-manager --v=2 --controllers='*,-taint-eviction-controller' 1>>/var/log/kcm.log",
        ],
      },
    ];
    putManager(one, 'kcm-cp', [], { spec: { nodeName: 'cp', containers } });
    assert.equal((await find(one)).kind, 'doesNotAct');
  });

  for (const label of ['k8s-app', 'app.kubernetes.io/name']) {
    it(`with the label ${label}`, async () => {
      const one = world();
      const image = 'registry/kube-controller-manager';
      const spec = { nodeName: 'cp', containers: [{ name: 'kcm', image }] };
      const bare = pod('kube-system', 'kcm-cp', { spec });
      const labels = { [label]: 'kube-controller-manager' };
      one.api.create('pods', { ...bare, metadata: { ...bare.metadata, labels } });
      assert.equal((await find(one)).kind, 'acts');
    });
  }

  it('of which one of several replicas does the work counts', async () => {
    const one = world();
    putManager(one, 'one', ['--controllers=*,-taint-eviction-controller']);
    putManager(one, 'two', []);
    assert.equal((await find(one)).kind, 'acts');
  });

  it('that failed long ago is not there', async () => {
    const one = world();
    const old = putManager(one, 'old', []);
    one.api.update('pods', { ...old, status: { ...old.status, phase: 'Failed' } }, 'status');
    const verdict = await find(one);
    assert.equal(verdict.kind, 'unknown');
    assert.equal(verdictText(verdict), 'unknown (it shows neither a pod nor a lease)');
  });

  it('that should have ended long ago is not there', async () => {
    const one = world();
    const ended = new Date(serverTime - 2 * minute).toISOString().replace(/\.\d+/, '');
    one.api.load([
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'old',
          namespace: 'kube-system',
          uid: 'uid-old',
          labels: { component: 'kube-controller-manager' },
          deletionTimestamp: ended,
          deletionGracePeriodSeconds: 30,
          finalizers: ['example.com/never'],
        },
        spec: { nodeName: 'cp', containers: [{ name: 'kcm', image: 'registry/kcm' }] },
        status: { phase: 'Running' },
      },
    ]);
    assert.equal((await find(one)).kind, 'unknown');
  });
});

describe('who evicts for NoExecute taints', () => {
  it('is unknown where leases and pods can be read and there are none', async () => {
    const evictors = await findEvictors(world().client, soon);
    assert.deepEqual(taintEvictors(evictors), {
      kind: 'unknown',
      agent: 'kube-controller-manager',
      text:
        'whether kube-controller-manager evicts for NoExecute taints here is unknown: ' +
        'it shows neither a pod nor a lease',
      advice:
        'start it with --controllers=*,-taint-eviction-controller and declare that: ' +
        '--kube-controller-manager-runs of taintmgr-controller',
    });
  });

  it('is nobody where the flags of its pod say so', async () => {
    const one = world();
    putManager(one, 'kcm-cp', ['--controllers=*,-taint-eviction-controller']);
    assert.deepEqual(taintEvictors(await findEvictors(one.client, soon)), {
      kind: 'nobody',
      text:
        'nobody here evicts for NoExecute taints ' +
        '(--controllers=*,-taint-eviction-controller of pod kube-system/kcm-cp)',
    });
  });

  it('is unknown in k3s, whose server needs neither a lease nor a pod', async () => {
    const evictors = await findEvictors(world([everything], 'v1.33.1+k3s1').client, soon);
    assert.deepEqual(taintEvictors(evictors), {
      kind: 'unknown',
      agent: 'kube-controller-manager',
      text:
        'whether kube-controller-manager evicts for NoExecute taints here is unknown: ' +
        'the server of v1.33.1+k3s1 runs it without a pod, and may do so without a lease',
      advice:
        'start it with --controllers=*,-taint-eviction-controller and declare that: ' +
        '--kube-controller-manager-runs of taintmgr-controller',
    });
  });

  it('is kube-controller-manager, with the flag that makes it so', async () => {
    const one = world();
    putManager(one, 'kcm-cp', ['--feature-gates=SeparateTaintEvictionController=false']);
    assert.deepEqual(taintEvictors(await findEvictors(one.client, soon)), {
      kind: 'acts',
      agent: 'kube-controller-manager',
      text: 'kube-controller-manager (kcm-cp) evicts for NoExecute taints here, without asking PDBs',
      advice:
        'start it with --controllers=*,-taint-eviction-controller and without ' +
        '--feature-gates=SeparateTaintEvictionController=false',
    });
  });

  it('is kube-controller-manager, for which Lt and Gt count where its flags say so', async () => {
    const one = world();
    putManager(one, 'kcm-cp', ['--feature-gates=TaintTolerationComparisonOperators=true']);
    const actor = actorOf(await findEvictors(one.client, soon));
    assert.deepEqual([actor.name, actor.comparesNumbers], ['kube-controller-manager', true]);
  });

  it('is taintmgr-controller, in whatever namespace it runs, where its TaintManager names it', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000, 'team-a');
    publish(one, 'taintmgr', { leader: 'taintmgr-controller_1' });
    const evictors = await findEvictors(one.client, soon);
    assert.equal(
      taintEvictors(evictors).text,
      'taintmgr-controller (taintmgr-controller_1, lease team-a/taintmgr-controller) evicts for ' +
        'NoExecute taints here, by its own policy',
    );
  });

  it('is not the installation that asks', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000, 'team-a');
    const lease = { namespace: 'team-a', name: 'taintmgr-controller' };
    const asker: Asker = { lease, manager: 'taintmgr', controllers: [eviction], declared: null };
    const { taintmgr } = await findEvictors(one.client, { ...soon, asker });
    assert.equal(taintmgr.kind, 'doesNotAct');
  });

  it('is unknown where other installations may not be looked for', async () => {
    const usual: Rule = { ...everything, verbs: ['get'], namespace: 'kube-system' };
    const pods: Rule = { ...everything, apiGroups: [''], resources: ['pods'] };
    const one = world([usual, pods]);
    putManager(one, 'kcm-cp', ['--controllers=-*']);
    const before = taintEvictors(await findEvictors(one.client, soon));
    assert.deepEqual(before, {
      kind: 'unknown',
      agent: 'taintmgr-controller',
      text:
        'whether taintmgr-controller evicts for NoExecute taints here is unknown: ' +
        'no permission to list leases named taintmgr-controller',
      advice: 'grant the permission to list leases named taintmgr-controller',
    });
    putLease(one, 'taintmgr-controller', 1000);
    assert.equal(taintEvictors(await findEvictors(one.client, soon)).kind, 'acts');
  });
});

// What a tenant, a kubelet or an absent object says never decides alone.

const own: Asker = {
  lease: { namespace: 'kube-system', name: 'taintmgr-controller' },
  manager: 'taintmgr',
  controllers: [eviction, lifecycle],
  declared: null,
};
const asked = async ({ client }: World, fields: Partial<Asker> = {}) => {
  return await findEvictors(client, { ...soon, asker: { ...own, ...fields } });
};

describe('a lease that a tenant has written', () => {
  it('is no other installation, and not nobody', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000, 'tenant');
    putManager(one, 'kcm-cp', [off]);
    const { taintmgr } = await asked(one);
    assert.equal(taintmgr.kind, 'unknown');
    assert.deepEqual(taintEvictors(await findEvictors(one.client, soon)), {
      kind: 'unknown',
      agent: 'taintmgr-controller',
      text:
        'whether taintmgr-controller evicts for NoExecute taints here is unknown: lease ' +
        'tenant/taintmgr-controller (taintmgr-controller_1) proves nothing: whoever may write leases ' +
        'there can write it, and no TaintManager names its holder',
      advice: 'find out who wrote it',
    });
  });

  it('hides nothing of an installation that publishes itself', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000, 'tenant');
    publish(one, 'taintmgr', { leader: 'ours_1' });
    const { taintmgr } = await findEvictors(one.client, soon);
    assert.equal('who' in taintmgr && taintmgr.who, 'ours_1, TaintManager taintmgr');
  });

  it('is none either where it has the name of the leader', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000);
    putLease(one, 'taintmgr-controller', 1000, 'tenant');
    publish(one, 'taintmgr', { leader: 'taintmgr-controller_1' });
    assert.equal((await asked(one)).taintmgr.kind, 'unknown');
    const { taintmgr } = await findEvictors(one.client, soon);
    assert.equal(
      'who' in taintmgr && taintmgr.who,
      'taintmgr-controller_1, lease kube-system/taintmgr-controller',
    );
  });
});

describe('another installation', () => {
  const elsewhere = { lease: { namespace: 'b', name: 'taintmgr-controller' }, manager: 'b' };

  it('with other work is none to stand by for, by its lease', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000);
    const lease = one.api.get('leases', 'kube-system', 'taintmgr-controller');
    const annotations = { 'taintmgr.dev/controllers': 'node-pressure-controller' };
    assert.ok(lease);
    one.api.update('leases', { ...lease, metadata: { ...lease.metadata, annotations } });
    assert.equal((await asked(one, elsewhere)).taintmgr.kind, 'doesNotAct');
    const controllers = [eviction, 'node-pressure-controller'];
    assert.equal((await asked(one, { ...elsewhere, controllers })).taintmgr.kind, 'acts');
  });

  it('with other work is none to stand by for, by its TaintManager', async () => {
    const one = world();
    publish(one, 'pressure', { leader: 'p_1', controllers: ['node-pressure-controller'] });
    assert.equal((await asked(one)).taintmgr.kind, 'doesNotAct');
    publish(one, 'second', { leader: 's_1' });
    const { taintmgr } = await asked(one);
    assert.equal('who' in taintmgr && taintmgr.who, 's_1, TaintManager second');
  });
});

describe('a mirror pod of a kubelet', () => {
  for (const flags of [[], [off]]) {
    const claim = flags.length === 0 ? 'on' : 'off';
    it(`that claims ${claim} proves nothing where no other pod is`, async () => {
      const one = world();
      putNode(one, 'evil');
      putMirror(one, 'evil', ...flags);
      const verdict = await find(one);
      assert.equal(verdict.kind, 'unknown');
      assert.equal(
        verdictText(verdict),
        'unknown (pod kube-system/kcm-evil proves nothing: no node of the control plane runs it)',
      );
      putLease(one, 'kube-controller-manager', 1000);
      assert.equal((await find(one)).kind, 'unknown');
      assert.equal((await asked(one, { declared: [] })).upstream[eviction].kind, 'doesNotAct');
      assert.equal((await asked(one, { declared: [eviction] })).upstream[eviction].kind, 'acts');
    });

    it(`that claims ${claim} changes nothing beside one of the control plane`, async () => {
      for (const real of [[], [off]]) {
        const one = world();
        putNode(one, 'cp', controlPlane);
        putNode(one, 'evil');
        putMirror(one, 'cp', ...real);
        const before = await find(one);
        putMirror(one, 'evil', ...flags);
        assert.equal((await find(one)).kind, before.kind);
        assert.equal(before.kind, real.length === 0 ? 'acts' : 'doesNotAct');
      }
    });
  }

  it('is believed on the node of the leader', async () => {
    const one = world();
    putNode(one, 'kube-controller-manager');
    putMirror(one, 'kube-controller-manager', off);
    putLease(one, 'kube-controller-manager', 1000);
    assert.equal((await find(one)).kind, 'doesNotAct');
  });

  it('is not believed where nodes may not be read', async () => {
    const pods: Rule = { ...everything, apiGroups: [''], resources: ['pods'] };
    const leases: Rule = { ...everything, apiGroups: ['coordination.k8s.io'] };
    const one = world([pods, leases]);
    putNode(one, 'cp', controlPlane);
    putMirror(one, 'cp', off);
    assert.equal((await find(one)).kind, 'unknown');
  });
});

describe('what an administrator declares', () => {
  const lease = (one: World): void => putLease(one, 'kube-controller-manager', 1000);
  const nothing = (): void => {};
  for (const [name, put] of [
    ['with a lease and no pod', lease],
    ['with neither', nothing],
  ] as const) {
    it(`decides about a kube-controller-manager ${name}`, async () => {
      const one = world();
      put(one);
      const declared = [lifecycle];
      const { upstream } = await asked(one, { declared });
      assert.deepEqual([upstream[eviction].kind, upstream[lifecycle].kind], ['doesNotAct', 'acts']);
      assert.equal((await asked(one)).upstream[eviction].kind, 'unknown');
    });

    it(`and its leader publishes is believed of one ${name}`, async () => {
      const one = world();
      put(one);
      publish(one, 'pressure', {
        leader: 'p_1',
        controllers: ['node-pressure-controller'],
        settings: { 'kube-controller-manager-runs': 'none' },
      });
      assert.deepEqual(taintEvictors(await findEvictors(one.client, soon)), {
        kind: 'nobody',
        text: 'nobody here evicts for NoExecute taints (as TaintManager pressure says)',
      });
    });
  }

  it('does not stand against the flags of a pod', async () => {
    const one = world();
    putManager(one, 'kcm-cp', []);
    const { upstream } = await asked(one, { declared: [] });
    assert.equal(upstream[eviction].kind, 'acts');
    assert.equal(
      contradictionText(upstream[eviction].evidence),
      '--kube-controller-manager-runs says that kube-controller-manager does not do this work, but ' +
        'pod kube-system/kcm-cp runs it (by default)',
    );
  });

  it('does not stand against what a leader has seen', async () => {
    const one = world();
    publish(one, 'taintmgr', {
      leader: 'ours_1',
      settings: { 'kube-controller-manager-runs': 'none' },
      conditions: [
        {
          ...{ type: 'EvictedByOther', status: 'True', reason: 'SeveralNodes' },
          message: 'it has marked pods of 2 nodes',
          lastTransitionTime: new Date(serverTime).toISOString(),
        },
      ],
    });
    const verdict = await find(one);
    assert.equal(verdict.kind, 'acts');
    assert.equal(
      contradictionText(verdict.evidence),
      'TaintManager taintmgr says that kube-controller-manager does not do this work, but ' +
        'it has marked pods of 2 nodes',
    );
  });
});
