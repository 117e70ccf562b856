import { type FeatureGates, featureGates, gateStages } from '../flags/feature-gates.ts';
import type { Meter } from './meter.ts';

/** Metrics of feature gates, as Kubernetes components have them. */
export function featureMetrics(meter: Meter, gates: FeatureGates): void {
  const enabled = meter.gauge(
    'kubernetes_feature_enabled',
    '[BETA] This metric records the data about the stage and enablement of a k8s feature.',
    'name',
    'stage',
  );
  for (const name of featureGates) {
    enabled.set({ name, stage: gateStages[name] }, gates[name] ? 1 : 0);
  }
}
