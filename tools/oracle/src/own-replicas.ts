import type { KubeObject } from '@taintmgr/sim-cluster';
import { Checker } from './checker.ts';
import type { Evidence } from './evidence.ts';
import { readinessOf } from './lifecycle/node-rule.ts';
import type { ObservedChange } from './object-history.ts';
import { isRemoval } from './terms.ts';

/**
 * The checker of self-preservation: a client never removes the last of its own replicas that works, by what it
 * may have known. All pods of its namespace are its replicas, and the one in which it runs works.
 */
export class OwnReplicaChecker extends Checker<Evidence> {
  /** Whose removal each run has asked for, by uid. */
  readonly #asked = new Map<string, number>();

  observe({ at, change, by }: ObservedChange): void {
    const { own } = this.evidence.terms;
    const { resource, previous, object } = change;
    if (resource !== 'pods' || !own || object.metadata.namespace !== own.namespace) return;
    if (!by || !isRemoval(by) || !previous || previous.metadata.deletionTimestamp) return;
    const { uid = '', name } = object.metadata;
    this.#asked.set(uid, by.run);
    const { known } = this.evidence.apiHistory;
    const since = Math.min(
      known.inTurnUpTo(by.run, 'pods', by.sentAt),
      known.inTurnUpTo(by.run, 'nodes', by.sentAt),
    );
    const standIns = this.#replicas().filter((other) => {
      return this.#asked.get(other) !== by.run && this.#worked(other, since, at).includes(true);
    });
    const before = this.#worked(uid, since, at, ({ metadata }) => !metadata.deletionTimestamp);
    if (standIns.length > 0 || before.includes(false)) return;
    const evidence = `${name} is removed by run ${by.run}, and no other replica works`;
    this.evidence.report({ invariant: 'keeps its last replica', at, evidence });
  }

  /** Whether there is no replica beside this one that works now. */
  isLast({ metadata }: KubeObject): boolean {
    const { api, terms } = this.evidence;
    if (metadata.namespace !== terms.own?.namespace) return false;
    const now = api.clock.now();
    return !this.#replicas().some((uid) => {
      return uid !== metadata.uid && this.#worked(uid, now, now).at(-1) === true;
    });
  }

  /** The uids of all that ever were. */
  #replicas(): readonly string[] {
    const { history, terms } = this.evidence;
    return history.pods.flatMap((states) => {
      const metadata = states[0]?.object?.metadata;
      return metadata?.namespace === terms.own?.namespace ? [metadata?.uid ?? ''] : [];
    });
  }

  /** Whether it worked in each of its states of that time that counts, each with those of its node. */
  #worked(
    uid: string,
    from: number,
    to: number,
    counts: (pod: KubeObject) => boolean = () => true,
  ): readonly boolean[] {
    const { history } = this.evidence;
    return history.during(history.pod(uid), from, to).flatMap(({ object: pod }) => {
      if (pod === null || !counts(pod)) return [];
      const nodes = history.during(history.node(pod.spec.nodeName ?? ''), from, to);
      return nodes.map(({ object: node }) => this.#works(pod, node));
    });
  }

  #works({ metadata, spec, status }: KubeObject, node: KubeObject | null): boolean {
    if (metadata.deletionTimestamp || !spec.nodeName) return false;
    if (metadata.name === this.evidence.terms.own?.name) return true;
    const conditions: readonly { readonly type: string; readonly status: string }[] =
      status?.conditions ?? [];
    const isReady = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
    return isReady && status?.phase === 'Running' && readinessOf(node) === 'True';
  }
}
