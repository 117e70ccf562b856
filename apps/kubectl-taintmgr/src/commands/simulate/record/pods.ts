// What became of each pod while it was on a node, for the lanes of pods.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Open, PodName } from './pod-name.ts';
import type { Step } from './timelines.ts';

/** How a pod is doing: `down` is one that served, on a machine that is dead or as it is not ready. */
export type PodState = 'starting' | 'serving' | 'down' | 'stopping';

/** A pod on a node; times are in seconds after the beginning. */
export interface PodTrack extends PodName {
  /** When it was bound; 0: it was there at the beginning. */
  readonly from: number;
  /** When it was gone; null: it is there at the end. */
  readonly until: number | null;
  readonly states: readonly Step<{ readonly state: PodState }>[];
}

type OpenPod = Open<PodTrack> & { readonly states: Step<{ readonly state: PodState }>[] };

/** Records them. */
export class PodLog {
  readonly pods: OpenPod[] = [];
  readonly #open = new Map<string, OpenPod>();

  /** It has come to its node. */
  arrived(at: number, { metadata, spec }: KubeObject, workload: string | null): void {
    const { namespace = '', name, uid = '' } = metadata;
    const id = { namespace, pod: name, node: spec.nodeName as string, workload };
    const pod: OpenPod = { ...id, from: at, until: null, states: [{ at, state: 'starting' }] };
    this.#open.set(uid, pod);
    this.pods.push(pod);
  }

  /** It serves, or serves no more. */
  serves(at: number, pod: KubeObject, does: boolean): void {
    const isGoing = pod.metadata.deletionTimestamp !== undefined;
    this.#enter(at, pod, does ? 'serving' : isGoing ? 'stopping' : 'down');
  }

  /** It is to go. */
  stopping(at: number, pod: KubeObject): void {
    this.#enter(at, pod, 'stopping');
  }

  /** It has left its node. */
  left(at: number, { metadata }: KubeObject): void {
    const uid = metadata.uid ?? '';
    const pod = this.#open.get(uid);
    if (!pod) return;
    pod.until = at;
    this.#open.delete(uid);
  }

  #enter(at: number, { metadata }: KubeObject, state: PodState): void {
    const states = this.#open.get(metadata.uid ?? '')?.states;
    const last = states?.at(-1);
    if (!states || last?.state === state || last?.state === 'stopping') return;
    if (last?.at === at) states.pop();
    states.push({ at, state });
  }
}
