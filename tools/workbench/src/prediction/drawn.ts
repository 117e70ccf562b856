// Scenarios that a seed draws: other pods, other taints, other edits, at other times. Taints are written in
// odd seconds and pods in even ones: of what comes in one second nobody can tell
// which came first. So nothing comes in that of a restart.
import { type Random, seededRandom } from '@taintmgr/sim-cluster';
import {
  asMirror,
  type CastPod,
  ofDaemonSet,
  policiesFor,
  restartedSeconds,
  type Scenario,
  type Seconds,
  type Tainting,
  tolerating,
  withFinalizer,
} from './scenario.ts';

const podCount = 45;
const nodes = ['z-1', 'z-2', 'z-3', 'z-4', 'z-5'];
const keys = ['k', 'k2'];
/** A taint that evicts nobody is written beside those that do. */
const idle = 'spare:NoSchedule';
const lastActSeconds = 70;

/** A scenario of as many pods as the usual one. */
export function drawScenario(seed: number): Scenario {
  const draw = new Draw(seededRandom(seed));
  const pods = Array.from({ length: podCount }, (_, at) => drawPod(draw, `pod-${at}`));
  const names = pods.map(({ name }) => name);
  const some = (): readonly string[] => names.filter(() => draw.chance(0.12));
  return {
    pods,
    taintings: nodes.flatMap((node) => drawTaintings(draw, node)),
    policies: policiesFor({
      lasting: [...some(), 'nobody'],
      forced: [...pods.flatMap(({ kind, name }) => (kind === 'budget' ? [name] : [])), 'nobody'],
      kept: [...some(), 'nobody'],
      given: [...some(), 'nobody'],
      asEver: [...some(), 'nobody'],
    }),
  };
}

class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  /** A whole number, both ends among them. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  /** An even number, both ends among them. */
  even(least: number, most: number): number {
    return 2 * this.between(least / 2, most / 2);
  }

  odd(least: number, most: number): number {
    return 1 + this.even(least - 1, most - 1);
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('there is nothing to draw from');
    return item;
  }
}

/** Taints that come, go, come back, and are written again, each time something else. */
function drawTaintings(draw: Draw, node: string): readonly Tainting[] {
  const taintings: Tainting[] = [];
  let known = '';
  let at = draw.odd(7, 17);
  for (let left = draw.between(1, 4); left > 0 && at <= lastActSeconds; left--) {
    const evicting = keys.filter((_, index) => draw.chance(index === 0 ? 0.75 : 0.45));
    const taints = evicting.map((key) => `${key}:NoExecute`);
    if (draw.chance(0.2)) taints.push(idle);
    const text = taints.join(' ');
    if (text !== known) taintings.push({ at: at === restartedSeconds ? at + 2 : at, node, taints });
    known = text;
    at += draw.even(6, 26);
  }
  return taintings;
}

const kinds: readonly (readonly [kind: string, object?: CastPod['object']])[] = [
  ...Array.from({ length: 12 }, () => ['plain'] as const),
  ['budget'],
  ['static pod', asMirror],
  ['finalizers', withFinalizer],
  ['of a DaemonSet', ofDaemonSet],
];

function drawPod(draw: Draw, name: string): CastPod {
  const [kind, object] = draw.of(kinds);
  const seconds = drawSeconds(draw, keys);
  const at = draw.chance(0.7) ? 2 : draw.even(4, 50);
  const tolerations = tolerating(kind === 'static pod' ? { '': null } : seconds);
  const made = { name, node: draw.of(nodes), kind, tolerations, at, ...(object && { object }) };
  if (kind === 'static pod' || !draw.chance(0.35)) return made;
  // The API server lets times of tolerations change, and others be added.
  const longer = { ...drawSeconds(draw, keys), ...drawAll(draw, Object.keys(seconds)) };
  const order = [...new Set([...Object.keys(seconds), ...Object.keys(longer)])];
  const sorted = Object.fromEntries(order.map((key) => [key, longer[key] ?? null]));
  const edit = { at: draw.even(at + 2, lastActSeconds), tolerations: tolerating(sorted) };
  return { ...made, kind: kind === 'budget' ? kind : `${kind}, edited`, edit };
}

/** Tolerations of some keys. */
function drawSeconds(draw: Draw, from: readonly string[]): Seconds {
  return drawAll(
    draw,
    from.filter(() => draw.chance(0.7)),
  );
}

function drawAll(draw: Draw, from: readonly string[]): Seconds {
  return Object.fromEntries(
    from.map((key) => [key, draw.chance(0.15) ? null : draw.between(0, 80)]),
  );
}
