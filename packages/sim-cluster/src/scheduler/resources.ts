// The resources that pods request and nodes offer: sums over containers, and shortages.
import type { KubeObject } from '../objects/kube-object.ts';
import { quantity } from '../objects/quantity.ts';

/** Amounts by the name of the resource: CPU in thousandths, all else in whole units. */
export type Amounts = ReadonlyMap<string, number>;

/** Amounts of the two resources by which nodes are scored: thousandths of a CPU, and bytes. */
export interface CpuAndMemory {
  /** Thousandths of a CPU. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** A pod's requests. */
export interface Requests extends CpuAndMemory {
  /** All else that it asks for, above 0: extended resources, hugepages, ephemeral storage. */
  readonly others: Amounts;
  /** The requests as scores count them once the pod is on a node. */
  readonly scored: CpuAndMemory;
  /** The requests as scores count them while the pod looks for a node: of its containers alone. */
  readonly sought: CpuAndMemory;
}

type Given = Readonly<Record<string, string | number>> | undefined;

interface Resources {
  readonly requests?: Given;
  readonly limits?: Given;
}

interface Container {
  readonly restartPolicy?: string;
  readonly resources?: Resources;
}

const none: Amounts = new Map();
/** The amounts that a container without requests counts for in scores: 100m and 200Mi. */
const usual: Amounts = new Map([
  ['cpu', 100],
  ['memory', 200 * 2 ** 20],
]);

const read = new Map<string, number>();
const readMax = 10_000;

/** A quantity of a resource, rounded up to its unit; 0 for an invalid one. */
export function amountOf(resource: string, given: string | number | undefined): number {
  if (given === undefined) return 0;
  const text = `${resource === 'cpu' ? 'm' : ''}${given}`;
  const known = read.get(text);
  if (known !== undefined) return known;
  const exact = quantity(given) * (resource === 'cpu' ? 1000 : 1);
  const near = Math.round(exact);
  const amount = Math.abs(exact - near) < 1e-6 ? near : Math.ceil(exact);
  if (read.size === readMax) read.clear();
  read.set(text, Number.isFinite(amount) ? amount : 0);
  return Number.isFinite(amount) ? amount : 0;
}

/**
 * Reads a list of resources, such as `status.allocatable` of a node: CPU in thousandths, all else in
 * whole units.
 */
export function amountsOf(given: Given): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const name in given) amounts.set(name, amountOf(name, given[name]));
  return amounts;
}

/** The parts of a spec that say what a pod asks for. */
interface Asking {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly resources?: Resources;
  readonly overhead?: Given;
}

/** The requests of pods of one template, which share their containers. */
const known = new WeakMap<readonly Container[], { readonly of: Asking; readonly is: Requests }>();

/** The requests of a pod, summed over its containers as kube-scheduler sums them. */
export function requestsOf({ spec }: KubeObject): Requests {
  const asking: Asking = spec;
  const { containers } = asking;
  const cached = containers && known.get(containers);
  if (cached && isAlike(cached.of, asking)) return cached.is;
  const is = summedUp(asking);
  const { initContainers, resources, overhead } = asking;
  const parts = { initContainers, resources, overhead };
  // The rest of the spec is not held on to.
  if (containers) known.set(containers, { of: parts as Asking, is });
  return is;
}

function isAlike(one: Asking, other: Asking): boolean {
  return (
    one.initContainers === other.initContainers &&
    one.resources === other.resources &&
    one.overhead === other.overhead
  );
}

function summedUp(asking: Asking): Requests {
  const ofContainers = containersIn(asking, none);
  const ofPod = ofPodItself(asking, ofContainers);
  const overhead = amountsOf(asking.overhead);
  const all = sum(over(ofContainers, ofPod), overhead);
  const counted = new Map([...usual].filter(([name]) => !(ofPod.size > 0 && all.has(name))));
  const scored = sum(over(containersIn(asking, counted), ofPod), overhead);
  const sought = sum(containersIn(asking, usual), overhead);
  const isOther = ([name, amount]: readonly [string, number]): boolean =>
    amount > 0 && name !== 'cpu' && name !== 'memory';
  return {
    ...cpuAndMemory(all),
    others: new Map([...all].filter(isOther)),
    scored: cpuAndMemory(scored),
    sought: cpuAndMemory(sought),
  };
}

function cpuAndMemory(amounts: Amounts): CpuAndMemory {
  return { cpu: amounts.get('cpu') ?? 0, memory: amounts.get('memory') ?? 0 };
}

/**
 * The larger of all containers with the sidecars, and of each step on the way there: an init container
 * runs beside the sidecars that were started before it.
 */
function containersIn(asking: Asking, missing: Amounts): Amounts {
  let running = none;
  for (const container of asking.containers ?? []) {
    running = sum(running, requestsIn(container, missing));
  }
  let sidecars = none;
  let most = none;
  for (const container of asking.initContainers ?? []) {
    const wants = requestsIn(container, missing);
    const step = sum(sidecars, wants);
    if (container.restartPolicy === 'Always') {
      running = sum(running, wants);
      sidecars = step;
    }
    most = larger(most, step);
  }
  return larger(running, most);
}

/** A limit without a request is the request. */
function requestsIn({ resources }: Container, missing: Amounts): Amounts {
  const { requests, limits } = resources ?? {};
  const wants = limits ? amountsOf({ ...limits, ...requests }) : amountsOf(requests);
  for (const [name, amount] of missing) if (!wants.has(name)) wants.set(name, amount);
  return wants;
}

const ofPods = /^(cpu|memory|hugepages-.*)$/;

/**
 * The requests of the pod as a whole, in place of its containers' (KEP-2837). The API server fills
 * in a missing part: the sum of the containers, otherwise the limit.
 */
function ofPodItself({ resources }: Asking, ofContainers: Amounts): Amounts {
  if (!resources?.requests && !resources?.limits) return none;
  const wants = amountsOf(resources.requests);
  const limits = amountsOf(resources.limits);
  for (const [name, amount] of [...ofContainers, ...limits]) {
    if (ofPods.test(name) && !wants.has(name)) wants.set(name, amount);
  }
  return wants;
}

function sum(one: Amounts, other: Amounts): Amounts {
  if (one.size === 0) return other;
  const total = new Map(one);
  for (const [name, amount] of other) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}

function larger(one: Amounts, other: Amounts): Amounts {
  if (other.size === 0) return one;
  const most = new Map(one);
  for (const [name, amount] of other) most.set(name, Math.max(most.get(name) ?? 0, amount));
  return most;
}

function over(one: Amounts, other: Amounts): Amounts {
  return other.size === 0 ? one : new Map([...one, ...other]);
}
