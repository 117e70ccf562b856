import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { type Exchange, node, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop } from '../../../src/controller/engine-loop.ts';
import type { MachineClocks } from '../../../src/driver/runner.ts';
import { VirtualDriver } from '../../../src/driver/virtual.ts';
import { MachineClock } from '../../world/machine-clock.ts';

// What is done to the clocks of machines, and what must not come of it: a second leader that acts,
// a pod that goes early, a pod that is forgotten. The API server's clock is that of the world.

const start = Date.parse('2026-01-01T00:00:00Z');
const lease = { namespace: 'kube-system', name: 'taintmgr-controller' };
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

const steps: readonly (readonly [name: string, by: number])[] = [
  ['back by 10 min', -10 * minute],
  ['back by 1 s', -second],
  ['ahead by 1 s', second],
  ['ahead by 1 h', hour],
];

class Replica {
  readonly clocks: MachineClock;
  readonly driver: VirtualDriver;
  /** What it sent to change something; Events are told by everybody. */
  readonly writes: string[] = [];
  readonly told: string[] = [];
  #held: (() => void)[] | null = null;

  constructor(world: World, identity: string, off: number, isPlanted: boolean) {
    this.clocks = new MachineClock(world.clock);
    this.clocks.set(off);
    const loop = new Loop({
      machine: createEngine(),
      random: seededRandom(identity.length),
      election: { lease, identity },
    });
    const exchange: Exchange = (request, sink) => {
      const { method, path } = request;
      if (method !== 'GET' && !path.endsWith('/events')) this.writes.push(`${method} ${path}`);
      const line = world.lineOf(identity);
      return line(request, {
        head: (...args) => this.#hear(() => sink.head(...args)),
        data: (chunk) => this.#hear(() => sink.data(chunk)),
        end: () => this.#hear(() => sink.end()),
        reset: () => this.#hear(() => sink.reset()),
      });
    };
    this.driver = new VirtualDriver({
      ...{ loop, exchange, clock: world.clock },
      clocks: isPlanted ? oneClock(this.clocks) : this.clocks,
      onNotice: (notice, wall) => {
        const at = (wall - start) / second;
        if (notice.kind === 'elected') this.told.push(`${at} ${notice.held ? 'leads' : 'resigns'}`);
        if (notice.kind === 'clockStepped') this.told.push(`${at} stepped ${notice.by / second}`);
        if (notice.kind === 'serverClockMoved') {
          this.told.push(`${at} server ahead ${notice.ahead / second}`);
        }
      },
    });
    this.driver.feed({ kind: 'start' });
  }

  /** Its machine stands still; with `counts`, only its process does, and time is counted. */
  stop(counts: boolean): void {
    this.#held = [];
    if (!counts) this.clocks.suspend();
  }

  goOn(timersFirst = true): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.clocks.resume();
    if (timersFirst) this.driver.feed({ kind: 'tick' });
    for (const deliver of held) deliver();
  }

  runUntil(instant: number): void {
    if (!this.#held) this.driver.runUntil(instant);
  }

  #hear(part: () => void): void {
    if (this.#held) this.#held.push(part);
    else part();
  }
}

class World {
  readonly clock = new VirtualClock(start);
  readonly api = new ApiServer({ clock: this.clock, random: seededRandom(1) });
  readonly replicas = new Map<string, Replica>();
  /** When each pod was asked to go, and by whom. */
  readonly gone: string[] = [];
  /** How far the clock of the server that a replica talks to is off. */
  readonly serverOff = new Map<string, () => number>();

  get seconds(): number {
    return (this.clock.now() - start) / second;
  }

  lineOf(identity: string): Exchange {
    return (request, sink) => {
      if (request.method === 'DELETE') {
        this.gone.push(`${this.seconds} ${request.path.split('/').pop()} ${identity}`);
      }
      const off = this.serverOff.get(identity)?.() ?? 0;
      const date = new Date(this.clock.now() + off).toUTCString();
      return this.api.exchange(request, {
        ...sink,
        head: (status, headers) => sink.head(status, { ...headers, date }),
      });
    };
  }

