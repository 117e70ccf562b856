// The prediction runs: the evictor of each, and the requirements.

import type { Instant, Millis } from '@taintmgr/core/time';
import type { Json, KubeObject } from '@taintmgr/sim-cluster';
import { withDevices } from './devices.ts';
import { type MakeEvictor, ours, oursRestarted, upstream } from './evictor.ts';
import {
  type Circumstances,
  type PodStory,
  type Prediction,
  type PredictionRun,
  playPredictions,
} from './run.ts';
import { type Scenario, usual } from './scenario.ts';

// The limits of prediction runs: policies that say how much may go at once, and nothing else.
function limiting(name: string, limits: readonly Json[]): KubeObject {
  return {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPolicy',
    metadata: { name },
    spec: { match: { taints: [{ key: 'k*' }] }, limits: [...limits] },
  };
}

/** A rate for all, which the pods of five nodes share. */
const rates: readonly KubeObject[] = [
  limiting('paced', [{ per: 'Total', podsPerSecond: 0.4, burst: 2 }]),
];

/** Limits of pods of a node within a time, and a share of all. */
const windows: readonly KubeObject[] = [
  limiting('few', [{ per: 'Node', pods: 2, window: '20s' }]),
  limiting('share', [{ per: 'Zone', percent: 20, window: '30s' }]),
];

/** A run, and the required quality of its predictions. */
interface PredictionCase {
  readonly name: string;
  readonly make: MakeEvictor;
  readonly circumstances: Circumstances;
  /** The default scenario; left out: the usual one. */
  readonly scenario?: Scenario;
  /** The share of predictions that must be right shortly before, and as soon as they can be. */
  readonly shareMin: { readonly last: number; readonly first: number };
}

/**
 * kube-controller-manager keeps its view in memory, so much of it can only be found in past states:
 * where these are gone, the tolerations of pods before an edit are unknown.
 */
export const predictionCases: readonly PredictionCase[] = [
  {
    name: 'taintmgr-controller --mode=delete',
    make: ours({ mode: 'delete' }),
    circumstances: {},
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller --mode=evict',
    make: ours({ mode: 'evict' }),
    circumstances: {},
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller, policies',
    make: ours({ mode: 'evict' }),
    circumstances: { withPolicies: true },
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller, a limited rate',
    make: ours({ mode: 'evict' }),
    circumstances: { policies: rates, isShared: true },
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller, limits with windows',
    make: ours({ mode: 'evict' }),
    circumstances: { policies: windows, isShared: true },
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller, a pause',
    make: ours({ mode: 'delete' }),
    circumstances: { pause: { from: 14, to: 29 } },
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller, restarted',
    make: oursRestarted({ mode: 'delete' }),
    circumstances: {},
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller, DELETE fails',
    make: ours({ mode: 'delete' }),
    circumstances: { outage: { from: 29, to: 36 } },
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller --semantics=kube-controller-manager',
    make: ours({ mode: 'delete', semantics: 'upstream-1.36' }),
    circumstances: {},
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller, the legacy mode',
    make: ours(
      { mode: 'delete', semantics: 'upstream-1.36' },
      { podEvictionTimeoutSeconds: 40, gracePeriodSeconds: 20, monitorPeriodSeconds: 1 },
    ),
    circumstances: {
      lost: [
        { node: 'z-5', at: 12, knownAt: 34 },
        { node: 'z-1', at: 70, knownAt: 92 },
      ],
    },
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'kube-controller-manager, DELETE fails',
    make: upstream(),
    circumstances: { outage: { from: 29, to: 36 } },
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'kube-controller-manager',
    make: upstream(),
    circumstances: {},
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'kube-controller-manager, restarted',
    make: upstream({ restarts: true }),
    circumstances: {},
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'kube-controller-manager, past states gone',
    make: upstream(),
    circumstances: { forgets: true },
    shareMin: { last: 0.6, first: 0.6 },
  },
  {
    name: 'kube-controller-manager, taints of devices',
    make: upstream({ devices: true }),
    circumstances: {},
    scenario: withDevices,
    shareMin: { last: 1, first: 1 },
  },
  {
    name: 'kube-controller-manager, taints of devices and a restart',
    make: upstream({ devices: true, restarts: true }),
    circumstances: {},
    scenario: withDevices,
    shareMin: { last: 1, first: 1 },
  },
  {
    name: 'taintmgr-controller, taints of devices',
    make: ours({ mode: 'evict', deviceTaints: true }),
    circumstances: { installs: true },
    scenario: withDevices,
    shareMin: { last: 1, first: 1 },
  },
  {
    name: 'taintmgr-controller, takeover of taints of devices',
    make: ours({ mode: 'evict', deviceTaints: true, takeover: true }),
    circumstances: { installs: true },
    scenario: withDevices,
    shareMin: { last: 1, first: 1 },
  },
];

