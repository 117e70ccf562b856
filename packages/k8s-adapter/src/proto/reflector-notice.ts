import type { Millis } from '@taintmgr/core/time';
import type { Failure } from './answer.ts';

/**
 * What a reflector reports to people: connections lost and found, lists, errors. `nodeName` is the
 * node whose pods it reads, where they are read by node.
 */
export type ReflectorNotice =
  | {
      readonly kind: 'listed';
      readonly resource: string;
      readonly nodeName?: string;
      readonly objects: number;
      readonly upserts: number;
      readonly deletes: number;
    }
  | {
      readonly kind: 'watching';
      readonly resource: string;
      readonly nodeName?: string;
      readonly resourceVersion: string;
    }
  /** The server does not stream lists: this one is read in pages from now on, as good as before. */
  | { readonly kind: 'pagedLists'; readonly resource: string; readonly nodeName?: string }
  /** Streams in protobuf are refused or cannot be read: this one is in JSON from now on. */
  | { readonly kind: 'jsonOnly'; readonly resource: string; readonly nodeName?: string }
  /** The server does not serve the collection, or not us, which may be so: it has no objects. */
  | {
      readonly kind: 'absent';
      readonly resource: string;
      readonly nodeName?: string;
      readonly failure: Failure;
    }
  /** Something went wrong; after `wait` the reflector watches on or lists anew. */
  | {
      readonly kind: 'reconnecting';
      readonly resource: string;
      readonly nodeName?: string;
      readonly failure: Failure;
      readonly wait: Millis;
      readonly next: 'list' | 'watch';
    };

/**
 * What is reported of a list that was read: how many objects there are, and what was different, or how
 * many were told early.
 */
export function listed(
  resource: string,
  objects: number,
  changes: readonly { readonly kind: string }[] | number,
): ReflectorNotice {
  if (typeof changes === 'number') {
    return { kind: 'listed', resource, objects, upserts: changes, deletes: 0 };
  }
  const deletes = changes.filter(({ kind }) => kind === 'delete').length;
  return { kind: 'listed', resource, objects, upserts: changes.length - deletes, deletes };
}
