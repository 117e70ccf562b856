// The checker of refusals: kube-controller-manager is refused what it should be, and nothing else.
import type {
  ApiRequest,
  Change,
  ClusterApi,
  Exchange,
  KubeObject,
  ResponseSink,
} from '@taintmgr/sim-cluster';
import { isHandedOver } from '../objects.ts';
import { clockTime, type Violation } from '../terms.ts';
import type { PolicyName, TakeoverHistory } from './takeover-history.ts';
import { placeOf } from './unheard-nodes.ts';

/** What kube-controller-manager asks: to mark a pod before it deletes it, or to mark it not ready. */
interface Asked {
  readonly policy: PolicyName;
  readonly pod: KubeObject;
  /** Whether a pod with these conditions has what was asked for. */
  readonly isDone: (conditions: readonly Condition[]) => boolean;
}

/** A mark that it was refused. */
export interface Refusal {
  readonly at: number;
  readonly pod: KubeObject;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

const statusPath = /^\/api\/v1\/namespaces\/([^/?]+)\/pods\/([^/?]+)\/status(?:\?|$)/;
const freshMs = 60_000;
const byPolicy = "ValidatingAdmissionPolicy 'taintmgr-";

/**
 * Lead all requests of kube-controller-manager through `line`. What it was allowed shows in the pods, what
 * it was refused in the answers; what should have come of it follows from the label of the namespace, the
 * heartbeat, the policies, and the API server's clock.
 */
export class VetoChecker {
  /** By uid of the pod, the latest. */
  readonly refusals: Map<string, Refusal> = new Map();
  readonly #api: ClusterApi;
  readonly #history: TakeoverHistory;
  readonly #report: (violation: Violation) => void;
  #asked: Asked | null = null;

  constructor(api: ClusterApi, history: TakeoverHistory, report: (violation: Violation) => void) {
    this.#api = api;
    this.#history = history;
    this.#report = report;
    api.subscribe((change) => this.#observe(change));
  }

  line(exchange: Exchange): Exchange {
    return (request, sink) => {
      const asked = this.#askedBy(request);
      if (!asked) return exchange(request, sink);
      const before = this.#asked;
      this.#asked = asked;
      try {
        return exchange(request, this.#listening(asked, sink));
      } finally {
        this.#asked = before;
      }
    };
  }

  #askedBy({ method, path, body }: ApiRequest): Asked | null {
    const [, namespace = '', name = ''] = statusPath.exec(path) ?? [];
    if (name === '' || method === 'GET' || typeof body !== 'string') return null;
    const pod = this.#api.get('pods', namespace, name);
    const conditions: readonly Condition[] = JSON.parse(body).status?.conditions ?? [];
    if (!pod) return null;
    const mark = conditions.find(isMark);
    const isDone = (all: readonly Condition[]): boolean =>
      all.some((one) => isMark(one) && one.message === mark?.message);
    if (mark && !isDone(marksOf(pod))) return { policy: 'taintmgr-takeover', pod, isDone };
    const unready = conditions.find(isNotReady);
    const looked = conditions.some((one) => {
      return one.type === 'ContainersReady' && one.status === 'False';
    });
    const wasReady = marksOf(pod).some((one) => one.type === 'Ready' && one.status === 'True');
    if (!unready || looked || !wasReady) return null;
    return { policy: 'taintmgr-readiness', pod, isDone: (all) => all.some(isNotReady) };
  }

  #listening(asked: Asked, sink: ResponseSink): ResponseSink {
    let text = '';
    let code = 0;
    return {
      ...sink,
      head: (status, headers) => {
        code = status;
        sink.head(status, headers);
      },
      data: (chunk) => {
        if (code === 403) text += chunk;
        sink.data(chunk);
      },
      end: () => {
        if (text.includes(byPolicy)) this.#refused(asked);
        sink.end();
      },
    };
  }

