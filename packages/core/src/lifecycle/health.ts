import { Schedule } from '../kernel/schedule.ts';
import { type ClusterTime, finite, type Instant, type Millis } from '../kernel/time.ts';
import { type Lease, type Node, readyOf } from '../model/node.ts';
import type { LifecycleConfig } from './config.ts';

/** The knowledge of one node's heartbeats. Times are by our clock. */
export interface NodeHeartbeats {
  readonly uid: string;
  /** The last sign of life, or when we first saw the node. */
  heardAt: Instant;
  /** Since when it counts as unreachable; null: it does not. */
  unreachableAt: Instant | null;
  /** Since when its kubelet has said that it is ready; null: it does not. */
  readySince: Instant | null;
  /** When it stopped being ready, latest last; only as many as decisions need. */
  flaps: readonly Instant[];
  heartbeatAt: Instant | null;
  leaseRenewedAt: Instant | null;
  hasReported: boolean;
}

const flapsKeptMax = 100;
/** Nearly no node has any. */
const noFlaps: readonly Instant[] = [];

/**
 * Knows which nodes give signs of life. A sign is a status heartbeat or a lease whose time differs
 * from the one before, even an earlier one: a kubelet whose clock was set back is alive. A time in
 * a sign is never compared with our own clock, so skew does no harm, and a first sighting counts as
 * from now. Missing heartbeats are judged in steps of the monitor period, so that nodes that fail
 * together are seen together.
 */
export class HealthStore {
  readonly #config: LifecycleConfig;
  readonly #clock: ClusterTime;
  readonly #records = new Map<string, NodeHeartbeats>();
  /** When a node may count as unreachable; signs of life since are looked at only then. */
  readonly #due = new Schedule();

  constructor(config: LifecycleConfig, clock: ClusterTime) {
    this.#config = config;
    this.#clock = clock;
  }

  recordOf(name: string): NodeHeartbeats | null {
    return this.#records.get(name) ?? null;
  }

  /** Takes in a node and, when it is new, its lease; whether an unreachable one is back by it. */
  see(now: Instant, node: Node, lease: Lease | null): boolean {
    const known = this.#records.get(node.name);
    const ready = readyOf(node.conditions);
    if (known?.uid !== node.uid) {
      this.#meet(now, node, lease);
      return false;
    }
    const heartbeatAt = finite(ready?.heartbeatAt);
    const isSign = ready !== null && (!known.hasReported || heartbeatAt !== known.heartbeatAt);
    const hasOtherGrace = known.hasReported !== (ready !== null);
    known.hasReported = ready !== null;
    known.heartbeatAt = heartbeatAt;
    this.#followReady(now, known, ready?.status === 'True');
    const isBack = isSign && this.#hear(now, node.name, known);
    if (hasOtherGrace && known.unreachableAt === null) {
      this.#due.set(node.name, this.unreachableAfter(known));
    }
    return isBack;
  }

  /** Takes in a lease; whether an unreachable node is back by it. */
  seeLease(now: Instant, { nodeName, renewedAt }: Lease): boolean {
    const record = this.#records.get(nodeName);
    if (!record || record.leaseRenewedAt === renewedAt) return false;
    record.leaseRenewedAt = renewedAt;
    return this.#hear(now, nodeName, record);
  }

  /** Takes in a lease of a node that is well; false: it is not, or not known. */
  renew(now: Instant, { nodeName, renewedAt }: Lease): boolean {
    const record = this.#records.get(nodeName);
    if (!record || record.unreachableAt !== null) return false;
    if (record.leaseRenewedAt === renewedAt) return true;
    record.leaseRenewedAt = renewedAt;
    record.heardAt = now;
    return true;
  }

  forget(name: string): void {
    this.#records.delete(name);
    this.#due.cancel(name);
  }

  /** A live read found a sign of life that we have not seen; whether the node is back by it. */
  hear(now: Instant, name: string): boolean {
    const record = this.#records.get(name);
    return record !== undefined && this.#hear(now, name, record);
  }

  /** No process listened until now: grace periods begin here. The nodes no longer unreachable. */
  forgive(now: Instant): readonly string[] {
    return [...this.#records].flatMap(([name, record]) => {
      return this.#hear(now, name, record) ? [name] : [];
    });
  }

  /**
   * Another leader has listened since then: the times at which nodes wrote their last sign of life
   * count.
   */
  takeUp(now: Instant, since: Instant): void {
    for (const [name, record] of this.#records) {
      const { heartbeatAt, leaseRenewedAt } = record;
      const signs = [heartbeatAt, leaseRenewedAt].filter((at) => at !== null);
      if (signs.length === 0) continue;
      const heardAt = this.#clock.when(Math.max(...signs));
      record.heardAt = Math.min(now, Math.max(since, heardAt));
      this.#due.set(name, this.unreachableAfter(record));
    }
  }

  /** When a node may count as unreachable. */
  nextWake(): Instant | null {
    return this.#due.next();
  }

  /** The nodes that count as unreachable from now on, by name. */
  judge(now: Instant): readonly string[] {
    const unreachable: string[] = [];
    for (let name = this.#due.takeDue(now); name !== null; name = this.#due.takeDue(now)) {
      const record = this.#records.get(name);
      if (!record) continue;
      if (this.unreachableAfter(record) > now) {
        this.#due.set(name, this.unreachableAfter(record));
        continue;
      }
      record.unreachableAt = now;
      this.#followReady(now, record, false);
      unreachable.push(name);
    }
    return unreachable.sort();
  }

  /** The time at which a node counts as unreachable without another sign. */
  unreachableAfter(record: NodeHeartbeats): Instant {
    const { nodeMonitorPeriodMs: period } = this.#config;
    return (Math.floor((record.heardAt + this.graceOf(record)) / period) + 1) * period;
  }

  graceOf({ hasReported }: NodeHeartbeats): Millis {
    const { nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs } = this.#config;
    return hasReported ? nodeMonitorGracePeriodMs : nodeStartupGracePeriodMs;
  }

  /** Since when a node has been ready, as far as its own words go. */
  #meet(now: Instant, node: Node, lease: Lease | null): void {
    const ready = readyOf(node.conditions);
    const since = this.#clock.since(now, ready?.transitionAt);
    const record: NodeHeartbeats = {
      uid: node.uid,
      heardAt: now,
      unreachableAt: null,
      readySince: ready?.status === 'True' ? since : null,
      flaps: noFlaps,
      heartbeatAt: finite(ready?.heartbeatAt),
      leaseRenewedAt: lease?.renewedAt ?? null,
      hasReported: ready !== null,
    };
    this.#records.set(node.name, record);
    this.#due.set(node.name, this.unreachableAfter(record));
  }

  #hear(now: Instant, name: string, record: NodeHeartbeats): boolean {
    record.heardAt = now;
    if (record.unreachableAt === null) return false;
    record.unreachableAt = null;
    this.#due.set(name, this.unreachableAfter(record));
    return true;
  }

  #followReady(now: Instant, record: NodeHeartbeats, isReady: boolean): void {
    if (isReady) {
      record.readySince ??= now;
    } else if (record.readySince !== null) {
      record.readySince = null;
      record.flaps = [...record.flaps, now].slice(-flapsKeptMax);
    }
  }
}
