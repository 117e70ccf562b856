// The door of the oracle: checkers that judge independently whether a client of the cluster kept
// its promises.

export { ApiHistory, type Replica } from './api-history.ts';
export { Checkers } from './checkers.ts';
export { LifecycleCheckers } from './lifecycle/lifecycle-checkers.ts';
export { type LifecycleTerms, lifecycleDefaults } from './lifecycle/lifecycle-terms.ts';
export { NodeDrainCheckers } from './node-drains.ts';
export type { PauseScope, Pauses } from './pauses.ts';
export { PressureChecker, type PressureTerms } from './pressure.ts';
export { TakeoverCheckers } from './takeover/takeover-checkers.ts';
export {
  evictionDefaults,
  type OwnPod,
  type PolicyTerm,
  type RateTerm,
  type Terms,
  type Violation,
  type WindowTerm,
} from './terms.ts';
