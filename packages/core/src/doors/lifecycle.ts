// Node health: when a node is taken for unreachable, what its zone allows, and a forecast from one look.

// Settings.

export {
  defaultLifecycleConfig,
  type Flapping,
  type LifecycleConfig,
  type MassUnreachable,
  resolveLifecycleConfig,
} from '../lifecycle/config.ts';

// How nodes and zones are.

export { type Forecast, forecastOf, type Observation } from '../lifecycle/forecast.ts';
export type { NodeHealth, ReadinessHold, ZoneStatus } from '../lifecycle/reason.ts';
export { zoneHold } from '../lifecycle/zone-limiter.ts';
export { type ZoneState, zoneState } from '../lifecycle/zone-rates.ts';

// Reasons, and their words.

export {
  describeHold,
  describeLifecycleReason,
  type HoldReason,
  type LifecycleReason,
} from '../lifecycle/reason.ts';

// What the tables of the kinds go by.

export { heldNodesMax, heldZonesMax } from '../lifecycle/readiness.ts';
export { isLifecycleTaint, lifecycleKeys } from '../model/taint.ts';
