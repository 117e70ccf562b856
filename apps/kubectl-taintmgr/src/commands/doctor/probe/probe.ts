// Asks the cluster by a trial who evicts: a node of our own, a pod and a taint.
import { setTimeout } from 'node:timers/promises';
import { toleratesTaint } from '@taintmgr/core';
import { formatTime, type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  getNodeRequest,
  lastWriteOf,
  listRequest,
  nodesPath,
  objectRequest,
  podFromJson,
  podsPath,
} from '@taintmgr/k8s-adapter';
import {
  ifThere,
  namespacePath,
  namespacesPath,
  podPathOf,
  type Right,
  rightOf,
  upstreamEvictionReason,
} from '@taintmgr/k8s-adapter/survey';
import { withConnection } from '../../../cli/connection.ts';
import { type Output, warnOfLeft } from '../../../cli/output.ts';
import type { Invocation } from '../../../cli/registry.ts';
import {
  deleteRequest,
  type Leftover,
  makePod,
  refuseWithout,
  scratchLabels,
  scratchNamespaceRequest,
  takeAway,
} from '../../../cluster/scratch.ts';
import type { DoctorFlags } from '../finding.ts';
import {
  answerOf,
  emptySight,
  isDecided,
  isSettling,
  managerOf,
  type Places,
  type ProbeAnswer,
  type ProbeResult,
  type Sight,
} from './answer.ts';

/** Of each namespace: by it kube-controller-manager shows that it is alive. */
const accountName = 'default';
/** A pod that ends at once would be gone before anybody has seen who marked it. */
const graceSeconds = 60;
const lookEveryMs: Millis = 200;
/** Once the pod or the Node goes, what says why comes within this time. */
const settleMs: Millis = 3_000;
const sayEveryMs: Millis = 10_000;

/**
 * Runs a probe. The objects that it makes are removed after Ctrl-C too, so its requests continue after that.
 */
export async function runProbe(invocation: Invocation<DoctorFlags>): Promise<ProbeResult> {
  const { flags, output, interrupt } = invocation;
  const calm = { flags, interrupt: new AbortController().signal };
  return await withConnection(calm, async ({ client }) => {
    const places = { node: newName(), namespace: newName() };
    await refuseWithout(client, rightsFor(places));
    const { left, now } = await clearEarlier(client, output);
    interrupt.throwIfAborted();
    const { timeout } = flags;
    output.err(planText(places, timeout));
    const probe = new Probe(client, places, output);
    let answer: ProbeAnswer;
    try {
      answer = await probe.play(now, timeout, interrupt);
    } finally {
      left.push(...(await clear(client, places)));
      warnOfLeft(output, left);
      if (left.length === 0) output.err('took away what it had made');
    }
    return { answer, endedAt: performance.now(), left };
  });
}

function planText({ node, namespace }: Places, timeout: Millis): string {
  return [
    `makes the Node ${node} with the taint ${probeTaint.key}:${probeTaint.effect}, where nothing is scheduled,`,
    `and a pod on it in the Namespace ${namespace}; waits up to ${timeout / 1000}s for its eviction,`,
    'and takes everything away again',
  ].join('\n');
}

interface EventObject {
  readonly reason?: string;
  readonly involvedObject?: { readonly name?: string };
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

/** Whatever else is put on the Node: only our own taint makes its pod go. */
const tolerated = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

function stateText(sight: Sight): string {
  if (managerOf(sight) !== null) return 'the pod is evicted';
  return sight.movedAfter === null
    ? 'no controller has evicted the pod'
    : 'the pod is on its way out';
}

function unknownAnswer(why: string): ProbeAnswer {
  const text = `whether kube-controller-manager evicts for NoExecute taints is unknown: ${why}`;
  return { evicts: null, watchesNodes: null, text };
}

/** One probe under way. */
class Probe {
  readonly #client: ApiClient;
  readonly #places: Places;
  readonly #output: Output;
  #sight = emptySight;

