import type {
  Change,
  Exchange,
  KubeObject,
  PlainServer,
  Timer,
} from '@taintmgr/sim-cluster/server';
import {
  formatMicroTime,
  formatTime,
  type Taint,
  type TimedToleration,
  tolerates,
} from '@taintmgr/sim-cluster/server';

export interface TaintManagerOptions {
  readonly api: PlainServer;
  /** The token it logs in with, where the API server has tokens. */
  readonly token?: string;
  /** How its requests go out; left out: straight to the API server. */
  readonly exchange?: Exchange;
  /** Hold and renew the lease kube-system/kube-controller-manager; false as with --leader-elect=false. */
  readonly lease?: boolean;
  /** Be seen as a static pod on this node, with these flags; left out: it has no pod. */
  readonly pod?: { readonly nodeName: string; readonly flags: readonly string[] };
}

const userAgent = 'kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/node-controller';
const leaseHolder = 'control-plane_5d6c8f0e';
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const renewMs = 2_000;
const attemptsMax = 5;
const attemptMs = 10;

/**
 * Stands in for the taint-eviction-controller of a kube-controller-manager 1.36: a client of its own
 * that sends what that one sends. A pod that does not tolerate a NoExecute taint of its node is read,
 * marked in its status (DisruptionTarget, DeletionByTaintManager) where it does not have that very mark,
 * and deleted, without asking budgets; one that tolerates it for a time when that is over. A deadline
 * that runs is not moved. After five attempts within 50 ms it forgets the pod.
 */
export class TaintManagerStandIn {
  readonly #options: TaintManagerOptions;
  readonly #timers = new Map<string, Timer>();
  #renewal: Timer | null = null;
  #unsubscribe: (() => void) | null = null;

  constructor(options: TaintManagerOptions) {
    this.#options = options;
  }

  start(): void {
    const { api, lease, pod } = this.#options;
    if (pod && !api.get('pods', 'kube-system', podName(pod.nodeName))) {
      const node = api.get('nodes', '', pod.nodeName);
      api.create('pods', staticPod(pod.nodeName, pod.flags, node?.metadata.uid));
    }
    if (lease) this.#renew();
    this.#unsubscribe = api.subscribe((change) => this.#notice(change));
    for (const { metadata } of api.list('nodes')) this.#judgeNode(metadata.name);
  }

  /** Forgets every deadline; the lease is held until it runs out, as upstream's is. */
  stop(): void {
    this.#unsubscribe?.();
    this.#renewal?.cancel();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #notice({ type, resource, object, previous }: Change): void {
    if (resource === 'nodes' && type !== 'DELETED') this.#judgeNode(object.metadata.name);
    if (resource !== 'pods') return;
    if (type === 'DELETED') this.#cancel(object);
    // Nothing else about a pod is looked at, its deletion neither.
    else if (!previous || boundAndTolerating(previous) !== boundAndTolerating(object)) {
      this.#judge(object);
    }
  }

