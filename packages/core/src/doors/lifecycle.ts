// Node health: when a node is taken for unreachable, what its zone allows, and a forecast from one look.

// Settings.

export {
  defaultLifecycleConfig,
  type Flapping,
  type LifecycleConfig,
  type MassUnreachable,
  resolveLifecycleConfig,
} from '../lifecycle/config.ts';

// The health of nodes, and the state of zones.

export { type Forecast, forecastOf, type Observation } from '../lifecycle/forecast.ts';
export type { NodeHealth, ReadinessHold, ZoneStatus } from '../lifecycle/reason.ts';
export { zoneHold } from '../lifecycle/zone-holds.ts';
export { type ZoneState, zoneState } from '../lifecycle/zone-rates.ts';

// Reasons, and their words.

export {
  describeHold,
  describeLifecycleReason,
  type HoldReason,
  type LifecycleReason,
} from '../lifecycle/reason.ts';

// Bounds and taints that the tables of the kinds use.

export { heldNodesMax, heldZonesMax } from '../lifecycle/readiness.ts';
export { isLifecycleTaint, lifecycleKeys } from '../model/taint.ts';
