import type { Timer } from '../kernel/clock.ts';
import { randomInteger } from '../kernel/prng.ts';
import { ApiError, futureResourceVersion, type Status } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type Resource, storageOf } from '../resources/resource.ts';
import { Selector } from '../selectors/selector.ts';
import type { Change } from '../store/cluster-api.ts';
import type { Recorded } from '../store/history.ts';
import { type ListOptions, readResourceVersion } from '../wire/list-options.ts';
import type { Backend } from '../write/backend.ts';

/** The receiver of a watch's events; `end` comes once and last unless the watch is stopped. */
export interface WatchSink {
  event(type: Change['type'], object: KubeObject): void;
  /** `initialEventsEnd` marks the end of what existed when the watch began. */
  bookmark(resourceVersion: string, initialEventsEnd: boolean): void;
  error(status: Status): void;
  end(): void;
}

const bookmarkIntervalMs = 60_000;
/** The time that watches of a resource outlive a change of its definition. */
const redefinedMs = 1000;
/** A last bookmark is sent this long before the watch times out. */
const bookmarkBeforeEndMs = 2000;
/** Without timeoutSeconds a watch lasts a random time in this range. */
const timeoutSecondsMin = 1800;
const timeoutSecondsMax = 3600;

/**
 * A watch of one resource. The constructor refuses bad options; the response starts the watch. From
 * then on the watch sends events until it times out or is stopped.
 */
export class Watch {
  readonly #backend: Backend;
  readonly #resource: Resource;
  readonly #namespace: string;
  readonly #options: ListOptions;
  readonly #selector: Selector;
  readonly #startRv: number;
  readonly #timers: Timer[] = [];
  #unsubscribe: () => void = () => {};
  #sentRv = 0;

  /** Throws ApiError 400 or 500 for options that do not parse. */
  constructor(backend: Backend, resource: Resource, namespace: string, options: ListOptions) {
    this.#backend = backend;
    this.#resource = storageOf(resource);
    this.#namespace = namespace;
    this.#options = options;
    this.#selector = new Selector(resource, options.labelSelector, options.fieldSelector);
    this.#startRv = readResourceVersion(options.resourceVersion, false);
  }

  /** Sends the existing objects, then follows. */
  start(sink: WatchSink): void {
    const { store } = this.#backend;
    if (this.#wantsInitialEvents && this.#startRv > store.rv) {
      const { resourceVersion } = this.#options;
      sink.error(futureResourceVersion(resourceVersion, String(store.rv)).status);
      sink.end();
      return;
    }
    if (this.#wantsInitialEvents) this.#sendPresent(sink);
    else if (this.#startRv > 0) {
      const { expiredThrough } = store.collection(this.#resource.storeKey).history;
      if (this.#startRv < expiredThrough) {
        sink.error(tooOld(this.#resource, this.#startRv, expiredThrough));
        sink.end();
        return;
      }
      this.#sentRv = this.#startRv;
      this.#sendMissed(sink);
    } else this.#sentRv = store.rv;
    const resources = new Set([this.#resource.storeKey]);
    const stops = [
      store.subscribe((change) => this.#send(change, sink), resources),
      this.#endWithDefinition(sink),
    ];
    this.#unsubscribe = () => {
      for (const stop of stops) stop();
    };
    this.#setTimers(sink);
  }

  /** Another definition of the resource ends its watches, soon or, when it is gone, at once. */
  #endWithDefinition(sink: WatchSink): () => void {
    const { served } = this.#backend;
    const { storeKey } = this.#resource;
    return served.subscribe((changed) => {
      if (changed !== storeKey) return;
      const isServed = served.all.some((resource) => resource.storeKey === storeKey);
      this.#after(isServed ? redefinedMs : 0, () => {
        this.stop();
        sink.end();
      });
    });
  }

  /** Ends the watch without a word. */
  stop(): void {
    this.#unsubscribe();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.length = 0;
  }

  /**
   * A watch from no version or from "any" begins with the existing objects unless it asks for
   * something else.
   */
  get #wantsInitialEvents(): boolean {
    return this.#options.sendInitialEvents ?? this.#startRv === 0;
  }

  #sendPresent(sink: WatchSink): void {
    const { store } = this.#backend;
    const rv = store.rv;
    const collection = store.collection(this.#resource.storeKey);
    for (const object of collection.list(this.#namespace)) {
      if (this.#selector.matches(object)) sink.event('ADDED', object);
    }
    this.#sentRv = rv;
    if (this.#options.allowBookmarks) sink.bookmark(String(rv), true);
  }

  #sendMissed(sink: WatchSink): void {
    const { history } = this.#backend.store.collection(this.#resource.storeKey);
    for (const change of history.after(this.#startRv)) this.#send(change, sink);
  }

  /** Sends one change as this watch's selector sees it. */
  #send(change: Recorded, sink: WatchSink): void {
    if (change.rv <= this.#sentRv) return;
    const { object, previous } = change;
    if (this.#namespace !== '' && object.metadata.namespace !== this.#namespace) return;
    const matched = previous !== null && this.#selector.matches(previous);
    const matches = change.type !== 'DELETED' && this.#selector.matches(object);
    if (!matched && !matches) return;
    this.#sentRv = change.rv;
    if (matches) sink.event(matched ? 'MODIFIED' : 'ADDED', object);
    else if (change.type === 'DELETED') sink.event('DELETED', object);
    else sink.event('DELETED', atVersion(previous, change.rv));
  }

  #setTimers(sink: WatchSink): void {
    const { random } = this.#backend;
    const seconds =
      this.#options.timeoutSeconds || randomInteger(random, timeoutSecondsMin, timeoutSecondsMax);
    this.#after(seconds * 1000, () => {
      this.stop();
      sink.end();
    });
    if (!this.#options.allowBookmarks) return;
    const last = seconds * 1000 - bookmarkBeforeEndMs;
    if (last > 0) this.#after(last, () => this.#bookmark(sink));
    const repeat = (): void => {
      this.#bookmark(sink);
      this.#after(bookmarkIntervalMs, repeat);
    };
    this.#after(bookmarkIntervalMs, repeat);
  }

  #bookmark(sink: WatchSink): void {
    const { store } = this.#backend;
    const { rv } = store;
    if (rv <= this.#sentRv) return;
    this.#sentRv = rv;
    sink.bookmark(String(rv), false);
  }

  #after(delayMs: number, callback: () => void): void {
    this.#timers.push(this.#backend.clock.after(delayMs, callback));
  }
}

/** Events have no watch cache in the real server, which therefore says it in other words. */
function tooOld({ plural }: Resource, asked: number, oldest: number): Status {
  const message =
    plural === 'events'
      ? 'The resourceVersion for the provided watch is too old.'
      : `too old resource version: ${asked} (${oldest})`;
  return new ApiError(410, 'Expired', message).status;
}

/** The last state that matched, under the version of the change by which it stopped matching. */
function atVersion(previous: KubeObject | null, rv: number): KubeObject {
  if (!previous) throw new Error('an object that stopped matching has a previous state');
  return { ...previous, metadata: { ...previous.metadata, resourceVersion: String(rv) } };
}