  #judgeNode(name: string): void {
    for (const pod of this.#options.api.list('pods')) {
      if (pod.spec.nodeName === name) this.#judge(pod);
    }
  }

  #judge(pod: KubeObject): void {
    const { api } = this.#options;
    const taints: readonly Taint[] =
      api.get('nodes', '', pod.spec.nodeName ?? '')?.spec?.taints ?? [];
    const seconds = secondsLeft(taints, pod.spec.tolerations ?? []);
    if (seconds === null) this.#cancel(pod);
    else if (seconds === 0 || !this.#timers.has(uidOf(pod))) this.#deleteAfter(pod, seconds);
  }

  #deleteAfter(pod: KubeObject, seconds: number): void {
    this.#cancel(pod);
    const timer = this.#options.api.clock.after(seconds * 1000, () => this.#read(pod, 1));
    this.#timers.set(uidOf(pod), timer);
  }

  #cancel(pod: KubeObject): void {
    this.#timers.get(uidOf(pod))?.cancel();
    this.#timers.delete(uidOf(pod));
  }

  /** By its name, so it may be another pod by now. */
  #read(known: KubeObject, attempt: number): void {
    this.#send('GET', pathOf(known), 'application/json', null, (status, text) => {
      if (status >= 300) {
        if (status !== 404) this.#tryAgain(known, attempt);
        return;
      }
      const pod: KubeObject = JSON.parse(text);
      const { conditions = [] } = pod.status ?? {};
      const before = conditions.find(({ type }: Condition) => type === mark.type) ?? null;
      if (before && isVeryMark(before)) this.#delete(pod, attempt);
      else this.#mark(pod, before, attempt);
    });
  }

  #mark(pod: KubeObject, before: Condition | null, attempt: number): void {
    const isTrueAlready = before?.status === mark.status;
    const time = isTrueAlready
      ? before.lastTransitionTime
      : formatTime(this.#options.api.clock.now());
    const observedGeneration = pod.metadata.generation ?? 1;
    const condition = {
      ...mark,
      lastTransitionTime: time,
      lastProbeTime: null,
      observedGeneration,
    };
    const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
    const type = 'application/strategic-merge-patch+json';
    this.#send('PATCH', `${pathOf(pod)}/status`, type, body, (status) => {
      if (status < 300) this.#delete(pod, attempt);
      else if (status !== 404) this.#tryAgain(pod, attempt);
    });
  }

  #delete(pod: KubeObject, attempt: number): void {
    this.#send('DELETE', pathOf(pod), 'application/json', null, (status) => {
      if (status >= 300 && status !== 404) this.#tryAgain(pod, attempt);
    });
  }

  #tryAgain(pod: KubeObject, attempt: number): void {
    if (attempt === attemptsMax) return;
    const { clock } = this.#options.api;
    const timer = clock.after(attemptMs, () => this.#read(pod, attempt + 1));
    this.#timers.set(uidOf(pod), timer);
  }

  #renew(): void {
    const { api } = this.#options;
    const name = 'kube-controller-manager';
    const known = api.get('leases', 'kube-system', name);
    const spec = {
      ...known?.spec,
      holderIdentity: leaseHolder,
      leaseDurationSeconds: 15,
      renewTime: formatMicroTime(api.clock.now()),
    };
    const lease = known
      ? { ...known, spec }
      : { metadata: { name, namespace: 'kube-system' }, spec };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease };
    const [method, path] = known ? ['PUT', `${leasesPath}/${name}`] : ['POST', leasesPath];
    this.#send(method ?? '', path ?? '', 'application/json', body, () => {});
    this.#renewal = api.clock.after(renewMs, () => this.#renew());
  }

  #send(
    method: string,
    path: string,
    contentType: string,
    body: object | null,
    ended: (status: number, text: string) => void,
  ): void {
    const { api, exchange = api.exchange, token } = this.#options;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { 'user-agent': userAgent, 'content-type': contentType, ...authorization };
    const request = { method, path, headers, body: body && JSON.stringify(body) };
    let status = 0;
    let text = '';
    exchange(request, {
      head: (code) => {
        status = code;
      },
      data: (chunk) => {
        text += String(chunk);
      },
      end: () => ended(status, text),
      reset: () => ended(500, ''),
    });
  }
}

/** How long the pod is tolerated there: 0: not at all; null: for ever, or nothing has to be. */
function secondsLeft(
  taints: readonly Taint[],
  tolerations: readonly TimedToleration[],
): number | null {
  const ending = taints.filter(({ effect }) => effect === 'NoExecute');
  const used = ending.map((taint) => tolerations.find((one) => tolerates(one, taint)));
  if (used.includes(undefined)) return 0;
  const limits = used.flatMap((toleration) => toleration?.tolerationSeconds ?? []);
  return limits.length === 0 ? null : Math.max(0, Math.min(...limits));
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
  readonly lastProbeTime?: string | null;
}

const mark = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/** Whether a patch would change nothing; observedGeneration does not count. */
function isVeryMark({ status, reason, message, lastProbeTime = null }: Condition): boolean {
  const isEqual = status === mark.status && reason === mark.reason && message === mark.message;
  return isEqual && lastProbeTime === null;
}

function podName(nodeName: string): string {
  return `kube-controller-manager-${nodeName}`;
}

/** The mirror of its static pod, as kubeadm has it. */
function staticPod(nodeName: string, flags: readonly string[], nodeUid?: string): KubeObject {
  const name = 'kube-controller-manager';
  const image = 'registry.k8s.io/kube-controller-manager:v1.36.2';
  const command = [name, '--bind-address=127.0.0.1', ...flags];
  const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(nodeName),
      namespace: 'kube-system',
      labels: { component: name, tier: 'control-plane' },
      annotations: { 'kubernetes.io/config.mirror': 'stand-in' },
      // Where there is no such node the garbage collector would take the pod away.
      ...(nodeUid !== undefined && { ownerReferences: [{ ...owner, uid: nodeUid }] }),
    },
    spec: {
      nodeName,
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
      containers: [{ name, image, command }],
    },
  };
}

function boundAndTolerating({ spec }: KubeObject): string {
  return JSON.stringify([spec.nodeName, spec.tolerations]);
}

function pathOf({ metadata: { namespace, name } }: KubeObject): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}
