import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as core from '@taintmgr/core';

describe('options', () => {
  const faults: readonly [Parameters<typeof core.createEngine>[0], string][] = [
    [{ evictionsInFlightMax: 0 }, 'config.evictionsInFlightMax: got 0, want a whole number from 1'],
    [{ retryWaitMsMin: 1.5 }, 'config.retryWaitMsMin: got 1.5, want a whole number from 1'],
    [
      { retryWaitMsMin: 500, retryWaitMsMax: 100 },
      'config.retryWaitMsMax: got 100, want a whole number from 500',
    ],
    [{ minTaintAgeMs: -1 }, 'config.minTaintAgeMs: got -1, want a whole number from 0'],
    [{ gracePeriodSeconds: 0 }, 'config.gracePeriodSeconds: got 0, want a whole number from 1'],
    [
      { limits: [{ per: 'zone', onLimit: 'queue' }] },
      'config.limits[0].podsPerSecond: got undefined, want a rate here, or a percent, or pods',
    ],
    [
      { limits: [{ per: 'zone', percent: 101, onLimit: 'queue' }] },
      'config.limits[0].percent: got 101, want a number above 0, at most 100',
    ],
    [
      { takeover: true, semantics: 'upstream-1.36' },
      'config.semantics: got "upstream-1.36", want precise',
    ],
    [
      { takeover: true, taintEviction: false },
      'config.taintEviction: got false, want true beside takeover',
    ],
    [
      JSON.parse('{"mode":"drop"}'),
      'config.mode: got "drop", want delete or evict or evictThenDelete',
    ],
    [JSON.parse('{"leader":"yes"}'), 'config.leader: got "yes", want true or false'],
    [
      JSON.parse('{"lifecycle":{"observes":"no"}}'),
      'config.lifecycle.observes: got "no", want true or false',
    ],
  ];
  for (const [options, message] of faults) {
    it(message, () => {
      assert.throws(() => core.createEngine(options), { name: 'RangeError', message });
    });
  }
});

describe('what JavaScript lets pass', () => {
  const engine = core.createEngine();
  const raw = { metadata: { name: 'n1', uid: 'u' }, spec: {}, status: {} };
  const cases: readonly (readonly [name: string, act: () => unknown, message: RegExp])[] = [
    [
      'an option that is none',
      () => core.createEngine(JSON.parse('{"moode":"evict"}')),
      /^config\.moode: no such option, want one of .*mode, /,
    ],
    [
      'an option of the lifecycle that is none',
      () => core.createEngine(JSON.parse('{"lifecycle":{"heathyMs":1}}')),
      /^config\.lifecycle\.heathyMs: no such option, want one of .*healthyMs/,
    ],
    [
      'an event of an unknown kind',
      () => engine.handle(0, JSON.parse('{"kind":"nodeUpdate"}')),
      /^event\.kind: got "nodeUpdate", want one of nodeUpsert, /,
    ],
    [
      'a Node as the API has it',
      () => engine.handle(0, { kind: 'nodeUpsert', node: JSON.parse(JSON.stringify(raw)) }),
      /^event\.node: want what makeNode makes, or nodeFromJson of @taintmgr\/k8s-adapter /,
    ],
    [
      'a Pod as the API has it',
      () => engine.handle(0, { kind: 'podUpsert', pod: JSON.parse(JSON.stringify(raw)) }),
      /^event\.pod: want what makePod makes, or podFromJson /,
    ],
    [
      'no Pod at all',
      () => engine.handle(0, JSON.parse('{"kind":"podUpsert"}')),
      /^event\.pod: want what makePod makes/,
    ],
  ];
  for (const [name, act, message] of cases) {
    it(`is refused: ${name}`, () => assert.throws(act, { name: 'RangeError', message }));
  }

  it('leaves the engine as it was', () => {
    assert.deepEqual([engine.counts().nodes, engine.nodes()], [0, []]);
  });
});

