import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PressureCommand, PressureEvent } from '@taintmgr/core/pressure';
import { parseTime } from '@taintmgr/core/time';
import type { LoopInput } from '../../src/controller/loop-parts.ts';
import {
  PressureLoop,
  type PressureLoopOptions,
  type PressureNotice,
} from '../../src/controller/pressure-loop.ts';
import { listJson } from '../world/cluster-objects.ts';
import { PressureWorld } from '../world/pressure-world.ts';

// What the node pressure agent has from the loop that it shares with the engine.

const start = parseTime('2026-01-01T00:00:00Z') ?? assert.fail();

const eviction: PressureCommand = {
  kind: 'evictUnderPressure',
  id: 'c1',
  pod: { namespace: 'shop', name: 'a', uid: 'u', nodeName: 'n1' },
  generation: 1,
  gracePeriodSeconds: 1,
  status: { phase: 'Failed', reason: 'Evicted', message: 'low', disruptionTarget: null },
  signal: 'memory.available',
  because: [],
};

/** A loop by hand, whose machine wants one pod gone with its first tick. */
class Hand {
  readonly loop: PressureLoop;
  readonly heard: PressureEvent[] = [];
  readonly sent: { readonly id: string; readonly path: string }[] = [];
  readonly aborted: string[] = [];
  readonly notices: PressureNotice[] = [];
  #now = start;
  #commands = [eviction];

  constructor(options: Partial<PressureLoopOptions> = {}) {
    this.loop = new PressureLoop({
      machine: {
        nextWake: () => null,
        handle: (_, event) => {
          this.heard.push(event);
          return event.kind === 'tick' ? this.#commands.splice(0) : [];
        },
      },
      random: () => 0,
      watches: () => true,
      ...options,
    });
    this.feed({ kind: 'start' });
  }

  feed(...inputs: LoopInput<PressureEvent>[]): void {
    for (const input of inputs) {
      for (const action of this.loop.handle(this.#now, input)) {
        if (action.kind === 'send') {
          this.sent.push({ id: action.id, path: action.request.path });
        } else if (action.kind === 'abort') this.aborted.push(action.id);
        else this.notices.push(action.notice);
      }
    }
  }

  answer(path: string, body: object, date = 'Thu, 01 Jan 2026 00:00:00 GMT'): void {
    const { id } = this.sent.find((request) => request.path.startsWith(path)) ?? assert.fail(path);
    this.feed(
      { kind: 'head', id, status: 200, headers: { date } },
      { kind: 'chunk', id, data: JSON.stringify(body) },
      { kind: 'end', id },
    );
  }

  get wallSeconds(): number {
    return (this.loop.wall(this.#now) - start) / 1000;
  }
}

const isEviction = ({ path }: { readonly path: string }): boolean => path.includes('/pods/a');
const nodes = {
  kind: 'NodeList',
  apiVersion: 'v1',
  metadata: { resourceVersion: '1' },
  items: [{ metadata: { name: 'n1', uid: 'u-n1', resourceVersion: '1' } }],
};

describe('the loop of the node pressure agent', () => {
  it('hangs up when it hears that this replica is no longer the leader, whoever else is asked', () => {
    const hand = new Hand();
    hand.feed({ kind: 'tick' });
    assert.equal(hand.sent.filter(isEviction).length, 1);
    hand.feed({ kind: 'event', event: { kind: 'leadership', held: false } });
    assert.deepEqual(hand.aborted, ['call/1']);
    assert.equal(hand.notices.at(-1)?.kind, 'evictionFinished');
  });

  it('can stand for election itself: it sends nothing before it is elected', () => {
    const lease = { namespace: 'kube-system', name: 'pressure' };
    const hand = new Hand({ election: { lease, identity: 'one' } });
    hand.feed({ kind: 'tick' });
    assert.deepEqual(hand.sent.filter(isEviction), []);
    assert.ok(hand.heard.some((event) => event.kind === 'leadership' && !event.held));
    assert.ok(hand.sent.some(({ path }) => path.includes('/leases/pressure')));
  });

  it('keeps events from the machine after a standstill, until the server says what time it is', () => {
    const hand = new Hand();
    hand.feed({ kind: 'clockStep', by: 60_000 });
    assert.deepEqual(
      hand.notices.map(({ kind }) => kind),
      ['clockStepped'],
    );
    const gone = { kind: 'pressureNodeGone', name: 'n1' } as const;
    hand.feed({ kind: 'event', event: gone });
    assert.deepEqual(hand.heard, []);
    hand.answer('/version', {}, 'Thu, 01 Jan 2026 00:01:00 GMT');
    assert.deepEqual(hand.heard, [{ kind: 'clock', ahead: 60_000 }, gone]);
  });

  it('knows since when it is cut off', () => {
    const hand = new Hand({ streamLists: false });
    hand.answer('/api/v1/nodes', listJson('Node', '1'));
    hand.answer('/api/v1/pods', listJson('Pod', '1'));
    assert.equal(hand.loop.cutOffSince, null);
    const watch = hand.sent.find(({ path }) => path.includes('watch=')) ?? assert.fail();
    hand.feed({ kind: 'failed', id: watch.id, message: 'reset' });
    assert.equal(hand.loop.cutOffSince, start);
  });

  it('knows where the kubelet of each node listens', () => {
    const hand = new Hand({ streamLists: false });
    const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
    const items = nodes.items.map((node) => ({ ...node, status: { addresses } }));
    assert.equal(hand.loop.kubeletOf('n1'), null);
    hand.answer('/api/v1/nodes', { ...nodes, items });
    assert.deepEqual(hand.loop.kubeletOf('n1'), { host: '10.0.0.1', port: 10_250 });
    const watch = hand.sent.find(({ path }) => path.includes('nodes?') && path.includes('watch='));
    const id = watch?.id ?? assert.fail('nodes are not watched');
    const metadata = { name: 'n1', uid: 'u-n1', resourceVersion: '2' };
    const event = { type: 'DELETED', object: { kind: 'Node', metadata } };
    hand.feed(
      { kind: 'head', id, status: 200, headers: {} },
      { kind: 'chunk', id, data: `${JSON.stringify(event)}\n` },
    );
    assert.equal(hand.loop.kubeletOf('n1'), null);
  });

  it('takes the time from the API server, and not from kubelets that answer through it', () => {
    const hand = new Hand({ streamLists: false });
    hand.answer('/api/v1/nodes', nodes, 'undated');
    hand.feed({ kind: 'tick' });
    hand.answer('/api/v1/nodes/n1/proxy/stats/summary', {}, 'Thu, 01 Jan 2026 09:00:00 GMT');
    assert.ok(hand.heard.some(({ kind }) => kind === 'observed'));
    assert.equal(hand.wallSeconds, 0);
  });

  for (const protobuf of [false, true]) {
    const format = protobuf ? 'protobuf' : 'JSON';
    it(`reads lists as the beginning of watches, in ${format}`, () => {
      const world = new PressureWorld({ pressure: {}, agent: { protobuf } });
      world.addPod('a');
      world.runTo(20);
      assert.ok(world.loop.synced);
      const gets = world.exchanges.filter(({ request }) => !request.path.includes('/proxy/'));
      const asked = gets.map(({ request: { path, headers } }) => [
        path.split('?')[0],
        path.includes('sendInitialEvents=true'),
        headers.accept?.includes('protobuf') ?? false,
      ]);
      assert.deepEqual(asked, [
        ['/api/v1/nodes', true, protobuf],
        ['/api/v1/pods', true, protobuf],
      ]);
    });
  }
});