  /** What it asked for is stored. */
  #observe({ resource, type, object }: Change): void {
    const asked = this.#asked;
    if (!asked || resource !== 'pods' || type !== 'MODIFIED') return;
    if (object.metadata.uid !== asked.pod.metadata.uid) return;
    if (!asked.isDone(marksOf(object))) return;
    this.#asked = null;
    const at = this.#api.clock.now();
    const namespaces = this.#history.namespaceKnown(asked.pod.metadata.namespace ?? '', at);
    const beats = this.#history.heartbeatsKnown(at);
    const isToBeRefused =
      namespaces.every(isHandedOver) &&
      beats.every((beat) => isFresh(beat, at) && holds(beat, asked)) &&
      this.#history.stands(asked.policy, at);
    if (!isToBeRefused) return;
    const invariant =
      asked.policy === 'taintmgr-takeover'
        ? 'marked beside a fresh heartbeat'
        : 'not ready beside a hold';
    this.#report({ invariant, at, evidence: `${nameOf(asked.pod)}: ${written(asked, at, beats)}` });
  }

  #refused(asked: Asked): void {
    const at = this.#api.clock.now();
    const { pod, policy } = asked;
    if (policy === 'taintmgr-takeover') this.refusals.set(pod.metadata.uid ?? '', { at, pod });
    const namespaces = this.#history.namespaceKnown(pod.metadata.namespace ?? '', at);
    const beats = this.#history.heartbeatsKnown(at);
    const because = [
      ...(namespaces.some(isHandedOver) ? [] : ['its namespace was not handed over']),
      ...(beats.some((beat) => isFresh(beat, at)) ? [] : ['no heartbeat was fresh']),
      ...(beats.some((beat) => holds(beat, asked)) ? [] : ['nothing was held']),
      ...(this.#history.mayStand(policy, at) ? [] : ['there was no policy']),
    ];
    if (because.length === 0) return;
    const evidence = `${nameOf(pod)}: ${because.join(', ')}; ${written(asked, at, beats)}`;
    this.#report({ invariant: 'refused without a right', at, evidence });
  }
}

type Beat = KubeObject['status'] | null;

/** Somebody decides: the heartbeat is within a minute of the time that the API server gives the request. */
function isFresh(beat: Beat, at: number): boolean {
  const renewedAt = Date.parse(beat?.renewTime ?? '');
  return beat?.takeover?.enabled === true && Math.abs(wholeSecond(at) - renewedAt) <= freshMs;
}

/** The time in managedFields has no fraction. */
function wholeSecond(at: number): number {
  return at - (at % 1000);
}

/** Evictions are always held, readiness where the heartbeat says so. */
function holds(beat: Beat, { policy, pod }: Asked): boolean {
  if (policy === 'taintmgr-takeover') return true;
  const hold = beat?.takeover?.holdReadiness;
  if (!hold) return false;
  const place = placeOf(pod);
  return (
    hold.all === true ||
    (hold.nodes ?? []).includes(pod.spec.nodeName) ||
    (place !== '' && (hold.zones ?? []).includes(place))
  );
}

function marksOf(pod: KubeObject): readonly Condition[] {
  return pod.status?.conditions ?? [];
}

/** Whether this condition goes before a deletion for a taint. */
export function isMark({ type, status, reason }: Condition): boolean {
  return type === 'DisruptionTarget' && status === 'True' && reason === 'DeletionByTaintManager';
}

function isNotReady({ type, status }: Condition): boolean {
  return type === 'Ready' && status === 'False';
}

function written(asked: Asked, at: number, beats: readonly Beat[]): string {
  const renewals = beats.map((beat) => beat?.renewTime ?? 'none').join(', ');
  return `${asked.policy}, written ${clockTime(wholeSecond(at))}, heartbeat ${renewals}`;
}

export function nameOf({ metadata: { namespace, name, uid } }: KubeObject): string {
  return `pod ${namespace}/${name} (${uid?.slice(0, 8)})`;
}