describe('numbers of the node lifecycle', () => {
  const mass = { share: 0.5, nodesMin: 3, withinMs: 1, holdMs: 1 };
  const flapping = { times: 2, withinMs: 1, healthyMs: 1 };
  type Lifecycle = NonNullable<NonNullable<Parameters<typeof core.createEngine>[0]>['lifecycle']>;
  const fields: readonly (readonly [string, number, (value: number) => Lifecycle])[] = [
    ['podEvictionTimeoutMs', 0, (podEvictionTimeoutMs) => ({ podEvictionTimeoutMs })],
    ['nodeMonitorPeriodMs', 1, (nodeMonitorPeriodMs) => ({ nodeMonitorPeriodMs })],
    ['nodeMonitorGracePeriodMs', 1, (nodeMonitorGracePeriodMs) => ({ nodeMonitorGracePeriodMs })],
    ['nodeStartupGracePeriodMs', 1, (nodeStartupGracePeriodMs) => ({ nodeStartupGracePeriodMs })],
    ['largeClusterSizeThreshold', 0, (value) => ({ largeClusterSizeThreshold: value })],
    ['healthyMs', 0, (healthyMs) => ({ healthyMs })],
    ['writesInFlightMax', 1, (writesInFlightMax) => ({ writesInFlightMax })],
    ['massUnreachable.nodesMin', 1, (nodesMin) => ({ massUnreachable: { ...mass, nodesMin } })],
    ['massUnreachable.withinMs', 1, (withinMs) => ({ massUnreachable: { ...mass, withinMs } })],
    ['massUnreachable.holdMs', 0, (holdMs) => ({ massUnreachable: { ...mass, holdMs } })],
    ['flapping.times', 1, (times) => ({ flapping: { ...flapping, times } })],
    ['flapping.withinMs', 1, (withinMs) => ({ flapping: { ...flapping, withinMs } })],
    ['flapping.healthyMs', 0, (healthyMs) => ({ flapping: { ...flapping, healthyMs } })],
  ];
  for (const [field, least, lifecycle] of fields) {
    it(`${field} is a whole number from ${least}`, () => {
      core.createEngine({ lifecycle: lifecycle(least) });
      for (const value of [least - 1, least + 0.5]) {
        const message = `config.lifecycle.${field}: got ${value}, want a whole number from ${least}`;
        assert.throws(() => core.createEngine({ lifecycle: lifecycle(value) }), { message });
      }
    });
  }
});

it('an option that is there and undefined is left out', () => {
  const names = Object.keys(core.defaultConfig);
  const engine = core.createEngine(Object.fromEntries(names.map((name) => [name, undefined])));
  const node = core.makeNode({ name: 'n1', taints: ['bad:NoExecute'] });
  engine.handle(0, { kind: 'nodeUpsert', node });
  const pod = core.makePod({ name: 'web-0', nodeName: 'n1' });
  engine.handle(0, { kind: 'podUpsert', pod });
  engine.handle(0, { kind: 'synced' });
  const sent = engine.handle(0, { kind: 'tick' }).map(({ kind }) => kind);
  assert.deepEqual(sent, ['recordEvent', 'deletePod']);
});

it('time that goes backwards is a mistake of the caller', () => {
  const engine = core.createEngine();
  engine.handle(5, { kind: 'tick' });
  assert.throws(() => engine.handle(4, { kind: 'tick' }), /time goes forward: 4 after 5/);
});

it('a loop that jumps to nextWake never goes back, whatever was heard before what', () => {
  const engine = core.createEngine();
  const pod = core.makePod({ name: 'web-0', nodeName: 'n1' });
  const node = core.makeNode({ name: 'n1', taints: ['bad:NoExecute'] });
  engine.handle(0, { kind: 'nodeUpsert', node });
  engine.handle(0, { kind: 'synced' });
  engine.handle(1000, { kind: 'podUpsert', pod });
  engine.handle(1500, { kind: 'leadership', held: true });
  const sent: string[] = [];
  for (let now = engine.nextWake(); now !== null; now = engine.nextWake()) {
    for (const command of engine.handle(now, { kind: 'tick' })) {
      sent.push(`${now} ${command.kind}`);
      if (!('id' in command)) continue;
      engine.handle(now, { kind: 'result', id: command.id, outcome: { kind: 'done' } });
      engine.handle(now, { kind: 'podDelete', uid: pod.uid });
    }
  }
  assert.deepEqual(sent, ['1500 recordEvent', '1500 deletePod']);
});

it('commands that change the cluster come with a tick; as kube-controller-manager with any event', () => {
  const pod = core.makePod({ name: 'web-0', nodeName: 'n1' });
  const node = core.makeNode({ name: 'n1', taints: ['bad:NoExecute'] });
  for (const semantics of ['precise', 'upstream-1.36'] as const) {
    const engine = core.createEngine({ semantics, keepTaintStarts: false });
    engine.handle(0, { kind: 'synced' });
    engine.handle(0, { kind: 'nodeUpsert', node });
    const onEvent = engine.handle(0, { kind: 'podUpsert', pod }).map(({ kind }) => kind);
    const onTick = engine.handle(0, { kind: 'tick' }).map(({ kind }) => kind);
    const sent = ['recordEvent', 'deletePod'];
    assert.deepEqual([onEvent, onTick], semantics === 'precise' ? [[], sent] : [sent, []]);
  }
});

