import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Millis } from '@taintmgr/core/time';
import { pod, type Rule } from '@taintmgr/sim-cluster';
import type { ApiClient } from '../../src/client/client.ts';
import { findEvictors } from '../../src/client/find-evictors.ts';
import { actorOf } from '../../src/evictors/actor.ts';
import type { DutyVerdict } from '../../src/evictors/judge.ts';
import { type Asker, comparesNumbers, dutyOf, managerFlags } from '../../src/evictors/look.ts';
import { taintEvictors, verdictText } from '../../src/evictors/words.ts';
import {
  everything,
  eviction,
  find,
  lifecycle,
  minute,
  publish,
  putLease,
  putManager,
  serverTime,
  soon,
  world,
} from './world.ts';

// Who evicts here, by what the API server shows: leases, pods with their flags, its version.

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
        'start it with --controllers=*,-taint-eviction-controller and declare that to taintmgr-controller: ' +
        '--kube-controller-manager-runs=node-lifecycle-controller',
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
        'start it with --controllers=*,-taint-eviction-controller and declare that to taintmgr-controller: ' +
        '--kube-controller-manager-runs=node-lifecycle-controller',
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

/** As of a pod that runs it with these flags. */
function flagsOf(...flags: readonly string[]) {
  const containers = [{ name: 'm', command: ['kube-controller-manager', ...flags] }];
  return managerFlags({ spec: { containers } });
}

// Go's strconv.ParseBool takes these, and no others.
it('a name that every object has is the name of no controller', () => {
  const flags = flagsOf('--controllers=constructor,toString,__proto__');
  assert.deepEqual(dutyOf(flags, 'taint-eviction-controller').runs, false);
});

describe('feature gates of kube-controller-manager', () => {
  for (const [gates, compares] of [
    ['', false],
    ['TaintTolerationComparisonOperators=true', true],
    ['TaintTolerationComparisonOperators=1', true],
    ['A=true,kube:TaintTolerationComparisonOperators=True', true],
    ['AllAlpha=T', true],
    ['AllAlpha=true,TaintTolerationComparisonOperators=0', false],
    ['AllAlpha=true,TaintTolerationComparisonOperators=false', false],
  ] as const) {
    it(`say that Lt and Gt ${compares ? '' : 'do not '}count: ${gates}`, () => {
      assert.equal(comparesNumbers(flagsOf(`--feature-gates=${gates}`)), compares);
    });
  }

  for (const no of ['false', 'F', '0']) {
    it(`leave taint eviction to the node lifecycle controller: ${no}`, () => {
      const gate = `--feature-gates=SeparateTaintEvictionController=${no}`;
      const flags = flagsOf('--controllers=*,-taint-eviction-controller', gate);
      assert.equal(dutyOf(flags, 'taint-eviction-controller').runs, true);
    });
  }
});
