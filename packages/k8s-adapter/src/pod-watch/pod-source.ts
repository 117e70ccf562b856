import { concernsPods, type Event, type Instant, type Pod, type PodView } from '@taintmgr/core';
import type { Reflector, ReflectorInput } from '../proto/reflector.ts';
import { isCutOff, type ReflectorStatus, type SourceEffect } from '../source.ts';
import { NodeNeeds } from './node-needs.ts';
import { PodCount } from './pod-count.ts';
import { type PodWatch, type Scope, ScopeChoice } from './scope.ts';

/** A reflector of pods; `nodeName` is null where it reads all of them. */
interface PodStream {
  readonly nodeName: string | null;
  readonly reflector: Reflector<Pod>;
  synced: boolean;
}

/** Makes a reflector of the pods of a node, null: of all, whose requests' ids begin with `id`. */
export type NewReflector = (nodeName: string | null, id: string) => Reflector<Pod>;

type Told = Event | SourceEffect;
type Views = Extract<Event, { kind: 'podViews' }>;

/**
 * The pods of the nodes that need it, or of all, as one chain of differences.
 *
 * Theory of operation. Of each node that `concernsPods` names there is one stream, which goes on for
 * a while after that, so that a taint that comes and goes costs no list. When it ends its pods are
 * told as deleted; they had no work by then, because nothing on their node was to go. Where too many
 * nodes need a stream all pods are read in one, and later by node again (scope.ts).
 *
 * What the streams of one scope have told stays told when another takes over: those pods wait until
 * each new stream has its first list, which tells them anew, and what none of them told is gone. The
 * new lists are asked for after the old streams ended, so nothing old comes after something new.
 * Deadlines do not move by any of this: they count from what nodes and pods say.
 */
export class PodSource {
  #phase: 'idle' | 'counting' | 'reading' | 'stopped' = 'idle';
  #effects: Told[] = [];
  #serial = 0;
  #nodesKnown = false;
  #synced = false;
  #views: Views = { kind: 'podViews', byNode: false, nodes: {} };
  /** Told by streams of another scope, and not yet by one of this. */
  readonly #waiting = new Set<string>();
  /** By the name of the node, '' for all. */
  readonly #streams = new Map<string, PodStream>();
  readonly #needs: NodeNeeds;
  readonly #choice: ScopeChoice;
  readonly #count = new PodCount();
  readonly #mode: PodWatch['mode'];
  readonly #newReflector: NewReflector;

  constructor(options: PodWatch, newReflector: NewReflector) {
    this.#needs = new NodeNeeds(options.lingerMs);
    this.#choice = new ScopeChoice(options);
    this.#mode = options.mode;
    this.#newReflector = newReflector;
  }

  get scope(): Scope {
    return this.#choice.scope;
  }

