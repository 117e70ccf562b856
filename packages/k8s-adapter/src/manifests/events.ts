// What the engine is told of a policy object.
import type { Event } from '@taintmgr/core';
import type { PolicyObject } from '@taintmgr/core/policy';

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
    case 'TaintManager':
      return null;
  }
}
