import type { Event, Instant } from '@taintmgr/core';
import type { Change } from '../proto/inventory.ts';
import type { Reflector, ReflectorEffect, ReflectorInput } from '../proto/reflector.ts';
import type { ReflectorNotice } from '../proto/reflector-notice.ts';
import type { Scope } from './scope.ts';

/** How far a collection is read, or a part of it. */
export interface ReflectorStatus {
  readonly resource: string;
  /** The node whose pods these are, where they are read by node. */
  readonly nodeName?: string;
  readonly state: Reflector<unknown>['state'];
  /** When anything was last heard of it, be it only that nothing has changed; null: not read yet. */
  readonly heardAt: Instant | null;
}

/** A collection that is read, as events for the engine. */
export interface Source {
  /** What an input gives: news for the machine, or requests. */
  handle(now: Instant, input: ReflectorInput): readonly (Event | SourceEffect)[];
  /** When a tick would do something; null: only the server can. */
  nextWake(): Instant | null;
  /** How far it is read, part by part. */
  status(): readonly ReflectorStatus[];
  /** Whether changes of something that has been read are not heard of now. */
  isCutOff(): boolean;
  /** As of when all of it that concerns the pods of a node is known to be complete; null: not yet. */
  heardAt(nodeName: string): Instant | null;
}

/** From now on the pods of all nodes are read, or of those that need it. */
export interface PodScopeNotice {
  readonly kind: 'podScope';
  readonly scope: Scope;
  /** So many nodes need it. */
  readonly nodes: number;
  /** Pods in the cluster; null: not known. */
  readonly pods: number | null;
}

/** What a source gives besides news. */
export type SourceEffect =
  | Exclude<ReflectorEffect<never>, Change<never> | { kind: 'notice' }>
  | { readonly kind: 'notice'; readonly notice: ReflectorNotice | PodScopeNotice };

/** Whether a reflector that has read its collection does not hear of changes now. */
export function isCutOff({
  hears,
  heardAt,
}: Pick<Reflector<unknown>, 'hears' | 'heardAt'>): boolean {
  return heardAt !== null && !hears;
}
