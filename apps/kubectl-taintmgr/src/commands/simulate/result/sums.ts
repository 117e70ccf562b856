// Sums over workloads: of all, of each namespace, and of each zone in which their pods were lost.
import { groupBy } from '@taintmgr/k8s-adapter/command-line';
import type {
  EvictionTrack,
  PlaceTotals,
  PodTrack,
  Recording,
  Step,
  Summary,
  Totals,
} from '@taintmgr/page';
import { downSteps, thousandths } from './downtime.ts';

type Places = ReadonlyMap<string, string>;
type Down = Step<{ readonly down: number }>;

/** The sums of a run up to `end`, in seconds. */
export function sumsOf(
  recording: Recording,
  end: number,
): Pick<Summary, 'totals' | 'namespaces' | 'zones'> {
  const { workloads, evictions, unplaced } = recording;
  const zoneOfNode: Places = new Map(recording.nodes.map(({ name, zone }) => [name, zone]));
  const all = new Sum();
  const namespaces = new Sums(workloads.map(({ namespace }) => namespace));
  const zones = new Sums([...zoneOfNode.values()]);
  const sums = (namespace: string, zone: string): readonly Sum[] => {
    return [all, namespaces.of(namespace), zones.of(zone)];
  };
  const podsOf = groupBy(recording.pods, ({ workload }) => workload);
  for (const track of workloads) {
    const key = `${track.kind} ${track.namespace}/${track.name}`;
    const steps = downSteps(track, end);
    for (const sum of [all, namespaces.of(track.namespace)]) sum.addDown(key, steps, end);
    for (const [zone, lost] of lossesByZone(steps, podsOf.get(key) ?? [], zoneOfNode)) {
      zones.of(zone).addDown(key, lost, end);
    }
  }
  for (const { workload, namespace, node } of evictions) {
    for (const sum of sums(namespace, zoneOfNode.get(node) ?? '')) sum.addEviction(workload);
  }
  const zonesLeft = zonesOfUnplaced(recording, zoneOfNode);
  for (const [index, { namespace }] of unplaced.entries()) {
    for (const sum of sums(namespace, zonesLeft[index] ?? '')) sum.unplaced++;
  }
  return { totals: all.totals(), namespaces: namespaces.totals(), zones: zones.totals() };
}

class Sum {
  unplaced = 0;
  #evictions = 0;
  #podSeconds = 0;
  readonly #workloads = new Set<string>();
  /** By how many more pods are down from an instant on. */
  readonly #changes = new Map<number, number>();

  addDown(workload: string, steps: readonly Down[], end: number): void {
    let before = 0;
    for (const [index, { at, down }] of steps.entries()) {
      this.#podSeconds += down * ((steps[index + 1]?.at ?? end) - at);
      if (down > 0) this.#workloads.add(workload);
      if (down !== before) this.#changes.set(at, (this.#changes.get(at) ?? 0) + down - before);
      before = down;
    }
  }

  addEviction(workload: string | null): void {
    this.#evictions++;
    if (workload !== null) this.#workloads.add(workload);
  }

  totals(): Totals {
    let [down, downMax] = [0, 0];
    for (const [, change] of [...this.#changes].sort(([one], [other]) => one - other)) {
      down += change;
      downMax = Math.max(downMax, down);
    }
    return {
      workloads: this.#workloads.size,
      downMax,
      podMinutesLost: thousandths(this.#podSeconds / 60),
      evictions: this.#evictions,
      unplaced: this.unplaced,
    };
  }
}

/** A sum for each name, including the names that are known in advance. */
class Sums {
  readonly #byName = new Map<string, Sum>();

  constructor(names: readonly string[]) {
    for (const name of names) this.of(name);
  }

  of(name: string): Sum {
    const sum = this.#byName.get(name) ?? new Sum();
    this.#byName.set(name, sum);
    return sum;
  }

  totals(): readonly PlaceTotals[] {
    const names = [...this.#byName.keys()].sort();
    return names.map((name) => ({ name, ...this.of(name).totals() }));
  }
}

/** A pod begins to serve, or serves no more. */
interface Turn {
  readonly at: number;
  readonly pod: string;
  readonly zone: string;
  readonly serves: boolean;
}

/**
 * The number of down pods of a workload, by the zone in which they were lost. A pod that comes
 * under its old name takes its own place, any other the place of the one that was lost first.
 */
function lossesByZone(
  steps: readonly Down[],
  pods: readonly PodTrack[],
  zoneOfNode: Places,
): ReadonlyMap<string, readonly Down[]> {
  const found = new Map<string, Step<{ down: number }>[]>();
  if (steps.every(({ down }) => down === 0)) return found;
  const turns = turnsOf(pods, zoneOfNode);
  const instants = new Set([...steps, ...turns].map(({ at }) => at));
  let [lost, turn, step]: [Turn[], number, number] = [[], 0, -1];
  for (const at of [...instants].sort((one, other) => one - other)) {
    for (let next = turns[turn]; next && next.at <= at; next = turns[++turn]) {
      lost = next.serves ? withoutOne(lost, next) : [...lost, next];
    }
    while ((steps[step + 1]?.at ?? Number.POSITIVE_INFINITY) <= at) step++;
    const down = countByZone(lost, steps[step]?.down ?? 0);
    for (const zone of new Set([...found.keys(), ...down.keys()])) {
      const series = found.get(zone) ?? [];
      found.set(zone, series);
      const value = down.get(zone) ?? 0;
      if (value !== (series.at(-1)?.down ?? 0)) series.push({ at, down: value });
    }
  }
  return found;
}

/** In the order of time; of one instant those first that serve no more. */
function turnsOf(pods: readonly PodTrack[], zoneOfNode: Places): readonly Turn[] {
  const turns = pods.flatMap(({ pod, node, states, until }) => {
    const zone = zoneOfNode.get(node) ?? '';
    return states.flatMap(({ at, state }, index): readonly Turn[] => {
      if (state !== 'serving') return [];
      const ends = states[index + 1]?.at ?? until;
      const begins = { at, pod, zone, serves: true };
      return ends === null ? [begins] : [begins, { at: ends, pod, zone, serves: false }];
    });
  });
  return turns.sort((one, other) => one.at - other.at || Number(one.serves) - Number(other.serves));
}

function withoutOne(lost: readonly Turn[], { pod }: Turn): Turn[] {
  const own = lost.findIndex((one) => one.pod === pod);
  return lost.toSpliced(Math.max(0, own), 1);
}

/** The last that were lost are still missing; one that never was there was lost in no zone. */
function countByZone(lost: readonly Turn[], down: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const missing = down === 0 ? [] : lost.slice(-down);
  for (const { zone } of missing) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  const others = down - missing.length;
  if (others > 0) counts.set('', (counts.get('') ?? 0) + others);
  return counts;
}

/** Of each pod without room the zone from which one of its workload had just been evicted. */
function zonesOfUnplaced(
  { evictions, unplaced }: Recording,
  zoneOfNode: Places,
): readonly string[] {
  const ownerOf = ({ workload, namespace }: Pick<EvictionTrack, 'workload' | 'namespace'>) =>
    workload ?? namespace;
  const left = new Map<string, EvictionTrack[]>();
  for (const [owner, of] of groupBy(evictions, ownerOf)) left.set(owner, [...of]);
  return unplaced.map((pod) => {
    const before = left.get(ownerOf(pod)) ?? [];
    const index = before.findLastIndex(({ at }) => at <= pod.from);
    const [eviction] = index < 0 ? [] : before.splice(index, 1);
    return zoneOfNode.get(eviction?.node ?? '') ?? '';
  });
}
