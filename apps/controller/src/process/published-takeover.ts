// What the leader says of takeover in its TaintManager.
import type { StatedStatus } from '@taintmgr/k8s-adapter';
import { takeoverVersion } from '@taintmgr/k8s-adapter';
import type { RunningController } from '../stats/running-controller.ts';
import type { TakeoverScore } from '../stats/takeover-score.ts';

type Published = NonNullable<StatedStatus['takeover']>;

/**
 * `enabled` is what makes the policies refuse anything, so it is said from the first heartbeat on: before,
 * nobody would be spared while the leader begins. Where it cannot begin, as the policies are not
 * what they should be, or it stands by for somebody else (`acts` is false), it is taken back: what
 * they refuse all the same would go for nobody.
 */
export function publishedTakeover(
  score: TakeoverScore,
  running: RunningController | null,
  acts: boolean,
): Published {
  const { counts, policies } = running?.takeover() ?? {};
  const { isInForce = false, wasInForce = false, drift = [], fault = null } = policies ?? {};
  const isBeginning = drift.length === 0 && fault === null;
  const byNamespace = namesOf(score, counts?.spared).map((name) => {
    const { spared = 0, held = 0 } = counts?.spared.get(name) ?? {};
    const { evicted = 0, letThrough = 0 } = score.went.get(name) ?? {};
    return { name, spared, held, evicted, letThrough };
  });
  const sum = (of: 'spared' | 'held' | 'evicted' | 'letThrough'): number =>
    byNamespace.reduce((total, one) => total + one[of], 0);
  return {
    enabled: acts && (isInForce || wasInForce || isBeginning),
    ...(isInForce && { policyVersion: takeoverVersion }),
    drift: fault === null ? drift : [...drift, fault],
    namespaces: counts?.namespaces.length ?? 0,
    ...{ spared: sum('spared'), held: sum('held') },
    ...{ evicted: sum('evicted'), letThrough: sum('letThrough') },
    byNamespace,
    ...(counts?.readinessHold && { holdReadiness: counts.readinessHold }),
  };
}

function namesOf(
  { went }: TakeoverScore,
  spared: ReadonlyMap<string, unknown> = new Map(),
): readonly string[] {
  return [...new Set([...spared.keys(), ...went.keys()])].sort();
}
