import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Command, describeReason } from '@taintmgr/core';
import { zoneHold } from '@taintmgr/core/lifecycle';
import { pausedTime } from '../../src/eviction/pauses.ts';
import { pauseOf } from '../policy/objects.ts';
import { LifecycleWorld } from './lifecycle-world.ts';
import { itAnswersNodes } from './script.ts';

// A zone that is down as a whole and is held: what its pods are told, and what ends it.

const taint = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: null } as const;
const takenOver = { 'taintmgr.dev/takeover': 'enabled' };

/** A zone of two nodes, one of them with a taint that a pod does not tolerate after 100 s. */
class HeldZone {
  readonly said: string[] = [];
  readonly world: LifecycleWorld;

  constructor(zone: string, leader = true) {
    const lifecycle = {
      observes: true,
      nodeMonitorGracePeriodMs: 30_000,
      fullDisruption: 'hold',
      massUnreachable: null,
    } as const;
    const engine = { takeover: true, minTaintAgeMs: 100_000, lifecycle, leader };
    this.world = new LifecycleWorld({ engine, onCommand: (_, command) => this.#note(command) });
    const { world } = this;
    world.tell({
      kind: 'namespaceUpsert',
      namespace: { name: 'default', labels: takenOver },
    });
    for (const name of ['a-1', 'a-2']) world.addNode(name, zone);
    world.addNode('b-1', 'b');
    world.addPod('web', 'a-1');
    world.sync();
    world.runUntil(10_000);
    for (const name of ['a-1', 'a-2']) world.setKubelet(name, 'stopped');
    world.runUntil(60_000);
    world.changeNode('a-1', { taints: [taint] });
    world.runUntil(70_000);
  }

  get explained(): readonly string[] {
    const subject = { kind: 'pod', namespace: 'default', name: 'web' } as const;
    const explanation = this.world.engine.explain(this.world.now, subject);
    if (explanation?.kind !== 'pod') throw new Error('it explains no pod');
    const { decision } = explanation;
    return [decision.kind, ...decision.because.map(describeReason).slice(0, 1)];
  }

  #note(command: Command): void {
    if (command.kind === 'recordEvent' && command.reason === 'TaintManagerEvictionHeld') {
      this.said.push(command.message.replace(/^.* not kube-controller-manager: /, ''));
    }
  }
}

describe('the hold of a zone', () => {
  for (const [zone, text] of [
    ['a', 'the hold of zone a until one of its nodes is ready'],
    ['', 'the hold of the nodes without a zone until one of them is ready'],
  ] as const) {
    it(`says what ends it, of ${zone === '' ? 'nodes without a zone' : 'a zone'}`, () => {
      const held = new HeldZone(zone);
      assert.deepEqual(held.said, [`deadlines are paused by ${text}`]);
      assert.deepEqual(held.explained, ['pause', `deadlines are paused by ${text}`]);
      assert.deepEqual(held.world.engine.pauses(), [], 'it is no EvictionPause');
    });
  }

  it('ends as it says: when one of its nodes is ready', () => {
    const held = new HeldZone('a');
    const hold = (): unknown =>
      held.world.engine.zones(held.world.now).find(({ name }) => name === 'a')?.hold;
    assert.deepEqual(hold(), { code: 'FullDisruptionHeld', since: 45_000 });
    held.world.runUntil(500_000);
    assert.equal(held.explained[0], 'pause');
    assert.deepEqual(hold(), { code: 'FullDisruptionHeld', since: 45_000 });
    held.world.setKubelet('a-2', 'running');
    held.world.runUntil(500_100);
    assert.equal(held.explained[0], 'evict');
    assert.equal(hold(), null);
  });

  it('is known to one that does not lead yet, as of when the zone was down', () => {
    const { world, said } = new HeldZone('a', false);
    const hold = (): unknown => {
      const { zones, nodes } = world.engine.takeover()?.readinessHold ?? {};
      return { zones, nodes };
    };
    const held = { zones: ['a'], nodes: ['a-1', 'a-2'] };
    assert.deepEqual([hold(), world.deeds, said], [held, [], []]);
    world.tell({ kind: 'leadership', held: true });
    world.runUntil(71_000);
    const [zone] = world.engine.zones(world.now);
    assert.deepEqual(zone?.hold, { code: 'FullDisruptionHeld', since: 45_000 });
    assert.deepEqual(hold(), held);
  });

  it('is named after a pause that somebody has to end', () => {
    const pause = pauseOf('zebra', { since: 0 });
    for (const both of [
      [pause, zoneHold('a', 0)],
      [zoneHold('a', 0), pause],
    ]) {
      const spans = both.map((one) => ({ pause: one, from: 0, to: null }));
      assert.equal(pausedTime(spans).hold?.pause.name, 'zebra');
    }
  });
});

itAnswersNodes(`
  full-disruption full-disruption-held full-disruption-ends full-disruption-of-one-node
  mass-unreachable moves excluded selector at-once queue view partial
`);
