// How a collection is asked for.
import type { Instant } from '@taintmgr/core/time';
import type { ApiRequest } from './api-request.ts';
import { AnswerCollector } from './exchange.ts';
import { listRequest, listStreamRequest, watchRequest } from './list-requests.ts';
import { objectsMaxDefault, PageWalk, tooMany } from './page-walk.ts';
import { preferProtobuf } from './protobuf.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import { type Stream, streamSeconds } from './reflector-state.ts';

const pageLimitMax = 500;

/** A request, and what is heard of it. */
export interface Asked {
  readonly request: ApiRequest;
  readonly stream: Stream;
}

type Options = Pick<
  ReflectorOptions<never>,
  | 'id'
  | 'resource'
  | 'path'
  | 'selectors'
  | 'watch'
  | 'random'
  | 'streamLists'
  | 'protobuf'
  | 'objectsMax'
>;

/**
 * Makes the requests of one reflector in the way that its server has turned out to understand. Each has
 * an id of its own.
 */
export class Asking {
  /** `pagedOnce`: the next list comes in pages, and those after it as streams again. */
  lists: 'streamed' | 'pagedOnce' | 'paged';
  /** Whether streams are asked for in protobuf; pages always come in JSON. */
  protobuf: boolean;
  /** Goes down where objects are so large that a page of them is more than we read. */
  #pageLimit = pageLimitMax;
  #walk: PageWalk;
  readonly #objectsMax: number;
  #serial = 0;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    this.#objectsMax = options.objectsMax ?? objectsMaxDefault;
    this.#walk = new PageWalk(this.#objectsMax);
    this.lists = options.streamLists && options.watch ? 'streamed' : 'paged';
    this.protobuf = options.protobuf ?? false;
  }

  /** Asks for half as many objects in each page from now on; false: they are down to one. */
  halvePages(): boolean {
    if (this.#pageLimit === 1) return false;
    this.#pageLimit = Math.trunc(this.#pageLimit / 2);
    return true;
  }

  /** Why no page is asked for after one with so many objects; null: it may be, or that was the last. */
  faultOfNext(continueToken: string, objects: number): string | null {
    if (continueToken === '') return null;
    return this.#walk.next(continueToken, objects, this.#pageLimit);
  }

  /** Why a stream that has brought so many objects is given up; null: it is not. */
  faultOf(objects: number): string | null {
    return objects > this.#objectsMax ? tooMany(this.#objectsMax) : null;
  }

  /** One page of a list; '' is the token of the first. */
  page(now: Instant, continueToken: string): Asked {
    const { path, selectors } = this.#options;
    const limit = this.#pageLimit;
    if (continueToken === '') this.#walk = new PageWalk(this.#objectsMax);
    return this.#ask(now, listRequest(path, { ...selectors, limit, continueToken }));
  }

  /** A watch that begins with everything there is. */
  load(now: Instant): Asked {
    const { path, selectors, random } = this.#options;
    return this.#stream(now, listStreamRequest(path, selectors, streamSeconds(random)));
  }

  /** A watch of what came after this resourceVersion. */
  watch(now: Instant, resourceVersion: string): Asked {
    const { path, selectors, random } = this.#options;
    const timeoutSeconds = streamSeconds(random);
    const request = watchRequest(path, { ...selectors, resourceVersion, timeoutSeconds });
    return this.#stream(now, request);
  }

  #stream(now: Instant, request: ApiRequest): Asked {
    return this.#ask(now, this.protobuf ? preferProtobuf(request) : request);
  }

  #ask(now: Instant, request: ApiRequest): Asked {
    this.#serial += 1;
    const id = `${this.#options.id ?? this.#options.resource}/${this.#serial}`;
    const collector = new AnswerCollector();
    const stream = { id, collector, openedAt: now, heardAt: now, status: null, ended: false };
    return { request, stream };
  }
}
