// Device taint eviction exactly as kube-controller-manager 1.36.2 does it, defects included.
import type { Instant, Millis } from '../kernel/time.ts';
import { TokenBucket } from '../kernel/token-bucket.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';
import {
  type ClaimingPodEvent,
  type DeviceEvent,
  type DeviceId,
  type DeviceTaintRule,
  type EvictionProgress,
  formatDevice,
  type ResourceClaim,
  type ResourceSlice,
  selectsDevice,
} from './device.ts';
import { Devices } from './devices.ts';
import { conditionOf, isSameCondition } from './rule-condition.ts';
import type { DeviceCause } from './verdict.ts';
import { WorkQueue } from './work-queue.ts';

/** The events of the machine: what its informers bring, and what its loop tells it. */
export type UpstreamDeviceEvent =
  | DeviceEvent
  | ClaimingPodEvent
  /** The pod of a command was read and is there: its deletion begins. */
  | { readonly kind: 'markingPod'; readonly pod: PodRef }
  | { readonly kind: 'leadership'; readonly held: boolean }
  | { readonly kind: 'synced' }
  | { readonly kind: 'clock'; readonly ahead: Millis }
  | { readonly kind: 'view'; readonly current: boolean }
  | { readonly kind: 'result'; readonly id: string; readonly outcome: { readonly kind: string } }
  | { readonly kind: 'tick' };

/**
 * A command of the controller. `deleteForDevices` and `applyRuleStatus` are answered by an event
 * with the id.
 */
export type UpstreamDeviceCommand =
  /**
   * GET the pod; one that terminates is left (`done`), one of another uid is `gone`. Else say so (`markingPod`),
   * PATCH its condition DisruptionTarget if that is another, and DELETE it with the uid as precondition.
   */
  | {
      readonly kind: 'deleteForDevices';
      readonly id: string;
      readonly pod: PodRef;
      readonly because: readonly DeviceCause[];
    }
  /** Apply the condition EvictionInProgress to the status of the rule, if that has the uid still. */
  | {
      readonly kind: 'applyRuleStatus';
      readonly id: string;
      readonly rule: { readonly name: string; readonly uid: string };
      readonly condition: EvictionProgress;
    }
  /** Write a Kubernetes Event about the pod. */
  | {
      readonly kind: 'recordDeviceEvent';
      readonly pod: PodRef;
      readonly reason: 'DeviceTaintManagerEviction';
      readonly message: 'Marking for deletion' | 'Cancelling deletion';
    };

/** The settings of kube-controller-manager that count. */
export interface UpstreamDeviceOptions {
  /** Gate DRADeviceTaintRules: off, rules make no pod go and get no status. On when left out. */
  readonly rules?: boolean;
  /** --concurrent-device-taint-eviction-syncs; 8 when left out. */
  readonly workers?: number;
  /** --kube-api-qps and --kube-api-burst; 20 and 30 when left out. */
  readonly qps?: number;
  /** --kube-api-burst: requests that may begin at once. */
  readonly burst?: number;
  /** Acts from the beginning, as one that needs no election; true when left out. */
  readonly leader?: boolean;
}

/** The plan for a pod, by the taints that count. */
interface Planned {
  readonly pod: PodRef;
  readonly when: Instant;
  readonly because: readonly DeviceCause[];
  /** The uids and names of the rules among the reasons. */
  readonly rules: ReadonlyMap<string, string>;
}

/** A round of a pod: three requests, and its share of the one goroutine that writes Events beside 8 workers. */
const requestsPerRound = 3 + 3 / 8;
/** Of a round whose PATCH is refused: GET, PATCH and that of its Event. */
const requestsPerRefusedRound = 3;
const statusPeriodMs: Millis = 10_000;
const rememberedMax = 500;

/**
 * kube-controller-manager 1.36.2's device-taint-eviction-controller. Theory of operation: each pod
 * with a deadline is an item in a work queue, each rule another. An event looks at the pods of the
 * claims that it concerns: a deadline is planned, or one that was is cancelled with an Event. A
 * worker takes an item, and when a pod is due, makes it leave in one round of requests; what fails
 * is tried again for ever. The rule's status is counted again 10 s after something about its pods
 * has changed, and at once when its spec has. While the status is written no other item begins,
 * since upstream holds its lock meanwhile.
 */
export class UpstreamDeviceEviction {
  readonly #options: Required<UpstreamDeviceOptions>;
  readonly #devices = new Devices();
  #now: Instant = 0;
  #ahead: Millis = 0;
  #synced = false;
  #leader: boolean;
  #running = false;
  #serial = 0;
  #queue: WorkQueue;
  #bucket: TokenBucket;
  #planned = new Map<string, Planned>();
  /** The uids of those that were removed; a bounded number is remembered. */
  #evicted = new Set<string>();
  /** Pods that left for a rule, by its uid. */
  #counts = new Map<string, number>();
  /** The item of each command under way, and what was planned for its pod. */
  #underWay = new Map<string, { readonly item: string; readonly planned: Planned | null }>();
  #commands: UpstreamDeviceCommand[] = [];

