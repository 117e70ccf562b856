// The checker of the annotation that keeps since when taints count.

import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Call } from './call.ts';
import { Checker, type Evidence } from './evidence.ts';
import type { ObservedChange, State } from './object-history.ts';
import { isHandedOver } from './objects.ts';
import { givenBack } from './pauses.ts';
import { type NoExecuteTaint, noExecuteTaints, toleratedMs } from './taint-rule.ts';
import { keptStarts, speaksOfPresentTaints } from './taint-starts.ts';
import { clockTime } from './terms.ts';

/** Within this time of a change it is written down. */
const writtenMs = 5000;

/**
 * The client never records a start of a taint before its real start. It records the start where the
 * taint has no time and a pod waits for its time to pass, so that another run of the client does
 * not start over.
 */
export class KeptStartsChecker extends Checker<Evidence> {
  /** Called at the end of a time in which client and API worked undisturbed. */
  atRest(): void {
    const at = this.evidence.api.clock.now();
    for (const pod of this.evidence.api.list('pods')) {
      const { history, report, terms } = this.evidence;
      const namespace = history.namespace(pod.metadata.namespace ?? '').at(-1)?.object ?? null;
      if (terms.takeover && !isHandedOver(namespace)) continue;
      const nodeName: string = pod.spec.nodeName ?? '';
      const node = history.node(nodeName).at(-1);
      const changedAt = Math.max(
        node?.at ?? at,
        history.pod(pod.metadata.uid ?? '').at(-1)?.at ?? at,
      );
      if (!node || at - changedAt < writtenMs || !this.#isWaiting(pod, node, at)) continue;
      for (const taint of noExecuteTaints(node.object)) {
        const isTimed = Number.isFinite(toleratedMs(pod, taint)) && taint.timeAdded === null;
        const isKept = keptStarts(node)[taint.id] !== undefined && speaksOfPresentTaints(node);
        if (!isTimed || isKept) continue;
        const { namespace, name } = pod.metadata;
        const evidence = `node ${nodeName}: since when ${taint.id} counts is nowhere written as the taints are now, and pod ${namespace}/${name} waits for it`;
        report({ invariant: 'start not kept', at, evidence });
        return;
      }
    }
  }

  /** True if its time has not come, by any taint. */
  #isWaiting(pod: KubeObject, node: State, at: number): boolean {
    const { starts } = this.evidence;
    return (
      pod.metadata.deletionTimestamp === undefined &&
      noExecuteTaints(node.object).every((taint) => {
        const appearedAt = starts.appearedAt(pod.spec.nodeName, node, taint);
        return Math.min(taint.timeAdded ?? appearedAt, appearedAt) + toleratedMs(pod, taint) > at;
      })
    );
  }

  observe({ at, change, by }: ObservedChange): void {
    if (change.resource !== 'nodes' || by?.kind !== 'changeNode' || !change.previous) return;
    const { history, report, apiHistory, terms } = this.evidence;
    const before = keptStarts({ at, object: change.previous });
    const after = keptStarts({ at, object: change.object });
    const { name } = change.object.metadata;
    const states = history.node(name).filter((state) => state.at <= by.sentAt);
    const known = apiHistory.known.inTurnUpTo(by.run, 'nodes', by.sentAt);
    for (const [id, start] of Object.entries(after)) {
      if (before[id] === start) continue;
      // On an old view it may be written for a taint that has gone; the next look takes it away.
      const last = states.findLast((state) => taintOf(state, id));
      const seen = [...history.during(states, known, by.sentAt), ...(last ? [last] : [])];
      const possible = seen.flatMap((state) => {
        const taint = taintOf(state, id);
        return taint ? this.#earliest(by, name, state, taint, namespaceOf(id)) : [];
      });
      const earliest = Math.min(Number.POSITIVE_INFINITY, ...possible);
      if (earliest <= start + terms.clockMs) continue;
      const evidence = `node ${name}: ${id} is written down as of ${clockTime(start)}, yet began ${clockTime(earliest)}; run ${by.run}, sent ${clockTime(by.sentAt)}`;
      report({ invariant: 'kept start too early', at, evidence });
    }
  }

  /**
   * Includes the time given back by pauses that are gone: a client that restarts cannot know of
   * them.
   */
  #earliest(
    { run, sentAt }: Call,
    nodeName: string,
    state: State,
    taint: NoExecuteTaint,
    namespace: string | null,
  ): number {
    const { starts, storedPauses, policies } = this.evidence;
    const subject = { node: state.object, taintKey: taint.key, namespace };
    const start = starts.earliest(run, nodeName, state, taint);
    const unreadable = policies.unreadableSpans(run, sentAt);
    return givenBack(start, storedPauses.goneSpans(run, sentAt, subject, unreadable));
  }
}

/** An entry for the pods of one namespace names the namespace after the taint. */
function taintOf({ object }: State, id: string): NoExecuteTaint | undefined {
  return noExecuteTaints(object).find((taint) => taint.id === id.split(' ')[0]);
}

/** Null: it is for pods of all. */
function namespaceOf(id: string): string | null {
  return id.split(' ')[1] ?? null;
}
