// When pods go that limits of taintmgr-controller hold back, by its own engine played forward.
import {
  type Command,
  type Config,
  createEngine,
  type Engine,
  type Event,
  type Node,
  type Pod,
  type PodExplanation,
} from '@taintmgr/core';
import {
  defaultWindowMs,
  type EvictionPolicy,
  isWindowed,
  type LimitHit,
  type LimitRecord,
  type LimitRule,
  limitId,
} from '@taintmgr/core/policy';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { PodFacts } from '../survey/facts.ts';
import type { RateInUse } from '../survey/taint-managers.ts';
import { leastOf } from '../text/count.ts';

/** The effect of a limit on one pod. */
export interface LimitedTime {
  /** As `resume` takes it. */
  readonly id: string;
  /** The limit stays shut until evictions are resumed. */
  readonly tripped: boolean;
  /** The time at which the pod leaves by it; null: unknown. */
  readonly goesAt: Instant | null;
  /** The pod surely does not leave earlier, as far as the limit is concerned. */
  readonly notBefore: Instant;
}

/** The known state of a cluster whose evictions are limited. */
export interface LimitedCluster {
  readonly now: Instant;
  readonly config: Partial<Config>;
  /** Policies, pauses and namespaces. */
  readonly events: readonly Event[];
  readonly nodes: readonly Node[];
  readonly pods: readonly PodFacts[];
  /** The counts of the limits; null: nothing is written. */
  readonly record: LimitRecord | null;
  /** The rates that the leader publishes. */
  readonly rates: readonly RateInUse[];
  /** True when budgets hold back a pod that is due to be evicted. */
  readonly isBlocked: (facts: PodFacts) => boolean;
}

/** Beyond this time the future is unknown. */
const aheadMsMax: Millis = 6 * 3_600_000;
/** The total number of times that pods may ask their limits. */
const asksMax = 200_000;
/**
 * A pod that budgets have refused has had its turn, and takes no other pod's place when it asks
 * again.
 */
const anything = {
  ...{ key: '', operator: 'Exists', value: '', effect: '' },
  tolerationSeconds: null,
} as const;
/** Who is not ready for longer may never be. */
const startMsMax: Millis = 5 * 60_000;
/** Who ends for longer than its grace period may be there for ever. */
const endMsMax: Millis = 60_000;
/** Less is no wait: a limit is written down before pods go. */
const waitMsMin: Millis = 1_000;

/**
 * Runs the controller's engine from now on as if only its own actions happened: each eviction is
 * accepted at once, and another pod is ready in its place; a pod that budgets hold back stays until
 * they are no longer asked. Pods that start at present are ready as well, and those that end are
 * gone. The limits' counts are read where the controller keeps them; the used part of a rate is not
 * published.
 */
export class LimitForecast {
  readonly #cluster: LimitedCluster;
  readonly #engine: Engine;
  readonly #facts: ReadonlyMap<string, PodFacts>;
  readonly #hits = new Map<string, LimitHit>();
  readonly #wentAt = new Map<string, Instant>();
  /** Of each zone, '' all, a node that no pod has to leave. */
  readonly #homes: ReadonlyMap<string, string>;
  /** Pods that are set aside until they are deleted, whatever budgets say; the first of them first. */
  readonly #aside: { readonly pod: Pod; readonly until: Instant }[] = [];
  #latest: Instant;