  replica(identity: string, off = 0, isPlanted = false): Replica {
    const replica = new Replica(this, identity, off, isPlanted);
    this.replicas.set(identity, replica);
    return replica;
  }

  /** In steps, so that nobody runs ahead of the others. */
  runTo(seconds: number): void {
    for (let at = this.clock.now() + 100; at <= start + seconds * second; at += 100) {
      for (const one of this.replicas.values()) one.runUntil(at);
      this.clock.advanceTo(at);
    }
  }

  /** A node tainted now, with a pod for each time tolerated, from the end of this second on. */
  taint(name: string, tolerated: readonly number[]): void {
    const timeAdded = new Date(this.clock.now()).toISOString().replace(/\.\d+/, '');
    const taints = [{ key: 'bad', effect: 'NoExecute', timeAdded }];
    for (const tolerationSeconds of tolerated) {
      const effect = 'NoExecute';
      const tolerations = [{ key: 'bad', operator: 'Exists', effect, tolerationSeconds }];
      const spec = { nodeName: name, tolerations, terminationGracePeriodSeconds: 0 };
      this.api.create('pods', pod('default', `${name}-${tolerationSeconds}`, { spec }));
    }
    this.api.create('nodes', node(name, { spec: { taints } }));
  }

  holder(): string {
    return this.api.get('leases', lease.namespace, lease.name)?.spec.holderIdentity ?? '';
  }
}

/** A fault, to see that this world shows it: everything goes by the wall clock, which never goes back. */
function oneClock(machine: MachineClocks): MachineClocks {
  let latest = Number.NEGATIVE_INFINITY;
  const wall = (): number => {
    latest = Math.max(latest, machine.wall());
    return latest;
  };
  return { monotonic: wall, wall };
}

interface Two {
  readonly world: World;
  readonly a: Replica;
  readonly b: Replica;
}

function twoReplicas(isPlanted = false): Two {
  const world = new World();
  const a = world.replica('a', 0, isPlanted);
  world.runTo(1);
  const b = world.replica('b');
  world.runTo(10);
  assert.equal(world.holder(), 'a');
  return { world, a, b };
}

describe('a wall clock that is set while the controller runs', () => {
  for (const [name, by] of steps) {
    it(`${name}, at the leader: pods go in time, by one replica`, () => {
      const { world, a, b } = twoReplicas();
      world.taint('n1', [3, 600]);
      a.clocks.set(by);
      world.runTo(200);
      assert.deepEqual(world.gone, ['14 n1-3 a']);
      world.runTo(620);
      assert.deepEqual(world.gone, ['14 n1-3 a', '611 n1-600 a']);
      assert.deepEqual([b.writes, world.holder()], [[], 'a']);
    });

    it(`${name}, at the standby: it does not take the lease of one who renews it`, () => {
      const { world, a, b } = twoReplicas();
      b.clocks.set(by);
      world.taint('n1', [3]);
      world.runTo(60);
      assert.deepEqual(world.gone, ['14 n1-3 a']);
      assert.deepEqual([b.writes, a.told], [[], ['0 leads']]);
    });

    it(`${name}, before it starts: deadlines follow the API server`, () => {
      const world = new World();
      world.taint('n1', [3, 600]);
      const replica = world.replica('a', by);
      world.runTo(700);
      const [early, late] = world.gone.map((line) => Number(line.split(' ')[0]));
      // The API server dates its answers in whole seconds: nobody can know it better.
      assert.ok(early !== undefined && Math.abs(early - 4) <= 1, world.gone.join());
      assert.ok(late !== undefined && Math.abs(late - 601) <= 1, world.gone.join());
      if (Math.abs(by) > second) {
        assert.match(replica.told.join(), by > 0 ? /server ahead -/ : /server ahead \d/);
      }
    });
  }

  it('back by 10 min, where everything goes by it: two lead', () => {
    const { world, a, b } = twoReplicas(true);
    a.clocks.set(-10 * minute);
    world.runTo(40);
    assert.equal(world.holder(), 'b');
    assert.ok(b.told.join().endsWith('leads'));
    assert.ok(!a.told.join().includes('resigns'), 'it leads on');
  });

  it('is told, and the leader that may have overslept leads anew', () => {
    const { world, a } = twoReplicas();
    a.clocks.set(-10 * minute);
    world.runTo(20);
    a.clocks.set(hour);
    world.runTo(30);
    const told = a.told.map((line) => line.replace(/^\S+ /, ''));
    const anew = ['resigns', 'leads'];
    assert.deepEqual(told, ['leads', 'stepped -600', ...anew, 'stepped 3600', ...anew]);
    const events = world.api.list('events').filter(({ reason }) => reason === 'ClockStepped');
    assert.match(events[0]?.message, /^a: .*set back by 10m/);
    assert.match(events[1]?.message, /^a: .*went 1h ahead/);
    assert.equal(events[0]?.involvedObject.name, lease.name);
  });
});

