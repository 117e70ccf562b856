import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { type Exchange, node, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { ApiHistory } from '../../src/api-history.ts';
import { TakeoverCheckers } from '../../src/takeover/takeover-checkers.ts';
import { group, installOwnKinds } from '../world/own-kinds.ts';

// What the checkers find of a client that decides beside a kube-controller-manager which evicts too.

const label = { 'taintmgr.dev/takeover': 'enabled' };
const kinds = {
  policies: 'validatingadmissionpolicies',
  bindings: 'validatingadmissionpolicybindings',
};
const taint = { key: 'bad', effect: 'NoExecute' };
const lists = [
  ...['/api/v1/nodes', '/api/v1/pods', '/api/v1/namespaces'],
  `/apis/${group}/v1alpha1/evictionpauses`,
];

/** A tainted node with a pod in a namespace that is handed over, and one in another. */
class World {
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly api = new ApiServer({ clock: this.clock, random: seededRandom(1) });
  readonly #history = new ApiHistory(this.clock);
  readonly checkers = new TakeoverCheckers(this.api, this.#history);
  readonly #ours: Exchange;
  readonly #theirs: Exchange;

  /** `refuses`: what the policy of evictions refuses, in CEL. Pods tolerate the taint for so long. */
  constructor(refuses = 'false', tolerationSeconds = 0) {
    const { api } = this;
    installOwnKinds(api);
    this.pass(3000);
    this.#ours = this.#history.first.client(this.#history.server(api.exchange));
    this.#theirs = this.checkers.line(this.#history.bystander(api.exchange));
    this.#history.first.beginRun();
    for (const name of ['taintmgr-takeover', 'taintmgr-readiness']) {
      this.#install(name, name === 'taintmgr-takeover' ? refuses : 'false');
    }
    this.#send(this.#ours, 'POST', `/apis/${group}/v1alpha1/taintmanagers`, {
      ...{ apiVersion: `${group}/v1alpha1`, kind: 'TaintManager' },
      metadata: { name: 'taintmgr' },
    });
    api.create('nodes', node('n', { spec: { taints: [taint] } }));
    for (const [name, labels] of [
      ['in', label],
      ['out', {}],
    ] as const) {
      api.create('namespaces', { metadata: { name, labels } });
      const tolerations = [{ ...taint, operator: 'Exists', tolerationSeconds }];
      api.create('pods', pod(name, 'p', { spec: { nodeName: 'n', tolerations } }));
    }
    this.pass(5000);
    this.read();
  }

  read(): void {
    for (const path of lists) this.#send(this.#ours, 'GET', path);
  }

  /** We die and start anew. */
  restart(): void {
    this.#history.first.beginRun();
    this.read();
  }

  pass(ms: number): void {
    this.clock.advanceTo(this.clock.now() + ms);
  }

  /** Our heartbeat, dated so much later. */
  beat(aheadMs = 0, takeover: object = { enabled: true }): void {
    const renewTime = new Date(this.clock.now() + aheadMs).toISOString();
    const path = `/apis/${group}/v1alpha1/taintmanagers/taintmgr/status`;
    const patch = [{ op: 'add', path: '/status', value: { renewTime, takeover } }];
    this.#send(this.#ours, 'PATCH', path, patch, 'json-patch');
    this.pass(20);
  }

  /** Somebody marks a pod as he does who deletes it for a taint. */
  mark(who: 'we' | 'they', namespace = 'in'): void {
    const lastTransitionTime = new Date(this.clock.now()).toISOString();
    const reason = 'DeletionByTaintManager';
    const condition = { type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime };
    const line = who === 'we' ? this.#ours : this.#theirs;
    const path = `/api/v1/namespaces/${namespace}/pods/p/status`;
    this.#send(
      line,
      'PATCH',
      path,
      { status: { conditions: [condition] } },
      'strategic-merge-patch',
    );
  }

  /** We delete a pod. */
  delete(namespace: string): void {
    this.#send(this.#ours, 'DELETE', `/api/v1/namespaces/${namespace}/pods/p`);
  }

  /** There is a node in this zone. */
  addZone(region: string, zone: string): void {
    const of = 'topology.kubernetes.io';
    const labels = { [`${of}/region`]: region, [`${of}/zone`]: zone };
    this.api.create('nodes', node('far', { labels }));
  }

  pause(name: string): void {
    const path = `/apis/${group}/v1alpha1/evictionpauses`;
    const kind = { apiVersion: `${group}/v1alpha1`, kind: 'EvictionPause' };
    this.#send(this.#ours, 'POST', path, { ...kind, metadata: { name }, spec: { reason: name } });
  }

  /** An Event on the pod that is handed over. */
  say(message: string): void {
    const { uid } = this.api.get('pods', 'in', 'p')?.metadata ?? assert.fail();
    const involvedObject = { kind: 'Pod', namespace: 'in', name: 'p', uid };
    const metadata = { namespace: 'in', name: 'p.held' };
    this.api.create('events', {
      ...{ metadata, involvedObject, message, type: 'Normal' },
      reason: 'TaintManagerEvictionHeld',
    });
  }

  untaint(): void {
    const found = this.api.get('nodes', '', 'n') ?? assert.fail();
    this.api.update('nodes', { ...found, spec: {} });
  }

  get found(): readonly string[] {
    return this.checkers.violations.map(({ invariant }) => invariant);
  }

  #install(name: string, refuses: string): void {
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods/status'] };
    this.api.create(kinds.policies, {
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: [{ ...rule, operations: ['UPDATE'] }] },
        validations: [{ expression: `!(${refuses})`, reason: 'Forbidden' }],
      },
    });
    const spec = { policyName: name, validationActions: ['Deny'] };
    this.api.create(kinds.bindings, { metadata: { name }, spec });
    this.pass(3000);
  }

  #send(line: Exchange, method: string, path: string, body?: object, kind = ''): void {
    const type = kind === '' ? 'application/json' : `application/${kind}+json`;
    const text = body === undefined ? null : JSON.stringify(body);
    const request = { method, path, headers: { 'content-type': type }, body: text };
    line(request, { head() {}, data() {}, end() {}, reset() {} });
  }
}

