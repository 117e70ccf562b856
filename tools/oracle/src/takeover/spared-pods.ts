// The checker of pods that kube-controller-manager was kept from deleting.
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from '../api-history.ts';
import { isHandedOver } from '../objects.ts';
import { noExecuteTaints, toleratedMs } from '../taint-rule.ts';
import { clockTime, type Violation } from '../terms.ts';
import type { TakeoverHistory } from './takeover-history.ts';
import { placeOf } from './unheard-nodes.ts';
import { isMark, nameOf, type VetoChecker } from './vetoes.ts';

/** So long after a refusal an Event says why the pod stays: 20 a second are looked at. */
const recordedMs = 60_000;
/** So long after an eviction was called off its mark is gone. */
const unmarkedMs = 60_000;
/** What kube-controller-manager takes for a pod that is due. */
const dueMs = 20_000;
const heldReason = 'TaintManagerEvictionHeld';
/** The hold of a zone, with what ends it. */
const zoneHold =
  /deadlines are paused by the hold of (?:zone (\S+) until one of its nodes|the nodes without a zone until one of them) is ready$/;

/** Looks at the pods that are there when nothing has been wrong for a while, or when nobody decides. */
export class SparedPodsChecker {
  readonly #api: ClusterApi;
  readonly #history: TakeoverHistory;
  readonly #vetoes: VetoChecker;
  readonly #report: (violation: Violation) => void;
  /** Since when pods bear a mark of the client, by uid. */
  readonly #marked = new Map<string, number>();
  /** When the spec of a pod or the taints of a node last changed, by uid and name. */
  readonly #changed = new Map<string, number>();
  /** Zones that nodes are, or were, in; '': none. */
  readonly #zones = new Set<string>();

  constructor(
    api: ClusterApi,
    apiHistory: ApiHistory,
    history: TakeoverHistory,
    vetoes: VetoChecker,
    report: (violation: Violation) => void,
  ) {
    this.#api = api;
    this.#history = history;
    this.#vetoes = vetoes;
    this.#report = report;
    for (const node of api.list('nodes')) this.#zones.add(placeOf(node));
    api.subscribe(({ resource, object, previous }) => {
      if (resource !== 'pods' && resource !== 'nodes') return;
      const { uid = '', name } = object.metadata;
      if (resource === 'nodes') this.#zones.add(placeOf(object));
      const isSame = partOf(object) === partOf(previous);
      if (!isSame) this.#changed.set(resource === 'pods' ? uid : name, api.clock.now());
      if (resource === 'pods') this.#followMark(uid, object, previous, apiHistory.actor !== null);
    });
  }

  /** A leader has decided since `calmSince`, and nothing was wrong. */
  atCalm(calmSince: number): void {
    const now = this.#api.clock.now();
    const recorded = new Set(
      this.#api
        .list('events')
        .filter((event) => event.reason === heldReason && this.#isTrue(event))
        .map(({ involvedObject }) => involvedObject?.uid),
    );
    for (const pod of this.#present()) {
      const { uid = '', namespace = '' } = pod.metadata;
      const since = this.#history.during('namespaces', namespace, calmSince, now);
      if (!since.every(({ object }) => isHandedOver(object))) continue;
      const { at: refusedAt } = this.#vetoes.refusals.get(uid) ?? { at: 0 };
      const isRefused = refusedAt > Math.max(calmSince, this.#changedAt(pod));
      // What was refused beside the end of its last taint is held by nothing.
      const goes = this.#waitOf(pod) < Number.POSITIVE_INFINITY;
      if (goes && isRefused && now - refusedAt > recordedMs && !recorded.has(uid)) {
        const evidence = `${nameOf(pod)} was refused at ${clockTime(refusedAt)}, and is there`;
        this.#report({ invariant: 'nothing says why it is held', at: now, evidence });
      }
      const markedAt = Math.max(this.#marked.get(uid) ?? now, calmSince, this.#changedAt(pod));
      if (goes || now - markedAt <= unmarkedMs) continue;
      const evidence = `${nameOf(pod)} stays, and is marked since ${clockTime(markedAt)}`;
      this.#report({ invariant: 'mark not taken away', at: now, evidence });
    }
  }

  /** Nobody has decided for so long that nothing is refused; kube-controller-manager began at `since`. */
  atGone(since: number): void {
    const now = this.#api.clock.now();
    for (const pod of this.#present()) {
      const dueAt = Math.max(since, this.#changedAt(pod)) + this.#waitOf(pod);
      if (dueAt + dueMs > now) continue;
      const evidence = `${nameOf(pod)} was due ${clockTime(dueAt)}`;
      this.#report({ invariant: 'spared though nobody decides', at: now, evidence });
    }
  }

  #followMark(uid: string, pod: KubeObject, previous: KubeObject | null, byUs: boolean): void {
    if (!isMarked(pod)) this.#marked.delete(uid);
    else if (byUs && !isMarked(previous)) this.#marked.set(uid, this.#api.clock.now());
  }

  /** Those that nobody has deleted. */
  #present(): readonly KubeObject[] {
    return this.#api
      .list('pods')
      .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.nodeName);
  }

  /** For how long kube-controller-manager lets a pod be; Infinity: for ever. */
  #waitOf(pod: KubeObject): number {
    const node = this.#api.get('nodes', '', pod.spec.nodeName);
    const times = noExecuteTaints(node).map((taint) => toleratedMs(pod, taint));
    return Math.min(Number.POSITIVE_INFINITY, ...times);
  }

  #changedAt({ metadata, spec }: KubeObject): number {
    const [pod, node] = [metadata.uid ?? '', spec.nodeName].map((key) => this.#changed.get(key));
    return Math.max(pod ?? 0, node ?? 0);
  }

  /** A pause or a policy that an Event names has been there. */
  #isTrue({ message = '', involvedObject }: KubeObject): boolean {
    const { namespace, name } = involvedObject ?? {};
    const head = `taintmgr decides about Pod ${namespace}/${name}, not kube-controller-manager: `;
    if (!message.startsWith(head) || message.length === head.length) return false;
    // What a zone holds that is down is named by the zone.
    const [isZone, zone = ''] = zoneHold.exec(message) ?? [];
    if (isZone) return this.#zones.has(zone);
    if (message.includes('deadlines are paused by the hold ')) return false;
    const [, pause] = /deadlines are paused by ([\w-]+)(?: |$)/.exec(message) ?? [];
    return (
      pause === undefined || this.#history.names('evictionpauses.taintmgr.dev').includes(pause)
    );
  }
}

function isMarked(pod: KubeObject | null): boolean {
  return (pod?.status?.conditions ?? []).some(isMark);
}

function partOf(object: KubeObject | null): string {
  return JSON.stringify([
    object?.metadata.uid,
    object?.spec?.nodeName,
    object?.spec?.tolerations,
    object?.spec?.taints,
  ]);
}