/** `given`: in the place of the scenario of the case. */
export function playCase(one: PredictionCase, given?: Scenario): Promise<PredictionRun> {
  return playPredictions(one.make, one.circumstances, given ?? one.scenario ?? usual);
}

/** The result of one pod's prediction. */
type Verdict =
  /** Foretold to go: `error` is by how much it went later. */
  | { readonly kind: 'evicted'; readonly error: Millis }
  /** Foretold to stay, and it did. */
  | { readonly kind: 'kept' }
  /** Foretold to be held back, and it was. */
  | { readonly kind: 'held' }
  /** The pod went at the instant of the cause: no prediction was possible. */
  | { readonly kind: 'atOnce' }
  | { readonly kind: 'wrong'; readonly said: string; readonly isKeep: boolean };

/** Predictions are good to so much. */
const errorMsMax: Millis = 1_500;

/** True if a verdict is as expected; null: it does not count. */
export function isRight(verdict: Verdict): boolean | null {
  if (verdict.kind === 'atOnce') return null;
  if (verdict.kind === 'wrong') return false;
  return verdict.kind !== 'evicted' || Math.abs(verdict.error) <= errorMsMax;
}

/** Judges by the last prediction, or the first, after every event that affects the pod's fate. */
export function judge({ predictions, removedAt }: PodStory, which: 'first' | 'last'): Verdict {
  const said = which === 'last' ? predictions.at(-1) : predictions[0];
  if (!said) return { kind: 'atOnce' };
  if (removedAt !== null) {
    if (said.deadline === null || said.decision !== 'Evict') return wrong(said);
    return { kind: 'evicted', error: removedAt - expectedAt(said, said.deadline) };
  }
  if (stays(said)) return { kind: 'kept' };
  const isLater = said.expectedAt !== undefined && said.expectedAt > said.at;
  return said.isBlocked || isLater ? { kind: 'held' } : wrong(said);
}

/**
 * A pod held by a budget goes when budgets are no longer asked, and one held by a limit when its
 * turn has come.
 */
function expectedAt(said: Prediction, deadline: Instant): Instant {
  const { isBlocked, deletedAt } = said;
  return said.expectedAt ?? (isBlocked && deletedAt !== null ? deletedAt : deadline);
}

/** `Blocked`: its deletion was refused, and no controller tries again. */
function stays({ decision }: Prediction): boolean {
  return decision === 'Keep' || decision === 'Blocked';
}

function wrong(said: Prediction): Verdict {
  const { decision, deadline } = said;
  const when = deadline === null ? '' : ` at ${new Date(deadline).toISOString()}`;
  return { kind: 'wrong', said: `${decision}${when}`, isKeep: stays(said) };
}

/** The score of a run. */
export interface Score {
  readonly counted: number;
  readonly right: number;
  readonly evicted: number;
  readonly kept: number;
  readonly held: number;
  readonly atOnce: number;
  /** Foretold to stay, and went. */
  readonly keepWrong: number;
  readonly medianErrorMs: Millis;
}

export function scoreOf(stories: readonly PodStory[], which: 'first' | 'last'): Score {
  const verdicts = stories.map((story) => judge(story, which));
  const counts = (kind: Verdict['kind']): number =>
    verdicts.filter((verdict) => verdict.kind === kind).length;
  const errors = verdicts.flatMap((one) => (one.kind === 'evicted' ? [Math.abs(one.error)] : []));
  const sorted = errors.sort((a, b) => a - b);
  return {
    counted: verdicts.filter((verdict) => isRight(verdict) !== null).length,
    right: verdicts.filter((verdict) => isRight(verdict) === true).length,
    evicted: counts('evicted'),
    kept: counts('kept'),
    held: counts('held'),
    atOnce: counts('atOnce'),
    keepWrong: verdicts.filter((one) => one.kind === 'wrong' && one.isKeep).length,
    medianErrorMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
  };
}