  constructor(cluster: LimitedCluster) {
    const { now, config, events, nodes, pods, record } = cluster;
    this.#cluster = cluster;
    this.#latest = now;
    const isCounted = countedIn(cluster);
    const counting = pods.flatMap((facts) => (isCounted(facts) ? [] : (asSoon(facts, now) ?? [])));
    this.#facts = new Map(counting.map((facts) => [facts.pod.uid, facts] as const));
    this.#engine = createEngine({
      ...config,
      leader: true,
      keepLimits: true,
      keepTaintStarts: false,
    });
    this.#homes = homesAmong(nodes);
    for (const event of events) this.#engine.handle(now, event);
    for (const node of nodes) this.#engine.handle(now, { kind: 'nodeUpsert', node });
    for (const { pod } of counting) this.#engine.handle(now, { kind: 'podUpsert', pod });
    this.#engine.handle(now, { kind: 'synced' });
    const kept = withoutOpen(record ?? {}, (uid) => this.#isThere(uid), now);
    const policies = events.flatMap((event) => (event.kind === 'policyUpsert' ? event.policy : []));
    const due = this.#duePods();
    const held = due.filter(({ pod: { uid } }) => this.#isHeld(uid));
    const waiting = due.filter((one) => !held.includes(one));
    const known = { now, policies, published: cluster.rates, waiting };
    for (const one of held) if (hadTurn(one, known)) this.#setAside(one.pod.uid);
    this.#aside.sort((a, b) => a.until - b.until);
    this.#engine.handle(now, {
      kind: 'limitRecord',
      record: withRates(kept, known),
      resume: null,
    });
    this.#play();
  }

  /** The effect of limits on a pod; null: none, or it does not leave. */
  of(uid: string): LimitedTime | null {
    const hit = this.#hits.get(uid);
    if (!hit) return null;
    const { now } = this.#cluster;
    const goesAt = this.#wentAt.get(uid) ?? null;
    if (goesAt !== null && goesAt - now < waitMsMin) return null;
    const tripped = hit.tripped && goesAt === null;
    const notBefore = goesAt ?? (tripped || this.#waitsForPods(uid) ? now : this.#latest);
    return { id: limitId(hit), tripped, goesAt, notBefore };
  }

  /** True when no passing time makes room for it, only other pods that become available. */
  #waitsForPods(uid: string): boolean {
    const attempt = this.#explained(uid)?.attempt ?? null;
    return attempt?.kind === 'queued' && attempt.hit !== null && attempt.roomAt === null;
  }

  #duePods(): readonly WaitingPod[] {
    const { now, nodes } = this.#cluster;
    return nodes.flatMap((node) => {
      const explanation = this.#engine.explain(now, { kind: 'node', name: node.name });
      const pods = explanation?.kind === 'node' ? explanation.pods : [];
      return pods.flatMap(({ pod, decision }) => {
        if (decision.kind !== 'evict' || decision.deadline > now - waitMsMin) return [];
        return this.#facts.has(pod.uid) ? [{ pod, node, dueAt: decision.deadline }] : [];
      });
    });
  }

  /** True when budgets are asked about it, and refuse. */
  #isHeld(uid: string): boolean {
    const facts = this.#facts.get(uid);
    if (!facts || !this.#cluster.isBlocked(facts)) return false;
    const { budgets } = this.#explained(uid) ?? { budgets: { kind: 'ignore' } };
    return budgets.kind !== 'ignore' && !this.#isPastBudgets(uid);
  }

  /** True when budgets have been asked about it for long enough. */
  #isPastBudgets(uid: string): boolean {
    const { deletedAt = null } = this.#explained(uid) ?? {};
    return deletedAt !== null && deletedAt <= this.#latest;
  }

  #explained(uid: string): PodExplanation | null {
    const { namespace, name } = this.#facts.get(uid)?.pod ?? { namespace: '', name: '' };
    const explanation = this.#engine.explain(this.#latest, { kind: 'pod', namespace, name, uid });
    return explanation?.kind === 'pod' ? explanation : null;
  }

  #setAside(uid: string): void {
    const pod = this.#facts.get(uid)?.pod;
    if (!pod) return;
    const { deletedAt = null } = this.#explained(uid) ?? {};
    if (deletedAt !== null) this.#aside.push({ pod, until: deletedAt });
    this.#handle({ kind: 'podUpsert', pod: { ...pod, tolerations: [anything] } });
  }

  #isThere(uid: string): boolean {
    const { deletionTimestamp = 0 } = this.#facts.get(uid)?.pod ?? {};
    return deletionTimestamp === null;
  }

  #play(): void {
    const end = this.#cluster.now + aheadMsMax;
    for (let asks = 0; asks < asksMax; asks += 1 + this.#waiting) {
      const [first] = this.#aside;
      const wake = leastOf([this.#engine.nextWake(), first?.until].flatMap((one) => one ?? []));
      if (wake === Number.POSITIVE_INFINITY) return;
      const at = Math.max(wake, this.#latest);
      if (at > end) {
        this.#latest = end;
        return;
      }
      this.#latest = at;
      if (first && first.until <= at) {
        this.#aside.shift();
        this.#handle({ kind: 'podUpsert', pod: first.pod });
      } else {
        this.#handle({ kind: 'tick' });
      }
    }
  }

  /** The number of pods that wait for room. */
  get #waiting(): number {
    return this.#hits.size - this.#wentAt.size;
  }

  #handle(event: Event): void {
    for (const command of this.#engine.handle(this.#latest, event)) this.#answer(command);
  }

  #answer(command: Command): void {
    switch (command.kind) {
      case 'report':
        if (command.report.kind === 'queued')
          this.#hits.set(command.report.pod.uid, command.report.hit);
        return;
      case 'evictPod':
      case 'deletePod':
        this.#remove(command.id, command.pod.uid, command.kind === 'evictPod');
        return;
      case 'readLimits':
      case 'keepLimits':
        this.#handle({ kind: 'result', id: command.id, outcome: { kind: 'done' } });
        return;
      default: // nothing that evictions wait for
    }
  }

  #remove(id: string, uid: string, asksBudgets: boolean): void {
    const facts = this.#facts.get(uid);
    if (asksBudgets && facts && this.#cluster.isBlocked(facts) && !this.#isPastBudgets(uid)) {
      this.#hits.delete(uid);
      const blocked = { kind: 'blocked', message: '', retryAfter: aheadMsMax } as const;
      this.#handle({ kind: 'result', id, outcome: blocked });
      return;
    }
    this.#wentAt.set(uid, this.#latest);
    this.#handle({ kind: 'result', id, outcome: { kind: 'done' } });
    if (facts) this.#replace(facts);
  }

  /** Its controller makes another at once, which is ready; a pod without one is gone. */
  #replace({ pod }: PodFacts): void {
    this.#handle({ kind: 'podDelete', uid: pod.uid });
    const zone = this.#cluster.nodes.find(({ name }) => name === pod.nodeName)?.zone ?? '';
    const nodeName = this.#homes.get(zone) ?? this.#homes.get('');
    if (!pod.owner || pod.owner.kind === 'DaemonSet' || nodeName === undefined) return;
    const name = `${pod.name}'s successor`;
    const successor = { ...pod, uid: name, name, nodeName, boundAt: this.#latest };
    this.#handle({ kind: 'podUpsert', pod: successor });
  }
}

