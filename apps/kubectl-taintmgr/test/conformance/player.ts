// Plays recorded stories on the simulated cluster, with the engine by the rules of kube-controller-manager.
import {
  Cluster,
  type KubeObject,
  type PodTiming,
  seededRandom,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { Controller, cordoned, uncordoned } from '../../src/commands/simulate/stage/stage.ts';
import { Cast } from './cast.ts';
import { conditionOf, Narrator, stateOf } from './events.ts';
import type { Facts, Manifest, PodState, Story, StoryAction, StoryEvent } from './story.ts';

/** Recordings began their first action so long after a full second of the clock that writes times. */
const phaseMs = 90;
/** The recorder's requests followed each other at such a distance, and so did the writes of its kubelets. */
const requestMs = 10;
/** Pods of a node have their turns at such a distance. */
const turnMs = 6;
/** Where one waited for the answer to the last one. */
const answeredMs = 30;
/** Its kubelets heard of pods and wrote about them so much later than controllers heard of the same. */
const kubeletLagMs = 15;
/** Pods came to them by way of the scheduler. */
const bindingMs = 50;
/** Between the last status of a pod and its removal. */
const podRemovalMs = 30;
/** Objects were made so long after the time that the story gives them had begun. */
const madeAfterMs = 2_300;
/** Nodes have at least so long to come up. */
const nodesUpMs = 8_000;
/** A pass of kube-controller-manager over nodes came so long after the first action. */
const passPhaseMs = 2_600;
/** The next one comes after 5 s, and what it takes itself: so the one 50 s after a renewal finds it too old. */
const passMs = 5_003;

const kinds: Readonly<Record<string, readonly [apiVersion: string, resource: string]>> = {
  Pod: ['v1', 'pods'],
  Service: ['v1', 'services'],
  Deployment: ['apps/v1', 'deployments'],
  ReplicaSet: ['apps/v1', 'replicasets'],
  StatefulSet: ['apps/v1', 'statefulsets'],
  DaemonSet: ['apps/v1', 'daemonsets'],
  Job: ['batch/v1', 'jobs'],
  PodDisruptionBudget: ['policy/v1', 'poddisruptionbudgets'],
  PriorityClass: ['scheduling.k8s.io/v1', 'priorityclasses'],
};

const clusterScoped: ReadonlySet<string> = new Set(['PriorityClass']);

function kindOf(kind = ''): readonly [apiVersion: string, resource: string] {
  const known = kinds[kind];
  if (!known) throw new Error(`a story has objects of kind ${kind}, which is not known here`);
  return known;
}

/** All that a story leads to. */
export interface Played {
  readonly initial: readonly PodState[];
  readonly events: readonly StoryEvent[];
  readonly final: readonly PodState[];
}

export function playStory(story: Story): Played {
  return new Player(story).play();
}

class Player {
  readonly #story: Story;
  readonly #clock: VirtualClock;
  readonly #cluster: Cluster;
  readonly #controller: Controller;
  readonly #cast: Cast;
  readonly #narrator: Narrator;
  readonly #events: StoryEvent[] = [];
  readonly #startsAt = Date.parse('2026-01-01T01:00:00Z') + phaseMs;
  readonly #objectsAt: number;
  readonly #namespace = 'story';
  readonly #turns = new Map<string, number>();

  constructor(story: Story) {
    this.#story = story;
    const { settle, kubelet } = story;
    const objectsMs = settle * 1000 - madeAfterMs;
    const passes = Math.ceil((objectsMs + nodesUpMs + passPhaseMs) / passMs);
    this.#objectsAt = this.#startsAt - objectsMs;
    this.#clock = new VirtualClock(this.#startsAt + passPhaseMs - passes * passMs);
    this.#cluster = new Cluster({
      clock: this.#clock,
      seed: 1,
      without: ['conditionTaints'],
      apiServer: { brief: true },
      timing: {
        startupMs: [200, 200],
        ofPod: (pod) => timingOf(pod, kubelet, this.#delayOf(pod)),
      },
    });
    this.#controller = new Controller({
      cluster: this.#cluster,
      clock: this.#clock,
      random: seededRandom(1),
      seed: null,
      config: {
        semantics: 'upstream-1.36',
        ownPod: null,
        lifecycle: { nodeMonitorPeriodMs: passMs },
      },
      policies: [],
      upstreamSince: null,
      restarts: false,
      onNotice: () => {},
    });
    this.#cast = new Cast(this.#cluster.api);
    this.#narrator = new Narrator(this.#cluster.api, this.#cast, (facts) => this.#tell(facts));
    this.#cluster.api.subscribe((change) => this.#narrator.hear(change));
  }

  play(): Played {
    const { nodes, objects, actions, horizon } = this.#story;
    const { api } = this.#cluster;
    for (const { name, labels, taints } of nodes) {
      this.#cluster.addNode({
        name,
        ...(labels && { labels }),
        ...(taints && { taints: taints.map((one) => ({ ...one })) }),
      });
    }
    this.#cluster.start();
    this.#controller.start();
    this.#runUntil(this.#objectsAt);
    api.create('namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: this.#namespace },
    });
    for (const { name, unschedulable } of nodes) {
      if (unschedulable) this.#changeNode(name, (node) => ({ ...node, spec: cordoned(node.spec) }));
    }
    for (const object of objects) this.#create(object);
    this.#runUntil(this.#startsAt);
    const initial = stateOf(api, this.#cast);
    let sentAt = Number.NEGATIVE_INFINITY;
    for (const action of actions) {
      sentAt = Math.max(action.at * 1000, sentAt + requestMs);
      this.#clock.after(sentAt, () => this.#act(action));
    }
    this.#runUntil(this.#startsAt + horizon * 1000);
    return { initial, events: this.#events, final: stateOf(api, this.#cast) };
  }

  /** The pods of a node have their turns one after another. */
  #delayOf({ metadata: { uid = '' } }: KubeObject): number {
    const turn = this.#turns.get(uid) ?? this.#turns.size % 3;
    this.#turns.set(uid, turn);
    return kubeletLagMs + turn * turnMs;
  }

  #runUntil(instant: number): void {
    for (const { driver } of this.#controller.processes) driver.runUntil(instant);
  }

  #tell(facts: Facts): void {
    const at = (this.#clock.now() - this.#startsAt) / 1000;
    if (at >= 0) this.#events.push({ at, facts });
  }

  #create(manifest: Manifest): void {
    const [apiVersion, resource] = kindOf(manifest.kind);
    this.#cluster.api.create(resource, {
      apiVersion,
      ...manifest,
      metadata: {
        ...manifest.metadata,
        ...(clusterScoped.has(manifest.kind) ? {} : { namespace: this.#namespace }),
      },
    } as KubeObject);
  }

  #act(action: StoryAction): void {
    if (action.all) {
      this.#actOnAll(action);
      return;
    }
    const act = actions[action.do];
    if (!act) throw new Error(`a story has the action ${action.do}, which is not known here`);
    act({
      ...{ action, cluster: this.#cluster, namespace: this.#namespace },
      pod: () => this.#podOf(action),
      create: (object) => this.#create(object),
      changeNode: (change) => this.#changeNode(action.node ?? '', change),
      changePod: (pod, patch) => this.#patch('pods', pod.metadata.name, patch),
      change: (patch) => this.#patch(kindOf(action.kind)[1], action.name ?? '', patch),
      called: (pod) => this.#cast.nameOf(pod),
      leaveOutReason: (pod) => this.#narrator.leaveOutReason(pod),
      tell: (facts) => this.#tell(facts),
    });
  }

  /** One request after another, for each pod of an owner. */
  #actOnAll({ all: _all, of: owner = '', ...action }: StoryAction): void {
    for (const [index, pod] of this.#cast.allOf(owner, action.node).entries()) {
      this.#clock.after(index * answeredMs, () => this.#act({ ...action, pod }));
    }
  }

  #podOf({ pod, of: owner, node }: StoryAction): KubeObject {
    const found = owner ? this.#cast.oldestOf(owner, node) : this.#cast.pod(pod ?? '');
    if (!found) throw new Error(`there is no pod ${owner ? `of ${owner}` : pod} at this time`);
    return found;
  }

  #changeNode(name: string, change: (node: KubeObject) => KubeObject): void {
    const node = this.#cluster.api.get('nodes', '', name);
    if (!node) throw new Error(`there is no node ${name} at this time`);
    this.#cluster.api.update('nodes', change(node));
  }

  #patch(resource: string, name: string, patch: object): void {
    const { status, body } = request(this.#cluster, {
      method: 'PATCH',
      path: pathOf(resource, this.#namespace, name),
      contentType: 'application/merge-patch+json',
      body: patch,
    });
    if (status !== 200) throw new Error(`patch of ${resource} ${name}: ${body}`);
  }
}