  constructor(client: ApiClient, places: Places, output: Output) {
    this.#client = client;
    this.#places = places;
    this.#output = output;
  }

  /** A refusal of the API server leaves the answer open; throws ConnectionError. */
  async play(now: Instant, timeout: Millis, interrupt: AbortSignal): Promise<ProbeAnswer> {
    try {
      const refusal = await this.#make(now, marksUntil(now + timeout), interrupt);
      if (refusal !== null) return unknownAnswer(refusal);
      const waited = await this.#watch(timeout, interrupt);
      return answerOf(this.#sight, waited);
    } catch (error) {
      if (error instanceof ApiError) return unknownAnswer(error.failure.message);
      throw error;
    }
  }

  /** Makes everything; why it is no use, where admission has changed it. */
  async #make(now: Instant, marks: Marks, interrupt: AbortSignal): Promise<string | null> {
    const client = this.#client;
    const { node, namespace } = this.#places;
    const { labels, annotations } = marks;
    await client.send(scratchNamespaceRequest(namespace, labels, annotations));
    interrupt.throwIfAborted();
    const made = await client.send(objectRequest('POST', nodesPath, probeNode(node, now, marks)));
    if (!isTainted(made)) return 'admission has taken the taint off the Node of the probe';
    interrupt.throwIfAborted();
    const tolerations = tolerated.map((key) => ({ key, operator: 'Exists' }));
    const wanted = { namespace, name: podName, nodeName: node, tolerations, graceSeconds };
    const pod = podFromJson(await makePod(client, wanted));
    if (pod.nodeName !== node) return 'admission has moved the pod of the probe';
    const options = { comparisonOperators: true };
    const spared = { ...probeTaint, timeAdded: null };
    return pod.tolerations.some((one) => toleratesTaint(one, spared, options))
      ? 'admission has made the pod of the probe tolerate its taint'
      : null;
  }

