import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Command, createEngine, type Engine, type Event, type Node } from '@taintmgr/core';
import { fc } from '../fast-check.ts';
import { itNamesAll } from '../transcripts.ts';
import { itAnswersNodes } from './script.ts';

// A renewal that only informs may take the short way: what comes of all else must be the same.

const names = ['a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'b-3'];
const zoneLabel = 'topology.kubernetes.io/zone';

interface Step {
  readonly afterMs: number;
  readonly node: number;
  readonly says: 'renewal' | 'again' | 'ready' | 'not ready';
}

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.integer({ min: 0, max: 15_000 }),
  node: fc.integer({ min: 0, max: names.length - 1 }),
  says: fc.constantFrom('renewal', 'renewal', 'renewal', 'again', 'ready', 'not ready'),
});

/** One engine, all that it commanded, and when it wanted to be called. */
class Told {
  readonly engine: Engine = createEngine({ lifecycle: {} });
  readonly said: string[] = [];
  heard = 0;
  readonly #mayHear: boolean;
  #now = 0;

  constructor(mayHear: boolean) {
    this.#mayHear = mayHear;
    for (const name of names) this.tell(0, { kind: 'nodeUpsert', node: nodeOf(name, 0, true) });
    this.tell(0, { kind: 'synced' });
    this.runTo(0);
  }

  tell(now: number, event: Event): void {
    const wake = this.engine.nextWake();
    if (this.#mayHear && (wake === null || wake > now) && this.engine.hear(now, event))
      this.heard++;
    else this.#follow(now, this.engine.handle(now, event));
  }

  /** Ticks when it asks for it. */
  runTo(instant: number): void {
    let wake = this.engine.nextWake();
    for (; wake !== null && wake <= instant; wake = this.engine.nextWake()) {
      this.#now = Math.max(this.#now, wake);
      this.#follow(this.#now, this.engine.handle(this.#now, { kind: 'tick' }));
    }
    this.#now = instant;
    this.said.push(`${instant} next ${wake}`);
  }

  #follow(now: number, commands: readonly Command[]): void {
    for (const command of commands) {
      this.said.push(`${now} ${JSON.stringify(command)}`);
      if (!('id' in command)) continue;
      const result = { kind: 'result', id: command.id, outcome: { kind: 'done' } } as const;
      this.#follow(now, this.engine.handle(now, result));
    }
  }
}

it('a renewal that is only heard changes nothing of what is done, and when', () => {
  let heard = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 80 }), (steps) => {
      const [one, other] = [new Told(false), new Told(true)];
      let now = 0;
      let renewedAt = 0;
      for (const { afterMs, node, says } of steps) {
        now += afterMs;
        if (says === 'renewal') renewedAt = now;
        const name = names[node] ?? '';
        for (const told of [one, other]) {
          told.runTo(now);
          told.tell(now, eventOf(says, name, says === 'renewal' ? now : renewedAt));
        }
        assert.deepEqual(other.said, one.said);
        assert.equal(other.engine.nextWake(), one.engine.nextWake());
      }
      for (const told of [one, other]) told.runTo(now + 120_000);
      assert.deepEqual(other.said, one.said);
      assert.deepEqual(other.engine.zones(now + 120_000), one.engine.zones(now + 120_000));
      heard += other.heard;
    }),
  );
  assert.ok(heard > 1_000, `${heard} were heard`);
});

function eventOf(says: Step['says'], name: string, at: number): Event {
  if (says === 'ready' || says === 'not ready') {
    return { kind: 'nodeUpsert', node: nodeOf(name, at, says === 'ready') };
  }
  return { kind: 'leaseUpsert', lease: { nodeName: name, renewedAt: at } };
}

function nodeOf(name: string, at: number, isReady: boolean): Node {
  return {
    ...{ name, uid: name, taints: [], zone: name.slice(0, 1), unschedulable: false, createdAt: 0 },
    labels: { [zoneLabel]: name.slice(0, 1) },
    conditions: [
      {
        ...{ type: 'Ready', status: isReady ? 'True' : 'False', reason: '', message: '' },
        ...{ heartbeatAt: at, transitionAt: at },
      },
    ],
  } as Node;
}

itAnswersNodes('standstill clock');

itNamesAll('lifecycle');
