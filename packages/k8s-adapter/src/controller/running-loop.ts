import type { Event, Instant, Millis } from '@taintmgr/core';
import type { ExchangeInput } from '../proto/exchange.ts';
import type { ApiRequest } from '../proto/request.ts';
import type { Notice } from './loop.ts';

/** What a loop is told. `E` is what its machine can be told from elsewhere. */
export type RunningInput<E> =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  | { readonly kind: 'event'; readonly event: E }
  /** The machine's wall clock went so much further than time; less, if negative. */
  | { readonly kind: 'clockStep'; readonly by: Millis }
  | ExchangeInput;

/** What a loop wants done. `N` is what people may want to know of it. */
export type RunningAction<N> =
  | { readonly kind: 'send'; readonly id: string; readonly request: ApiRequest }
  | { readonly kind: 'abort'; readonly id: string }
  | { readonly kind: 'notice'; readonly notice: N };

/** A controller without its I/O, as its drivers see it. */
export interface RunningLoop<E = Event, N = Notice> {
  /** Whether it was stopped and no request is under way any more. */
  readonly closed: boolean;
  /** Takes one input and answers what is to be done, in this order. `now` never goes back. */
  handle(now: Instant, input: RunningInput<E>): readonly RunningAction<N>[];
  /** When to call with a tick; null: not before something is heard. */
  nextWake(): Instant | null;
  /** What the cluster's clock shows at `now`. */
  wall(now: Instant): Instant;
}