  /** Looks until the answer is known or the time is over; how long that took. */
  async #watch(timeout: Millis, interrupt: AbortSignal): Promise<Millis> {
    const since = performance.now();
    const passed = (): Millis => performance.now() - since;
    const live = await this.#output.live();
    let lookUntil = timeout;
    let said = 0;
    try {
      for (;;) {
        interrupt.throwIfAborted();
        await this.#look(passed);
        if (isDecided(this.#sight) || passed() >= lookUntil) return passed();
        if (isSettling(this.#sight)) lookUntil = Math.min(lookUntil, passed() + settleMs);
        const text = `${Math.floor(passed() / 1000)}s of ${timeout / 1000}s: ${stateText(this.#sight)}`;
        if (live) live.show(text);
        else if (passed() - said >= sayEveryMs) {
          said = passed();
          this.#output.err(text);
        }
        await setTimeout(lookEveryMs);
      }
    } finally {
      live?.clear();
    }
  }

  async #look(passed: () => Millis): Promise<void> {
    const client = this.#client;
    const { node, namespace } = this.#places;
    const [pod, events, found, account] = await Promise.all([
      ifThere(() => client.get(podPathOf({ namespace, name: podName }))),
      client.list(`${namespacePath(namespace)}/events`),
      ifThere(() => client.get(getNodeRequest(node).path)),
      ifThere(() => client.get(`${namespacePath(namespace)}/serviceaccounts/${accountName}`)),
    ]);
    const before = this.#sight;
    const { disruption = null, deletionTimestamp = null } = pod === null ? {} : podFromJson(pod);
    const hasMoved = pod === null || disruption !== null || deletionTimestamp !== null;
    const writer =
      found === null ? null : lastWriteOf('f:taints', (found as { metadata: unknown }).metadata);
    const speakers = (events as readonly EventObject[]).flatMap((event) => {
      const { reason, involvedObject, source, reportingComponent } = event;
      if (reason !== upstreamEvictionReason || involvedObject?.name !== podName) return [];
      return [source?.component || reportingComponent || ''];
    });
    this.#sight = {
      mark: disruption ?? before.mark,
      speakers: speakers.length > 0 ? speakers : before.speakers,
      movedAfter: before.movedAfter ?? (hasMoved ? passed() : null),
      isGone: pod === null,
      node: found === null ? 'gone' : isTainted(found) ? 'tainted' : 'untainted',
      nodeWriter:
        writer === null || writer.by === 'kubectl-taintmgr' ? before.nodeWriter : writer.by,
      isManagerAlive: before.isManagerAlive || account !== null,
    };
  }
}

/** Of each Node and each Namespace of a probe; the name begins with the prefix as well. */
const label = 'taintmgr.dev/probe';
const prefix = 'taintmgr-probe-';
/** Until when the probe that made an object may be at it. */
const endsAnnotation = 'taintmgr.dev/probe-ends';
const probeTaint = { key: label, value: '', effect: 'NoExecute' } as const;
const podName = 'probe';
/** The longest time to create and remove the objects. */
const marginMs: Millis = 120_000;

/** Node and Namespace have names that do not show each other: who sees the one cannot write to the other. */
function newName(): string {
  return `${prefix}${crypto.randomUUID().slice(0, 8)}`;
}

/** The rights that a probe needs; docs/commands/doctor.md has them as a role. */
function rightsFor({ namespace }: Places): readonly Right[] {
  const everywhere = ['nodes', 'namespaces'].flatMap((resource) =>
    ['create', 'list', 'delete'].map((verb) => rightOf(`${verb} ${resource}`)),
  );
  const inside = ['create pods', 'get pods', 'list events', 'get serviceaccounts'];
  return [
    ...everywhere,
    ...['get nodes', 'list pods', 'delete pods'].map(rightOf),
    ...inside.map((right) => ({ ...rightOf(right), namespace })),
  ];
}

/** The marks by which the next probe recognizes the remains of a killed one. */
interface Marks {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

function marksUntil(end: Instant): Marks {
  const annotations = { [endsAnnotation]: formatTime(end + marginMs) };
  return { labels: { [label]: 'true' }, annotations };
}

/**
 * A Node without a machine. Its taint exists from the creation on, so that DaemonSets without a toleration
 * for everything stay away. The Node has no room, so that no scheduler puts pods there. It reports ready,
 * because cloud controllers delete unready Nodes without a machine.
 */
function probeNode(name: string, now: Instant, { labels, annotations }: Marks): object {
  const at = formatTime(now);
  const message = 'a probe of kubectl taintmgr doctor, without a kubelet';
  const ready = { type: 'Ready', status: 'True', reason: 'Probe', message };
  const balancers = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...scratchLabels, ...balancers, ...labels }, annotations },
    spec: {
      unschedulable: true,
      taints: [{ key: probeTaint.key, effect: probeTaint.effect, timeAdded: at }],
    },
    status: { conditions: [{ ...ready, lastHeartbeatTime: at, lastTransitionTime: at }] },
  };
}

function isTainted(node: unknown): boolean {
  const { taints = [] } =
    (node as { spec?: { taints?: readonly (typeof probeTaint)[] } }).spec ?? {};
  return taints.some(({ key, effect }) => key === probeTaint.key && effect === probeTaint.effect);
}

interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
}