  /** Takes one input; what is not of its own requests changes nothing. */
  handle(now: Instant, input: ReflectorInput): readonly Told[] {
    switch (input.kind) {
      case 'start':
        if (this.#phase === 'idle') this.#start(now);
        break;
      case 'stop':
        if (this.#phase === 'counting') this.#effects.push(...this.#count.abandon());
        this.#phase = 'stopped';
        this.#read(now, input);
        break;
      case 'tick':
        this.#tick(now);
        break;
      default: {
        const counted = this.#phase === 'counting' ? this.#count.take(input) : null;
        if (counted) this.#begin(now, counted.pods);
        else this.#read(now, input);
        if (this.#effects.length > 0) this.#reconcile(now);
      }
    }
    return this.#take();
  }

  /** Takes what was heard of a node. */
  follow(now: Instant, event: Told): readonly Told[] {
    if (event.kind === 'nodeUpsert') {
      this.#needs.update(now, event.node.name, concernsPods(event.node));
    } else if (event.kind === 'nodeDelete') this.#needs.update(now, event.name, false);
    else return [];
    this.#reconcile(now);
    return this.#take();
  }

  /** All nodes are known: `synced` comes when the pods of those that need it are, too. */
  nodesSynced(now: Instant): readonly Told[] {
    this.#nodesKnown = true;
    this.#reconcile(now);
    return this.#take();
  }

  nextWake(): Instant | null {
    if (this.#phase === 'stopped') return null;
    const streams = Array.from(this.#streams.values(), ({ reflector }) => reflector);
    const wakes = [this.#needs, this.#choice, this.#count, ...streams].flatMap(
      (waker) => waker.nextWake() ?? [],
    );
    return wakes.length === 0 ? null : Math.min(...wakes);
  }

  /** One row for each stream; one for what is to come, before there is any. */
  status(): readonly ReflectorStatus[] {
    const resource = 'pods';
    if (this.#streams.size === 0 && !this.#synced) {
      return [{ resource, state: 'Idle', heardAt: null }];
    }
    return Array.from(this.#streams.values(), ({ nodeName, reflector: { state, heardAt } }) => {
      return { resource, ...(nodeName !== null && { nodeName }), state, heardAt };
    });
  }

  /** Whether changes of pods that have been read are not heard of now. */
  isCutOff(): boolean {
    for (const { reflector } of this.#streams.values()) if (isCutOff(reflector)) return true;
    return false;
  }

  /** As of when the pods of a node are known to be complete; null: they are not. */
  heardAt(nodeName: string): Instant | null {
    const stream = this.#streams.get('') ?? this.#streams.get(nodeName);
    return stream?.reflector.heardAt ?? null;
  }

  #take(): readonly Told[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
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
    this.#choice.begin(pods);
    this.#enter(now, pods);
    this.#reconcile(now);
  }

  #tick(now: Instant): void {
    const abort = this.#count.expire(now);
    if (abort) {
      this.#effects.push(abort);
      this.#begin(now, null);
    }
    this.#read(now, { kind: 'tick' });
    this.#reconcile(now);
  }

  #read(now: Instant, input: ReflectorInput): void {
    for (const stream of this.#streams.values()) this.#feed(now, stream, input);
  }

  #feed(now: Instant, stream: PodStream, input: ReflectorInput): void {
    const { nodeName } = stream;
    for (const effect of stream.reflector.handle(now, input)) {
      switch (effect.kind) {
        case 'upsert':
          this.#waiting.delete(effect.item.uid);
          this.#effects.push({ kind: 'podUpsert', pod: effect.item });
          break;
        case 'delete':
          this.#effects.push({ kind: 'podDelete', uid: effect.uid });
          break;
        case 'synced':
          stream.synced = true;
          break;
        case 'notice':
          this.#effects.push(
            nodeName === null ? effect : { kind: 'notice', notice: { ...effect.notice, nodeName } },
          );
          break;
        default:
          this.#effects.push(effect);
      }
    }
  }

  /** Makes streams match the needs. Before all nodes are known nobody knows these. */
  #reconcile(now: Instant): void {
    if (this.#phase !== 'reading' || !this.#nodesKnown) return;
    this.#needs.expire(now);
    this.#chooseScope(now);
    if (this.scope === 'byNode') this.#matchNodes(now);
    if (this.#isComplete) this.#settle();
    this.#tellViews();
  }

  /** By node at once; from all pods only when they are known. */
  #chooseScope(now: Instant): void {
    const all = this.#streams.get('');
    if (this.scope === 'all' && !all?.synced) return;
    const pods = all?.reflector.size ?? 0;
    if (!this.#choice.review(now, { nodes: this.#needs.size, pods })) return;
    for (const stream of this.#streams.values()) {
      for (const uid of stream.reflector.uids()) this.#waiting.add(uid);
      this.#feed(now, stream, { kind: 'stop' });
    }
    this.#streams.clear();
    this.#enter(now, all ? pods : null);
  }

  /** `pods`: how many there are, where that is known. */
  #enter(now: Instant, pods: number | null): void {
    const { scope } = this;
    const notice = { kind: 'podScope', scope, nodes: this.#needs.size, pods } as const;
    this.#effects.push({ kind: 'notice', notice });
    if (scope === 'all') this.#open(now, null);
  }

  #matchNodes(now: Instant): void {
    for (const [nodeName, stream] of this.#streams) {
      if (!this.#needs.has(nodeName)) this.#close(now, nodeName, stream);
    }
    for (const nodeName of this.#needs.names()) {
      if (!this.#streams.has(nodeName)) this.#open(now, nodeName);
    }
  }

  #open(now: Instant, nodeName: string | null): void {
    this.#serial += 1;
    const reflector = this.#newReflector(nodeName, `pods.${this.#serial}`);
    const stream = { nodeName, reflector, synced: false };
    this.#streams.set(nodeName ?? '', stream);
    this.#feed(now, stream, { kind: 'start' });
  }

  #close(now: Instant, nodeName: string, stream: PodStream): void {
    this.#streams.delete(nodeName);
    this.#feed(now, stream, { kind: 'stop' });
    for (const uid of stream.reflector.uids()) this.#effects.push({ kind: 'podDelete', uid });
  }

  get #isComplete(): boolean {
    for (const { synced } of this.#streams.values()) if (!synced) return false;
    return true;
  }

  #settle(): void {
    for (const uid of this.#waiting) this.#effects.push({ kind: 'podDelete', uid });
    this.#waiting.clear();
    if (this.#synced) return;
    this.#synced = true;
    this.#effects.push({ kind: 'synced' });
  }

  #tellViews(): void {
    const byNode = this.scope === 'byNode' || !this.#isComplete;
    const names = byNode ? [...this.#needs.names()] : [];
    const entries = names.map((name) => [name, this.#viewOf(name)] as const);
    const { byNode: wasByNode, nodes: told } = this.#views;
    const isOld = byNode === wasByNode && Object.keys(told).length === entries.length;
    if (isOld && entries.every(([name, view]) => told[name] === view)) return;
    this.#views = { kind: 'podViews', byNode, nodes: Object.fromEntries(entries) };
    this.#effects.push(this.#views);
  }

  #viewOf(nodeName: string): PodView {
    const stream = this.#streams.get(nodeName);
    if (!stream?.synced) return 'reading';
    return isCutOff(stream.reflector) ? 'old' : 'watched';
  }
}
