// Holds zones back, and lets the nodes of the others be tainted in turn, at the rate of their zone.
import { isUncertain } from '../attempt/blocker.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earlier, type Instant, type Millis } from '../kernel/time.ts';
import { type Node, zoneKey, zoneName } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import type { EvictionPause } from '../policy/values.ts';
import type { LifecycleConfig, MassUnreachable } from './config.ts';
import type { HoldReason, LifecycleReport, ZoneStatus } from './reason.ts';
import { ZoneBucket, type ZoneState, zoneRate, zoneState } from './zone-rates.ts';

/** The changes that a review made. */
interface Review {
  readonly reports: readonly LifecycleReport[];
  /** Nodes that need a new decision. */
  readonly affected: readonly string[];
  /** True when the cluster has just left the state of being down as a whole. */
  readonly isOver: boolean;
}

/**
 * Decides which nodes may be tainted, and when. Zones are judged by the nodes that count in them,
 * all at once and before anything is decided about a node: Normal, PartialDisruption or
 * FullDisruption. The state gives the rate; some states, and doubts about ourselves, hold the zone.
 * Nodes that wait have their turn in the order in which they stopped being ready.
 */
export class ZoneLimiter {
  readonly #config: LifecycleConfig;
  readonly #guard: MassUnreachableGuard;
  readonly #zones: Zones;
  /** The zone whose token each turn under way took: a node may move to another zone meanwhile. */
  readonly #payers = new Map<string, Zone>();
  #isAllDown = false;
  #viewOldSince: Instant | null = null;
  #isDirty = true;

  constructor(config: LifecycleConfig) {
    this.#config = config;
    this.#guard = new MassUnreachableGuard(config.massUnreachable);
    this.#zones = new Zones(config.zoneMembers);
  }

  /** True when every zone that counts is down. */
  get isAllDown(): boolean {
    return this.#isAllDown;
  }

