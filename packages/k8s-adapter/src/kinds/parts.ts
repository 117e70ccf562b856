// What the readers of several kinds need of metadata.
import type { Instant } from '@taintmgr/core/time';

/** What of an object's metadata the engine needs. */
export interface Metadata {
  readonly name: string;
  /** '' where it comes from a file. */
  readonly uid: string;
  readonly generation: number;
  readonly created: Instant | null;
  /** Whether somebody has deleted it, and it is there until its finalizers are gone. */
  readonly isDeleted: boolean;
  readonly finalizers: readonly string[];
}