const groups: Readonly<Record<string, string>> = {
  pods: 'api/v1',
  services: 'api/v1',
  jobs: 'apis/batch/v1',
  poddisruptionbudgets: 'apis/policy/v1',
};

function pathOf(resource: string, namespace: string, name: string): string {
  return `/${groups[resource] ?? 'apis/apps/v1'}/namespaces/${namespace}/${resource}/${name}`;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body: object;
}

function request(
  { api }: Cluster,
  { method, path, contentType = 'application/json', body }: Sent,
): { readonly status: number; readonly body: string } {
  let [status, text] = [0, ''];
  api.exchange(
    {
      ...{ method, path, body: JSON.stringify(body) },
      headers: { accept: 'application/json', 'content-type': contentType },
    },
    {
      head: (code) => (status = code),
      data: (chunk) => (text += chunk.toString()),
      end: () => {},
      reset: () => {},
    },
  );
  return { status, body: text };
}

/** The recorder's kubelets: the times of the story, or those of the pod's annotations. */
function timingOf(
  { metadata: { annotations = {} } }: KubeObject,
  { start, stop }: Story['kubelet'],
  delayMs: number,
): PodTiming {
  const ms = (seconds: number, moreMs = 0): readonly [number, number] => {
    const whole = seconds * 1000 + delayMs + moreMs;
    return [whole, whole];
  };
  const [seconds, code] = (annotations.run ?? '').split(':');
  return {
    podStartMs: ms(Number(annotations.start ?? start), bindingMs),
    podStopMs: ms(Number(annotations.stop ?? stop)),
    stopsUnstarted: true,
    podRemovalMs,
    ...(annotations.run && {
      podRun: { ms: 1000 * Number(seconds) + delayMs, exitCode: Number(code ?? 0) },
    }),
    ...(annotations.ready === 'never' && { neverReady: true }),
  };
}