/** Takes away what a killed probe has left, by name and label: a kubelet can label its node. */
async function clearEarlier(
  client: ApiClient,
  output: Output,
): Promise<{ readonly left: Leftover[]; readonly now: Instant }> {
  const [nodes, namespaces] = await Promise.all(
    [nodesPath, namespacesPath].map((path) => {
      return client.ask(listRequest(path, { labelSelector: label }));
    }),
  );
  const now = nodes?.serverTime ?? Date.now();
  const left: Leftover[] = [];
  const named = (list: unknown): readonly KubeObject[] =>
    ((list as { items?: KubeObject[] } | undefined)?.items ?? []).filter(
      ({ metadata: { name, deletionTimestamp } }) => {
        return name.startsWith(prefix) && deletionTimestamp === undefined;
      },
    );
  for (const [kind, found] of [
    ['node', named(nodes?.value)],
    ['namespace', named(namespaces?.value)],
  ] as const) {
    for (const { metadata } of found) {
      const { name } = metadata;
      const ends = parseTime(metadata.annotations?.[endsAnnotation] ?? '');
      if (ends !== null && ends > now) {
        output.err(`${kind} ${name} is of another probe, which may run until ${formatTime(ends)}`);
        continue;
      }
      const kept = await clear(client, { node: null, namespace: null, [kind]: name });
      left.push(...kept);
      if (kept.length === 0)
        output.err(`took away what an earlier probe has left: ${kind} ${name}`);
    }
  }
  return { left, now };
}

/** Takes away what a probe has made, whether or not it got so far. */
async function clear(
  client: ApiClient,
  { node, namespace }: { readonly node: string | null; readonly namespace: string | null },
): Promise<readonly Leftover[]> {
  const left: Leftover[] = [];
  if (namespace !== null) {
    // No kubelet ends the pod, and its namespace does not go before it.
    const path = podPathOf({ namespace, name: podName });
    const command = `kubectl delete pod ${podName} -n ${namespace} --grace-period=0 --force`;
    let answer: unknown = {};
    const gone = client.send(deleteRequest(path, { gracePeriodSeconds: 0 })).then((said) => {
      answer = said;
    });
    left.push(...(await takeAway(gone, command)), ...heldIn(answer, namespace));
  }
  if (node !== null) {
    const path = getNodeRequest(node).path;
    left.push(...(await takeAway(client.send(deleteRequest(path)), `kubectl delete node ${node}`)));
    left.push(...(await clearDaemons(client, node)));
  }
  if (namespace !== null) {
    const gone = client.send(deleteRequest(namespacePath(namespace)));
    left.push(...(await takeAway(gone, `kubectl delete namespace ${namespace}`)));
  }
  return left;
}

/**
 * DaemonSets that tolerate everything have made pods for the Node, which no controller removes when the Node
 * is gone.
 */
async function clearDaemons(client: ApiClient, node: string): Promise<readonly Leftover[]> {
  const left: Leftover[] = [];
  const unscheduled = (async () => {
    for (const object of await client.list(podsPath, { fieldSelector: 'spec.nodeName=' })) {
      const { metadata, spec } = object as PinnedPod;
      if (!isPinned(spec, node)) continue;
      const { namespace, name, uid } = metadata;
      const path = podPathOf({ namespace, name });
      const command = `kubectl delete pod ${name} -n ${namespace}`;
      left.push(
        ...(await takeAway(client.send(deleteRequest(path, { preconditions: { uid } })), command)),
      );
    }
  })();
  left.push(...(await takeAway(unscheduled, `kubectl get pods -A | grep ${node}`)));
  return left;
}

interface PinnedPod {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly spec: object;
}

/** By the affinity that the DaemonSet controller gives its pods. */
function isPinned(spec: object, node: string): boolean {
  const { nodeAffinity = {} } = (spec as { affinity?: { nodeAffinity?: object } }).affinity ?? {};
  return JSON.stringify(nodeAffinity).includes(JSON.stringify([node]));
}

/** A DELETE is answered with the object where finalizers hold it. */
function heldIn(answer: unknown, namespace: string): readonly Leftover[] {
  const { finalizers = [] } = (answer as Partial<KubeObject>).metadata ?? {};
  if (finalizers.length === 0) return [];
  const why = `finalizers hold pod ${podName}, and that its Namespace: ${finalizers.join(', ')}`;
  const command = `kubectl patch pod ${podName} -n ${namespace} --type=merge -p '{"metadata":{"finalizers":null}}'`;
  return [{ why, command }];
}
