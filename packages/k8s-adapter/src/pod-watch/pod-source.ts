import { type Config, concernsPods, type Event, type Pod, type PodView } from '@taintmgr/core';
import { earlier, type Instant, type Millis } from '@taintmgr/core/time';
import { type Answer, succeeded } from '../proto/answer.ts';
import { Calls, type ExchangeInput } from '../proto/exchange.ts';
import { asRecord, parseJson } from '../proto/json.ts';
import type { ReflectorInput } from '../proto/reflector.ts';
import { listRequest, podsPath, type RequestEffect } from '../proto/requests.ts';
import { type NewReflector, type PodEffect, PodStreams } from './pod-streams.ts';
import type { ReflectorStatus, Scope, Source, SourceEffect } from './source.ts';

type Views = Extract<Event, { kind: 'podViews' }>;

/**
 * The pods of all nodes, or of those that need it, as one chain of differences.
 *
 * Theory of operation. Each node that `concernsPods` names has one stream, which continues for a
 * while after that, so that a taint that comes and goes costs no list. When it ends its pods are
 * reported as deleted; they had no work by then, because nothing on their node was to go. Where too
 * many nodes need a stream all pods are read in one, and later by node again (ScopeChoice); so it
 * is while something needs all pods (AllPodsPolicies), or the node of our own pod is one of these:
 * whether it goes depends on our replicas, on whatever nodes they are. Of the first nodes there are
 * lists by then, which are short: evictions begin with what these bring.
 *
 * The pods of one scope stay known when another takes over: they wait until each new stream has its
 * first list, which reports them again, and a pod that is in none of the lists is gone. The new
 * lists are asked for after the old streams ended, so nothing old comes after something new.
 * Deadlines do not move by any of this: they count from what nodes and pods say.
 */
export class PodSource {
  #phase: 'idle' | 'counting' | 'reading' | 'stopped' = 'idle';
  #effects: PodEffect[] = [];
  #nodesKnown = false;
  #isAllNeeded = false;
  readonly #ownPod: Config['ownPod'];
  /** Null: our own pod was not seen. */
  #ownNode: string | null = null;
  #synced = false;
  #views: Views = { kind: 'podViews', others: 'watched', nodes: {} };
  /** The number of nodes that these name. */
  #viewedNodes = 0;
  /** Known from streams of another scope, and not yet from one of this. */
  readonly #waiting = new Set<string>();
  /** Another scope takes over: since then, and as of when each stream before knew its pods. */
  #turn: { readonly at: Instant; readonly before: ReadonlyMap<string, Instant | null> } | null =
    null;
  readonly #streams: PodStreams;
  readonly #needs: NodeNeeds;
  readonly #choice: ScopeChoice;
  readonly #count = new PodCount();
  readonly #mode: PodWatch['mode'];
  readonly #listsMax: number;

  constructor(options: PodWatch, newReflector: NewReflector, ownPod: Config['ownPod'] = null) {
    this.#ownPod = ownPod;
    this.#streams = new PodStreams(newReflector);
    this.#needs = new NodeNeeds(options.lingerMs);
    this.#choice = new ScopeChoice(options);
    this.#mode = options.mode;
    this.#listsMax = options.listsMax;
  }