it('a pod that was explained is a pod like any: to copy, to write down, and to tell of', () => {
  const engine = core.createEngine();
  const labels = { app: 'db' };
  const tolerations = [{ key: 'bad', operator: 'Exists', tolerationSeconds: 60 }];
  const given = { name: 'db-0', namespace: 'shop', nodeName: 'n1', labels, tolerations };
  const pod = core.makePod(given);
  const node = core.makeNode({ name: 'n1', taints: ['bad:NoExecute'] });
  engine.handle(0, { kind: 'nodeUpsert', node });
  engine.handle(0, { kind: 'podUpsert', pod });
  engine.handle(0, { kind: 'synced' });
  const ofPod = engine.explain(0, { kind: 'pod', namespace: 'shop', name: 'db-0' });
  const ofNode = engine.explain(0, { kind: 'node', name: 'n1' });
  assert.ok(ofPod?.kind === 'pod' && ofNode?.kind === 'node');
  for (const explained of [ofPod.pod, ofNode.pods[0]?.pod ?? assert.fail()]) {
    assert.deepEqual(JSON.parse(JSON.stringify(explained)), JSON.parse(JSON.stringify(pod)));
    assert.deepEqual(structuredClone(explained), explained);
    const copy: core.Pod = { ...explained, uid: 'next', phase: 'Pending' };
    assert.deepEqual([copy.namespace, copy.tolerations], ['shop', pod.tolerations]);
    engine.handle(0, { kind: 'podUpsert', pod: copy });
  }
});

it('what is not known is explained as null', () => {
  const engine = core.createEngine();
  assert.equal(engine.explain(0, { kind: 'node', name: 'n1' }), null);
  assert.equal(engine.explain(0, { kind: 'pod', namespace: 'shop', name: 'web-0' }), null);
});

it('counts what was handed over, and the pods that were spared there', () => {
  assert.equal(core.createEngine().takeover(), null);
  const engine = core.createEngine({ takeover: true });
  const handedOver = { 'taintmgr.dev/takeover': 'enabled' };
  engine.handle(0, { kind: 'synced' });
  for (const name of ['shop', 'web'])
    engine.handle(0, { kind: 'namespaceUpsert', namespace: { name, labels: handedOver } });
  engine.handle(0, { kind: 'namespaceUpsert', namespace: { name: 'pay', labels: {} } });
  const pause = { name: 'p', uid: '', deadlines: true, readiness: false, reason: '', until: null };
  const scope = { zones: [], nodes: null, taintKeys: [], namespaces: [] };
  engine.handle(0, { kind: 'pauseUpsert', pause: { ...pause, scope, since: 0 } });
  const node = core.makeNode({ name: 'n1', taints: [core.parseTaint('bad:NoExecute')] });
  engine.handle(0, { kind: 'nodeUpsert', node });
  for (const namespace of ['shop', 'pay']) {
    const pod = core.makePod({ namespace, name: 'a', nodeName: 'n1' });
    engine.handle(0, { kind: 'podUpsert', pod });
  }
  const told = engine.handle(1000, { kind: 'tick' });
  assert.deepEqual(
    told.map((one) => one.kind === 'recordEvent' && one.pod.namespace),
    ['shop'],
  );
  const { namespaces, spared } = engine.takeover() ?? assert.fail();
  assert.deepEqual(namespaces, ['shop', 'web']);
  assert.deepEqual([...spared], [['shop', { spared: 1, held: 1 }]]);
  engine.handle(2000, {
    kind: 'podDelete',
    uid: core.makePod({ namespace: 'shop', name: 'a' }).uid,
  });
  assert.deepEqual([...(engine.takeover()?.spared ?? [])], [['shop', { spared: 1, held: 0 }]]);
});

it('counts nodes and pods, and names the pauses in force', () => {
  const engine = core.createEngine({ mode: 'evict' });
  const taints = [core.parseTaint('bad:NoExecute')];
  const nodes = [core.makeNode({ name: 'n1', taints }), core.makeNode({ name: 'n2' })];
  for (const node of nodes) engine.handle(0, { kind: 'nodeUpsert', node });
  const tolerations = [
    { key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
  ];
  for (const nodeName of ['n1', 'n2']) {
    const pod = core.makePod({ name: nodeName, nodeName, tolerations });
    engine.handle(0, { kind: 'podUpsert', pod });
  }
  engine.handle(0, { kind: 'synced' });
  engine.handle(0, { kind: 'tick' });
  const known = { nodes: 2, tainted: 1, pods: 2, blocked: 0 };
  assert.deepEqual(engine.counts(), { ...known, pending: 1, held: 0 });
  assert.deepEqual(engine.pauses(), []);
  const scope = { zones: [], nodes: null, taintKeys: [], namespaces: [] };
  const pause = { name: 'night', uid: 'u', scope, readiness: false, deadlines: true };
  const until = { reason: '', until: 5_000, since: 0 };
  engine.handle(1, { kind: 'pauseUpsert', pause: { ...pause, ...until } });
  const isOver = (): readonly boolean[] => engine.pauses().map((one) => one.isOver);
  assert.deepEqual([engine.pauses()[0]?.pause.name, isOver()], ['night', [false]]);
  assert.deepEqual(engine.counts(), { ...known, pending: 0, held: 1 });
  engine.handle(5_000, { kind: 'tick' });
  assert.deepEqual(isOver(), [true]);
  assert.deepEqual(engine.counts(), { ...known, pending: 1, held: 0 });
});
