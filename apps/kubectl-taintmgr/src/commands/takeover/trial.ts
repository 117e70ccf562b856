// Tries takeover with separate pods, and reports the end of each trial.
import { setTimeout } from 'node:timers/promises';
import { formatTime, type Instant, type Millis } from '@taintmgr/core/time';
import { type ApiClient, getNodeRequest } from '@taintmgr/k8s-adapter';
import {
  answerValue,
  type Change,
  drainableNode,
  readModifyWrite,
} from '@taintmgr/k8s-adapter/drain';
import { namespacePath, type PodName, podPathOf } from '@taintmgr/k8s-adapter/survey';
import {
  type Leftover,
  makePod,
  scratchNamespaceRequest,
  takeAway,
} from '../../cluster/scratch.ts';
import { takeNamespaceAway } from './proof.ts';
import { optedIn } from './state.ts';

/** The taint of the trial's node and pods. */
export const trialTaint = { key: 'taintmgr.dev/verify', effect: 'NoExecute' } as const;

/** Where the pods are: one namespace is opted in, the other is not. */
export interface Places {
  readonly node: string;
  readonly inside: string;
  readonly outside: string;
}

export const atOnce = 'at-once';
export const later = 'later';
/** The second pod tolerates the taint for this time. */
const laterSeconds = 5;

const lookEveryMs: Millis = 100;
const conflictsMax = 5;

/** The known facts about a pod of the trial. */
export interface Fate {
  /** The time from the taint until the pod was deleted or evicted; null: it was neither. */
  readonly goneAfter: Millis | null;
  /** The program that marked it as leaving, or the way; '' where none did. */
  readonly by: string;
  /** The report of kube-controller-manager about it. */
  readonly upstream: string | null;
  /** The report of taintmgr about it. */
  readonly ours: string | null;
}

/** Makes namespaces and pods. Whatever is made by then, `clear` takes away. */
export async function build(client: ApiClient, { node, inside, outside }: Places): Promise<void> {
  await client.send(scratchNamespaceRequest(inside, optedIn));
  await client.send(scratchNamespaceRequest(outside));
  const tolerations = [{ ...trialTaint, operator: 'Exists', tolerationSeconds: laterSeconds }];
  const pods = [
    { namespace: inside, name: atOnce },
    { namespace: outside, name: atOnce },
    { namespace: inside, name: later, tolerations },
  ];
  // The finalizer shows which program deleted a pod.
  for (const pod of pods) await makePod(client, { ...pod, nodeName: node, isWatched: true });
}

/** Puts the taint on the node. */
export async function taint(client: ApiClient, node: string, at: Instant): Promise<void> {
  await setTaint(client, node, [{ ...trialTaint, timeAdded: formatTime(at) }]);
}

/** Removes the objects of the trial, and reports the remaining ones. */
export async function clear(client: ApiClient, places: Places): Promise<readonly Leftover[]> {
  const { node } = places;
  const untaint = `kubectl taint node ${node} ${trialTaint.key}-`;
  const left = [...(await takeAway(setTaint(client, node, []), untaint))];
  for (const namespace of [places.inside, places.outside]) {
    for (const name of [atOnce, later]) left.push(...(await letGo(client, { namespace, name })));
    left.push(...(await takeNamespaceAway(client, namespace)));
  }
  return left;
}

/** The fate of a pod up to now; `gone` is the fate that was known before. */
export async function fateOf(
  client: ApiClient,
  pod: PodName,
  before: Fate | null,
  sinceTaint: () => Millis,
): Promise<Fate> {
  const [object, events] = await Promise.all([
    client.get(podPathOf(pod)) as Promise<PodObject>,
    client.list(`${namespacePath(pod.namespace)}/events`) as Promise<readonly EventObject[]>,
  ]);
  const isGone = object.metadata.deletionTimestamp !== undefined;
  const full = `${pod.namespace}/${pod.name}`;
  const about = events.filter(
    ({ involvedObject, message }) =>
      involvedObject.name === pod.name || (message ?? '').includes(full),
  );
  const said = (isOurs: boolean): string | null =>
    about.find((event) => isByUs(event) === isOurs)?.message ?? null;
  return {
    goneAfter: before?.goneAfter ?? (isGone ? sinceTaint() : null),
    by: markerOf(object),
    upstream: said(false),
    ours: said(true),
  };
}

/** Asks again and again until it is enough, or the time is over. */
export async function watch(
  look: () => Promise<boolean>,
  timeout: Millis,
  interrupt: AbortSignal,
): Promise<void> {
  const end = performance.now() + timeout;
  while (!(await look()) && performance.now() < end) {
    interrupt.throwIfAborted();
    await setTimeout(lookEveryMs);
  }
}

