import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Event, type Outcome, type Pod, parseTaint } from '@taintmgr/core';
import type { DrainCommand } from '@taintmgr/core/drain';
import { fc } from '../fast-check.ts';
import { type DrainOptions, drainConfig, StandaloneDrain } from './standalone-drain.ts';

// A drain beside a taint manager, in stories drawn at random: whoever has no toleration is marked and
// deleted as soon as the node is tainted, budgets or not. What must hold is checked from outside.

const taint = parseTaint('m:NoExecute');
const manager = 'kube-controller-manager';

/** Steps of 10 ms: how long the manager takes, and how long each answer to a request of ours does. */
interface Story {
  readonly nodes: number;
  readonly pods: readonly { readonly node: number; readonly isHeld: boolean }[];
  readonly managerTakes: number;
  readonly answerTakes: readonly number[];
  readonly isTaintSlow: boolean;
}

const stories: fc.Arbitrary<Story> = fc.record({
  nodes: fc.integer({ min: 1, max: 4 }),
  pods: fc.array(fc.record({ node: fc.nat(3), isHeld: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  }),
  managerTakes: fc.integer({ min: 1, max: 30 }),
  answerTakes: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
  isTaintSlow: fc.boolean(),
});

/** A fault that is planted into a drain, to see whether the story shows it. */
interface Fault {
  readonly config?: DrainOptions;
  /** The event as the drain hears it. */
  readonly heard?: (event: Event) => Event;
}

const faults: Readonly<Record<string, readonly [breaks: string, fault: Fault]>> = {
  'does not see who deletes': [
    'goes on',
    { heard: (event) => (event.kind === 'podUpsert' ? { ...event, pod: bare(event.pod) } : event) },
  ],
  'takes others for itself': ['goes on', { config: { fieldManager: manager } }],
  'does not mind budgets': ['goes on', { config: { budgets: { kind: 'ignore' } } }],
  'taints all nodes at once': ['before its turn', { config: { nodesAtOnceMax: 0 } }],
  'takes a refusal for a success': [
    'claims a deletion',
    {
      heard: (event) =>
        event.kind === 'result' && event.outcome.kind === 'blocked'
          ? { ...event, outcome: { kind: 'done' } }
          : bareEvent(event),
    },
  ],
};

function bare({ disruption: _mark, ...pod }: Pod): Pod {
  return pod;
}

function bareEvent(event: Event): Event {
  return event.kind === 'podUpsert' ? { ...event, pod: bare(event.pod) } : event;
}

/** One story; what it shows to be broken. */
class Run {
  readonly broken = new Set<string>();
  readonly #story: Story;
  readonly #fault: Fault;
  readonly #drain: StandaloneDrain;
  readonly #pods = new Map<string, Pod & { readonly isHeld: boolean }>();
  readonly #accepted = new Set<string>();
  #later: { readonly at: number; readonly run: (now: number) => void }[] = [];
  #asked = 0;
  #isTaken = false;
  #tainted = 0;

  constructor(story: Story, fault: Fault) {
    this.#story = story;
    this.#fault = fault;
    const names = Array.from({ length: story.nodes }, (_, index) => `n${index}`);
    this.#drain = new StandaloneDrain(drainConfig(taint, fault.config), names);
    for (const name of names) this.#tell(0, nodeEvent(name, null));
    for (const [index, { node, isHeld }] of story.pods.entries()) {
      const pod = podOf(`p${index}`, `n${node % story.nodes}`);
      this.#pods.set(pod.uid, { ...pod, isHeld });
      this.#tell(0, { kind: 'podUpsert', pod });
    }
    this.#tell(0, { kind: 'synced' });
    this.#live();
  }

  #live(): void {
    for (let step = 0, now = 0; step < 500; step++) {
      const wake = this.#drain.nextWake();
      const times = [...this.#later.map(({ at }) => at), ...(wake === null ? [] : [wake])];
      if (times.length === 0) return;
      now = Math.max(now, Math.min(...times));
      const due = this.#later.filter(({ at }) => at <= now);
      this.#later = this.#later.filter(({ at }) => at > now);
      for (const { run } of due) run(now);
      this.#tell(now, { kind: 'tick' });
    }
  }

  #tell(now: number, event: Event): void {
    const heard = this.#fault.heard?.(event) ?? event;
    for (const command of this.#drain.handle(now, heard)) this.#perform(now, command);
    for (const note of this.#drain.machine.takeNotes()) {
      if (note.kind !== 'podGone' || note.departure.kind !== 'ours') continue;
      if (!this.#accepted.has(note.pod.pod.uid)) this.broken.add('claims a deletion');
    }
  }

  #perform(now: number, command: DrainCommand): void {
    if (command.kind === 'recordEvent') return;
    if (this.#isTaken) this.broken.add('goes on');
    if (command.kind === 'taintNode') this.#taint(now, command.id, command.nodeName);
    else if ('pod' in command && 'id' in command) this.#remove(now, command.id, command.pod.uid);
  }

  #taint(now: number, id: string, nodeName: string): void {
    const undone = [...this.#pods.values()].some(
      (pod) => Number(pod.nodeName.slice(1)) < Number(nodeName.slice(1)),
    );
    if (undone && this.#tainted > 0) this.broken.add('before its turn');
    this.#tainted += 1;
    this.#answer(now, id, { kind: 'done' });
    const seenAt = now + (this.#story.isTaintSlow ? 500 : 1);
    this.#after(seenAt, (at) => this.#tell(at, nodeEvent(nodeName, now)));
    for (const pod of this.#pods.values()) {
      if (pod.nodeName !== nodeName) continue;
      this.#after(now + this.#story.managerTakes * 10, (at) => this.#take(at, pod.uid));
    }
  }

  /** Marks a pod, then deletes it, as a taint manager does. */
  #take(now: number, uid: string): void {
    const pod = this.#pods.get(uid);
    if (!pod || pod.deletionTimestamp !== null) return;
    const { isHeld: _held, ...seen } = pod;
    const disruption = { reason: 'DeletionByTaintManager', manager };
    this.#tell(now, { kind: 'podUpsert', pod: { ...seen, disruption } });
    this.#isTaken = true;
    this.#leave(now, { ...seen, disruption });
  }

  #leave(now: number, pod: Pod): void {
    const leaving = { ...pod, deletionTimestamp: now + 30_000 };
    this.#pods.set(pod.uid, { ...leaving, isHeld: false });
    this.#tell(now, { kind: 'podUpsert', pod: leaving });
    this.#after(now + 20, (at) => {
      this.#pods.delete(pod.uid);
      this.#tell(at, { kind: 'podDelete', uid: pod.uid });
    });
  }

  #remove(now: number, id: string, uid: string): void {
    const pod = this.#pods.get(uid);
    if (!pod) {
      this.#answer(now, id, { kind: 'gone' });
    } else if (pod.isHeld) {
      this.#answer(now, id, { kind: 'blocked', message: 'needs 1', retryAfter: null });
    } else {
      this.#accepted.add(uid);
      this.#answer(now, id, { kind: 'done' });
      const { isHeld: _held, ...seen } = pod;
      if (pod.deletionTimestamp === null) this.#after(now + 5, (at) => this.#leave(at, seen));
    }
  }

  #answer(now: number, id: string, outcome: Outcome): void {
    const { answerTakes } = this.#story;
    const takes = answerTakes[this.#asked++ % answerTakes.length] ?? 1;
    this.#after(now + takes * 10, (at) => this.#tell(at, { kind: 'result', id, outcome }));
  }

  #after(at: number, run: (now: number) => void): void {
    this.#later.push({ at, run });
  }
}

function nodeEvent(name: string, taintedAt: number | null): Event {
  const taints = taintedAt === null ? [] : [{ ...taint, timeAdded: taintedAt }];
  return { kind: 'nodeUpsert', node: { name, uid: name, taints } };
}

function podOf(uid: string, nodeName: string): Pod {
  return {
    namespace: 'shop',
    name: uid,
    uid,
    nodeName,
    tolerations: [],
    boundAt: null,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 1,
    mirror: false,
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs' },
    hasEmptyDir: false,
  };
}

const runs = { numRuns: 300, seed: 1 };

describe('a drain beside a taint manager', () => {
  it('stops at the first deletion that is not its own, taints in turn and claims nothing', () => {
    const isSound = (story: Story): void => assert.deepEqual([...new Run(story, {}).broken], []);
    fc.assert(fc.property(stories, isSound), runs);
  });

  for (const [name, [breaks, fault]] of Object.entries(faults)) {
    it(`the stories show a drain that ${name}`, () => {
      const property = fc.property(stories, (story) => !new Run(story, fault).broken.has(breaks));
      assert.ok(fc.check(property, runs).failed);
    });
  }
});
