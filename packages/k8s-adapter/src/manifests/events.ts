// What the engine is told of policy objects, and when they are gone.
import type { Event } from '@taintmgr/core';
import type { PolicyObject } from '../kinds/manifest.ts';

/** The kinds that say what is decided about nodes and pods. */
export const decidingKinds = ['EvictionPolicy', 'NodeTaintRule', 'EvictionPause'] as const;
export type DecidingKind = (typeof decidingKinds)[number];

/** The kinds that say what is to be done; the others are what is being done. */
export const followedKinds = [
  'EvictionPolicy',
  'NodeTaintRule',
  'EvictionPause',
  'NodeDrain',
] as const;
export type FollowedKind = (typeof followedKinds)[number];

/** Null: the engine has nothing to do with it. */
export function policyEvent(object: PolicyObject): Event | null {
  switch (object.kind) {
    case 'EvictionPolicy':
      return { kind: 'policyUpsert', policy: object.value };
    case 'NodeTaintRule':
      return { kind: 'taintRuleUpsert', rule: object.value };
    case 'EvictionPause':
      return { kind: 'pauseUpsert', pause: object.value };
    case 'NodeDrain':
      return { kind: 'nodeDrainUpsert', drain: object.value };
    case 'TaintManager':
      return null;
  }
}

/** One that is followed is there no more. */
export function policyGoneEvent(kind: FollowedKind, name: string): Event {
  switch (kind) {
    case 'EvictionPolicy':
      return { kind: 'policyDelete', name };
    case 'NodeTaintRule':
      return { kind: 'taintRuleDelete', name };
    case 'EvictionPause':
      return { kind: 'pauseDelete', name };
    case 'NodeDrain':
      return { kind: 'nodeDrainDelete', name };
  }
}

/** Tells whether namespaces have to be read: without their labels nobody knows what a policy is for. */
export function selectsNamespaces({ kind, value }: PolicyObject): boolean {
  return kind === 'EvictionPolicy' && (value.match.namespaces?.selector ?? null) !== null;
}