describe('a machine that stands still', () => {
  for (const counts of [true, false]) {
    const what = counts ? 'and counts the time' : 'and does not count the time';
    for (const timersFirst of [true, false]) {
      const order = timersFirst ? 'timers' : 'answers';
      it(`for 20 s ${what}: another leads, it sends nothing, ${order} first`, () => {
        const { world, a, b } = twoReplicas();
        a.stop(counts);
        world.runTo(11);
        world.taint('n1', [3, 30]);
        world.runTo(30);
        const before = a.writes.length;
        a.goOn(timersFirst);
        world.runTo(100);
        assert.deepEqual(a.writes.slice(before), []);
        assert.equal(b.told[0]?.split(' ')[1], 'leads');
        assert.equal(world.holder(), 'b');
        assert.equal(world.gone.length, 2);
        assert.ok(
          world.gone.every((line) => line.endsWith(' b')),
          world.gone.join(),
        );
      });
    }
  }

  it('alone, for an hour that it does not count: overdue pods go, no other does', () => {
    const world = new World();
    const a = world.replica('a');
    world.runTo(10);
    world.taint('n1', [600, 7200]);
    a.stop(false);
    world.runTo(3610);
    a.goOn();
    world.runTo(3700);
    assert.equal(world.gone.length, 1);
    const [at, name] = world.gone[0]?.split(' ') ?? [];
    assert.equal(name, 'n1-600');
    assert.ok(Number(at) <= 3610 + 45, `at ${at}`);
    world.runTo(7300);
    const last = Number(world.gone[1]?.split(' ')[0]);
    assert.ok(last >= 7211 && last <= 7213, world.gone[1]);
  });
});

describe('clocks of API servers', () => {
  it('that was set ahead: nothing goes early on the word of one server', () => {
    const world = new World();
    world.replica('a');
    let asked = 0;
    world.runTo(10);
    world.taint('n1', [20]);
    // Every third answer comes from a server whose clock is an hour ahead.
    world.serverOff.set('a', () => (++asked % 3 === 0 ? hour : 0));
    world.runTo(30);
    assert.deepEqual(world.gone, []);
    world.runTo(32);
    assert.deepEqual(world.gone, ['31 n1-20 a']);
  });

  it('that differ: the earlier one counts, and nothing is held for ever', () => {
    const world = new World();
    const a = world.replica('a');
    let asked = 0;
    world.runTo(10);
    world.taint('n1', [20]);
    world.serverOff.set('a', () => (++asked % 2 === 0 ? -30 * second : 0));
    world.runTo(63);
    const at = Number(world.gone[0]?.split(' ')[0]);
    assert.ok(at >= 59 && at <= 62, world.gone[0]);
    assert.match(a.told.join(), /server ahead -(29|30)/);
  });

  it('that goes wrong and is mended: a minute later it counts again', () => {
    const world = new World();
    const a = world.replica('a');
    world.runTo(10);
    world.serverOff.set('a', () => -10 * minute);
    world.runTo(60);
    world.serverOff.delete('a');
    world.runTo(120);
    world.taint('n1', [3]);
    world.runTo(130);
    const at = Number(world.gone[0]?.split(' ')[0]);
    assert.ok(at >= 124 && at <= 125, world.gone[0]);
    assert.equal(a.told.length, 3, a.told.join());
  });
});
