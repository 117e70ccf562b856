import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import { Loop } from '../../src/controller/engine-loop.ts';
import type { LoopAction, LoopInput } from '../../src/controller/loop-parts.ts';
import { StaleView } from '../../src/controller/stale-view.ts';
import { listAt, nodeJson, podJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';

// After a gap, and after a standstill, what was missed comes read by read, with a tick after each.

const second = 1000;
const start = Date.parse('2026-01-01T00:00:00Z');
const taintedAt = '2026-01-01T00:00:10Z';

/** The leader, which has read two nodes with a pod on each, and its watches. */
class Stage {
  readonly #loop = new Loop({
    machine: createEngine(),
    random: random(0),
    streamLists: false,
    clusterPolicies: true,
    election: { identity: 'me', lease: { namespace: 'kube-system', name: 'taintmgr' } },
  });
  #now = start;
  #leases = 0;
  /** The watch of each collection; of others the list under way. */
  readonly #asked = new Map<string, string>();
  readonly #paths = new Map<string, string>();
  /** `PATCH pod a`, after how many seconds. */
  readonly requests: string[] = [];

  constructor() {
    this.#feed({ kind: 'start' });
    const items = {
      nodes: [nodeJson('n1', '3'), nodeJson('n2', '4')],
      pods: [podJson('a', 'n1', '5'), podJson('b', 'n2', '6')],
    };
    for (const [resource, id] of [...this.#asked]) {
      const found = resource === 'nodes' || resource === 'pods' ? items[resource] : [];
      const data = bytes(listAt(this.#paths.get(id) ?? '', '10', ...found));
      this.#feed({ kind: 'answer', id, status: 200, headers: {}, data });
    }
    assert.ok(this.#loop.synced);
    this.back(...this.#asked.keys());
    this.until(10 * second);
    for (const id of this.#asked.values()) this.#feed({ kind: 'alive', id, age: 0 });
  }

  get collections(): readonly string[] {
    return [...this.#asked.keys()];
  }

  /** The watches break. */
  cut(...resources: readonly string[]): void {
    for (const id of this.#watches(resources))
      this.#feed({ kind: 'failed', id, message: 'connection reset' });
  }

  /** They are answered again. */
  back(...resources: readonly string[]): void {
    for (const id of this.#watches(resources))
      this.#feed({ kind: 'head', id, status: 200, headers: {} });
  }

  /** One read of a socket. */
  read(resource: string, type: string, object: object): void {
    const data = `${JSON.stringify({ type, object })}\n`;
    for (const id of this.#watches([resource])) this.#feed({ kind: 'chunk', id, data });
  }

  /** Time passes, with the ticks that are due in it. */
  until(ms: number): void {
    for (;;) {
      const wake = this.#loop.nextWake() ?? Number.POSITIVE_INFINITY;
      if (wake > start + ms) break;
      this.#now = Math.max(this.#now, wake);
      this.#feed({ kind: 'tick' });
    }
    this.#now = start + ms;
  }

  /** Time passes, and this process with all its ticks stands still. */
  standStill(ms: number): void {
    this.#now = start + ms;
  }

  /** The lease is ours whenever we ask for it. */
  #lend(id: string, body: string | null): void {
    const { spec } = JSON.parse(body ?? '{"spec":{}}');
    this.#leases += 1;
    const kind = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' };
    const lease = {
      ...kind,
      metadata: { name: 'taintmgr', resourceVersion: `${this.#leases}` },
      spec,
    };
    this.#feed({ kind: 'answer', id, status: 200, headers: {}, data: bytes(lease) });
  }

  #watches(resources: readonly string[]): string[] {
    return resources.map((one) => this.#asked.get(one) ?? assert.fail(`no watch of ${one}`));
  }

  /** With the ticks that a driver gives after it. */
  #feed(input: LoopInput): void {
    this.#perform(this.#loop.handle(this.#now, input));
    for (let turn = 0; (this.#loop.nextWake() ?? Number.POSITIVE_INFINITY) <= this.#now; turn++) {
      assert.ok(turn < 10, 'ticks without end');
      this.#perform(this.#loop.handle(this.#now, { kind: 'tick' }));
    }
  }

  #perform(actions: readonly LoopAction<unknown>[]): void {
    for (const action of actions) {
      if (action.kind !== 'send') continue;
      const { id, request } = action;
      const [path = ''] = request.path.split('?');
      const [resource = ''] = id.split('/');
      this.#paths.set(id, path);
      if (id.startsWith('election/')) this.#lend(id, request.body);
      else if (id.startsWith('call/')) {
        const at = (this.#now - start) / second;
        this.requests.push(`${request.method} ${path.split('/').slice(5).join('/')} at ${at}s`);
      } else if (!id.startsWith('event/')) this.#asked.set(resource, id);
    }
  }
}

function bytes(object: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(object));
}

function tainted(resourceVersion: string): object {
  const taints = [{ key: 'bad', effect: 'NoExecute', timeAdded: taintedAt }];
  return { ...nodeJson('n1', resourceVersion), spec: { taints } };
}

const pause = {
  apiVersion: 'taintmgr.dev/v1alpha1',
  kind: 'EvictionPause',
  metadata: {
    ...{ name: 'night', uid: 'uid-night', resourceVersion: '13' },
    creationTimestamp: taintedAt,
  },
  spec: { scope: {} },
};

/** What comes first of what was missed, and what a moment later. */
const backlogs: readonly [string, (stage: Stage) => void, (stage: Stage) => void][] = [
  [
    'a taint that is gone again',
    (stage) => stage.read('nodes', 'MODIFIED', tainted('12')),
    (stage) => stage.read('nodes', 'MODIFIED', nodeJson('n1', '14')),
  ],
  [
    'a taint and a pause',
    (stage) => stage.read('nodes', 'MODIFIED', tainted('12')),
    (stage) => stage.read('evictionpauses', 'ADDED', pause),
  ],
];

describe('what was missed', () => {
  for (const [name, first, rest] of backlogs) {
    it(`costs no pod after a gap, read by read: ${name}`, () => {
      const stage = new Stage();
      stage.cut(...stage.collections);
      stage.until(16 * second);
      stage.back(...stage.collections);
      first(stage);
      stage.until(16 * second + 15);
      rest(stage);
      stage.until(30 * second);
      assert.deepEqual(stage.requests, []);
    });

    it(`costs no pod after a standstill, read by read: ${name}`, () => {
      const stage = new Stage();
      stage.standStill(16 * second);
      first(stage);
      stage.until(16 * second + 15);
      rest(stage);
      stage.until(30 * second);
      assert.deepEqual(stage.requests, []);
    });
  }

  it('is acted on a second later', () => {
    const stage = new Stage();
    stage.cut('nodes');
    stage.until(16 * second);
    stage.back('nodes');
    stage.read('nodes', 'MODIFIED', tainted('12'));
    stage.until(30 * second);
    assert.deepEqual(stage.requests, ['PATCH pods/a/status at 17s']);
  });

  it('is looked at again where other collections are still cut off', () => {
    const stage = new Stage();
    stage.cut('nodes', 'pods');
    stage.until(14 * second);
    stage.back('nodes');
    stage.read('nodes', 'MODIFIED', tainted('12'));
    stage.until(16 * second);
    assert.deepEqual(stage.requests, ['GET pods/a at 15s']);
  });

  it('does not stop a process for good whose watches break again and again', () => {
    let isCutOff = false;
    const view = new StaleView([{ isCutOff: () => isCutOff, heardAt: () => 0 }]);
    const resting: number[] = [];
    for (let at = 0; at < 40; at += 0.5) {
      isCutOff = !isCutOff;
      view.look(at * second);
      if (view.isCatchingUp(at * second)) resting.push(at);
    }
    // Ten seconds of each twenty.
    const turns = resting.filter((at, index) => resting[index - 1] !== at - 0.5);
    assert.deepEqual([turns, resting.length], [[0.5, 20.5], 40]);
  });

  it('does not stop a process for good that is always late', () => {
    const stage = new Stage();
    stage.standStill(16 * second);
    stage.read('nodes', 'MODIFIED', tainted('12'));
    for (const late of [19, 22]) {
      stage.standStill(late * second);
      stage.read('pods', 'MODIFIED', podJson('b', 'n2', `${late}`));
    }
    assert.deepEqual(stage.requests, ['GET pods/a at 19s']);
  });
});