/**
 * Pods that end after their eviction are among the evicted while that counts, and not unavailable.
 */
function countedIn({ now, events }: LimitedCluster): (facts: PodFacts) => boolean {
  const limits = events.flatMap((event) =>
    event.kind === 'policyUpsert' ? event.policy.limits.filter(isWindowed) : [],
  );
  const windowMs = Math.max(0, ...limits.map((limit) => limit.windowMs ?? defaultWindowMs));
  return ({ pod: { deletionTimestamp, disruption, gracePeriodSeconds = 0 } }) => {
    if (deletionTimestamp === null || disruption === undefined) return false;
    return deletionTimestamp - gracePeriodSeconds * 1000 > now - windowMs;
  };
}

/** The pod once those that start are ready, and those that end are gone, which is taken to be at once. */
function asSoon(facts: PodFacts, now: Instant): PodFacts | null {
  const { pod, createdAt } = facts;
  const { deletionTimestamp } = pod;
  if (deletionTimestamp !== null) return deletionTimestamp + endMsMax < now ? facts : null;
  const isStarting = pod.ready === 'False' && createdAt !== null && now - createdAt < startMsMax;
  return isStarting ? { ...facts, pod: { ...pod, ready: 'True' } } : facts;
}

function homesAmong(nodes: readonly Node[]): ReadonlyMap<string, string> {
  const free = nodes.filter(({ taints }) => !taints.some(({ effect }) => effect === 'NoExecute'));
  return new Map(
    free.flatMap(({ zone, name }) => [['', name] as const, [zone ?? '', name] as const]),
  );
}

/** A pod that is due and has not gone. */
interface WaitingPod {
  readonly pod: Pod;
  readonly node: Node;
  readonly dueAt: Instant;
}

/** The known state of rates. */
interface KnownRates {
  readonly now: Instant;
  readonly policies: readonly EvictionPolicy[];
  readonly published: readonly RateInUse[];
  readonly waiting: readonly WaitingPod[];
}

/**
 * The record with the rates in it. Where pods wait, a rate lets them go one by one, at even intervals
 * from the last instant that is known of it; where nothing was published, from when the first of them
 * was due.
 */
function withRates(record: LimitRecord, known: KnownRates): LimitRecord {
  const waits = waitsFor(known);
  const published = new Map(known.published.map(({ id, oneAt }) => [id, oneAt] as const));
  const entries = [...new Set([...published.keys(), ...waits.keys()])].map((id) => {
    const wait = waits.get(id);
    const oneAt = published.get(id) ?? wait?.since ?? known.now;
    const key = Object.keys(record).find((one) => one.startsWith(`${id}@`)) ?? `${id}@rate`;
    const counted = record[key] ?? { evicted: [], of: null, tripped: null };
    return [key, { ...counted, oneAt: wait ? nextAfter(known.now, oneAt, wait.everyMs) : oneAt }];
  });
  return { ...record, ...Object.fromEntries(entries) };
}

