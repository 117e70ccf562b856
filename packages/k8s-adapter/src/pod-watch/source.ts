// A collection that is read, as events for a machine.
import type { Event } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { ItemChange } from '../proto/inventory.ts';
import type { Reflector, ReflectorEffect, ReflectorInput } from '../proto/reflector.ts';
import type { ReflectorNotice } from '../proto/reflector-state.ts';

/** The nodes whose pods are read: those of `all` nodes in one stream, or `byNode` of those that need it. */
export type Scope = 'all' | 'byNode';

/** The progress in reading a collection, or a part of it. */
export interface ReflectorStatus {
  /** The plural name of the resource. */
  readonly resource: string;
  /** The node whose pods these are, where they are read by node. */
  readonly nodeName?: string;
  /** The step at which reading is. */
  readonly state: Reflector<unknown>['state'];
  /**
   * The time of its last input, even one that says that nothing has changed; null: not read yet.
   */
  readonly heardAt: Instant | null;
}

/** A collection that is read, whatever is in it. `E` is what its machine hears of it. */
export interface Source<E = Event> {
  /** Takes an input and gives its outcome: news for the machine, or requests. */
  handle(now: Instant, input: ReflectorInput): readonly (E | SourceEffect)[];
  /** When a tick would do something; null: only the server can. */
  nextWake(): Instant | null;
  /** The progress in reading it, part by part. */
  status(): readonly ReflectorStatus[];
  /** Tells whether changes of something that has been read are not heard of now. */
  isCutOff(): boolean;
  /** As of when all of it that concerns the pods of a node is known to be complete; null: not yet. */
  heardAt(nodeName: string): Instant | null;
}

/** From now on the pods of all nodes are read, or of those that need it. */
export interface PodScopeNotice {
  readonly kind: 'podScope';
  readonly scope: Scope;
  /** The number of nodes that need it. */
  readonly nodes: number;
  /** Pods in the cluster; null: not known. */
  readonly pods: number | null;
}

/** An object that cannot be read; its content has no effect, and evictions may be held. */
export interface UnreadableNotice {
  readonly kind: 'unreadable';
  /** Such as `EvictionPolicy "spot"`. */
  readonly object: string;
  readonly faults: readonly string[];
  /** The evictions that wait until it can be read, or is gone; `drain`: those for its taint. */
  readonly holds: 'all' | 'drain' | 'nothing';
  /** The next step; '': nothing is known. */
  readonly next: string;
}

/** All that a source gives besides news. */
export type SourceEffect =
  | Exclude<ReflectorEffect<never>, ItemChange<never> | { kind: 'notice' }>
  | {
      readonly kind: 'notice';
      readonly notice: ReflectorNotice | PodScopeNotice | UnreadableNotice;
    };

/**
 * The same source as one that says nothing of single pods: its objects are not looked at again
 * before a pod leaves, so that it is never a reason to.
 */
export function apartFromPods<E>(source: Source<E>): Source<E> {
  return {
    handle: (now, input) => source.handle(now, input),
    nextWake: () => source.nextWake(),
    status: () => source.status(),
    isCutOff: () => source.isCutOff(),
    heardAt: (name) => (source.heardAt(name) === null ? null : Number.POSITIVE_INFINITY),
  };
}

/** Tells whether a reflector that has read its collection does not hear of changes now. */
export function isCutOff({
  hears,
  heardAt,
}: Pick<Reflector<unknown>, 'hears' | 'heardAt'>): boolean {
  return heardAt !== null && !hears;
}

const none: readonly never[] = [];

/** A reflector as a source, with each difference turned into the machine's event. */
export function sourceOf<T, E>(
  reflector: Reflector<T>,
  event: (change: ItemChange<T>) => E,
): Source<E> {
  return sourceOfMany(reflector, (change) => [event(change)]);
}

/** The same where a difference may be several events, or something that people should know. */
export function sourceOfMany<T, E>(
  reflector: Reflector<T>,
  effectsOf: (change: ItemChange<T>) => readonly (E | SourceEffect)[],
): Source<E> {
  const { resource } = reflector;
  return {
    handle: (now, input) => {
      const effects = reflector.handle(now, input);
      // Most inputs are of another source.
      if (effects.length === 0) return none;
      return effects.flatMap((effect): readonly (E | SourceEffect)[] =>
        isChange(effect) ? effectsOf(effect) : [effect],
      );
    },
    nextWake: () => reflector.nextWake(),
    status: () => [{ resource, state: reflector.state, heardAt: reflector.aliveAt }],
    isCutOff: () => isCutOff(reflector),
    heardAt: () => reflector.heardAt,
  };
}

function isChange<T>(effect: ReflectorEffect<T>): effect is ItemChange<T> {
  return effect.kind === 'upsert' || effect.kind === 'delete';
}

const sourceEffects: readonly string[] = ['send', 'abort', 'notice', 'synced'];

/** Tells whether it is for the loop, and not an event for the machine. */
export function isSourceEffect<E extends { readonly kind: string }>(
  effect: E | SourceEffect,
): effect is SourceEffect {
  return sourceEffects.includes(effect.kind);
}
