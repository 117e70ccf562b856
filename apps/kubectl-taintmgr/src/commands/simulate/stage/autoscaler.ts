// The autoscaler of a simulation: nodes join some time after pods fit on none.
import type { Millis } from '@taintmgr/core/time';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import { zoneLabel } from '@taintmgr/k8s-adapter/survey';
import {
  amountsOf,
  type KubeObject,
  type NodeDescription,
  requestsOf,
} from '@taintmgr/sim-cluster';
import { unplacedMessage } from '../result/recorder.ts';
import type { Stage } from './stage.ts';

/** A source of more nodes like an existing one, which arrive this long after pods fit on none. */
export interface NodePool {
  readonly field: Field;
  readonly like: string;
  readonly after: Millis;
  readonly atMost: number;
}

/** Reads `{like: node-1, after: 90s, atMost: 5}`. Throws FileFault. */
export function readPool(field: Field): NodePool {
  const members = field.members(['like', 'after', 'atMost']);
  const [like, after, atMost] = [members.get('like'), members.get('after'), members.get('atMost')];
  if (!like || !after || !atMost) throw field.fault('want like, after and atMost');
  return {
    field,
    like: like.text(),
    after: after.duration(),
    atMost: atMost.wholeNumber(1, 5_000),
  };
}

/** As the cluster autoscaler looks for pods that fit nowhere. */
const lookEveryMs: Millis = 10_000;

/** The time after a node has joined until its pods are on it. */
const settlesMs: Millis = 30_000;

/** A node on its way, with its remaining capacity. */
interface Coming {
  readonly free: Map<string, number>;
  readonly for: Set<string>;
}

/** Adds nodes to a cluster. */
export class Autoscaler {
  readonly #stage: Stage;
  readonly #pools: readonly NodePool[];
  readonly #onAdd: (pool: NodePool, name: string) => void;
  readonly #coming = new Set<Coming>();
  readonly #counts = new Map<NodePool, number>();

  constructor(
    stage: Stage,
    pools: readonly NodePool[],
    onAdd: (pool: NodePool, name: string) => void,
  ) {
    this.#stage = stage;
    this.#pools = pools;
    this.#onAdd = onAdd;
    if (pools.length > 0) this.#lookLater();
  }

  #lookLater(): void {
    this.#stage.cluster.api.clock.after(lookEveryMs, () => {
      this.#look();
      this.#lookLater();
    });
  }

  #look(): void {
    const { api } = this.#stage.cluster;
    const waiting = api.list('pods').filter((pod) => unplacedMessage(pod) !== null);
    for (const pod of waiting) {
      const uid = pod.metadata.uid ?? '';
      const isHelped = [...this.#coming].some((node) => node.for.has(uid) || takes(node, pod));
      if (!isHelped) this.#order(pod);
    }
  }

  /** Orders a node of the first pool that has one on which the pod fits. */
  #order(pod: KubeObject): void {
    const { api } = this.#stage.cluster;
    for (const pool of this.#pools) {
      const count = this.#counts.get(pool) ?? 0;
      const model = api.get('nodes', '', pool.like);
      if (!model || count >= pool.atMost || !selects(pod, model)) continue;
      const node = { free: amountsOf(model.status?.allocatable), for: new Set<string>() };
      if (!takes(node, pod)) continue;
      this.#counts.set(pool, count + 1);
      this.#coming.add(node);
      const description = { ...describe(model), name: `${pool.like}-auto-${count + 1}` };
      api.clock.after(pool.after, () => {
        this.#stage.add(description);
        this.#onAdd(pool, description.name);
        api.clock.after(settlesMs, () => this.#coming.delete(node));
      });
      return;
    }
  }
}

/** Takes room for the pod where there is enough. */
function takes({ free, for: pods }: Coming, pod: KubeObject): boolean {
  const { cpu, memory, others } = requestsOf(pod);
  const wanted = [...others, ['cpu', cpu], ['memory', memory], ['pods', 1]] as const;
  if (wanted.some(([name, amount]) => amount > (free.get(name) ?? 0))) return false;
  for (const [name, amount] of wanted) free.set(name, (free.get(name) ?? 0) - amount);
  pods.add(pod.metadata.uid ?? '');
  return true;
}

function selects({ spec }: KubeObject, { metadata }: KubeObject): boolean {
  const wanted: Readonly<Record<string, string>> = spec.nodeSelector ?? {};
  return Object.entries(wanted).every(([key, value]) => metadata.labels?.[key] === value);
}

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

const regionLabel = 'topology.kubernetes.io/region';
const hostnameLabel = 'kubernetes.io/hostname';
/** Taints by which Kubernetes says how a node is doing. */
const conditionTaints = 'node.kubernetes.io/';

/** A machine like that of a node, without what only this one has. */
function describe({ metadata, spec, status }: KubeObject): Omit<NodeDescription, 'name'> {
  const { [hostnameLabel]: _, ...labels } = metadata.labels ?? {};
  const taints: readonly Taint[] = spec?.taints ?? [];
  const lasting = taints.filter(({ key }) => !key.startsWith(conditionTaints));
  const [zone, region] = [labels[zoneLabel], labels[regionLabel]];
  return {
    labels,
    ...(zone === undefined ? {} : { zone }),
    ...(region === undefined ? {} : { region }),
    taints: lasting.map(({ key, value = '', effect }) => ({ key, value, effect })),
    capacity: status?.allocatable ?? {},
  };
}
