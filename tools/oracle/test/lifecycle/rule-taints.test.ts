import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@taintmgr/sim-cluster';
import { brokenIn, Scenario } from '../world/lifecycle-scenario.ts';

// The checkers of taint rules are given a scenario in which everything is right, and the same one with
// one fault.

const group = 'taintmgr.dev';
const plural = 'nodetaintrules';
const resource = `${plural}.${group}`;
const odd = { key: 'taintmgr.dev/odd', effect: 'NoExecute' };
const timeAdded = '2026-01-01T00:00:31Z';
const nothing = (): void => {};

/** What the rule says, and what the client does at which second. */
interface Played {
  readonly rule: { readonly [member: string]: Json };
  readonly taintsAt: number;
  readonly untaintsAt: number;
  /** What happens at second 50, while the condition holds. */
  readonly meanwhile: (world: RuleScenario) => void;
}

/** A node is short of memory from second 20 to second 60; the rule waits 10 s, and 20 s. */
const right: Played = {
  rule: { condition: { type: 'MemoryPressure' }, holds: '10s', clear: '20s', taint: odd },
  taintsAt: 31,
  untaintsAt: 85,
  meanwhile: nothing,
};

class RuleScenario extends Scenario {
  constructor() {
    super({ a: 3 }, { ownKeys: [`${group}/`] });
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open } } };
    this.api.create('customresourcedefinitions', {
      metadata: { name: resource },
      spec: {
        ...{ group, scope: 'Cluster', names: { plural, kind: 'NodeTaintRule' } },
        versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
      },
    });
  }

  putRule(spec: Json): void {
    this.api.create(resource, { metadata: { name: 'x' }, spec });
    this.#read();
  }

  deleteRule(): void {
    this.api.delete(resource, '', 'x');
    this.#read();
  }

  /** The client puts the taint on for that rule, in one request. */
  putOn(name: string, taint: object = { ...odd, timeAdded }, rule: string = 'x'): void {
    this.#write(name, [taint], { [`${odd.key}:${odd.effect}`]: rule });
  }

  takeOff(name: string): void {
    this.#write(name, [], null);
  }

  /** The client lives, and knows the rules as they are. */
  live(): void {
    this.#read();
  }

  #read(): void {
    this.send('GET', `/apis/${group}/v1alpha1/${plural}`);
  }

  #write(name: string, taints: readonly object[], marks: object | null): void {
    const owned = marks && JSON.stringify(marks);
    this.write('PATCH', `/api/v1/nodes/${name}`, {
      metadata: { annotations: { 'taintmgr.dev/owned-taints': owned } },
      spec: { taints: taints.length > 0 ? taints : null },
    });
  }
}

function play(changed: Partial<Played>): readonly string[] {
  const { rule, taintsAt, untaintsAt, meanwhile } = { ...right, ...changed };
  const world = new RuleScenario();
  const at = (second: number, act: () => void): readonly [number, () => void] => [second, act];
  const short = (value: boolean) => () =>
    world.cluster.node('a-1').setCondition('MemoryPressure', value);
  const steps = [
    at(10, () => world.putRule(rule)),
    at(11, () => world.live()),
    at(20, short(true)),
    at(taintsAt, () => world.putOn('a-1')),
    at(50, () => meanwhile(world)),
    at(60, short(false)),
    at(untaintsAt, () => world.takeOff('a-1')),
    at(250, () => world.live()),
  ].filter(([second]) => second < 300);
  for (const [second, act] of steps.sort(([a], [b]) => a - b)) {
    world.at(second);
    act();
  }
  return brokenIn(world.end(300, 100));
}

const { holds: _, ...atOnce } = right.rule;

const faults: readonly (readonly [what: string, Partial<Played>, broken: readonly string[]])[] = [
  ['nothing is wrong', {}, []],
  ['it does not wait until the condition has held', { taintsAt: 25 }, ['rule taint too early']],
  ['it waits no longer than it has to', { rule: atOnce, taintsAt: 25 }, []],
  ['it does not wait until it is over', { untaintsAt: 70 }, ['rule taint gone too early']],
  [
    'the rule is for other nodes',
    { rule: { ...right.rule, nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'a-2' } } } },
    ['rule taint too early'],
  ],
  [
    'the rule only runs dry',
    { untaintsAt: 1000, rule: { ...right.rule, dryRun: true } },
    ['taint without a rule'],
  ],
  ['the rule has no room', { rule: { ...right.rule, maxNodes: 0 } }, ['rule taint on too many']],
  ['the rule has room for a third', { rule: { ...right.rule, maxNodes: '34%' } }, []],
  [
    'the rule has room for a fifth',
    { rule: { ...right.rule, maxNodes: '20%' } },
    ['rule taint on too many'],
  ],
  [
    'it puts on what somebody took off',
    {
      meanwhile: (world) => {
        const node = world.api.get('nodes', '', 'a-1');
        if (node) world.api.update('nodes', { ...node, spec: { ...node.spec, taints: [] } });
        world.putOn('a-1');
      },
    },
    ['rule taint put on again'],
  ],
  [
    'it takes off what it did not put on',
    {
      meanwhile: (world) => {
        const node = world.api.get('nodes', '', 'a-2');
        if (node) world.api.update('nodes', { ...node, spec: { ...node.spec, taints: [odd] } });
        world.takeOff('a-2');
      },
    },
    ['foreign taint taken'],
  ],
  [
    'the rule is gone, and with it its taint',
    {
      meanwhile: (world) => {
        world.deleteRule();
        world.takeOff('a-1');
      },
    },
    [],
  ],
  [
    'the rule is gone, and its taint stays',
    { untaintsAt: 1000, meanwhile: (world) => world.deleteRule() },
    ['rule taint stays'],
  ],
  ['its taint stays', { untaintsAt: 1000 }, ['rule taint stays']],
  [
    'its taint never comes',
    {
      ...{ taintsAt: 1000, untaintsAt: 1000 },
      meanwhile: (world) => world.cluster.node('a-2').setCondition('MemoryPressure', true),
    },
    // Nor does that of its health, which is for another checker.
    ['condition taints', 'rule taint missing'],
  ],
];

describe('the checkers of taint rules', () => {
  for (const [what, changed, broken] of faults) {
    it(`${what}: ${broken.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(play(changed), broken);
    });
  }
});