/** Whatever an action needs. */
interface Scene {
  readonly action: StoryAction;
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly pod: () => KubeObject;
  readonly create: (object: Manifest) => void;
  readonly changeNode: (change: (node: KubeObject) => KubeObject) => void;
  readonly changePod: (pod: KubeObject, patch: object) => void;
  /** Patches the object that the action names. */
  readonly change: (patch: object) => void;
  readonly called: (pod: KubeObject) => string;
  /** The recorder marked a pod without giving a reason; kubelets give one. */
  readonly leaveOutReason: (pod: KubeObject) => void;
  readonly tell: (facts: Facts) => void;
}

type Taint = { readonly key: string; readonly effect: string };

const actions: Readonly<Record<string, (scene: Scene) => void>> = {
  evict,
  deletePod,
  delete: ({ cluster, namespace, action: { kind, name = '', propagation } }) => {
    const policy = propagation === 'Orphan' || propagation === 'Foreground' ? propagation : null;
    cluster.api.delete(kindOf(kind)[1], namespace, name, {
      ...(policy && { propagationPolicy: policy }),
    });
  },
  create: ({ create, action: { object } }) => object && create(object),
  patch: ({ change, action: { patch = {} } }) => change(patch),
  patchPod: ({ changePod, pod, action: { patch = {} } }) => changePod(pod(), patch),
  scale: ({ change, action: { replicas } }) => change({ spec: { replicas } }),
  setImage,
  restart: ({ change }) => {
    const annotations = { 'kubectl.kubernetes.io/restartedAt': 'then' };
    change({ spec: { template: { metadata: { annotations } } } });
  },
  label: ({ changeNode, action: { labels: given = {} } }) =>
    changeNode(({ metadata, ...node }) => {
      const labels = { ...metadata.labels, ...given };
      const kept = Object.entries(labels).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      );
      return { ...node, metadata: { ...metadata, labels: Object.fromEntries(kept) } };
    }),
  cordon: ({ changeNode }) => changeNode((node) => ({ ...node, spec: cordoned(node.spec) })),
  uncordon: ({ changeNode }) => changeNode((node) => ({ ...node, spec: uncordoned(node.spec) })),
  taint: ({ changeNode, action: { taint } }) =>
    changeNode((node) => {
      const taints: readonly Taint[] = node.spec.taints ?? [];
      return { ...node, spec: { ...node.spec, taints: [...taints, taint] } };
    }),
  untaint: ({ changeNode, action: { key, effect } }) =>
    changeNode((node) => {
      const taints: readonly Taint[] = node.spec.taints ?? [];
      const left = taints.filter(
        (one) => one.key !== key || (effect !== undefined && one.effect !== effect),
      );
      return { ...node, spec: { ...node.spec, taints: left } };
    }),
  stopKubelet,
  startKubelet,
  nodeReady: ({ cluster, action: { node = '', status } }) =>
    cluster.node(node).setCondition('Ready', status === 'True'),
  podReady: ({ cluster, pod, leaveOutReason, action: { ready = true } }) => {
    const found = pod();
    if (!ready) leaveOutReason(found);
    cluster.node(found.spec.nodeName).setPodReady(found, ready);
  },
  deleteNode: ({ cluster, action: { node = '' } }) => cluster.removeNode(node),
  deleteNamespace: ({ cluster, namespace }) => cluster.api.delete('namespaces', '', namespace),
};

