import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { takeoverManifests, takeoverVersion } from '../../src/takeover/manifests.ts';
import { type Beat, us, VetoWorld } from './veto-world.ts';

/** A world with a pod, and a leader that decides. */
function decided(beat: Beat = { enabled: true }): VetoWorld {
  const world = new VetoWorld();
  world.pod('p');
  world.beat(beat);
  return world;
}

describe('the policy about evictions', () => {
  it('refuses the mark, whoever makes it but taintmgr, in opted-in namespaces alone', () => {
    const world = decided();
    const conditions = [world.disrupted()];
    assert.match(
      world.refusal({ conditions }) ?? '',
      /^pods "p" is forbidden: ValidatingAdmissionPolicy 'taintmgr-takeover' with binding 'taintmgr-takeover' denied request: taintmgr decides about this pod; its heartbeat is of 2026-01-01T00:00:0/,
    );
    assert.notEqual(world.refusal({ conditions, by: 'system:kube-controller-manager' }), null);
    assert.equal(world.refusal({ conditions, by: us }), null);
    assert.equal(world.refusal({ conditions, namespace: 'out' }), null);
  });

  const passing: readonly [string, object][] = [
    ['an eviction through the API', { reason: 'EvictionByEvictionAPI' }],
    ['preemption', { reason: 'PreemptionByScheduler' }],
    ['a condition without reason', { reason: undefined }],
    ['a condition that is taken back', { status: 'False' }],
    ['another condition', { type: 'PodScheduled' }],
  ];
  for (const [name, more] of passing) {
    it(`lets ${name} pass`, () => {
      const world = decided();
      assert.equal(world.refusal({ conditions: [world.disrupted(more)] }), null);
    });
  }

  for (const [age, agoMs, refuses] of [
    ['fresh', 0, true],
    ['too old', 90_000, false],
  ] as const) {
    it(`goes by a heartbeat that is ${age}, whatever time a condition of another reason has left`, () => {
      const world = new VetoWorld();
      const preempted = world.disrupted({ reason: 'PreemptionByScheduler' });
      world.pod('p', [preempted]);
      world.pass(90_000);
      world.beat({ enabled: true, agoMs });
      // kube-controller-manager changes reason and message only; the time stays.
      const { lastTransitionTime } = preempted;
      for (const time of [lastTransitionTime, undefined, '2026-01-01T01:00:00Z']) {
        const conditions = [world.disrupted({ lastTransitionTime: time })];
        assert.equal(world.refusal({ conditions }) !== null, refuses, time);
      }
    });
  }

  const decides: readonly [string, Beat, boolean][] = [
    ['decides about taints of devices', { enabled: true, deviceTaints: true }, true],
    ['says that it does not', { enabled: true, deviceTaints: false }, false],
    ['says nothing of them', { enabled: true }, false],
    ['does not take over', { enabled: false, deviceTaints: true }, false],
    ['has gone', { enabled: true, deviceTaints: true, agoMs: 90_000 }, false],
  ];
  for (const [name, beat, refuses] of decides) {
    it(`${refuses ? 'refuses' : 'lets pass'} the mark for a device where the leader ${name}`, () => {
      const world = decided(beat);
      const preempted = world.disrupted({ reason: 'PreemptionByScheduler' });
      world.pod('preempted', [preempted]);
      const reason = 'DeletionByDeviceTaintManager';
      const by = 'system:serviceaccount:kube-system:device-taint-eviction-controller';
      for (const pod of ['p', 'preempted']) {
        const refusal = world.refusal({ pod, by, conditions: [world.disrupted({ reason })] });
        assert.equal(refusal !== null, refuses, pod);
        assert.equal(
          world.refusal({ pod, by: us, conditions: [world.disrupted({ reason })] }),
          null,
        );
      }
    });
  }

  const theirs = { message: 'Taint manager: deleting due to NoExecute taint' };
  const marks: readonly [string, object][] = [
    ['by taintmgr', { message: 'taintmgr: deleting due to NoExecute taint' }],
    ['by kube-controller-manager', theirs],
    ['without a message', {}],
  ];
  for (const [name, more] of marks) {
    it(`lets whoever updates a pod pass that is marked ${name}, and leaves the mark`, () => {
      const world = decided();
      const before = world.disrupted(more);
      const ready = { type: 'Ready', status: 'False' };
      world.pod('marked', [{ type: 'Ready', status: 'True' }, before]);
      for (const by of ['system:node:n1', 'somebody']) {
        const asked = { by, pod: 'marked' };
        assert.equal(world.refusal({ ...asked, conditions: [ready] }), null);
        assert.equal(world.refusal({ ...asked, conditions: [ready, before] }), null);
        const over = [{ ...before, reason: 'PreemptionByScheduler' }];
        assert.equal(world.refusal({ ...asked, conditions: over }), null);
        assert.equal(
          world.refusal({ ...asked, conditions: [{ ...before, status: 'False' }] }),
          null,
        );
      }
    });
  }

  const others: readonly [string, object][] = [
    ['with another message', { message: 'taintmgr: deleting due to NoExecute taint' }],
    ['without a message', {}],
    ['with a message that is empty', { message: '' }],
    ['for another reason', { ...theirs, reason: 'EvictionByEvictionAPI' }],
    ['and is not any more', { ...theirs, status: 'False' }],
    ['and was probed', { ...theirs, lastProbeTime: '2026-01-01T00:00:00Z' }],
  ];
  for (const [name, more] of others) {
    it(`refuses a mark over a pod that is marked ${name}, but by no kubelet`, () => {
      const world = decided();
      const before = world.disrupted(more);
      world.pod('marked', [before]);
      // A patch keeps the fields that it does not name.
      const mark = { ...world.disrupted(theirs), lastProbeTime: null };
      const asked = { pod: 'marked', conditions: [mark] };
      assert.match(world.refusal(asked) ?? '', /taintmgr decides/);
      assert.equal(world.refusal({ ...asked, by: us }), null);
      assert.equal(world.refusal({ ...asked, by: 'system:node:n1' }), null);
      world.pass(90_000);
      assert.equal(world.refusal(asked), null, 'nobody decides any more');
    });
  }

  const beats: readonly [string, Beat, boolean][] = [
    ['58 s old', { enabled: true, agoMs: 58_000 }, true],
    ['62 s old', { enabled: true, agoMs: 62_000 }, false],
    ['50 s ahead, by a clock that is wrong', { enabled: true, agoMs: -50_000 }, true],
    ['62 s ahead', { enabled: true, agoMs: -62_000 }, false],
    ['of a leader that does not take over', { enabled: false }, false],
    ['of a leader that says nothing of it', {}, false],
  ];
  for (const [name, beat, refuses] of beats) {
    it(`${refuses ? 'refuses' : 'gives way'} with a heartbeat ${name}`, () => {
      const world = decided(beat);
      assert.equal(world.refusal({ conditions: [world.disrupted()] }) !== null, refuses);
    });
  }

  it('refuses after a restart of the API server too, by what is stored', () => {
    const world = decided();
    world.restart();
    assert.deepEqual(world.cluster.loadReport.unloaded, []);
    world.pass(2000);
    assert.match(world.refusal({ conditions: [world.disrupted()] }) ?? '', /taintmgr decides/);
  });

  it('gives way where the leader never wrote', () => {
    const world = new VetoWorld();
    world.pod('p');
    assert.equal(world.refusal({ conditions: [world.disrupted()] }), null);
  });
});