/**
 * True when a pod that is due, and that budgets refuse, has had its turn: it takes no other pod's
 * place when it asks again. Of a namespace the one that was due first goes first, and so does who
 * is refused.
 */
function hadTurn(one: WaitingPod, known: KnownRates): boolean {
  const { now, policies, published, waiting } = known;
  const isNext = waiting.every((other) => {
    return other.pod.namespace !== one.pod.namespace || isBefore(one, other);
  });
  if (!isNext) return false;
  const waits = waitsFor(known);
  return ratesOf(policies, one).every(({ id }) => {
    const wait = waits.get(id);
    if (!wait) return true;
    const oneAt = published.find((rate) => rate.id === id)?.oneAt ?? wait.since;
    return one.dueAt < nextAfter(now, oneAt, wait.everyMs) - wait.everyMs;
  });
}

function isBefore(one: WaitingPod, other: WaitingPod): boolean {
  return one.dueAt === other.dueAt ? one.pod.uid < other.pod.uid : one.dueAt < other.dueAt;
}

interface Wait {
  readonly since: Instant;
  readonly everyMs: number;
}

/** The rates for which pods wait, by the names of their limits. */
function waitsFor({ policies, waiting }: KnownRates): ReadonlyMap<string, Wait> {
  const waits = new Map<string, Wait>();
  for (const one of waiting) {
    for (const { id, everyMs } of ratesOf(policies, one)) {
      const since = Math.min(one.dueAt, waits.get(id)?.since ?? one.dueAt);
      waits.set(id, { since, everyMs });
    }
  }
  return waits;
}

/** The limits with a rate that a pod may count in. */
function ratesOf(
  policies: readonly EvictionPolicy[],
  { pod, node }: WaitingPod,
): readonly { readonly id: string; readonly everyMs: number }[] {
  return policies.flatMap(({ name, limits }) => {
    return limits.flatMap((rule) => {
      if (rule.podsPerSecond === undefined || rule.nodes) return [];
      const id = `${scopeFor(rule, pod, node)} policy=${name}`;
      return [{ id, everyMs: 1000 / rule.podsPerSecond }];
    });
  });
}

function scopeFor({ per }: LimitRule, pod: Pod, node: Node): string {
  return scopesOf(pod, node).find((scope) => scope === per || scope.startsWith(`${per}=`)) ?? per;
}

/** The first of the instants at even intervals that is still to come: who acts was there at its own. */
function nextAfter(now: Instant, at: Instant, everyMs: number): Instant {
  return at > now ? at : at + (Math.floor((now - at) / everyMs) + 1) * everyMs;
}

/** An eviction is written down before it begins, as if it came about this much later. */
const aheadMs: Millis = 60_000;

/**
 * The record as of `now`: an eviction that had only begun came about at once, unless its pod is still
 * there: it was refused, or is about to be sent. Such a pod asks the limit again.
 */
function withoutOpen(
  record: LimitRecord,
  isThere: (uid: string) => boolean,
  now: Instant,
): LimitRecord {
  const entries = Object.entries(record).map(([key, limit]) => {
    let open = limit.begun?.filter(isThere).length ?? 0;
    const evicted = limit.evicted.map(([at, count]) => {
      if (at <= now) return [at, count] as const;
      const left = Math.max(0, count - open);
      open -= count - left;
      return [Math.min(now, at - aheadMs), left] as const;
    });
    return [key, { ...limit, evicted: evicted.filter(([, count]) => count > 0) }] as const;
  });
  return Object.fromEntries(entries);
}

/** The scopes of a pod on its node, as limits are called. */
export function scopesOf(pod: Pod, node: Node | undefined): readonly string[] {
  const { owner } = pod;
  return [
    'total',
    node?.zone ? `zone=${node.zone}` : 'zone',
    `node=${pod.nodeName}`,
    `namespace=${pod.namespace}`,
    ...(owner ? [`workload=${pod.namespace}/${owner.kind}/${owner.name}`] : []),
    ...(node?.taints ?? []).map(({ key }) => `taint=${key}`),
  ];
}

/** `zone=eu/a` of `zone=eu/a nodes=pool=spot` and of `zone=eu/a policy=spot`. */
export function scopeIn(id: string): string {
  const [scope = ''] = id.split(/ (?:nodes|policy)=/, 1);
  return scope;
}
