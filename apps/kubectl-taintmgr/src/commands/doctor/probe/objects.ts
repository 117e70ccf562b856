// What a probe makes for a moment: a Node that is no machine, a Namespace, and how both are taken away again.
import { formatTime, type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import {
  type ApiClient,
  getNodeRequest,
  listRequest,
  nodesPath,
  objectRequest,
  podsPath,
} from '@taintmgr/k8s-adapter';
import type { Output } from '../../../cli/output.ts';
import { type Right, rightOf } from '../../../cluster/rights.ts';
import {
  deleteRequest,
  type Leftover,
  namespacePath,
  namespacesPath,
  podPathOf,
  scratchLabels,
  takeAway,
} from '../../../cluster/scratch.ts';
import type { Places } from './answer.ts';

/** Of each Node and each Namespace of a probe; the name begins with the prefix as well. */
const label = 'taintmgr.dev/probe';
const prefix = 'taintmgr-probe-';
/** Until when the probe that made an object may be at it. */
const endsAnnotation = 'taintmgr.dev/probe-ends';
export const probeTaint = { key: label, value: '', effect: 'NoExecute' } as const;
export const podName = 'probe';
/** What making and clearing takes at most. */
const marginMs: Millis = 120_000;

/** Node and Namespace have names that do not show each other: who sees the one cannot write to the other. */
export function newName(): string {
  return `${prefix}${crypto.randomUUID().slice(0, 8)}`;
}

/** What a probe takes; docs/commands/doctor.md has it as a role. */
export function rightsFor({ namespace }: Places): readonly Right[] {
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

/** By which the next probe knows what a killed one has left. */
export interface Marks {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function marksUntil(end: Instant): Marks {
  const annotations = { [endsAnnotation]: formatTime(end + marginMs) };
  return { labels: { [label]: 'true' }, annotations };
}

/**
 * A Node without a machine. Its taint is there from birth, so that DaemonSets stay away that do not tolerate
 * everything; it has no room, so that no scheduler puts pods there; it says that it is ready, for cloud
 * controllers delete Nodes that are not and have no machine.
 */
export function probeNode(name: string, now: Instant, { labels, annotations }: Marks): object {
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

export function isTainted(node: unknown): boolean {
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
export async function clearEarlier(
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
export async function clear(
  client: ApiClient,
  { node, namespace }: { readonly node: string | null; readonly namespace: string | null },
): Promise<readonly Leftover[]> {
  const left: Leftover[] = [];
  if (namespace !== null) {
    // No kubelet ends the pod, and its namespace does not go before it.
    const path = podPathOf({ namespace, name: podName });
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
    const command = `kubectl delete pod ${podName} -n ${namespace} --grace-period=0 --force`;
    let answer: unknown = {};
    const gone = client.send(objectRequest('DELETE', path, body)).then((said) => {
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

/** DaemonSets that tolerate everything have made pods for the Node, which nobody takes away when it is gone. */
async function clearDaemons(client: ApiClient, node: string): Promise<readonly Leftover[]> {
  const left: Leftover[] = [];
  const unscheduled = (async () => {
    for (const object of await client.list(podsPath, { fieldSelector: 'spec.nodeName=' })) {
      const { metadata, spec } = object as PinnedPod;
      if (!isPinned(spec, node)) continue;
      const { namespace, name, uid } = metadata;
      const path = podPathOf({ namespace, name });
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
      const command = `kubectl delete pod ${name} -n ${namespace}`;
      left.push(...(await takeAway(client.send(objectRequest('DELETE', path, body)), command)));
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
