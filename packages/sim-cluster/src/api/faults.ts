import type { Talk } from '../handlers/front.ts';
import type { RequestInfo } from '../handlers/request.ts';
import type { Random } from '../kernel/prng.ts';
import { ApiError, conflict, expired, serverError } from '../objects/errors.ts';
import { type Answer, textReply, type WatchFormat } from '../wire/answer.ts';

/**
 * Faults that can be switched on: what goes wrong with requests and watches.
 * - `refuse`: the connection breaks, nothing was done
 * - `lose`: the request is carried out, then the connection breaks before the answer
 * - `delay`: the request arrives late
 * - `answer`: the server answers this instead of doing anything
 * - `deny`: an admission webhook refuses it in the API server's sentence, with a status of its own, after
 *   `afterMs` milliseconds; left out: at once
 * - `cut`: a watch breaks off after a while, cleanly (`end`) or not (`reset`)
 * - `halfOpen`: the request is carried out, but after a while (0: from the start) nothing more of
 *   its answer arrives and the connection stays open until the client gives up
 * - `duplicate`: each event of a watch comes twice in a row, with this chance in (0, 1]
 */
export type Fault =
  | { readonly kind: 'refuse' }
  | { readonly kind: 'lose' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'answer'; readonly code: 409 | 410 | 429 | 500 }
  | {
      readonly kind: 'deny';
      readonly webhook: string;
      readonly code: number;
      readonly message: string;
      readonly afterMs?: number;
    }
  | { readonly kind: 'cut'; readonly afterMs: number; readonly how: 'end' | 'reset' }
  | { readonly kind: 'halfOpen'; readonly afterMs: number }
  | { readonly kind: 'duplicate'; readonly chance: number };

/** The requests that a fault strikes; a field that is left out matches everything. */
export interface FaultRule {
  readonly fault: Fault;
  readonly verbs?: readonly string[];
  /** Plural name, with a subresource as `pods/eviction`. */
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The number of times that the rule strikes; always when left out. */
  readonly times?: number;
  /** Chance of striking, in (0, 1]; 1 when left out. */
  readonly probability?: number;
}

interface Armed {
  readonly rule: FaultRule;
  left: number;
}

/** The faults of one API server, scripted or by chance. Clients cannot see or set them. */
export class Faults {
  readonly #random: Random;
  readonly #rules: Armed[] = [];
  readonly #breakers = new Set<() => void>();
  #down = false;

  constructor(random: Random) {
    this.#random = random;
  }

  /** True while the server refuses every connection. */
  get down(): boolean {
    return this.#down;
  }

  /** Takes the server down, breaking every open watch, or brings it back. */
  set down(down: boolean) {
    this.#down = down;
    if (down) this.breakStreams();
  }

  /** Arms a rule; earlier rules strike first. Returns the way to disarm it. */
  add(rule: FaultRule): () => void {
    const armed: Armed = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.push(armed);
    return () => {
      const at = this.#rules.indexOf(armed);
      if (at >= 0) this.#rules.splice(at, 1);
    };
  }

  /** Breaks every open stream and every half-open connection. */
  breakStreams(): void {
    for (const breakStream of [...this.#breakers]) breakStream();
  }

  /** Registers an open stream's way to be broken; returns the way to forget it. */
  track(breakStream: () => void): () => void {
    this.#breakers.add(breakStream);
    return () => void this.#breakers.delete(breakStream);
  }

  /** True with the given chance; draws no random number for a certain outcome. */
  happens(chance: number): boolean {
    return chance >= 1 || this.#random() < chance;
  }

  /** The fault that strikes this request, or null. */
  strike(info: RequestInfo): Fault | null {
    if (this.#down) return { kind: 'refuse' };
    for (const armed of this.#rules) {
      if (armed.left <= 0 || !matches(armed.rule, info)) continue;
      if (!this.happens(armed.rule.probability ?? 1)) continue;
      armed.left--;
      return armed.rule.fault;
    }
    return null;
  }
}

function matches(rule: FaultRule, info: RequestInfo): boolean {
  const { fault, verbs, resource, namespace, name } = rule;
  const isOfWatches = fault.kind === 'cut' || fault.kind === 'duplicate';
  if (isOfWatches && info.verb !== 'watch') return false;
  if (verbs && !verbs.includes(info.verb)) return false;
  const path = info.resource;
  const full = path?.subresource ? `${path.plural}/${path.subresource}` : path?.plural;
  return (
    (resource === undefined || resource === full) &&
    (namespace === undefined || namespace === path?.namespace) &&
    (name === undefined || name === path?.name)
  );
}

/** The answer of an `answer` fault. */
export function faultAnswer(code: 409 | 410 | 429 | 500, info: RequestInfo, talk: Talk): Answer {
  const { group = '', plural = '', name = '' } = info.resource ?? {};
  switch (code) {
    case 409:
      return talk.refuse(conflict({ group, plural }, name));
    case 410:
      return info.verb === 'watch'
        ? expiredStream(talk.watch)
        : talk.refuse(expired(listExpiredMessage));
    case 429:
      return textReply(429, 'Too many requests, please try again later.\n', { 'retry-after': '1' });
    case 500:
      return talk.refuse(serverError('Internal error occurred: injected fault'));
  }
}

const listExpiredMessage = 'The resourceVersion for the provided list is too old.';

/** A watch learns of expiry within its stream, never by the HTTP status. */
function expiredStream(format: WatchFormat): Answer {
  const { status } = new ApiError(410, 'Expired', 'too old resource version');
  return {
    kind: 'stream',
    headers: format.headers,
    start: (emit, end) => {
      emit.data(format.event('ERROR', { ...status }));
      end();
      return () => {};
    },
  };
}