const zoned = {
  'topology.kubernetes.io/region': 'eu',
  'topology.kubernetes.io/zone': 'eu-1',
};

describe('the policy about readiness', () => {
  /** Whether marking a ready pod of node n1 in eu/eu-1 not ready is refused. */
  function refused(holdReadiness: object | undefined, more: object = {}): string | null {
    const world = new VetoWorld();
    const conditions = [
      { type: 'Ready', status: 'True' },
      { type: 'ContainersReady', status: 'True' },
    ];
    world.pod('p', conditions, { labels: zoned }, { nodeName: 'n1' });
    world.pod('bare', conditions);
    world.beat({ enabled: true, ...(holdReadiness && { holdReadiness }) });
    const lastTransitionTime = new Date(world.clock.now()).toISOString();
    const notReady = { type: 'Ready', status: 'False', lastTransitionTime };
    return world.refusal({ conditions: [notReady], ...more });
  }
  const reason = 'zone eu/eu-1 is cut off';

  it('refuses where the leader holds, with its reason', () => {
    for (const hold of [{ all: true }, { zones: ['a/b', 'eu/eu-1'] }, { nodes: ['n0', 'n1'] }]) {
      assert.match(
        refused({ reason, ...hold }) ?? '',
        /'taintmgr-readiness' denied request: taintmgr holds readiness: zone eu\/eu-1 is cut off$/,
      );
    }
  });

  it('gives way elsewhere', () => {
    assert.equal(refused(undefined), null);
    const holds = [{}, { all: false }, { zones: ['eu', 'eu-1', 'eu/eu-2'] }, { nodes: ['n2'] }];
    for (const hold of holds) assert.equal(refused({ reason, ...hold }), null);
    assert.equal(refused({ reason, all: true }, { namespace: 'out' }), null);
  });

  it('knows no zone and no node of a pod without labels that is bound nowhere', () => {
    const hold = { reason, zones: ['eu/eu-1', ''], nodes: ['n1', ''] };
    assert.equal(refused(hold, { pod: 'bare' }), null);
    assert.notEqual(refused({ ...hold, all: true }, { pod: 'bare' }), null);
  });

  it('lets kubelets pass, us, and whoever has looked at the containers', () => {
    const hold = { reason, all: true };
    assert.equal(refused(hold, { by: 'system:node:n1' }), null);
    assert.equal(refused(hold, { by: us }), null);
    const conditions = [
      { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:04Z' },
      { type: 'ContainersReady', status: 'False' },
    ];
    assert.equal(refused(hold, { conditions }), null);
    assert.equal(refused(hold, { conditions: [{ type: 'Ready', status: 'True' }] }), null);
  });
});

it('no expression is one that the API server has something to say about', () => {
  const { cluster } = new VetoWorld();
  const statuses = cluster.api.list('validatingadmissionpolicies').map(({ status }) => status);
  assert.deepEqual(statuses, [
    { observedGeneration: 1, typeChecking: {} },
    { observedGeneration: 1, typeChecking: {} },
  ]);
});

it('the version of the content is raised with the content', () => {
  const manifests = takeoverManifests({ manager: 'm', users: ['u'] });
  const specs = manifests.map(({ spec }) => spec);
  const digest = createHash('sha256').update(JSON.stringify(specs)).digest('hex');
  assert.deepEqual([takeoverVersion, digest.slice(0, 12)], ['4', 'f6b647ef89d9']);
});

it('a user name cannot break out of its text', () => {
  const [evictions] = takeoverManifests({ manager: 'm', users: ['a"b\\c', "d'e"] });
  const [first] = (evictions?.spec.matchConditions ?? []) as readonly { expression: string }[];
  assert.equal(first?.expression, `!(request.userInfo.username in ["a\\"b\\\\c", "d'e"])`);
});
