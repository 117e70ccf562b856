// The names by which a story calls what its cluster makes up names for.
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';

type Api = Cluster['api'];

/**
 * Calls ReplicaSets of a Deployment `web/rev1`, by the order in which they came, pods with made up names
 * `OWNER#0`, by the same order, and pods of one name `db-0`, `db-0(2)`.
 */
export class Cast {
  readonly #api: Api;
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  /** The pods in the order in which they came. */
  readonly #pods: { readonly uid: string; readonly owner: string; readonly name: string }[] = [];

  constructor(api: Api) {
    this.#api = api;
  }

  /** Calls an object that is new. */
  add(resource: string, object: KubeObject): void {
    const { uid = '', name } = object.metadata;
    if (this.#names.has(uid)) return;
    if (resource === 'replicasets') {
      const owner = controllerOf(object);
      const called = owner ? `${owner.name}/rev${this.#next(`rev ${owner.uid}`) + 1}` : name;
      this.#names.set(uid, called);
    } else if (resource === 'pods') this.#addPod(object);
    else this.#names.set(uid, name);
  }

  #addPod(pod: KubeObject): void {
    const { uid = '', name } = pod.metadata;
    const owner = controllerOf(pod);
    const ownerName = owner ? (this.#names.get(owner.uid) ?? owner.name) : '';
    const isNumbered = owner?.kind === 'ReplicaSet' || owner?.kind === 'Job';
    const base = owner?.kind === 'DaemonSet' ? `${ownerName}@${placeOf(pod)}` : name;
    const called = isNumbered
      ? `${ownerName}#${this.#next(`pod ${owner.uid}`)}`
      : this.#again(base);
    this.#names.set(uid, called);
    this.#pods.push({ uid, owner: ownerName, name: called });
  }

  #again(base: string): string {
    const before = this.#next(`name ${base}`);
    return before === 0 ? base : `${base}(${before + 1})`;
  }

  #next(key: string): number {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return count;
  }

  nameOf({ metadata }: KubeObject): string {
    return this.#names.get(metadata.uid ?? '') ?? metadata.name;
  }

  /** The pod that is called so now; null: it is gone. */
  pod(called: string): KubeObject | null {
    const known = this.#pods.findLast(({ name }) => name === called || bare(name) === called);
    return known ? this.#stored(known.uid) : null;
  }

  /** The oldest pod of an owner that has neither ended nor been asked to. */
  oldestOf(owner: string, node: string | undefined): KubeObject | null {
    const [oldest] = this.allOf(owner, node);
    return oldest === undefined ? null : this.pod(oldest);
  }

  /** The names of all such pods, the oldest first. */
  allOf(owner: string, node: string | undefined): readonly string[] {
    return this.#pods.flatMap(({ uid, owner: its, name }) => {
      const pod = its === owner || its.startsWith(`${owner}/`) ? this.#stored(uid) : null;
      if (!pod || !isActive(pod)) return [];
      return node === undefined || pod.spec.nodeName === node ? [name] : [];
    });
  }

  #stored(uid: string): KubeObject | null {
    return this.#api.list('pods').find(({ metadata }) => metadata.uid === uid) ?? null;
  }
}

/** `db-0(2)` is `db-0` for whoever asks for it. */
const bare = (name: string): string => name.replace(/\(\d+\)$/, '');

function isActive({ metadata, status }: KubeObject): boolean {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !hasEnded && metadata.deletionTimestamp === undefined;
}

function controllerOf({ metadata }: KubeObject) {
  return metadata.ownerReferences?.find(({ controller }) => controller) ?? null;
}

/** The node of a DaemonSet's pod, which is in its affinity before it is bound. */
function placeOf({ spec }: KubeObject): string {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return spec.nodeName || (required?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0] ?? '');
}