  /** Takes in where a node is, whether it counts, and whether it is ready. */
  place(now: Instant, node: Node, isReady: boolean): void {
    if (this.#zones.place(now, node, isReady)) this.#isDirty = true;
  }

  /** A node is gone. */
  remove(name: string): void {
    this.#payers.delete(name);
    // A zone without nodes goes with the next review, which lets go on what stood still for its sake.
    if (this.#zones.remove(name)) this.#isDirty = true;
  }

  /** Nodes that said they were ready were found unreachable. */
  noteUnreachable(now: Instant, names: readonly string[]): void {
    let counted = 0;
    for (const zone of this.#zones.all()) counted += sizeOf(zone);
    this.#guard.note(now, names, counted);
    this.#isDirty = true;
  }

  noteHeard(name: string): void {
    this.#guard.heard(name);
  }

  /** True when what we hear is current. */
  setView(now: Instant, isCurrent: boolean): void {
    this.#viewOldSince = isCurrent ? null : (this.#viewOldSince ?? now);
    this.#isDirty = true;
  }

  /** The number of recently tainted nodes is unknown: every zone begins without a token. */
  restart(now: Instant): void {
    for (const { bucket } of this.#zones.all()) bucket.empty(now);
  }

  /** Judges all zones by the present knowledge. */
  review(now: Instant): Review {
    if (!this.#isDirty && (this.#guard.hold(now) !== null || !this.#isHeldByGuard())) {
      return { reports: [], affected: [], isOver: false };
    }
    this.#isDirty = false;
    const wasAllDown = this.#isAllDown;
    this.#isAllDown = this.#areAllDown();
    const reports: LifecycleReport[] = [];
    const affected = new Set<string>();
    for (const zone of this.#zones.all()) {
      const before = { state: zone.state, hold: zone.hold };
      if (zone.nodes.size === 0) {
        this.#zones.drop(zone);
        zone.hold = null;
        if (before.hold?.code === 'FullDisruptionHeld') {
          reports.push(holdReport(zone, before.hold));
        }
        continue;
      }
      this.#judge(now, zone);
      const isMoved = zone.hold?.code !== before.hold?.code || wasAllDown !== this.#isAllDown;
      if (isMoved) for (const node of zone.nodes) affected.add(node);
      if (before.state !== zone.state && before.state !== 'Initial') {
        reports.push({ kind: 'zone', from: before.state, zone: this.#status(zone) });
      }
      if (zone.hold?.code !== before.hold?.code) {
        reports.push(holdReport(zone, before.hold));
      }
    }
    const isOver = wasAllDown && !this.#isAllDown;
    return { reports, affected: [...affected], isOver };
  }

  /** Puts a node in the queue of its zone, where it keeps its place. */
  wait(name: string, since: Instant): void {
    const zone = this.#zones.of(name);
    if (zone && zone.waiting.at(name) === null) zone.waiting.set(name, since);
  }

  leave(name: string): void {
    this.#zones.of(name)?.waiting.cancel(name);
  }

  /** The nodes whose turn it is: the first of each zone that has a token. */
  next(now: Instant): readonly string[] {
    return this.#ready(now).map(({ name }) => name);
  }

  /** Takes at most this number of turns, and the tokens of their zones. */
  take(now: Instant, max: number): readonly string[] {
    const turns = this.#ready(now).slice(0, max);
    for (const { name, zone } of turns) {
      zone.waiting.cancel(name);
      zone.bucket.take(now);
      this.#payers.set(name, zone);
    }
    return turns.map(({ name }) => name);
  }

  #ready(now: Instant): readonly { readonly name: string; readonly zone: Zone }[] {
    return [...this.#zones.all()].flatMap((zone) => {
      const name = zone.hold ? null : zone.waiting.first();
      return name !== null && zone.bucket.readyAt(now) === now ? [{ name, zone }] : [];
    });
  }

  /**
   * A write to a node has ended. If it was its turn and was refused, the zone that paid gets its token
   * back. Without an answer, or where the server failed, the taint may be there or come yet: then the
   * token is spent.
   */
  settle(name: string, outcome: Outcome): void {
    const zone = this.#payers.get(name);
    if (!zone) return;
    this.#payers.delete(name);
    if (outcome.kind === 'done') zone.tainted += 1;
    else if (!isSetback(outcome) || !isUncertain(outcome)) zone.bucket.giveBack();
  }

  /** When a turn may come, where there is room for it, or a hold ends. */
  nextWake(now: Instant, hasRoom: boolean): Instant | null {
    if (this.#isDirty) return now;
    let wake = this.#guard.nextWake(now) ?? (this.#isHeldByGuard() ? now : null);
    if (!hasRoom) return wake;
    for (const zone of this.#zones.all()) {
      if (zone.hold || zone.waiting.size === 0) continue;
      wake = earlier(wake, zone.bucket.readyAt(now));
    }
    return wake;
  }

  /** True when nextWake() says the same until something happens: no node waits for its turn. */
  get rests(): boolean {
    if (this.#isDirty) return false;
    for (const { hold, waiting } of this.#zones.all()) {
      if (!hold && waiting.size > 0) return false;
    }
    return true;
  }

  /** Why nothing about a node may be done for its zone's sake; null: it may. */
  holdOn(name: string): HoldReason | null {
    return this.#zones.of(name)?.hold ?? null;
  }

  /**
   * The node's place in the queue, from 1, and the expected time of its turn; null: it does not
   * wait.
   */
  turnOf(
    now: Instant,
    name: string,
  ): { readonly place: number; readonly at: Instant | null } | null {
    const zone = this.#zones.of(name);
    const index = zone ? zone.waiting.inOrder().indexOf(name) : -1;
    if (!zone || index < 0) return null;
    const ready = zone.hold ? null : zone.bucket.readyAt(now);
    const spacing: Millis = index === 0 ? 0 : (index * 1000) / zone.bucket.rate;
    return { place: index + 1, at: ready === null ? null : Math.ceil(ready + spacing) };
  }

  zones(): readonly ZoneStatus[] {
    return [...this.#zones.all()]
      .filter(({ nodes }) => nodes.size > 0)
      .map((zone) => this.#status(zone))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #status(zone: Zone): ZoneStatus {
    const { name, key, state, hold, tainted, nodeCounts, bucket } = zone;
    const waiting = zone.waiting.inOrder();
    return { name, key, state, ...nodeCounts, rate: bucket.rate, hold, waiting, tainted };
  }

  #judge(now: Instant, zone: Zone): void {
    const { nodeCounts, bucket } = zone;
    const size = sizeOf(zone);
    zone.state = zoneState(nodeCounts, this.#config.unhealthyZoneThreshold);
    const rate = zoneRate(zone.state, size, this.#config);
    zone.hold = this.#holdFor(now, zone, rate);
    bucket.setRate(now, zone.hold ? 0 : rate);
  }

  #holdFor(now: Instant, { state, nodeCounts, hold }: Zone, rate: number): HoldReason | null {
    const isDead = state === 'FullDisruption';
    if (isDead && this.#config.fullDisruption === 'hold') {
      return hold?.code === 'FullDisruptionHeld'
        ? hold
        : { code: 'FullDisruptionHeld', since: now };
    }
    if (this.#viewOldSince !== null) return { code: 'ViewOld', since: this.#viewOldSince };
    if (this.#isAllDown) return { code: 'AllZonesDown' };
    const suspicion = this.#guard.hold(now);
    if (suspicion) return suspicion;
    if (rate > 0) return null;
    if (state !== 'PartialDisruption') return { code: 'RateZero' };
    return {
      code: 'ZoneStopped',
      notReady: nodeCounts.notReady,
      size: nodeCounts.ready + nodeCounts.notReady,
    };
  }

  #areAllDown(): boolean {
    let counted = 0;
    for (const { nodeCounts } of this.#zones.all()) {
      if (nodeCounts.ready > 0) return false;
      counted += nodeCounts.notReady;
    }
    return counted > 0;
  }

  #isHeldByGuard(): boolean {
    for (const { hold } of this.#zones.all()) if (hold?.code === 'MassUnreachable') return true;
    return false;
  }
}

/** The deadlines of a dead zone's pods stand still while it is held. */
function holdReport({ name: zone, hold }: Zone, before: HoldReason | null): LifecycleReport {
  const isPaused = hold?.code === 'FullDisruptionHeld';
  const wasPaused = before?.code === 'FullDisruptionHeld';
  const deadlines = isPaused ? 'pause' : wasPaused ? 'resume' : null;
  return { kind: 'zoneHold', zone, hold, deadlines };
}

/**
 * Suspects ourselves: when many nodes become unreachable within a short time, the fault may be
 * ours. For a while no node is tainted for it; those that come back meanwhile were never tainted.
 */
class MassUnreachableGuard {
  readonly #rule: MassUnreachable | null;
  readonly #unreachable = new Map<string, Instant>();
  #until: Instant = Number.NEGATIVE_INFINITY;
  #nodes = 0;

  constructor(rule: MassUnreachable | null) {
    this.#rule = rule;
  }

  /** Nodes were found unreachable, of so many that count. */
  note(now: Instant, names: readonly string[], counted: number): void {
    if (!this.#rule || names.length === 0) return;
    const { share, nodesMin, withinMs, holdMs } = this.#rule;
    for (const name of names) this.#unreachable.set(name, now);
    for (const [name, at] of this.#unreachable)
      if (now - at > withinMs) this.#unreachable.delete(name);
    const count = this.#unreachable.size;
    if (count < nodesMin || count < share * counted) return;
    this.#until = now + holdMs;
    this.#nodes = count;
  }

  /** A node was heard again. */
  heard(name: string): void {
    this.#unreachable.delete(name);
  }

  hold(now: Instant): HoldReason | null {
    if (now >= this.#until) return null;
    return { code: 'MassUnreachable', nodes: this.#nodes, until: this.#until };
  }

  /** The end of the hold; null: there is none. */
  nextWake(now: Instant): Instant | null {
    return now < this.#until ? this.#until : null;
  }
}

/** The pause by which the deadlines of the pods of a zone stand still; no object has its name. */
export function zoneHold(zone: string, since: Instant): EvictionPause {
  const name = zone === '' ? 'the hold of the nodes without a zone' : `the hold of zone ${zone}`;
  const scope = { zones: [zone], nodes: null, taintKeys: [], namespaces: [] };
  const holds = { readiness: false, deadlines: true, reason: '', until: null };
  return { name, uid: '', scope, ...holds, since, zone };
}

/** A zone, its number of nodes, and their waits. */
interface Zone {
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
  /** The roles that its nodes can have: one of each for all of them. */
  readonly members: Member[];
}

/** The role of a node in its zone. */
interface Member {
  readonly zone: KeptZone;
  readonly counts: boolean;
  readonly isReady: boolean;
}

/** All zones that have nodes, or had some until the last review. */
class Zones {
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

/** The number of its nodes that count. */
function sizeOf({ nodeCounts: { ready, notReady } }: Zone): number {
  return ready + notReady;
}
