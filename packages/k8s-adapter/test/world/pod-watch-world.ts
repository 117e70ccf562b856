import { ApiServer, installDefinitions } from '@taintmgr/api-server';
import { createEngine, describeReason } from '@taintmgr/core';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { ApiError, node, pod, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop, type LoopOptions, type Notice } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import { Draw } from '../seeds/draw.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
/** Everything the script does happens at a multiple of this, and deadlines never fall there. */
const stepMs = 5000;
const steps = 240;
/** Until then it is found that there may be policies. */
const knownSteps = 7;
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
  /** Sent though the limit that was there had let through as many as it lets. */
  readonly over: readonly string[];
  /** Sent while there was a limit, and counted in it. */
  readonly limited: number;
}

/** What a story is told with. */
export interface StoryOptions {
  /** How long the API server takes for each request. */
  readonly serviceMs?: number;
  /**
   * Now and then there is a policy with a limit that counts all pods, and lets so many go in ten minutes.
   * Each list of pods takes so long then.
   */
  readonly limits?: { readonly pods: number; readonly listMs: number };
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
const policyName = 'limited';
const windowMs = 600_000;

class World {
  readonly #clock = new VirtualClock(start);
  readonly #draw: Draw;
  readonly #api: ApiServer;
  readonly #driver: VirtualDriver;
  /** Null: there are none. */
  readonly #limits: Draw | null;
  readonly #limit: NonNullable<StoryOptions['limits']> | undefined;
  readonly #evictions: string[] = [];
  readonly #early: string[] = [];
  readonly #over: string[] = [];
  /** When those went that the limit counts which is there. */
  #counted: number[] = [];
  #limited = 0;
  /** Since when each node has the taint that it has. */
  readonly #tainted = new Map<string, { readonly key: string | null; readonly at: number }>();
  #lists = 0;
  #switches = 0;
  #podCount = 0;

  constructor(
    seed: number,
    podWatch: LoopOptions['podWatch'],
    { serviceMs = 0, limits }: StoryOptions,
  ) {
    this.#limits = limits ? new Draw(seed, 4) : null;
    this.#limit = limits;
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
        clusterPolicies: limits !== undefined,
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
      if (this.#limit && this.#limits?.chance(0.1) && step > knownSteps)
        this.#changeLimit(this.#limit);
    }
    this.#driver.runUntil(start + steps * stepMs + 400_000);
    const pods = this.#api.list('pods').map(({ metadata }) => metadata.name);
    const [evictions, early, over] = [this.#evictions, this.#early, this.#over];
    const counts = { lists: this.#lists, switches: this.#switches, limited: this.#limited };
    return { evictions, early, over, pods, ...counts };
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
    this.#count(now, pod.name, text);
  }

  /** A limit counts no pod that came after the taint, nor what is sent before anybody may have heard of it. */
  #count(now: number, name: string, text: string): void {
    const [limit, found] = [this.#limit, this.#api.get('pods', 'default', name)];
    const policy = limit && this.#api.get(policies, '', policyName);
    if (!found || !policy) return;
    if (Date.parse(policy.metadata.creationTimestamp ?? '') >= now) return;
    const { nodeName } = found.spec as { readonly nodeName: string };
    const since = this.#tainted.get(nodeName)?.at ?? start;
    if (Date.parse(found.metadata.creationTimestamp ?? '') >= since) return;
    this.#counted = [...this.#counted.filter((at) => at > now - windowMs), now];
    this.#limited += 1;
    if (this.#counted.length > limit.pods) this.#over.push(text);
  }

  #changeLimit({ pods, listMs }: NonNullable<StoryOptions['limits']>): void {
    if (this.#api.get(policies, '', policyName)) {
      this.#api.delete(policies, '', policyName);
      return;
    }
    this.#counted = [];
    const fault = { kind: 'delay', ms: listMs } as const;
    if (listMs > 0)
      this.#api.faults.add({ fault, verbs: ['list', 'watch'], resource: 'pods', times: 2 });
    this.#api.create(policies, {
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'EvictionPolicy',
      metadata: { name: policyName },
      spec: { limits: [{ per: 'Total', pods }] },
    });
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
    const graceSeconds = this.#draw.of([0, 0, 30]);
    // Nobody ends a pod here: one that terminates counts as unavailable for ever.
    const terminationGracePeriodSeconds = this.#limit?.listMs ? 0 : graceSeconds;
    const spec = { nodeName, tolerations, terminationGracePeriodSeconds };
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
    if (this.#tainted.get(name)?.key !== key)
      this.#tainted.set(name, { key, at: this.#clock.now() });
    const taint = { key, effect: 'NoExecute', ...(isTimed && { timeAdded }) };
    const taints = key === null ? [] : [taint];
    this.#api.update('nodes', { ...found, spec: { ...found.spec, taints } });
  }

  #setAllTaints(key: string | null): void {
    for (const name of nodes) this.#setTaints(name, key);
  }

  #replaceNode(): void {
    const name = this.#draw.of(nodes);
    this.#tainted.delete(name);
    if (this.#api.get('nodes', '', name)) this.#api.delete('nodes', '', name);
    else this.#api.create('nodes', node(name));
  }
}
