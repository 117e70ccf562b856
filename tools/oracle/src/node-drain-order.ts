// Judges the order in which a client carries out NodeDrains, and its waits.
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import { marksOf } from './drain-marks.ts';

const minute = 60_000;
/** The time for which a client may not have heard of a change. */
const unheardMs = 200_000;
/** A write that was begun in time may come so late, tried again and again. */
const lateMs = 150_000;
/** The API server dates in whole seconds, and a client finds out about time-outs by its own clock. */
const clockMs = 3_000;

type Spec = KubeObject['spec'];

/** Specs are what a drain said lately, as far as a client may still go by it. */
export class NodeDrainOrder {
  readonly #api: ClusterApi;
  readonly #report: (invariant: string, evidence: string) => void;
  /** Annotations of a node that were ever there, as `node key=value`. */
  readonly #annotated = new Set<string>();
  /** When a drain was first seen on a node, as `drain node`. */
  readonly #begunAt = new Map<string, number>();
  /** When its turn was first seen to have come, by the same. */
  readonly #turnAt = new Map<string, number>();

  constructor(api: ClusterApi, report: (invariant: string, evidence: string) => void) {
    this.#api = api;
    this.#report = report;
  }

  /** Looks at the present state of a node. */
  look(at: number, node: KubeObject): void {
    const { name, annotations = {} } = node.metadata;
    for (const [key, value] of Object.entries(annotations)) {
      if (key.startsWith('example.com/')) this.#annotated.add(`${name} ${key}=${value}`);
    }
    for (const { id, tainted = true } of marksOf(node)) {
      const key = `${id} ${name}`;
      if (!this.#begunAt.has(key)) this.#begunAt.set(key, at);
      if (tainted && !this.#turnAt.has(key)) this.#turnAt.set(key, at);
    }
  }

  /** Judges the first taint of a drain on a node without a mark of the drain. */
  begun(
    sentAt: number,
    { metadata: { name } }: KubeObject,
    id: string,
    specs: readonly Spec[],
  ): void {
    if (!specs.some((spec) => mayBeOpen(spec, sentAt)) && !this.#isUnderWay(id, name)) {
      this.#report('keeps to its windows', `${id} begins with ${name}`);
    }
    for (const other of this.#listedBefore(name, specs)) {
      const node = this.#api.get('nodes', '', other);
      const drain = this.#api.get('nodedrains.taintmgr.dev', '', id);
      const isOld = timeOf(node) < Math.min(timeOf(drain), sentAt - unheardMs);
      if (!node || !drain || !isOld) continue;
      const isBegun = marksOf(node).some((mark) => mark.id === id);
      if (!isBegun && !this.#isDoneWith(id, other))
        this.#report('keeps to its waves', `${id}: ${name} before ${other}`);
    }
  }

  /** A pod is made to leave by a drain. */
  left(at: number, pod: KubeObject, id: string, specs: readonly Spec[]): void {
    const { metadata, spec } = pod;
    const name = `${metadata.namespace}/${metadata.name} on ${spec.nodeName}`;
    if (specs.length > 0 && specs.every((one) => this.#misses(at, one, id, spec.nodeName))) {
      this.#report('waits for steps of others', `${id}: ${name}`);
    }
    const later = this.#laterBegun(timeOf(pod) + unheardMs, id, spec.nodeName, specs);
    if (later) this.#report('keeps to its waves', `${id}: ${later} has begun, and ${name} leaves`);
    if (specs.length === 0 || !specs.every((one) => isLast(one, pod))) return;
    const before = this.#api.list('pods').find((other) => {
      const isHere = other.spec.nodeName === spec.nodeName && timeOf(other) < at - unheardMs;
      return isHere && isToGo(other) && !specs.some((one) => isLast(one, other));
    });
    if (before)
      this.#report('keeps its last pods', `${id}: ${name} before ${before.metadata.name}`);
  }

  /**
   * A node of a later wave that was begun after `since`, by a drain whose spec was never edited.
   */
  #laterBegun(since: number, id: string, name: string, specs: readonly Spec[]): string | undefined {
    const drain = this.#api.get('nodedrains.taintmgr.dev', '', id);
    const [spec, edited] = specs;
    if (drain?.metadata.generation !== 1 || !spec?.waves || edited) return undefined;
    const nodes: readonly string[] = spec.nodes ?? [];
    if (!nodes.includes(name)) return undefined;
    return nodes.find((other) => {
      const turnAt = this.#turnAt.get(`${id} ${other}`) ?? 0;
      return waveOf(spec, other) > waveOf(spec, name) && turnAt > Math.max(since, timeOf(drain));
    });
  }

  /** Nodes that are named, and that every spec has in an earlier wave. */
  #listedBefore(name: string, specs: readonly Spec[]): readonly string[] {
    const [first] = specs;
    const listed: readonly string[] = first?.nodes ?? [];
    return listed.filter((other) =>
      specs.every((spec) => {
        const isNamed = spec.nodes?.includes(other) === true && spec.waves !== undefined;
        return isNamed && waveOf(spec, other) < waveOf(spec, name);
      }),
    );
  }

