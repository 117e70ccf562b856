// What `kubectl drain --ignore-daemonsets` does, in a simulated cluster: evicts the pods of a node that is cordoned.
import type { Outcome } from '@taintmgr/core';
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';

/** Hears what came of each attempt. */
export type OnAttempt = (pod: KubeObject, outcome: Outcome) => void;

/** As long kubectl waits after a budget has said no. */
const retryMs = 5_000;
const tooManyRequests = 429;
const notFound = 404;

/** The pods that are on the node at the beginning, each until it is evicted; budgets are asked again and again. */
export class NodeDrain {
  readonly #cluster: Cluster;
  readonly #onAttempt: OnAttempt;
  #isOver = false;

  constructor(cluster: Cluster, node: string, onAttempt: OnAttempt) {
    this.#cluster = cluster;
    this.#onAttempt = onAttempt;
    const pods = cluster.api.list('pods').filter((pod) => pod.spec.nodeName === node);
    for (const pod of pods.filter(isEvicted)) this.#evict(pod);
  }

  /** No pod is asked for any more. */
  stop(): void {
    this.#isOver = true;
  }

  #evict(pod: KubeObject): void {
    if (this.#isOver) return;
    const { name, namespace = '', uid = '' } = pod.metadata;
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions: { preconditions: { uid } },
    };
    let [status, answer] = [0, ''];
    this.#cluster.exchange(
      {
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/pods/${name}/eviction`,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
      },
      {
        head: (code) => (status = code),
        data: (chunk) => (answer += chunk.toString()),
        end: () => this.#answered(pod, status, answer),
        reset: () => this.#failed(pod, null, 'the connection broke'),
      },
    );
  }

  #answered(pod: KubeObject, status: number, answer: string): void {
    // Somebody else was sooner: it is gone, or another pod has its name.
    if (status === notFound) return;
    if (status < 300) {
      this.#onAttempt(pod, { kind: 'done' });
      return;
    }
    const { message = `status ${status}`, details } = JSON.parse(answer) as Refusal;
    if (status !== tooManyRequests) {
      this.#failed(pod, status, message);
      return;
    }
    const causes = (details?.causes ?? []).map((cause) => cause.message);
    const words = [message, ...causes].join(' ');
    this.#onAttempt(pod, { kind: 'blocked', message: words, retryAfter: null });
    this.#cluster.api.clock.after(retryMs, () => this.#evict(pod));
  }

  /** As kubectl does: what fails otherwise is not tried again. */
  #failed(pod: KubeObject, status: number | null, message: string): void {
    this.#onAttempt(pod, { kind: 'failed', status, message, retryAfter: null });
  }
}

interface Refusal {
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly message: string }[] };
}

const mirror = 'kubernetes.io/config.mirror';

/** Those of DaemonSets and of the kubelet itself stay; so do those that have ended, or are going. */
function isEvicted({ metadata, status }: KubeObject): boolean {
  const { annotations = {}, ownerReferences = [], deletionTimestamp } = metadata;
  const isOfDaemonSet = ownerReferences.some(
    (owner) => owner.controller && owner.kind === 'DaemonSet',
  );
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return (
    !isOfDaemonSet &&
    !hasEnded &&
    annotations[mirror] === undefined &&
    deletionTimestamp === undefined
  );
}