  constructor(options: UpstreamDeviceOptions = {}) {
    const { rules = true, workers = 8, qps = 20, burst = 30, leader = true } = options;
    this.#options = { rules, workers, qps, burst, leader };
    this.#leader = leader;
    this.#queue = new WorkQueue(workers);
    this.#bucket = this.#newBucket();
  }

  /** Takes an event; returns the commands that are due. `now` never goes back. */
  handle(now: Instant, event: UpstreamDeviceEvent): readonly UpstreamDeviceCommand[] {
    this.#commands = [];
    this.#now = now;
    if (event.kind === 'clock') this.#ahead = event.ahead;
    if (event.kind === 'synced') this.#synced = true;
    if (event.kind === 'leadership') this.#leader = event.held;
    this.#follow(now, event);
    const running = this.#synced && this.#leader;
    if (running !== this.#running) this.#turn(now, running);
    if (this.#running) this.#work(now);
    return this.#commands;
  }

  /** The earliest instant at which a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null {
    if (!this.#running || this.#isLocked) return null;
    const next = this.#queue.isReady ? this.#now : this.#queue.nextWake();
    // A due item has to wait for its turn with the client.
    return next && Math.max(next, this.#bucket.readyAt(this.#now, requestsPerRound));
  }

  /** The instant at which the pod of this uid is planned to leave; null: nothing is planned. */
  plannedFor(uid: string): Instant | null {
    for (const { pod, when } of this.#planned.values()) if (pod.uid === uid) return when;
    return null;
  }

  #newBucket(): TokenBucket {
    const { qps, burst } = this.#options;
    return new TokenBucket(qps, Math.max(requestsPerRound, burst));
  }

  /** A start looks at everything again; a stop forgets everything. */
  #turn(now: Instant, running: boolean): void {
    this.#running = running;
    this.#queue = new WorkQueue(this.#options.workers);
    this.#bucket = this.#newBucket();
    this.#planned = new Map();
    this.#evicted = new Set();
    this.#counts = new Map();
    this.#underWay = new Map();
    if (!running) return;
    for (const rule of this.#devices.rules()) this.#queue.add(ruleItem(rule));
    for (const pod of this.#devices.pods()) this.#lookAtPod(now, pod);
  }

  #follow(now: Instant, event: UpstreamDeviceEvent): void {
    switch (event.kind) {
      case 'resourceSliceUpsert':
        this.#followSlice(now, event, event.slice.name);
        break;
      case 'resourceSliceDelete':
        this.#followSlice(now, event, event.name);
        break;
      case 'deviceTaintRuleUpsert':
        this.#followRule(now, event, event.rule.name, event.rule);
        break;
      case 'deviceTaintRuleDelete':
        this.#followRule(now, event, event.name, null);
        break;
      case 'resourceClaimUpsert':
        this.#followClaim(now, event, event.claim);
        break;
      case 'resourceClaimDelete':
        this.#followClaim(now, event, event);
        break;
      case 'podUpsert':
      case 'podDelete':
        this.#followPod(now, event);
        break;
      case 'markingPod':
        this.#record(event.pod, 'Marking for deletion');
        break;
      case 'result':
        this.#answered(now, event.id, event.outcome.kind);
        break;
      default: // told of already, or nothing to it
    }
  }

  /** Claims with a device whose taints by its driver have changed; a slice that says the same concerns none. */
  #followSlice(now: Instant, event: DeviceEvent, name: string): void {
    const before = this.#devices.slice(name);
    const pools = before ? [before] : [];
    if (event.kind === 'resourceSliceUpsert') pools.push(event.slice);
    const held = this.#allocatedIn(pools);
    const was = this.#sliceTaints(held);
    this.#devices.handle(event);
    const is = this.#sliceTaints(held);
    const changed = new Set([...held.keys()].filter((key) => was.get(key) !== is.get(key)));
    for (const claim of this.#devices.claims()) {
      if (claim.allocated?.some((id) => changed.has(formatDevice(id)))) this.#lookAt(now, claim);
    }
  }

  #allocatedIn(pools: readonly ResourceSlice[]): ReadonlyMap<string, DeviceId> {
    const held = new Map<string, DeviceId>();
    for (const { allocated } of this.#devices.claims()) {
      for (const id of allocated ?? []) {
        const isIn = pools.some(({ driver, pool }) => driver === id.driver && pool === id.pool);
        if (isIn) held.set(formatDevice(id), id);
      }
    }
    return held;
  }