  /** Takes one input; those of requests of others change nothing. */
  handle(now: Instant, input: ReflectorInput): readonly PodEffect[] {
    switch (input.kind) {
      case 'start':
        if (this.#phase === 'idle') this.#start(now);
        break;
      case 'stop':
        if (this.#phase === 'counting') this.#effects.push(...this.#count.abandon());
        this.#phase = 'stopped';
        this.#pass(this.#streams.feed(now, input));
        break;
      case 'tick':
        this.#tick(now);
        break;
      case 'returned':
        this.#pass(this.#streams.feed(now, input));
        break;
      default: {
        const counted = this.#phase === 'counting' ? this.#count.take(input) : null;
        // Such an answer was cut off by us, not ended by the server.
        if (counted && input.kind === 'chunk') this.#effects.push({ kind: 'abort', id: input.id });
        if (counted) this.#begin(now, counted.pods);
        else this.#pass(this.#streams.feed(now, input));
        if (this.#effects.length > 0) this.#reconcile(now);
      }
    }
    return this.#take();
  }

  /** Takes an input about a node. */
  follow(now: Instant, event: PodEffect): readonly PodEffect[] {
    if (event.kind === 'nodeUpsert') {
      this.#needs.update(now, event.node.name, concernsPods(event.node));
    } else if (event.kind === 'nodeDelete') this.#needs.update(now, event.name, false);
    else return [];
    this.#reconcile(now);
    return this.#take();
  }

  /** All nodes are known: `synced` comes when the pods of those that need it are, too. */
  nodesSynced(now: Instant): readonly PodEffect[] {
    this.#nodesKnown = true;
    this.#reconcile(now);
    return this.#take();
  }

  /** From now on the pods of all nodes are needed, or no longer. */
  readAll(now: Instant, isNeeded: boolean): readonly PodEffect[] {
    this.#isAllNeeded = isNeeded;
    this.#reconcile(now);
    return this.#take();
  }

  /** True if the pods of all nodes are known. */
  get readsAll(): boolean {
    return this.#choice.scope === 'all' && this.#streams.podsInAll !== null;
  }

  nextWake(): Instant | null {
    if (this.#phase === 'stopped') return null;
    const ofNeeds = earlier(this.#needs.nextWake(), this.#choice.nextWake());
    return earlier(ofNeeds, earlier(this.#count.nextWake(), this.#streams.nextWake()));
  }

  /** Returns one row for each stream; a single row for the coming streams, before there is any. */
  status(): readonly ReflectorStatus[] {
    const rows = this.#streams.status();
    const isYetToCome = rows.length === 0 && !this.#synced;
    return isYetToCome ? [{ resource: 'pods', state: 'Idle', heardAt: null }] : rows;
  }

  /** Tells whether changes of pods that have been read are not heard of now. */
  isCutOff(): boolean {
    return this.#streams.isCutOff();
  }

  /**
   * As of when the pods of a node are known; null: they are not. While another scope takes over each was
   * reported by the streams before, or since by these.
   */
  heardAt(nodeName: string): Instant | null {
    const { before, at = null } = this.#turn ?? {};
    const reported = before?.get('') ?? before?.get(nodeName) ?? at;
    return this.#streams.heardAt(nodeName) ?? reported;
  }

  #take(): readonly PodEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #pass(effects: readonly PodEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'podUpsert') {
        this.#waiting.delete(effect.pod.uid);
        this.#noteOwn(effect.pod);
      }
      this.#effects.push(effect);
    }
  }

  #noteOwn({ namespace, name, nodeName }: Pod): void {
    if (name === this.#ownPod?.name && namespace === this.#ownPod.namespace) {
      this.#ownNode = nodeName;
    }
  }

  #start(now: Instant): void {
    if (this.#mode === 'tainted-nodes') this.#begin(now, null);
    else {
      this.#phase = 'counting';
      this.#effects.push(this.#count.begin(now));
    }
  }

  #begin(now: Instant, pods: number | null): void {
    this.#phase = 'reading';
    this.#choice.begin(pods, this.#isAllNeeded);
    this.#enter(now, pods);
    this.#reconcile(now);
  }

  #tick(now: Instant): void {
    const abort = this.#count.expire(now);
    if (abort) {
      this.#effects.push(abort);
      this.#begin(now, null);
    }
    this.#pass(this.#streams.feed(now, { kind: 'tick' }));
    this.#reconcile(now);
  }

  /** Makes streams match the needs. Before all nodes are known the needs are unknown. */
  #reconcile(now: Instant): void {
    if (this.#phase !== 'reading' || !this.#nodesKnown) return;
    this.#needs.expire(now);
    this.#chooseScope(now);
    if (this.#choice.scope === 'byNode') this.#matchNodes(now);
    const isBetween = this.#choice.scope === 'byNode' && this.#choice.isAllSoon;
    if (this.#streams.synced && !isBetween) this.#finishScope();
    this.#reportViews();
  }

  /** From all pods only when they are known. */
  #chooseScope(now: Instant): void {
    const pods = this.#streams.podsInAll;
    if (this.#choice.scope === 'all' && pods === null) return;
    const isOwnNeeded = this.#ownNode !== null && this.#needs.has(this.#ownNode);
    const [nodes, isAllNeeded] = [this.#needs.size, this.#isAllNeeded || isOwnNeeded];
    const isListing = !this.#streams.synced;
    if (!this.#choice.review(now, { nodes, pods: pods ?? 0, isAllNeeded, isListing })) return;
    this.#turn = { at: now, before: this.#streams.heardAts() };
    this.#pass(this.#streams.abandon(now, this.#waiting));
    this.#enter(now, pods);
  }

  /** `pods`: how many there are, where that is known. */
  #enter(now: Instant, pods: number | null): void {
    const { scope } = this.#choice;
    const notice = { kind: 'podScope', scope, nodes: this.#needs.size, pods } as const;
    this.#effects.push({ kind: 'notice', notice });
    if (scope === 'all') this.#pass(this.#streams.open(now, null));
  }

  #matchNodes(now: Instant): void {
    for (const nodeName of this.#streams.nodeNames()) {
      if (nodeName !== null && !this.#needs.has(nodeName)) {
        this.#pass(this.#streams.close(now, nodeName));
      }
    }
    if (!this.#choice.isAllSoon) this.#openMore(now);
  }

  #openMore(now: Instant): void {
    let room = this.#listsMax - this.#streams.listing;
    for (const nodeName of this.#needs.names()) {
      if (room <= 0) return;
      if (this.#streams.has(nodeName)) continue;
      this.#pass(this.#streams.open(now, nodeName));
      room -= 1;
    }
  }

  #finishScope(): void {
    this.#turn = null;
    for (const uid of this.#waiting) this.#effects.push({ kind: 'podDelete', uid });
    this.#waiting.clear();
    if (this.#synced) return;
    this.#synced = true;
    this.#effects.push({ kind: 'synced' });
  }

  /** Node by node only where each has a stream: there are few of these, but of nodes may be many. */
  #reportViews(): void {
    const others = this.#viewOfOthers();
    if (this.#isReported(others)) return;
    const nodes: Record<string, PodView> = {};
    this.#viewedNodes = 0;
    for (const name of this.#namesToView()) {
      if (name === null) continue;
      nodes[name] = this.#streams.viewOf(name);
      this.#viewedNodes += 1;
    }
    this.#views = { kind: 'podViews', others, nodes };
    this.#effects.push(this.#views);
  }

  /** Asked with each change of a pod: nothing is made for it. */
  #isReported(others: PodView): boolean {
    if (others !== this.#views.others) return false;
    let count = 0;
    for (const name of this.#namesToView()) {
      if (name === null) continue;
      if (this.#views.nodes[name] !== this.#streams.viewOf(name)) return false;
      count += 1;
    }
    return count === this.#viewedNodes;
  }

  #namesToView(): Iterable<string | null> {
    return this.#choice.isAllSoon ? this.#streams.nodeNames() : this.#needs.names();
  }

  #viewOfOthers(): PodView {
    if (!this.#choice.isAllSoon) return 'unread';
    if (this.#choice.scope === 'byNode') return 'reading';
    return this.#streams.synced ? 'watched' : 'reading';
  }
}

/**
 * The nodes whose pods are needed, and for a while longer. A need lingers for a while after it is
 * over, so that a taint that comes and goes costs no list each time.
 */
class NodeNeeds {
  readonly #lingerMs: Millis;
  readonly #needed = new Set<string>();
  /** By node, until when; in the order of these instants. */
  readonly #lingering = new Map<string, Instant>();

  constructor(lingerMs: Millis) {
    this.#lingerMs = lingerMs;
  }

  /** The number of nodes whose pods are read, lingering ones included. */
  get size(): number {
    return this.#needed.size + this.#lingering.size;
  }

  has(nodeName: string): boolean {
    return this.#needed.has(nodeName) || this.#lingering.has(nodeName);
  }

  *names(): Iterable<string> {
    yield* this.#needed;
    yield* this.#lingering.keys();
  }

  /** Takes in whether a node's pods are needed; a node that is gone needs none. */
  update(now: Instant, nodeName: string, isNeeded: boolean): void {
    if (isNeeded) {
      this.#lingering.delete(nodeName);
      this.#needed.add(nodeName);
    } else if (this.#needed.delete(nodeName)) {
      this.#lingering.set(nodeName, now + this.#lingerMs);
    }
  }

  /** Forgets what has lingered long enough. */
  expire(now: Instant): void {
    for (const [nodeName, until] of this.#lingering) {
      if (until > now) return;
      this.#lingering.delete(nodeName);
    }
  }

  /** When something has; null: nothing lingers. */
  nextWake(): Instant | null {
    for (const until of this.#lingering.values()) return until;
    return null;
  }
}

const id = 'pods.count/1';

/** The number of pods there are; null where it is unknown. */
interface Counted {
  readonly pods: number | null;
}

/** Asks once how many pods there are, without reading them: a page of one says how many follow. */
class PodCount {
  readonly #calls = new Calls<null>();

  begin(now: Instant): RequestEffect {
    const request = listRequest(podsPath, { limit: 1 });
    this.#calls.begin(now, id, request, null);
    return { kind: 'send', id, request };
  }

  /** Takes a part of the answer, which may be another's; null: the answer has not ended. */
  take(input: ExchangeInput): Counted | null {
    const call = this.#calls.take(input);
    return call && { pods: countIn(call.answer) };
  }

  /** Null: there is time yet, or nothing was asked. Else the time is up. */
  expire(now: Instant): RequestEffect | null {
    return this.#calls.expire(now).length === 0 ? null : { kind: 'abort', id };
  }

  /** Anything that has been asked is not waited for any more. */
  abandon(): readonly RequestEffect[] {
    return this.#calls.size === 0 ? [] : [{ kind: 'abort', id }];
  }

  nextWake(): Instant | null {
    return this.#calls.nextWake();
  }
}

function countIn(answer: Answer): number | null {
  if (!succeeded(answer)) return null;
  const { items, metadata } = asRecord(parseJson(answer.body));
  const { continue: next, remainingItemCount } = asRecord(metadata);
  if (!Array.isArray(items)) return null;
  if (!next) return items.length;
  return typeof remainingItemCount === 'number' ? items.length + remainingItemCount : null;
}

/** Nodes, and the pods of those that need it, as one collection. */
export function nodesAndPods(nodes: Source, pods: PodSource): Source {
  return {
    handle(now, input) {
      const effects: (Event | SourceEffect)[] = [];
      for (const effect of nodes.handle(now, input)) {
        const isSynced = effect.kind === 'synced';
        if (!isSynced) effects.push(effect);
        add(effects, isSynced ? pods.nodesSynced(now) : pods.follow(now, effect));
      }
      add(effects, pods.handle(now, input));
      return effects;
    },
    nextWake: () => earlier(nodes.nextWake(), pods.nextWake()),
    status: () => [...nodes.status(), ...pods.status()],
    isCutOff: () => nodes.isCutOff() || pods.isCutOff(),
    heardAt(nodeName) {
      const [ofNode, ofPods] = [nodes.heardAt(nodeName), pods.heardAt(nodeName)];
      return ofNode === null || ofPods === null ? null : Math.min(ofNode, ofPods);
    },
  };
}

/**
 * Adds the effects separately: there may be a million, and a call has no room for so many
 * arguments.
 */
function add<T>(effects: T[], more: readonly T[]): void {
  for (const effect of more) effects.push(effect);
}

/** The choice of pods that are read, and when it changes. */
export interface PodWatch {
  /** `auto`: by node in a cluster that is large; `tainted-nodes`: by node in any. */
  readonly mode: 'auto' | 'tainted-nodes';
  /** The number of pods that makes a cluster large. */
  readonly podsMin: number;
  /** Streams at once, one for each node; where more nodes need one, all pods are read. */
  readonly nodesMax: number;
  /** The number of lists of single nodes under way at once: evictions must find the server free. */
  readonly listsMax: number;
  /** A stream continues for this time after its node no longer needs it. */
  readonly lingerMs: Millis;
  /** All pods are read until at most half of `nodesMax` needed it for this time. */
  readonly calmMs: Millis;
}

/** The usual choice: all pods in small clusters, the pods of tainted nodes in large ones. */
export const defaultPodWatch: PodWatch = {
  mode: 'auto',
  podsMin: 50_000,
  nodesMax: 64,
  listsMax: 8,
  lingerMs: 300_000,
  calmMs: 300_000,
};

/** The circumstances that the choice depends on. */
interface Circumstances {
  /** Nodes whose pods are needed. */
  readonly nodes: number;
  /** Pods in the cluster. */
  readonly pods: number;
  /** Something needs the pods of all nodes. */
  readonly isAllNeeded: boolean;
  /** Lists of single nodes are under way. */
  readonly isListing: boolean;
}

/** The pods that lists of single nodes have brought have the server to themselves for this time. */
const headStartMs: Millis = 500;
/** The longest wait for them, with the head start. */
const turnMsMax: Millis = 2000;

/**
 * Chooses the scope: all, while anything needs it. Where nodes become too many, lists of the first of them
 * are under way: it turns to all a moment after these have come, so that their pods go first. Back it goes only
 * after a time of calm with half as many, so that a number near the limit does not move it to and
 * fro. A cluster that has become small is no reason to change: by node is as good there.
 */
export class ScopeChoice {
  readonly #options: PodWatch;
  #scope: Scope = 'all';
  #calmSince: Instant | null = null;
  /** Since when nodes are too many to be read by themselves; null: they are not. */
  #tooManySince: Instant | null = null;
  #headStartUntil: Instant = Number.NEGATIVE_INFINITY;

  constructor(options: PodWatch) {
    this.#options = options;
  }

  get scope(): Scope {
    return this.#scope;
  }

  /** True if all pods are read, or soon will be. */
  get isAllSoon(): boolean {
    return this.#scope === 'all' || this.#tooManySince !== null;
  }

  /** The scope to begin with. `pods` is null where that is not known. */
  begin(pods: number | null, isAllNeeded: boolean): void {
    this.#scope = this.#isLarge(pods ?? 0) && !isAllNeeded ? 'byNode' : 'all';
  }

  /** Tells whether the scope is another from now on. */
  review(now: Instant, circumstances: Circumstances): boolean {
    const { nodesMax, calmMs } = this.#options;
    const { nodes, pods, isAllNeeded, isListing } = circumstances;
    if (this.#scope === 'byNode') {
      const isTooMany = nodes > nodesMax;
      this.#tooManySince = isTooMany ? (this.#tooManySince ?? now) : null;
      return (isAllNeeded || (isTooMany && this.#isTime(now, isListing))) && this.#turn('all');
    }
    const isCalm = !isAllNeeded && nodes <= nodesMax / 2 && this.#isLarge(pods);
    this.#calmSince = isCalm ? (this.#calmSince ?? now) : null;
    const isOver = this.#calmSince !== null && now >= this.#calmSince + calmMs;
    return isOver && this.#turn('byNode');
  }

  /** The end of the time of calm, or of the head start; null: there is none. */
  nextWake(): Instant | null {
    if (this.#tooManySince !== null) return this.#headStartUntil;
    return this.#calmSince === null ? null : this.#calmSince + this.#options.calmMs;
  }

  /** Tells whether the head start is over; where nothing is being listed there is none. */
  #isTime(now: Instant, isListing: boolean): boolean {
    const latest = (this.#tooManySince ?? now) + turnMsMax;
    if (isListing) this.#headStartUntil = Math.min(now + headStartMs, latest);
    return now >= this.#headStartUntil;
  }

  #turn(scope: Scope): boolean {
    this.#scope = scope;
    this.#calmSince = null;
    this.#tooManySince = null;
    return true;
  }

  #isLarge(pods: number): boolean {
    return this.#options.mode === 'tainted-nodes' || pods >= this.#options.podsMin;
  }
}