describe('checkers of takeover', () => {
  it('find a mark that was let through beside a fresh heartbeat, and none beside an old one', () => {
    const world = new World();
    world.beat();
    world.mark('they', 'out');
    assert.deepEqual(world.found, []);
    world.mark('they');
    assert.deepEqual(world.found, ['marked beside a fresh heartbeat']);
    const late = new World();
    late.beat();
    late.pass(61_000);
    late.mark('they');
    assert.deepEqual(late.found, []);
  });

  it('take a heartbeat for none that says that nobody decides', () => {
    const world = new World();
    world.beat(0, { enabled: false });
    world.mark('they');
    assert.deepEqual(world.found, []);
  });

  it('find what is refused though nobody decides, or the namespace was not handed over', () => {
    const world = new World("object.metadata.name == 'p'");
    world.mark('they');
    assert.deepEqual(world.found, ['refused without a right']);
    world.beat();
    world.mark('they');
    assert.equal(world.found.length, 1);
    world.mark('they', 'out');
    assert.deepEqual(world.found, ['refused without a right', 'refused without a right']);
  });

  it('find an eviction where the namespace was not handed over', () => {
    const world = new World();
    world.delete('in');
    assert.deepEqual(world.found, []);
    world.delete('out');
    assert.deepEqual(world.found, ['evicts what is not handed over']);
  });

  it('find a heartbeat of the future', () => {
    const world = new World();
    world.beat(1_000);
    assert.deepEqual(world.found, []);
    world.beat(2_000);
    assert.deepEqual(world.found, ['heartbeat of the future']);
  });

  it('find a pod of which nothing says why it stays', () => {
    const world = new World("object.metadata.name == 'p'");
    world.beat();
    const calmSince = world.clock.now();
    world.pass(1000);
    world.mark('they');
    world.pass(70_000);
    world.beat();
    world.checkers.atCalm(calmSince);
    assert.deepEqual(world.found, ['nothing says why it is held']);
  });

  it('give whoever began later the whole time of a taint', () => {
    const world = new World("object.metadata.name == 'p'", 300);
    world.pass(250_000);
    world.restart();
    world.beat();
    const calmSince = world.clock.now();
    world.pass(60_000);
    world.mark('they');
    for (const [ms, found] of [
      [70_000, []],
      [240_000, ['nothing says why it is held']],
    ] as const) {
      world.pass(ms);
      world.beat();
      world.checkers.atCalm(calmSince);
      assert.deepEqual(world.found, found);
    }
  });

  it('ask nothing about a pod that was refused beside the end of its taint', () => {
    const world = new World("object.metadata.name == 'p'");
    world.beat();
    const calmSince = world.clock.now();
    world.pass(1000);
    world.untaint();
    world.pass(40);
    world.mark('they');
    world.pass(70_000);
    world.beat();
    world.checkers.atCalm(calmSince);
    assert.deepEqual(world.found, []);
  });

  const held: readonly (readonly [string, boolean])[] = [
    ['no toleration for bad:NoExecute; it goes at 2026-01-01T00:05:00Z', true],
    ['deadlines are paused by audit until that is resumed', true],
    ['deadlines are paused by nobody until that is resumed', false],
    ['deadlines are paused by the hold of zone r/a until one of its nodes is ready', true],
    ['deadlines are paused by the hold of zone r/a', false],
    ['deadlines are paused by the hold of zone r/a until that is resumed', false],
    ['deadlines are paused by the hold of zone r/z until one of its nodes is ready', false],
    [
      'deadlines are paused by the hold of the nodes without a zone until one of them is ready',
      true,
    ],
  ];
  for (const [why, isTrue] of held) {
    it(`${isTrue ? 'believe' : 'do not believe'} that ${why}`, () => {
      const world = new World("object.metadata.name == 'p'");
      world.addZone('r', 'a');
      world.pause('audit');
      world.beat();
      const calmSince = world.clock.now();
      world.pass(1000);
      world.mark('they');
      world.say(`taintmgr decides about Pod in/p, not kube-controller-manager: ${why}`);
      world.pass(70_000);
      world.beat();
      world.checkers.atCalm(calmSince);
      assert.deepEqual(world.found, isTrue ? [] : ['nothing says why it is held']);
    });
  }

  it('find a mark of ours on a pod that stays', () => {
    const world = new World();
    world.mark('we');
    const calmSince = world.clock.now();
    world.pass(70_000);
    world.beat();
    world.checkers.atCalm(calmSince);
    assert.deepEqual(world.found, [], 'it is due, and may yet go');
    world.untaint();
    world.pass(70_000);
    world.beat();
    world.checkers.atCalm(calmSince);
    assert.deepEqual(world.found, ['mark not taken away']);
  });

  it('find policies that nobody puts back, and a heartbeat that stopped', () => {
    const world = new World();
    world.beat();
    world.api.delete(kinds.bindings, '', 'taintmgr-takeover');
    world.checkers.atCalm(world.clock.now());
    world.pass(20_000);
    world.checkers.atCalm(world.clock.now());
    assert.deepEqual(world.found, [
      ...['policy not put back', 'policy not put back'],
      'no heartbeat',
    ]);
  });

  it('find pods that are spared though nobody decides', () => {
    const world = new World();
    world.delete('in');
    const since = world.clock.now();
    world.pass(30_000);
    world.checkers.atGone(since);
    assert.deepEqual(world.found, ['spared though nobody decides'], 'of the pod of the other one');
  });
});
