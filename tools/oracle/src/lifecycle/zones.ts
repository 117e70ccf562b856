import type { KubeObject } from '@taintmgr/sim-cluster';
import type { ObservedChange } from '../object-history.ts';
import type { LifecycleTerms } from './lifecycle-terms.ts';
import { readinessOf } from './node-rule.ts';

const excluded = 'node.kubernetes.io/exclude-disruption';

/** The rate at which a zone's nodes may be tainted, from one instant on. */
interface Rate {
  readonly at: number;
  /** Nodes per second. */
  readonly rate: number;
}

interface Counts {
  ready: number;
  others: number;
}

/** The zone that counts a node: nothing in `zone` when the node is excluded. */
interface Membership {
  readonly zone: string;
  readonly counts: keyof Counts | null;
}

/** The zone of a node, as region and failure domain; '' for one that names neither. */
export function zoneOf(node: KubeObject): string {
  const labels = node.metadata.labels ?? {};
  const pick = (part: string): string =>
    labels[`failure-domain.beta.kubernetes.io/${part}`] ??
    labels[`topology.kubernetes.io/${part}`] ??
    '';
  const [region, zone] = [pick('region'), pick('zone')];
  return region === '' && zone === '' ? '' : `${region}:${zone}`;
}

/** The state of each zone at all times, counted from the nodes in the API, as the rate it allows. */
export class Zones {
  readonly #terms: LifecycleTerms;
  readonly #members = new Map<string, Membership>();
  readonly #counts = new Map<string, Counts>();
  readonly #rates = new Map<string, Rate[]>();
  readonly #exits: number[] = [];
  #isAllFull = false;

  constructor(terms: LifecycleTerms) {
    this.#terms = terms;
  }

  observe({ at, change }: ObservedChange): void {
    const { resource, type, object } = change;
    if (resource !== 'nodes') return;
    const { name } = object.metadata;
    const before = this.#members.get(name) ?? null;
    const after = type === 'DELETED' ? null : membershipOf(object);
    if (before?.zone === after?.zone && before?.counts === after?.counts) return;
    this.#count(before, -1);
    this.#count(after, 1);
    if (after) this.#members.set(name, after);
    else this.#members.delete(name);
    if (after && !this.#rates.has(after.zone)) {
      // Before a zone has been looked at for the first time it is taken for a normal one.
      this.#rates.set(after.zone, [{ at, rate: this.#terms.nodeEvictionRate }]);
    }
    this.#reckon(at);
  }

  /** The most nodes that a rate known only after `lagMs` may have let through from `from` to `to`. */
  inflowMax(zone: string, from: number, to: number, lagMs: number): number {
    const spans = this.#spans(zone).map((span) => ({ ...span, end: span.end + lagMs }));
    const edges = spans.flatMap(({ at, end }) => [at, end]).filter((at) => at > from && at < to);
    const steps = [from, ...edges.sort((a, b) => a - b), to];
    let inflow = 0;
    for (const [index, at] of steps.entries()) {
      const next = steps[index + 1] ?? at;
      const holding = spans.filter((span) => span.at <= at && span.end > at);
      const rate = Math.max(0, ...holding.map((span) => span.rate));
      inflow += (rate * (next - at)) / 1000;
    }
    return inflow;
  }

  /** True if at some instant from `from` to `to` the nodes of the zone could be tainted. */
  wasOpen(zone: string, from: number, to: number): boolean {
    return this.#spans(zone).some(({ at, end, rate }) => rate > 0 && at <= to && end >= from);
  }

  /** The nodes that are sure to have been let through from `from` to `to`: whole ones of each rate. */
  inflowMin(zone: string, from: number, to: number, lagMs: number): number {
    let inflow = 0;
    for (const { at, end, rate } of this.#spans(zone)) {
      const length = Math.min(end, to) - Math.max(at, from) - lagMs;
      if (length > 0) inflow += Math.floor((rate * length) / 1000);
    }
    return inflow;
  }

  /** When last before `at` there was a ready node again after a time without any; -Infinity: never. */
  lastExit(at: number): number {
    return this.#exits.findLast((exit) => exit <= at) ?? Number.NEGATIVE_INFINITY;
  }

  #spans(zone: string): readonly (Rate & { readonly end: number })[] {
    const rates = this.#rates.get(zone) ?? [];
    return rates.map((rate, index) => ({
      ...rate,
      end: rates[index + 1]?.at ?? Number.POSITIVE_INFINITY,
    }));
  }

  #count(membership: Membership | null, by: 1 | -1): void {
    if (!membership?.counts) return;
    const counts = this.#counts.get(membership.zone) ?? { ready: 0, others: 0 };
    counts[membership.counts] += by;
    if (counts.ready + counts.others > 0) this.#counts.set(membership.zone, counts);
    else this.#counts.delete(membership.zone);
  }

  #reckon(at: number): void {
    const isAllFull =
      this.#counts.size > 0 && [...this.#counts.values()].every(({ ready }) => ready === 0);
    if (this.#isAllFull && !isAllFull) this.#exits.push(at);
    this.#isAllFull = isAllFull;
    for (const [zone, rates] of this.#rates) {
      const rate = isAllFull ? 0 : this.#rateOf(this.#counts.get(zone));
      if (rates.at(-1)?.rate !== rate) rates.push({ at, rate });
    }
  }

  #rateOf(counts: Counts | undefined): number {
    const terms = this.#terms;
    if (!counts) return terms.nodeEvictionRate;
    const { ready, others } = counts;
    if (ready === 0) return terms.fullDisruptionRate;
    // The flag and the share are 32 bit numbers.
    const share = Math.fround(Math.fround(others) / Math.fround(others + ready));
    if (others <= 2 || share < Math.fround(terms.unhealthyZoneThreshold)) {
      return terms.nodeEvictionRate;
    }
    return others + ready > terms.largeClusterSizeThreshold ? terms.secondaryNodeEvictionRate : 0;
  }
}

function membershipOf(node: KubeObject): Membership {
  const zone = zoneOf(node);
  if (node.metadata.labels?.[excluded] !== undefined) return { zone, counts: null };
  return { zone, counts: readinessOf(node) === 'True' ? 'ready' : 'others' };
}
