import type { Clock } from '../kernel/clock.ts';
import type { PodDice } from '../kernel/pod-dice.ts';
import type { Random } from '../kernel/prng.ts';
import type { ManagedFields } from '../objects/kube-object.ts';
import type { ServedResources } from '../resources/served.ts';
import type { Store } from '../store/store.ts';
import type { Admission, Writer } from './admission.ts';

/** The dependencies of every write: the store, the clock, and the source of uids. */
export interface Backend {
  /** The stored objects. */
  readonly store: Store;
  /** The resources that are served now, custom resources too. */
  readonly served: ServedResources;
  /** The clock by which objects are stamped. */
  readonly clock: Clock;
  /** Decides UIDs and generated names. */
  readonly random: Random;
  /** The names and uids of pods come from it. */
  readonly podDice: PodDice;
  /** Judges the changes of writers. */
  readonly admission: Admission;
  /** True if the form of stored objects does not matter: see BriefWrites. */
  readonly isBrief: boolean;
}

/** Names one object within its resource; namespace is '' for cluster-scoped kinds. */
export interface Target {
  readonly namespace: string;
  readonly name: string;
}

export interface WriteOptions {
  /** The writer; left out: a part of the server itself, whose changes are not judged. */
  readonly writer?: Writer;
  /**
   * True for objects that a part of the cluster itself makes, which are valid: they are not
   * validated.
   */
  readonly isTrusted?: boolean;
  /** True to go through everything but the store. */
  readonly dryRun?: boolean;
  /** The field manager; left out: `unknown`, as for a client without a name. */
  readonly manager?: string;
  /** The owners that a server-side apply has worked out; they are taken as they are. */
  readonly owners?: readonly ManagedFields[];
}

/** The field manager of a writer without a name. */
export const unknownManager = 'unknown';
