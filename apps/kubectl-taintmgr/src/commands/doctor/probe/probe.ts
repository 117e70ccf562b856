// `doctor --probe`: a pod of our own on a Node of our own with a NoExecute taint, to see who evicts the pod.
import { setTimeout } from 'node:timers/promises';
import { toleratesTaint } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  getNodeRequest,
  lastWriteOf,
  nodesPath,
  objectRequest,
  podFromJson,
} from '@taintmgr/k8s-adapter';
import { withConnection } from '../../../cli/connection.ts';
import type { Invocation } from '../../../cli/invocation.ts';
import { type Output, warnOfLeft } from '../../../cli/output.ts';
import { upstreamEvictionReason } from '../../../cluster/evictors.ts';
import {
  makePod,
  namespacePath,
  podPathOf,
  refuseWithout,
  scratchNamespaceRequest,
} from '../../../cluster/scratch.ts';
import type { DoctorFlags } from '../flags.ts';
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
import {
  clear,
  clearEarlier,
  isTainted,
  type Marks,
  marksUntil,
  newName,
  podName,
  probeNode,
  probeTaint,
  rightsFor,
} from './objects.ts';

/** Of each namespace: by it kube-controller-manager shows that it is alive. */
const accountName = 'default';
/** A pod that ends at once would be gone before anybody has seen who marked it. */
const graceSeconds = 60;
const lookEveryMs: Millis = 200;
/** Once the pod or the Node goes, what says why comes within this time. */
const settleMs: Millis = 3_000;
const sayEveryMs: Millis = 10_000;

/** Runs a probe. What it makes is taken away after Ctrl-C too, so its requests go on after that. */
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
    `and a pod on it in the Namespace ${namespace}; waits up to ${timeout / 1000}s for somebody to evict the pod,`,
    'and takes everything away again',
  ].join('\n');
}

interface EventObject {
  readonly reason?: string;
  readonly involvedObject?: { readonly name?: string };
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

async function ifThere(client: ApiClient, path: string): Promise<unknown> {
  try {
    return await client.get(path);
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === 404) return null;
    throw error;
  }
}

/** Whatever else is put on the Node: only our own taint makes its pod go. */
const tolerated = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

function stateText(sight: Sight): string {
  if (managerOf(sight) !== null) return 'the pod is evicted';
  return sight.movedAfter === null ? 'nobody has evicted the pod' : 'the pod is on its way out';
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

  /** What the API server refuses leaves the answer open; throws ConnectionError. */
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
      ifThere(client, podPathOf({ namespace, name: podName })),
      client.list(`${namespacePath(namespace)}/events`),
      ifThere(client, getNodeRequest(node).path),
      ifThere(client, `${namespacePath(namespace)}/serviceaccounts/${accountName}`),
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