  /** True if the status says that the drain has begun the node and therefore continues with it. */
  #isUnderWay(id: string, name: string): boolean {
    return this.#statesOf(id).some((one) => one.name === name && one.startedAt !== undefined);
  }

  /**
   * True if the drain was seen on the node, and its status says that the node is drained: an edit begins with no
   * such node again, though a drain that was stopped has taken its taints and marks back.
   */
  #isDoneWith(id: string, name: string): boolean {
    const states = this.#statesOf(id);
    const isDrained = states.some((one) => one.name === name && one.phase === 'Drained');
    return isDrained && this.#turnAt.has(`${id} ${name}`);
  }

  #statesOf(id: string): readonly NodeState[] {
    return this.#api.get('nodedrains.taintmgr.dev', '', id)?.status?.nodeStates ?? [];
  }

  /**
   * True if a step before the node was never done, and no timeout has passed that would allow the
   * drain to continue.
   */
  #misses(at: number, { beforeNode = [] }: Spec, id: string, node: string): boolean {
    const since = this.#begunAt.get(`${id} ${node}`) ?? at;
    const isOver = at - since >= 45_000 - clockMs;
    return beforeNode.some(({ object, onTimeout }: Step) => {
      const { key, value } = object.annotation;
      return !this.#annotated.has(`${node} ${key}=${value}`) && !(onTimeout === 'GoOn' && isOver);
    });
  }
}

/** A node as the status of a drain has it. */
interface NodeState {
  readonly name: string;
  readonly phase: string;
  readonly startedAt?: string;
}

interface Step {
  readonly object: { readonly annotation: { readonly key: string; readonly value: string } };
  readonly onTimeout?: string;
}

/** True if a window was open recently; each opens every N minutes and lasts whole minutes. */
function mayBeOpen({ windows = [] }: Spec, at: number): boolean {
  if (windows.length === 0) return true;
  return windows.some(({ schedule, duration }: { schedule: string; duration: string }) => {
    const every = Number(/^\*\/(\d+) \* \* \* \*$/.exec(schedule)?.[1]);
    const length = Number.parseInt(duration, 10) * minute;
    const sinceHour = (at + clockMs) % (60 * minute);
    return sinceHour % (every * minute) < length + lateMs;
  });
}

/** The place of the wave of a node, by its name; the last for those that are in none. */
function waveOf({ waves = [] }: Spec, name: string): number {
  const index = waves.findIndex(
    ({ nodeSelector }: { readonly nodeSelector: { matchExpressions: { values: string[] }[] } }) =>
      nodeSelector.matchExpressions.every(({ values }) => values.includes(name)),
  );
  return index < 0 ? waves.length : index;
}

/** True if the pod is in the last group of a drain that takes all pods of a node. */
function isLast({ pods, tolerations }: Spec, { metadata }: KubeObject): boolean {
  if (tolerations !== 'Ignore') return false;
  return (pods?.last ?? []).some(
    ({ podSelector }: { readonly podSelector: { matchLabels: Record<string, string> } }) =>
      Object.entries(podSelector.matchLabels).every(
        ([key, value]) => metadata.labels?.[key] === value,
      ),
  );
}

/** True if a drain always makes such pods leave. */
export function isToGo({ metadata, status }: KubeObject): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)?.kind ?? '';
  const isOver = ['Succeeded', 'Failed'].includes(status?.phase);
  return ['ReplicaSet', 'StatefulSet'].includes(owner) && !isOver;
}

function timeOf(object: KubeObject | null | undefined): number {
  return Date.parse(object?.metadata.creationTimestamp ?? '') || 0;
}
