import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '@taintmgr/sim-cluster';
import { findEvictors } from '../../src/client/find-evictors.ts';
import type { DutyVerdict } from '../../src/evictors/judge.ts';
import { comparesNumbers, dutyOf, managerFlags } from '../../src/evictors/look.ts';
import { verdictText } from '../../src/evictors/verdict-words.ts';
import { eviction, find, lifecycle, minute, putManager, serverTime, soon, world } from './world.ts';

// Who evicts here, by what the API server shows: leases, pods with their flags, its version.

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
