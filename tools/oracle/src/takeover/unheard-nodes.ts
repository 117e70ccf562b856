// Which nodes are silent, and since when whoever hears everything takes them for down.

import type { Change, KubeObject } from '@taintmgr/sim-cluster';
import { Heartbeats } from '../lifecycle/heartbeats.ts';
import { conditionOf } from '../objects.ts';

/** A node that gave no sign for 30 s is looked at every 5 s; then it is published. */
export const unheardMs = 38_000;
/** Within this time of a change of a node it is published. */
const learnedMs = 3_000;
/** Who hears a node again that was silent for so long may give all of them time anew. */
const comebackMs = 20_000;

/** What is known of a node from one instant on. */
interface Face {
  readonly at: number;
  readonly uid: string;
  readonly isReady: boolean;
  readonly zone: string;
  /** Of the same node in the same zone: until when it was ready, and since when; null: it was not. */
  readonly wasReady: { readonly from: number; readonly to: number } | null;
}

/** A node that is there. */
export interface UnheardNode {
  readonly name: string;
  /** As the leader names zones; '' for a node without one. */
  readonly zone: string;
  /** Its last sign of life. */
  readonly heardAt: number;
  /** Whether it gave none for so long, was ready before, and nothing since gave it time anew. */
  readonly isNews: boolean;
  /** From then on it counts as down, if it stays silent or not ready. */
  readonly downAt: number;
}

/** Follows signs of life and what kubelets say, from every change in the API. */
export class UnheardNodes {
  readonly #heartbeats = new Heartbeats();
  readonly #faces = new Map<string, Face>();
  #comebackAt = Number.NEGATIVE_INFINITY;

  observe(at: number, change: Change): void {
    const { type, resource, object } = change;
    const { name } = object.metadata;
    const before = this.#heartbeats.last(name, at);
    this.#heartbeats.observe({ at, change, by: null });
    if (this.#heartbeats.last(name, at) - before > comebackMs) this.#comebackAt = at;
    if (resource !== 'nodes') return;
    const known = this.#faces.get(name);
    if (type === 'DELETED' || known === undefined || known.uid !== object.metadata.uid)
      this.#comebackAt = at;
    if (type === 'DELETED') this.#faces.delete(name);
    else this.#faces.set(name, laterFace(at, object, known));
  }

  /** Every node that is there, as of now. */
  all(now: number): readonly UnheardNode[] {
    return [...this.#faces].map(([name, { at, isReady, zone, wasReady }]) => {
      const heardAt = this.#heartbeats.last(name, now);
      const ready = isReady ? { from: at, to: now } : wasReady;
      const isNews =
        ready !== null &&
        heardAt > Math.max(this.#comebackAt, ready.from) &&
        heardAt + unheardMs < ready.to;
      const missedAt = Math.max(heardAt, this.#comebackAt) + unheardMs;
      return { name, zone, heardAt, isNews, downAt: isReady ? missedAt : at + learnedMs };
    });
  }
}

function laterFace(at: number, node: KubeObject, known: Face | undefined): Face {
  const isReady = conditionOf(node, 'Ready')?.status === 'True';
  const zone = placeOf(node);
  const { uid = '' } = node.metadata;
  const isSame = known?.uid === uid && known.isReady === isReady && known.zone === zone;
  if (isSame) return known;
  const isMove = known?.uid !== uid || known.zone !== zone || !known.isReady;
  return { at, uid, isReady, zone, wasReady: isMove ? null : { from: known.at, to: at } };
}

/** The zone as the leader names it; '' for a node without one. */
export function placeOf({ metadata: { labels = {} } }: KubeObject): string {
  const parts = ['region', 'zone'].map((part) => labels[`topology.kubernetes.io/${part}`]);
  return parts.filter((part) => part !== undefined).join('/');
}
