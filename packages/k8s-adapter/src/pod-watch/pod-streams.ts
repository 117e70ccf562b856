// The streams of pods that are open.
import type { Event, Pod, PodView } from '@taintmgr/core';
import { earlier, type Instant } from '@taintmgr/core/time';
import type { Reflector, ReflectorInput } from '../proto/reflector.ts';
import { isCutOff, type ReflectorStatus, type SourceEffect } from './source.ts';

/** The output of a stream of pods. */
export type PodEffect = Event | SourceEffect;

/** Makes a reflector of the pods of a node, null: of all, whose requests' ids begin with `id`. */
export type NewReflector = (nodeName: string | null, id: string) => Reflector<Pod>;

/** `nodeName` is null where it reads all pods. */
interface PodStream {
  readonly nodeName: string | null;
  readonly reflector: Reflector<Pod>;
  synced: boolean;
}

/** The streams of pods that are open: either one of all pods, or one for each of some nodes. */
export class PodStreams {
  readonly #newReflector: NewReflector;
  /** By the name of the node, '' for all. */
  readonly #streams = new Map<string, PodStream>();
  #serial = 0;

  constructor(newReflector: NewReflector) {
    this.#newReflector = newReflector;
  }

  has(nodeName: string): boolean {
    return this.#streams.has(nodeName);
  }

  /** The nodes that have one; null stands for all. */
  *nodeNames(): Iterable<string | null> {
    for (const { nodeName } of this.#streams.values()) yield nodeName;
  }

  /** True if each has had its first list. */
  get synced(): boolean {
    for (const { synced } of this.#streams.values()) if (!synced) return false;
    return true;
  }

  /** The number of lists under way. */
  get listing(): number {
    let count = 0;
    for (const { reflector } of this.#streams.values()) if (reflector.state === 'Listing') count++;
    return count;
  }

  /** The number of pods in the stream of all; null: there is none, or it has not had its list. */
  get podsInAll(): number | null {
    const all = this.#streams.get('');
    return all?.synced ? all.reflector.size : null;
  }

  open(now: Instant, nodeName: string | null): readonly PodEffect[] {
    this.#serial += 1;
    const reflector = this.#newReflector(nodeName, `pods.${this.#serial}`);
    const stream = { nodeName, reflector, synced: false };
    this.#streams.set(nodeName ?? '', stream);
    return feed(now, stream, { kind: 'start' });
  }

  /** Ends the stream of a node, and reports its pods as deleted. */
  close(now: Instant, nodeName: string): readonly PodEffect[] {
    const stream = this.#streams.get(nodeName);
    if (!stream) return [];
    this.#streams.delete(nodeName);
    const gone = Array.from(
      stream.reflector.uids(),
      (uid): PodEffect => ({ kind: 'podDelete', uid }),
    );
    return [...feed(now, stream, { kind: 'stop' }), ...gone];
  }

  /** Ends all without a word of their pods, whose uids are added to `waiting`. */
  abandon(now: Instant, waiting: Set<string>): readonly PodEffect[] {
    for (const { reflector } of this.#streams.values()) {
      for (const uid of reflector.uids()) waiting.add(uid);
    }
    const effects = this.feed(now, { kind: 'stop' });
    this.#streams.clear();
    return effects;
  }

  feed(now: Instant, input: ReflectorInput): readonly PodEffect[] {
    const effects: PodEffect[] = [];
    for (const stream of this.#streams.values()) {
      for (const effect of feed(now, stream, input)) effects.push(effect);
    }
    return effects;
  }

  /** When a tick would do something; null: only the server can. */
  nextWake(): Instant | null {
    let first: Instant | null = null;
    for (const { reflector } of this.#streams.values())
      first = earlier(first, reflector.nextWake());
    return first;
  }

  status(): readonly ReflectorStatus[] {
    return Array.from(this.#streams.values(), ({ nodeName, reflector }) => {
      const { resource, state, aliveAt: heardAt } = reflector;
      return { resource, ...(nodeName !== null && { nodeName }), state, heardAt };
    });
  }

  isCutOff(): boolean {
    for (const { reflector } of this.#streams.values()) if (isCutOff(reflector)) return true;
    return false;
  }

  heardAt(nodeName: string): Instant | null {
    const stream = this.#streams.get('') ?? this.#streams.get(nodeName);
    return stream?.reflector.heardAt ?? null;
  }

  /** The same of each stream, by its node, '' for all. */
  heardAts(): ReadonlyMap<string, Instant | null> {
    return new Map(Array.from(this.#streams, ([name, { reflector }]) => [name, reflector.heardAt]));
  }

  /** The view of the pods of a node that needs a separate stream. */
  viewOf(nodeName: string): PodView {
    const stream = this.#streams.get(nodeName);
    if (!stream?.synced) return 'reading';
    return isCutOff(stream.reflector) ? 'old' : 'watched';
  }
}

function feed(now: Instant, stream: PodStream, input: ReflectorInput): readonly PodEffect[] {
  const { nodeName } = stream;
  const effects: PodEffect[] = [];
  for (const effect of stream.reflector.handle(now, input)) {
    switch (effect.kind) {
      case 'upsert':
        effects.push({ kind: 'podUpsert', pod: effect.item });
        break;
      case 'delete':
        effects.push({ kind: 'podDelete', uid: effect.uid });
        break;
      case 'synced':
        stream.synced = true;
        break;
      case 'notice':
        effects.push(
          nodeName === null ? effect : { ...effect, notice: { ...effect.notice, nodeName } },
        );
        break;
      default:
        effects.push(effect);
    }
  }
  return effects;
}