function evict({ cluster, namespace, pod, called, tell, action }: Scene): void {
  const { tag, grace } = action;
  const found = pod();
  const { name } = found.metadata;
  const { status: code, body } = request(cluster, {
    method: 'POST',
    path: `${pathOf('pods', namespace, name)}/eviction`,
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      ...(grace !== undefined && { deleteOptions: { gracePeriodSeconds: grace } }),
    },
  });
  interface Answer {
    readonly reason?: string;
    readonly message?: string;
    readonly details?: { readonly causes?: readonly { readonly message?: string }[] };
  }
  const { reason, message, details }: Answer = JSON.parse(body);
  const cause = details?.causes?.[0]?.message;
  tell({
    event: 'answer',
    to: tag === undefined ? 'evict' : `evict ${tag}`,
    pod: called(found),
    code,
    ...(code >= 400 && { ...(reason && { reason }), message, ...(cause && { cause }) }),
  });
}

function deletePod({ cluster, namespace, pod, called, tell, action }: Scene): void {
  const found = pod();
  const { grace } = action;
  cluster.api.delete('pods', namespace, found.metadata.name, {
    ...(grace !== undefined && { gracePeriodSeconds: grace }),
  });
  tell({ event: 'answer', to: 'deletePod', pod: called(found), code: 200 });
}

function setImage({ cluster, namespace, action: { kind, name = '', image } }: Scene): void {
  const [, resource] = kindOf(kind);
  const object = cluster.api.get(resource, namespace, name);
  const { template } = object?.spec ?? {};
  if (!object) throw new Error(`there is no ${kind} ${name} at this time`);
  const [first, ...others] = template.spec.containers;
  const containers = [{ ...first, image }, ...others];
  cluster.api.update(resource, {
    ...object,
    spec: {
      ...object.spec,
      template: { ...template, spec: { ...template.spec, containers } },
    },
  });
}

/** The last thing that the recorder's kubelets do is to renew their lease. */
function stopKubelet({ cluster, action: { node = '' } }: Scene): void {
  const { api } = cluster;
  cluster.node(node).stop();
  const lease = api.get('leases', 'kube-node-lease', node);
  if (!lease) throw new Error(`node ${node} has no lease`);
  const renewTime = new Date(api.clock.now()).toISOString().replace('Z', '000Z');
  api.update('leases', { ...lease, spec: { ...lease.spec, renewTime } });
}

/** The recorder's kubelets do not say again that a pod is ready which others have marked. */
function startKubelet({ cluster, action: { node = '' } }: Scene): void {
  const kubelet = cluster.node(node);
  kubelet.resume();
  const marked = cluster.api.list('pods').filter((pod) => {
    const isNotReady = conditionOf(pod, 'Ready')?.status === 'False';
    return pod.spec.nodeName === node && isNotReady;
  });
  // Once it has found them, and before it writes of them.
  cluster.api.clock.after(0, () => {
    for (const pod of marked) kubelet.setPodReady(pod, false);
  });
}
