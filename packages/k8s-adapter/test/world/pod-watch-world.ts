import { createEngine, describeReason } from '@taintmgr/core';
import { customResourceDefinitions } from '@taintmgr/core/policy';
import {
  ApiError,
  ApiServer,
  installDefinitions,
  node,
  pod,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { Loop, type LoopOptions, type Notice } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import { Draw } from '../seeds/draw.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
/** Everything the script does happens at a multiple of this, and deadlines never fall there. */
const stepMs = 5000;
const steps = 240;
const nodes = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
const keys = ['one', 'two'];
/** Modulo the step these are all different, and none is 0. */
const tolerated = [7, 23, 41, 319];

/** What came of a story. */
export interface Told {
  /** Pod, seconds since the start, and why, in the order in which they were sent. */
  readonly evictions: readonly string[];
  /** How often which pods are read changed. */
  readonly switches: number;
  /** Lists of pods that were read, of all or of one node. */
  readonly lists: number;
  /** What is left. */
  readonly pods: readonly string[];
  /** Sent before the deadline that the reasons name. */
  readonly early: readonly string[];
}

/** What a story is told with. */
export interface StoryOptions {
  /** How long the API server takes for each request. */
  readonly serviceMs?: number;
  /** Now and then there is a policy with a limit that counts all pods, and holds none of them. */
  readonly limits?: boolean;
}

/**
 * Tells the story of a seed: nodes are tainted, well again, gone and new, pods come and go. What is
 * done depends on the seed alone and never on the controller.
 */
export function tellPodStory(
  seed: number,
  podWatch: LoopOptions['podWatch'],
  options: StoryOptions = {},
): Told {
  const world = new World(seed, podWatch, options);
  return world.run();
}

const policies = 'evictionpolicies.taintmgr.dev';
const unlimited = {
  apiVersion: 'taintmgr.dev/v1alpha1',
  kind: 'EvictionPolicy',
  metadata: { name: 'unlimited' },
  spec: { limits: [{ per: 'Total', pods: 1_000_000 }] },
};

class World {
  readonly #clock = new VirtualClock(start);
  readonly #draw: Draw;
  readonly #api: ApiServer;
  readonly #driver: VirtualDriver;
  /** Null: there are none. */
  readonly #limits: Draw | null;
  readonly #evictions: string[] = [];
  readonly #early: string[] = [];
  #lists = 0;
  #switches = 0;
  #podCount = 0;

  constructor(
    seed: number,
    podWatch: LoopOptions['podWatch'],
    { serviceMs = 0, limits = false }: StoryOptions,
  ) {
    this.#limits = limits ? new Draw(seed, 4) : null;
    this.#draw = new Draw(seed, 1);
    const { random } = new Draw(seed, 2);
    this.#api = new ApiServer({
      clock: this.#clock,
      random,
      ...(serviceMs > 0 && { serviceMs: () => serviceMs }),
    });
    this.#driver = new VirtualDriver({
      loop: new Loop({
        machine: createEngine(),
        random: new Draw(seed, 3).random,
        ...(podWatch && { podWatch }),
        clusterPolicies: limits,
      }),
      exchange: this.#api.exchange,
      clock: this.#clock,
      onNotice: (notice, now) => this.#notice(notice, now),
    });
  }

  run(): Told {
    for (const name of nodes) this.#api.create('nodes', node(name));
    for (let count = 0; count < 20; count++) this.#createPod();
    if (this.#limits) void installDefinitions(this.#api, customResourceDefinitions());
    this.#driver.feed({ kind: 'start' });
    for (let step = 1; step <= steps; step++) {
      this.#driver.runUntil(start + step * stepMs);
      for (let count = this.#draw.between(0, 2); count > 0; count--) this.#attempt();
      if (this.#limits?.chance(0.1)) this.#changeLimit();
    }
    this.#driver.runUntil(start + steps * stepMs + 400_000);
    const pods = this.#api.list('pods').map(({ metadata }) => metadata.name);
    const [evictions, early] = [this.#evictions, this.#early];
    return { evictions, early, pods, lists: this.#lists, switches: this.#switches };
  }

  #notice(notice: Notice, now: number): void {
    if (notice.kind === 'podScope') this.#switches += 1;
    if (notice.kind === 'listed' && notice.resource === 'pods') this.#lists += 1;
    if (notice.kind !== 'commandSent') return;
    const { pod, because } = notice.command;
    const seconds = Math.floor((now - start) / 1000);
    const text = `${pod.name} ${seconds} ${because.map(describeReason).join('; ')}`;
    this.#evictions.push(text);
    const [decisive] = because;
    if (decisive && 'deadline' in decisive && now < decisive.deadline) this.#early.push(text);
  }

  #changeLimit(): void {
    const { name } = unlimited.metadata;
    if (this.#api.get(policies, '', name)) this.#api.delete(policies, '', name);
    else this.#api.create(policies, unlimited);
  }

  /** What the API refuses is not done. */
  #attempt(): void {
    try {
      this.#act();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  #act(): void {
    const act = this.#draw.weighted([
      [5, () => this.#createPod()],
      [2, () => this.#deletePod()],
      [3, () => this.#setTaints(this.#draw.of(nodes), this.#draw.of(keys))],
      [3, () => this.#setTaints(this.#draw.of(nodes), null)],
      [0.3, () => this.#setAllTaints(this.#draw.of(keys))],
      [0.6, () => this.#setAllTaints(null)],
      [1, () => this.#replaceNode()],
    ]);
    act();
  }

  #createPod(): void {
    this.#podCount += 1;
    const seconds = this.#draw.of([...tolerated, null]);
    const key = this.#draw.of(keys);
    const toleration = { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds };
    const nodeName = this.#draw.of(nodes);
    const tolerations = this.#draw.chance(0.2) ? [] : [toleration];
    const spec = {
      nodeName,
      tolerations,
      terminationGracePeriodSeconds: this.#draw.of([0, 0, 30]),
    };
    this.#api.create('pods', pod('default', `p${this.#podCount}`, { spec }));
  }

  #deletePod(): void {
    const name = `p${this.#draw.between(1, this.#podCount)}`;
    this.#api.delete('pods', 'default', name, { gracePeriodSeconds: 0 });
  }

  /** One taint, which may say since when it counts; null: none. */
  #setTaints(name: string, key: string | null): void {
    const timeAdded = new Date(this.#clock.now()).toISOString().replace('.000', '');
    const isTimed = this.#draw.chance(0.5);
    const found = this.#api.get('nodes', '', name);
    if (!found) return;
    const taint = { key, effect: 'NoExecute', ...(isTimed && { timeAdded }) };
    const taints = key === null ? [] : [taint];
    this.#api.update('nodes', { ...found, spec: { ...found.spec, taints } });
  }

  #setAllTaints(key: string | null): void {
    for (const name of nodes) this.#setTaints(name, key);
  }

  #replaceNode(): void {
    const name = this.#draw.of(nodes);
    if (this.#api.get('nodes', '', name)) this.#api.delete('nodes', '', name);
    else this.#api.create('nodes', node(name));
  }
}
