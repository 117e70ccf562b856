import type { KubeObject } from '@taintmgr/sim-cluster';
import type { ObservedChange } from '../object-history.ts';
import { conditionOf } from '../objects.ts';

const leaseNamespace = 'kube-node-lease';

interface Beat {
  readonly at: number;
  readonly from: 'nodes' | 'leases';
}

/**
 * When heartbeats of each node reached the API: the node was created, its kubelet posted its status
 * or renewed its lease. Writes of the client under test do not count.
 */
export class Heartbeats {
  readonly #beats = new Map<string, Beat[]>();

  observe({ at, change, by }: ObservedChange): void {
    const { type, resource, object, previous } = change;
    const { namespace, name } = object.metadata;
    if (by || type === 'DELETED') return;
    const isRenewal = resource === 'leases' && namespace === leaseNamespace;
    if (isRenewal && object.spec.renewTime !== previous?.spec.renewTime) {
      this.#push(name, { at, from: 'leases' });
    }
    if (resource === 'nodes' && (!previous || postedAt(object) !== postedAt(previous))) {
      this.#push(name, { at, from: 'nodes' });
    }
  }

  /** The last one up to `at`, of one source or of both; -Infinity: none. */
  last(nodeName: string, at: number, source?: 'nodes' | 'leases'): number {
    const beats = this.#beats.get(nodeName) ?? [];
    const last = beats.findLast(
      (beat) => beat.at <= at && (source === undefined || beat.from === source),
    );
    return last?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** All from `from` to `to`. */
  during(nodeName: string, from: number, to: number): readonly number[] {
    const beats = this.#beats.get(nodeName) ?? [];
    return beats.filter(({ at }) => at >= from && at <= to).map(({ at }) => at);
  }

  #push(nodeName: string, beat: Beat): void {
    const beats = this.#beats.get(nodeName);
    if (beats) beats.push(beat);
    else this.#beats.set(nodeName, [beat]);
  }
}

function postedAt(node: KubeObject): string | number | undefined {
  return conditionOf(node, 'Ready')?.lastHeartbeatTime;
}