  #sliceTaints(held: ReadonlyMap<string, DeviceId>): ReadonlyMap<string, string> {
    const texts = Array.from(held, ([key, id]) => {
      const taints = this.#devices.taintsOf(id).flatMap(({ taint, source }) => {
        return source.kind === 'slice' && taint.effect === 'NoExecute' ? [taint] : [];
      });
      return [key, JSON.stringify(taints)] as const;
    });
    return new Map(texts);
  }

  /** A change of its spec, and only that, looks at all claims that it concerns or did, and at its status. */
  #followRule(now: Instant, event: DeviceEvent, name: string, rule: DeviceTaintRule | null): void {
    if (!this.#options.rules) return;
    const before = this.#devices.rule(name);
    this.#devices.handle(event);
    if (before && rule?.uid !== before.uid) this.#counts.delete(before.uid);
    if (before && rule && isSameSpec(before, rule)) return;
    if (rule) this.#queue.add(ruleItem(rule));
    const acting = [before, rule].flatMap((one) =>
      one?.taint.effect === 'NoExecute' ? [one.selector] : [],
    );
    for (const claim of this.#devices.claims()) {
      const isConcerned = claim.allocated?.some((id) =>
        acting.some((selector) => selectsDevice(selector, id)),
      );
      if (isConcerned) this.#lookAt(now, claim);
    }
  }

  /** Any update of a claim that is or was allocated looks at those that it is or was reserved for. */
  #followClaim(
    now: Instant,
    event: DeviceEvent,
    { namespace, name }: Pick<ResourceClaim, 'namespace' | 'name'>,
  ): void {
    const before = this.#devices.claim(namespace, name);
    this.#devices.handle(event);
    const after = this.#devices.claim(namespace, name);
    if (!before?.allocated && !after?.allocated) return;
    const isSame = JSON.stringify(before?.reservedFor) === JSON.stringify(after?.reservedFor);
    if (before && !isSame) this.#lookAt(now, before);
    if (after ?? before) this.#lookAt(now, (after ?? before) as ResourceClaim);
  }

  /** Of a pod only its node and its claims matter; one that is gone is forgotten without a word. */
  #followPod(now: Instant, event: ClaimingPodEvent): void {
    const uid = event.kind === 'podUpsert' ? event.pod.uid : event.uid;
    const before = this.#devices.pod(uid);
    this.#devices.handle(event);
    const after = this.#devices.pod(uid);
    if (!after) {
      if (before) this.#planned.delete(podItem(before));
      return;
    }
    const isSame =
      before?.nodeName === after.nodeName &&
      JSON.stringify(before.claims) === JSON.stringify(after.claims);
    if (!isSame) this.#lookAtPod(now, after);
  }

  #lookAt(now: Instant, { namespace, reservedFor }: ResourceClaim): void {
    for (const uid of reservedFor) {
      const pod = this.#devices.pod(uid);
      if (pod?.namespace === namespace) this.#lookAtPod(now, pod);
    }
  }

  /**
   * Plans the pod's deletion, or cancels what was planned. A pod that already left is planned
   * again, without effect.
   */
  #lookAtPod(now: Instant, pod: Pod): void {
    if (!this.#running) return;
    const item = podItem(pod);
    const planned = this.#plan(pod);
    if (!planned) {
      if (this.#planned.delete(item)) this.#record(podRef(pod), 'Cancelling deletion');
      return;
    }
    this.#planned.set(item, planned);
    const at = planned.when - this.#ahead;
    if (at <= now) this.#queue.add(item);
    else this.#queue.addAt(item, at);
    this.#recount(now, planned);
  }

  #plan(pod: Pod): Planned | null {
    const verdict = this.#devices.verdictOf(pod, { withRules: this.#options.rules });
    if (verdict.at === null) return null;
    const rules = new Map<string, string>();
    for (const { source } of verdict.causes) {
      const rule = source.kind === 'rule' ? this.#devices.rule(source.name) : null;
      if (rule) rules.set(rule.uid, rule.name);
    }
    return { pod: podRef(pod), when: verdict.at, because: verdict.causes, rules };
  }

  /** The status of the rules among the reasons is looked at a while later, as more may come. */
  #recount(now: Instant, { rules }: Planned): void {
    for (const [uid, name] of rules) {
      this.#queue.addAt(ruleItem({ name, uid }), now + statusPeriodMs);
    }
  }

  get #isLocked(): boolean {
    return [...this.#underWay.values()].some(({ planned }) => planned === null);
  }

  #work(now: Instant): void {
    while (!this.#isLocked && this.#bucket.has(now, requestsPerRound)) {
      const item = this.#queue.take(now);
      if (item === null) return;
      if (item.startsWith('rule ')) this.#workOnRule(now, item);
      else this.#workOnPod(now, item);
    }
  }

  #workOnPod(now: Instant, item: string): void {
    const planned = this.#planned.get(item);
    if (!planned || this.#evicted.has(planned.pod.uid)) {
      this.#queue.end(item);
      return;
    }
    const at = planned.when - this.#ahead;
    if (at > now) {
      this.#queue.end(item, at);
      return;
    }
    const id = this.#begin(now, item, planned);
    const { pod, because } = planned;
    this.#commands.push({ kind: 'deleteForDevices', id, pod, because });
  }

  #workOnRule(now: Instant, item: string): void {
    const [, uid = '', name = ''] = item.split(' ');
    const rule = this.#devices.rule(name);
    if (rule?.uid !== uid) {
      this.#queue.end(item);
      return;
    }
    const { progress, generation } = rule;
    const writtenAt = progress?.observedGeneration === generation ? progress.transitionAt : null;
    const next = writtenAt === null ? now : writtenAt + statusPeriodMs - this.#ahead;
    if (next > now) {
      this.#queue.end(item, next);
      return;
    }
    const condition = conditionOf(rule, this.#counted(rule));
    if (isSameCondition(progress, condition)) {
      this.#queue.end(item);
      return;
    }
    const id = this.#begin(now, item, null);
    // Kubernetes' times have whole seconds.
    const transitionAt = Math.floor((now + this.#ahead) / 1000) * 1000;
    this.#commands.push({
      ...{ kind: 'applyRuleStatus', id, rule: { name, uid } },
      condition: { ...condition, transitionAt },
    });
  }

  #begin(now: Instant, item: string, planned: Planned | null): string {
    this.#bucket.take(now, planned ? requestsPerRound : 1);
    this.#serial += 1;
    const id = `devices/${this.#serial}`;
    this.#underWay.set(id, { item, planned });
    return id;
  }

  /** The numbers of a rule's status: pods that terminate are no longer pending. */
  #counted(rule: DeviceTaintRule): Parameters<typeof conditionOf>[1] {
    const evicted = this.#counts.get(rule.uid) ?? 0;
    const isNone = rule.taint.effect === 'None';
    const reach = isNone ? this.#devices.reachOf(rule) : null;
    const pending = reach
      ? reach.pods.map(({ pod }) => pod)
      : [...this.#devices.pods()].filter((pod) => this.#plan(pod)?.rules.has(rule.uid));
    const staying = pending.filter(({ deletionTimestamp }) => deletionTimestamp === null);
    return {
      evicted,
      published: reach?.published.length ?? 0,
      allocated: reach?.allocated.length ?? 0,
      pods: staying.length,
      namespaces: new Set(staying.map(({ namespace }) => namespace)).size,
    };
  }

  #answered(now: Instant, id: string, outcome: string): void {
    const underWay = this.#underWay.get(id);
    if (!underWay) return;
    this.#underWay.delete(id);
    const { item, planned } = underWay;
    if (planned && (outcome === 'done' || outcome === 'gone')) {
      this.#planned.delete(item);
      this.#remember(planned.pod.uid);
      if (outcome === 'done') this.#count(now, planned);
      this.#queue.end(item);
    } else if (outcome === 'done') this.#queue.end(item);
    else {
      if (planned) this.#bucket.putBack(now, requestsPerRound - requestsPerRefusedRound);
      this.#queue.fail(now, item);
    }
  }

  #remember(uid: string): void {
    this.#evicted.add(uid);
    const [oldest] = this.#evicted;
    if (this.#evicted.size > rememberedMax && oldest !== undefined) this.#evicted.delete(oldest);
  }

  /** A pod that was found terminating counts as evicted, regardless of who deleted it. */
  #count(now: Instant, planned: Planned): void {
    for (const uid of planned.rules.keys()) {
      this.#counts.set(uid, (this.#counts.get(uid) ?? 0) + 1);
    }
    this.#recount(now, planned);
  }

  #record(pod: PodRef, message: 'Marking for deletion' | 'Cancelling deletion'): void {
    const reason = 'DeviceTaintManagerEviction';
    this.#commands.push({ kind: 'recordDeviceEvent', pod, reason, message });
  }
}

function podItem({ namespace, name, uid }: PodRef): string {
  return `pod ${uid} ${namespace}/${name}`;
}

function ruleItem({ name, uid }: Pick<DeviceTaintRule, 'name' | 'uid'>): string {
  return `rule ${uid} ${name}`;
}

function isSameSpec(one: DeviceTaintRule, other: DeviceTaintRule): boolean {
  const spec = ({ uid, selector, taint }: DeviceTaintRule): string =>
    JSON.stringify([uid, selector, taint]);
  return spec(one) === spec(other);
}