interface PodObject {
  readonly metadata: {
    readonly deletionTimestamp?: string;
    readonly managedFields?: readonly { readonly manager?: string; readonly fieldsV1?: object }[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
  };
}

interface EventObject {
  readonly involvedObject: { readonly name?: string };
  readonly message?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

function isByUs({ source, reportingComponent }: EventObject): boolean {
  return (reportingComponent || source?.component || '').startsWith('taintmgr');
}

/** kube-controller-manager never asks for evictions; who marked a pod for a taint wrote it himself. */
function markerOf({ metadata: { managedFields = [] }, status }: PodObject): string {
  const marked = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  if (marked?.reason === 'EvictionByEvictionAPI') return 'the Eviction API';
  const wrote = managedFields.find(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes('DisruptionTarget'),
  );
  return wrote?.manager ?? '';
}

/** Its namespace takes it along, once it has no finalizer. */
export async function letGo(client: ApiClient, pod: PodName): Promise<readonly Leftover[]> {
  const body = JSON.stringify({ metadata: { finalizers: null } });
  const headers = { accept: 'application/json', 'content-type': 'application/merge-patch+json' };
  const request = client.send({ method: 'PATCH', path: podPathOf(pod), headers, body });
  const command = `kubectl patch pod ${pod.name} -n ${pod.namespace} --type=merge -p '${body}'`;
  return await takeAway(request, command);
}

/** The taint of the trial as it shall be; the others stay. */
async function setTaint(client: ApiClient, name: string, wanted: readonly object[]): Promise<void> {
  const change: Change = (found) => {
    const { taints, resourceVersion } = drainableNode(answerValue(found));
    const others = taints.filter(({ key }) => key !== trialTaint.key);
    if (wanted.length === 0 && others.length === taints.length) return { kind: 'done' };
    const body = { metadata: { resourceVersion }, spec: { taints: [...others, ...wanted] } };
    const headers = { accept: 'application/json', 'content-type': 'application/merge-patch+json' };
    const { path } = getNodeRequest(name);
    return { method: 'PATCH', path, headers, body: JSON.stringify(body) };
  };
  await client.carryOut(readModifyWrite(() => getNodeRequest(name), change, conflictsMax));
}

export interface CaseResult {
  /** From 1, in the order of the answer. */
  readonly number: number;
  readonly what: string;
  readonly passed: boolean;
  readonly detail: string;
}

const upstream = 'kube-controller-manager';
/** A pod that exists this long after its time was not deleted for it. */
const marginMs: Millis = 1_500;

/** Opted in, no toleration. */
export function atOnceCase(fate: Fate): CaseResult {
  return spared(1, 'taken over, no toleration: spared, and an Event says who decides', fate);
}

/** A case that passes where kube-controller-manager spoke and did not delete, and taintmgr spoke. */
export function spared(number: number, what: string, fate: Fate): CaseResult {
  const isSpared = fate.upstream !== null && !isTheirs(fate);
  return { number, what, passed: isSpared && fate.ours !== null, detail: sparedText(fate) };
}

/** Not opted in. */
export function otherCase({ goneAfter }: Fate): CaseResult {
  return {
    number: 2,
    what: `not taken over: ${upstream} deletes it`,
    passed: goneAfter !== null,
    detail: goneAfter === null ? 'it is still there' : `deleted after ${after(goneAfter)}`,
  };
}

/** Opted in, tolerates the taint for some seconds. */
export function laterCase(fate: Fate, sinceTaint: Millis): CaseResult {
  const isOver = sinceTaint >= laterSeconds * 1000 + marginMs;
  const isSpared = fate.upstream !== null && isOver && !isTheirs(fate);
  return {
    number: 3,
    what: `taken over, tolerates it for ${laterSeconds}s: spared when they are over`,
    passed: isSpared,
    detail: sparedText(fate),
  };
}

/** True where kube-controller-manager deleted it. */
function isTheirs({ goneAfter, by }: Fate): boolean {
  return goneAfter !== null && by.startsWith(upstream);
}

function sparedText({ goneAfter, by, ours, upstream: said }: Fate): string {
  if (said === null) return `${upstream} has said nothing about it`;
  const fate =
    goneAfter === null
      ? 'it is there'
      : `it left after ${after(goneAfter)}, by ${by || 'an unknown client'}`;
  return ours === null ? `${fate}; taintmgr has said nothing about it` : `${fate}; ${ours}`;
}

/** The time after the taint, for people. */
function after(millis: Millis): string {
  return `${(millis / 1000).toFixed(1)}s`;
}
