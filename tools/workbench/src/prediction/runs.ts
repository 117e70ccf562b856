// The prediction runs: who evicts in each, and what has to hold of it.
import { type MakeEvictor, ours, upstream, upstreamRestarted } from './evictor.ts';
import { type PredictionRun, playPredictions } from './run.ts';

/** One run, and how good its predictions must be. */
export interface PredictionCase {
  readonly name: string;
  readonly make: MakeEvictor;
  /** Whether the API server has forgotten every state but the present one. */
  readonly forgets: boolean;
  /** The share of predictions that must be right shortly before, and as soon as they can be. */
  readonly shareMin: { readonly last: number; readonly first: number };
}

/**
 * kube-controller-manager keeps what it goes by in its memory, so much of it can only be found in past
 * states: where these are gone, what pods tolerated before somebody edited them is unknown.
 */
export const predictionCases: readonly PredictionCase[] = [
  {
    name: 'taintmgr-controller --mode=delete',
    make: ours('delete'),
    forgets: false,
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'taintmgr-controller --mode=evict',
    make: ours('evict'),
    forgets: false,
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'kube-controller-manager',
    make: upstream,
    forgets: false,
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'kube-controller-manager, restarted',
    make: upstreamRestarted,
    forgets: false,
    shareMin: { last: 0.95, first: 0.95 },
  },
  {
    name: 'kube-controller-manager, past states gone',
    make: upstream,
    forgets: true,
    shareMin: { last: 0.6, first: 0.6 },
  },
];

export function playCase({ make, forgets }: PredictionCase): Promise<PredictionRun> {
  return playPredictions(make, forgets);
}
