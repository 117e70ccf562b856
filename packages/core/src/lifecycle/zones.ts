// Which nodes are in which zone, and how they count there.
import { Schedule } from '../kernel/schedule.ts';
import type { Instant } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import { zoneKey, zoneName } from '../model/zone.ts';
import type { LifecycleConfig } from './config.ts';
import type { HoldReason } from './reason.ts';
import { ZoneBucket, type ZoneState } from './zone-rates.ts';

/** A zone, how many nodes it has, and what they wait for. */
export interface Zone {
  readonly name: string;
  readonly key: string;
  readonly nodes: ReadonlySet<string>;
  /** Of the nodes that count. */
  readonly nodeCounts: { readonly ready: number; readonly notReady: number };
  readonly bucket: ZoneBucket;
  /** Nodes that wait for their taint, by since when they have not been ready. */
  readonly waiting: Schedule;
  state: ZoneState;
  hold: HoldReason | null;
  tainted: number;
}

interface KeptZone extends Zone {
  readonly nodes: Set<string>;
  readonly nodeCounts: { ready: number; notReady: number };
  /** What its nodes can be to it: one of each for all of them. */
  readonly members: Member[];
}

/** What a node is to its zone. */
interface Member {
  readonly zone: KeptZone;
  readonly counts: boolean;
  readonly isReady: boolean;
}

/** All zones that have nodes, or had some until the last review. */
export class Zones {
  readonly #counting: LifecycleConfig['zoneMembers'];
  readonly #byName = new Map<string, KeptZone>();
  readonly #members = new Map<string, Member>();

  /** `counting`: which nodes count. */
  constructor(counting: LifecycleConfig['zoneMembers']) {
    this.#counting = counting;
  }

  all(): Iterable<Zone> {
    return this.#byName.values();
  }

  /** The zone of a node that is known. */
  of(nodeName: string): Zone | null {
    return this.#members.get(nodeName)?.zone ?? null;
  }

  /** Takes in where a node is, whether it counts, and whether it is ready; false: as before. */
  place(now: Instant, node: Node, isReady: boolean): boolean {
    const labels = node.labels ?? {};
    const counts = selects(this.#counting, labels);
    const name = zoneName(labels);
    const known = this.#members.get(node.name);
    const isSame = known?.counts === counts && known.isReady === isReady;
    if (isSame && known.zone.name === name) return false;
    this.remove(node.name);
    const zone = this.#byName.get(name) ?? this.#begin(now, name, zoneKey(labels));
    const member = memberOf(zone, counts, isReady);
    this.#members.set(node.name, member);
    zone.nodes.add(node.name);
    count(member, 1);
    return true;
  }

  /** A node is gone, or in another zone from now on; false: it was not known. */
  remove(nodeName: string): boolean {
    const member = this.#members.get(nodeName);
    if (!member) return false;
    this.#members.delete(nodeName);
    member.zone.waiting.cancel(nodeName);
    member.zone.nodes.delete(nodeName);
    count(member, -1);
    return true;
  }

  /** Forgets a zone that has no nodes. */
  drop({ name }: Zone): void {
    this.#byName.delete(name);
  }

  #begin(now: Instant, name: string, key: string): KeptZone {
    const [nodes, nodeCounts] = [new Set<string>(), { ready: 0, notReady: 0 }];
    const [bucket, waiting] = [new ZoneBucket(now), new Schedule()];
    const empty = { name, key, members: [], nodes, nodeCounts, bucket, waiting };
    const zone: KeptZone = { ...empty, state: 'Initial', hold: null, tainted: 0 };
    this.#byName.set(name, zone);
    return zone;
  }
}

function memberOf(zone: KeptZone, counts: boolean, isReady: boolean): Member {
  const known = zone.members.find((member) => {
    return member.counts === counts && member.isReady === isReady;
  });
  if (known) return known;
  const member = { zone, counts, isReady };
  zone.members.push(member);
  return member;
}

function count({ zone, counts, isReady }: Member, change: number): void {
  if (counts) zone.nodeCounts[isReady ? 'ready' : 'notReady'] += change;
}

/** How many of its nodes count. */
export function sizeOf({ nodeCounts: { ready, notReady } }: Zone): number {
  return ready + notReady;
}
