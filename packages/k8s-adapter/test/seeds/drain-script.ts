import type { ClusterApi, KubeObject, Timer, VirtualClock } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { type Actions, current } from './script.ts';
import type { Story } from './story.ts';

/** What may happen to drains that work beside the controller, by a taint of their own. */
export const drainActions: Actions = [
  [4, begin],
  [2, die],
  [1, goOn],
  [1, finish],
  [2, undo],
];

/** The taints that drains put on. */
const taints = [
  { key: 'drain', effect: 'NoExecute' },
  { key: 'drain', effect: 'NoExecute' },
  { key: 'maintenance', value: 'a', effect: 'NoExecute' },
] as const;
const annotation = 'taintmgr.dev/drain';
const heartbeatMs = 10_000;

type Taint = (typeof taints)[number];

/** A drain of one node, as `kubectl taintmgr drain-by-taint` is one. */
interface Drain {
  readonly id: string;
  readonly nodeName: string;
  readonly taint: Taint;
  isAlive: boolean;
  /** Stops the next sign of life. */
  timer: Timer | null;
}

/** The drains that there are: whoever runs them is no part of what is tested. */
export class Drains {
  readonly #api: ClusterApi;
  readonly #clock: VirtualClock;
  readonly #drains: Drain[] = [];
  #signs = 0;

  constructor(api: ClusterApi, clock: VirtualClock) {
    this.#api = api;
    this.#clock = clock;
  }

  get all(): readonly Drain[] {
    return this.#drains;
  }

  /** Taints the node, and evicts one pod after the other. */
  begin(nodeName: string, taint: Taint): void {
    const drain = { id: `drain-${this.#signs}`, nodeName, taint, isAlive: true, timer: null };
    this.#drains.push(drain);
    this.#beat(drain);
  }

  /** It goes on where it had stopped. */
  goOn(drain: Drain): void {
    if (drain.isAlive) return;
    drain.isAlive = true;
    this.#beat(drain);
  }

  /** Leaves the node without its mark; and without its taint. */
  end(drain: Drain, keepsTaint: boolean): void {
    drain.isAlive = false;
    this.#drains.splice(this.#drains.indexOf(drain), 1);
    this.#write(drain, null, keepsTaint);
  }

  /** Nobody runs them any more. */
  killAll(): void {
    for (const drain of this.#drains) drain.isAlive = false;
  }

  #beat(drain: Drain): void {
    if (!drain.isAlive) return;
    this.#signs += 1;
    this.#write(drain, `sign ${this.#signs}`, true);
    this.#evictOne(drain);
    drain.timer?.cancel();
    drain.timer = this.#clock.after(heartbeatMs, () => this.#beat(drain));
  }

  #evictOne({ nodeName, taint }: Drain): void {
    const pod = this.#api
      .list('pods')
      .find(({ metadata, spec }) => spec.nodeName === nodeName && !metadata.deletionTimestamp);
    const isTolerant = (pod?.spec.tolerations ?? []).some(
      ({ key = '' }: { readonly key?: string }) => key === '' || key === taint.key,
    );
    if (pod && !isTolerant)
      this.#api.delete('pods', pod.metadata.namespace ?? '', pod.metadata.name);
  }

  /** In one request, as the drain does it. */
  #write({ id, nodeName, taint }: Drain, heartbeat: string | null, hasTaint: boolean): void {
    const node = this.#api.get('nodes', '', nodeName);
    if (!node) return;
    const name = `${taint.key}${'value' in taint ? `=${taint.value}` : ''}:${taint.effect}`;
    const mark = { id, taint: name, by: 'somebody', heartbeat };
    const { metadata } = current(node);
    const annotations = { ...metadata.annotations };
    delete annotations[annotation];
    if (heartbeat !== null) annotations[annotation] = JSON.stringify([mark]);
    const there: readonly Taint[] = node.spec.taints ?? [];
    const isThere = there.some((one) => one.key === taint.key && one.effect === taint.effect);
    const others = there.filter((one) => one.key !== taint.key || one.effect !== taint.effect);
    const next = hasTaint ? (isThere ? there : [...there, taint]) : others;
    const object: KubeObject = {
      ...node,
      metadata: { ...metadata, annotations },
      spec: { ...node.spec, taints: next },
    };
    this.#api.update('nodes', object);
  }
}

function begin({ drains, nodeNames }: Story, draw: Draw): string {
  const nodeName = draw.of(nodeNames);
  const taint = draw.of(taints);
  if (drains.all.some((drain) => drain.nodeName === nodeName)) return 'it is being drained';
  drains.begin(nodeName, taint);
  return `a drain begins on ${nodeName} with ${taint.key}`;
}

function die({ drains }: Story, draw: Draw): string {
  if (drains.all.length === 0) return 'no drain to die';
  const drain = draw.of(drains.all);
  drain.isAlive = false;
  return `${drain.id} dies`;
}

function goOn({ drains }: Story, draw: Draw): string {
  if (drains.all.length === 0) return 'no drain to go on';
  const drain = draw.of(drains.all);
  drains.goOn(drain);
  return `${drain.id} goes on`;
}

/** It has done its work, and leaves what is left to the controller. */
function finish({ drains }: Story, draw: Draw): string {
  if (drains.all.length === 0) return 'no drain to finish';
  const drain = draw.of(drains.all);
  drains.end(drain, true);
  return `${drain.id} is done`;
}

function undo({ drains }: Story, draw: Draw): string {
  if (drains.all.length === 0) return 'no drain to undo';
  const drain = draw.of(drains.all);
  drains.end(drain, false);
  return `${drain.id} is undone`;
}
