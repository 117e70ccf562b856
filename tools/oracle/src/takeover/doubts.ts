// The checker of holds when many nodes fall silent together: the control plane may be cut off.
import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from '../api-history.ts';
import type { Call } from '../call.ts';
import type { Followed } from '../knowledge.ts';
import { Heartbeats } from '../lifecycle/heartbeats.ts';
import { conditionOf } from '../objects.ts';
import { clockTime, type Violation } from '../terms.ts';
import { managers, type TakeoverHistory } from './takeover-history.ts';

/** Half of the nodes, and so many at least, are too many to fall silent at once. */
const tooMany = { share: 0.5, min: 3 } as const;
/**
 * The greatest distance of last heartbeats that counts as falling silent at once, however nodes are
 * monitored.
 */
const atOnceMs = 12_000;
/**
 * The time after the last of their heartbeats for which the pods of silent nodes are held: 30 s and
 * 60 s.
 */
const heldMs = 89_000;
/** From one heartbeat of a leader that is well to the next. */
const beatMs = 12_000;
/** A healthy leader hears everything within this time. */
const heardMs = 2_500;
const followed: readonly Followed[] = ['nodes', 'leases', 'pods', 'namespaces', 'pauses'];

/** A doubt that must hold pods, and its reason. */
interface Doubt {
  readonly why: string;
  /** Null: all of them. */
  readonly nodes: readonly UnheardNode[] | null;
  /** Since when the leader has to have heard everything to know of it. */
  readonly since: number;
}

/** Judges each heartbeat by the silent nodes, if its writer has heard everything. */
export class DoubtsChecker {
  readonly #nodes = new UnheardNodes();
  readonly #apiHistory: ApiHistory;
  readonly #history: TakeoverHistory;
  readonly #holdsFullDisruption: boolean;
  readonly #report: (violation: Violation) => void;

  constructor(
    api: ClusterApi,
    apiHistory: ApiHistory,
    history: TakeoverHistory,
    holdsFullDisruption: boolean,
    report: (violation: Violation) => void,
  ) {
    this.#apiHistory = apiHistory;
    this.#history = history;
    this.#holdsFullDisruption = holdsFullDisruption;
    this.#report = report;
    for (const object of api.list('nodes')) {
      const { name: key } = object.metadata;
      const change = { type: 'ADDED', resource: 'nodes', key, object, previous: null } as const;
      this.#nodes.observe(api.clock.now(), change);
    }
    api.subscribe((change) => {
      const at = api.clock.now();
      const { actor } = apiHistory;
      const { resource, type, object } = change;
      this.#nodes.observe(at, change);
      if (actor && resource === managers && type === 'MODIFIED') this.#judge(at, actor, object);
    });
  }

  #judge(at: number, by: Call, { status }: KubeObject): void {
    // A heartbeat of a client that does not decide causes no refusal.
    if (status?.takeover?.enabled !== true) return;
    const hold = status.takeover.holdReadiness;
    for (const { why, nodes, since } of this.#doubts(by.sentAt, at)) {
      const isHeld =
        hold?.all === true ||
        nodes?.every(({ name, zone }) => {
          return hold?.nodes?.includes(name) || (zone !== '' && hold?.zones?.includes(zone));
        });
      if (isHeld || !this.#isWell(by, since)) continue;
      const evidence = `run ${by.run}, sent ${clockTime(by.sentAt)}, ${why}: ${JSON.stringify(hold ?? null)}`;
      this.#report({ invariant: 'readiness not held in doubt', at, evidence });
      return;
    }
  }

  #doubts(sentAt: number, at: number): readonly Doubt[] {
    const all = this.#nodes.all(at);
    const isDown = ({ downAt }: UnheardNode): boolean => downAt <= sentAt;
    const down = all.filter(isDown);
    if (down.length === 0) return tooManyOf(all, sentAt);
    // A leader that did not hear everything for a while gives all nodes their time again, and finds
    // them down after that.
    const since = sentAt - unheardMs - heardMs;
    const zones = this.#holdsFullDisruption ? [...new Set(down.map(({ zone }) => zone))] : [];
    const dead = zones
      .map((zone) => ({ zone, nodes: all.filter((one) => one.zone === zone) }))
      .filter(({ nodes }) => nodes.every(isDown));
    return [
      ...tooManyOf(all, sentAt),
      ...(down.length === all.length ? [{ why: 'no node is up', nodes: null, since }] : []),
      ...dead.map(({ zone, nodes }) => ({ why: `zone ${zone} is down`, nodes, since })),
    ];
  }

  /** True if it led from then on, wrote every heartbeat in time, and heard everything. */
  #isWell({ run, sentAt }: Call, since: number): boolean {
    const beats = this.#history.during(managers, 'taintmgr', since - beatMs, sentAt);
    const isRegular = beats.every(({ at, by }, index) => {
      const next = beats[index + 1]?.at ?? sentAt;
      return by?.run === run && next - at <= beatMs;
    });
    if (!isRegular) return false;
    const { known } = this.#apiHistory;
    for (let at = since; at <= sentAt; at += 1_000) {
      const hears = (one: Followed): boolean => known.inTurnUpTo(run, one, at) >= at - heardMs;
      if (!followed.every(hears)) return false;
    }
    return true;
  }
}

function tooManyOf(all: readonly UnheardNode[], sentAt: number): readonly Doubt[] {
  const news = all.filter(({ isNews }) => isNews);
  const lastAt = Math.max(Number.NEGATIVE_INFINITY, ...news.map(({ heardAt }) => heardAt));
  const atOnce = news.filter(({ heardAt }) => lastAt - heardAt <= atOnceMs);
  const isDue = sentAt >= lastAt + unheardMs && sentAt <= lastAt + heldMs;
  const isTooMany = atOnce.length >= Math.max(tooMany.min, tooMany.share * all.length);
  if (!isDue || !isTooMany) return [];
  const since = Math.min(...atOnce.map(({ heardAt }) => heardAt));
  return [
    { why: `${atOnce.length} nodes were last heard ${clockTime(lastAt)}`, nodes: null, since },
  ];
}

/** A node that gave no sign for 30 s is looked at every 5 s; then it is published. */
const unheardMs = 38_000;
/** Within this time of a change of a node it is published. */
const learnedMs = 3_000;
/**
 * A leader that hears again from a node that was silent for this time may give all nodes their time
 * again.
 */
const comebackMs = 20_000;

/** The facts about a node from one instant on. */
interface Face {
  readonly at: number;
  readonly uid: string;
  readonly isReady: boolean;
  readonly zone: string;
  /** The time in which the same node in the same zone was ready; null: it was not. */
  readonly wasReady: { readonly from: number; readonly to: number } | null;
}

/** A node that is there. */
interface UnheardNode {
  readonly name: string;
  /** The name of the zone in the leader's status; '' for a node without one. */
  readonly zone: string;
  /** Its last sign of life. */
  readonly heardAt: number;
  /**
   * True if it gave none for that time, was ready before, and nothing has restarted its time since.
   */
  readonly isNews: boolean;
  /** From then on it counts as down, if it stays silent or not ready. */
  readonly downAt: number;
}

/** Follows signs of life and what kubelets say, from every change in the API. */
class UnheardNodes {
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
