import type { RequestEffect } from './api-request.ts';
import type { Random } from './backoff.ts';
import type { ExchangeInput } from './exchange.ts';
import type { ItemChange, Project } from './inventory.ts';
import type { Selectors } from './list-requests.ts';
import type { Kinds } from './protobuf-schema.ts';
import type { MissingRules } from './reflector-absence.ts';
import type { ReflectorNotice } from './reflector-notice.ts';

export type ReflectorInput =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  /** The API server answers again, after it was away: whoever waits for that need not wait his time out. */
  | { readonly kind: 'returned' }
  | ExchangeInput;

export type ReflectorEffect<T> =
  | RequestEffect
  | ItemChange<T>
  /** The first list is complete. */
  | { readonly kind: 'synced' }
  | { readonly kind: 'notice'; readonly notice: ReflectorNotice };

/** Which collection to follow, and how. */
export interface ReflectorOptions<T> extends MissingRules {
  /** Names the collection in notices, e.g. `pods`. */
  readonly resource: string;
  /** Begins the ids of its requests; the resource when left out. */
  readonly id?: string;
  readonly path: string;
  readonly selectors: Selectors;
  readonly project: Project<T>;
  /** False: list once and rest. */
  readonly watch: boolean;
  /** Whether the server is asked for lists as the beginning of a watch; default false: in pages. */
  readonly streamLists?: boolean;
  /**
   * Whether objects of a first list are told as they come, since there may be a million; default
   * false: when it is complete.
   */
  readonly reportsEarly?: boolean;
  /** More objects than these are no collection of a cluster; left out: 2,000,000. */
  readonly objectsMax?: number;
  /** Whether the server is asked for streams in protobuf where it has it; default false: in JSON. */
  readonly protobuf?: boolean;
  /** What of each kind is read in protobuf; left out: what `convert.ts` looks at. */
  readonly kinds?: Kinds;
  readonly random: Random;
}
