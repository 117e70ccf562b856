// The pods that belong with a pod, by its Services and its controller.
import { controllerOf } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { labelSelectorRequirements, type Requirement } from '../selectors/labels.ts';
import type { Labels } from './pod-selector.ts';
import type { SchedulingPod } from './scheduling-pod.ts';
import type { Objects } from './volume-claims.ts';

/** The resources of controllers whose selectors spread pods. */
const resourceOf: Readonly<Record<string, string>> = {
  ReplicaSet: 'replicasets',
  StatefulSet: 'statefulsets',
  ReplicationController: 'replicationcontrollers',
};

interface Known {
  readonly owner: string;
  readonly peers: readonly Requirement[] | null;
}

/** Finds what the pods have in common that belong with a pod. */
export class PodPeers {
  readonly #objects: Objects;
  /** The peers of pods of one template, which share their labels. */
  #known = new WeakMap<Labels, Known>();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** Forgets its results: Services or controllers have changed. */
  clear(): void {
    this.#known = new WeakMap();
  }

  /** Null: no Service and no controller says which pods belong with it. */
  of(pod: SchedulingPod): readonly Requirement[] | null {
    const owner = controllerOf(pod.pod);
    const ownerKey = `${pod.namespace} ${owner?.kind} ${owner?.name}`;
    const known = this.#known.get(pod.labels);
    if (known?.owner === ownerKey) return known.peers;
    const peers = this.#find(pod);
    this.#known.set(pod.labels, { owner: ownerKey, peers });
    return peers;
  }

  #find({ pod, namespace, labels }: Readonly<SchedulingPod>): readonly Requirement[] | null {
    const wanted: Record<string, string> = {};
    for (const { spec } of this.#objects.list('services', namespace)) {
      const selector: Labels = spec?.selector ?? {};
      const entries = Object.entries(selector);
      const isIts = entries.length > 0 && entries.every(([key, value]) => labels[key] === value);
      if (isIts) Object.assign(wanted, selector);
    }
    const own = this.#selectorOfOwner(pod, namespace);
    const ofServices = labelSelectorRequirements({ matchLabels: wanted }) ?? [];
    const peers = [...ofServices, ...own];
    return peers.length === 0 ? null : peers;
  }

  #selectorOfOwner(pod: KubeObject, namespace: string): readonly Requirement[] {
    const owner = controllerOf(pod);
    const resource = resourceOf[owner?.kind ?? ''];
    if (!owner || !resource) return [];
    const found = this.#objects.get(resource, namespace, owner.name);
    const given = found?.spec?.selector;
    const isPlain = owner.kind === 'ReplicationController';
    return labelSelectorRequirements(isPlain ? { matchLabels: given } : given) ?? [];
  }
}
