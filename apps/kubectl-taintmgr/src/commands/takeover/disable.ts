// Turns takeover off and releases the held pods: takeover disable.

import { setTimeout } from 'node:timers/promises';
import { formatTaint, type Pod } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  type ApiClient,
  ApiError,
  deletePodRequest,
  evictPodRequest,
  listRequest,
} from '@taintmgr/k8s-adapter';
import { choicesText, count, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { UpstreamForecast } from '@taintmgr/k8s-adapter/explain';
import {
  ClusterReader,
  evictsPods,
  type NodeFacts,
  namespacesPath,
  type PodFacts,
} from '@taintmgr/k8s-adapter/survey';
import { agrees } from '../../cli/agreement.ts';
import { readDryRun } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type Output, warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { readFormat } from '../../render/printer.ts';
import type { DisableFlags } from './flags.ts';
import { HeldDevices, type HeldForDevice } from './held-devices.ts';
import { holdsDevices, labelRequest, readState, type TakeoverState } from './state.ts';
import { type HeldPod, type NamespaceChange, printChange } from './status.ts';

/** A namespace, and its held pods. */
interface Plan {
  readonly change: NamespaceChange;
  readonly held: readonly HeldPod[];
  /** The same for taints of devices; null: the rules may not be read. */
  readonly byDevice: readonly HeldForDevice[] | null;
}

/** `takeover disable NAMESPACE...`. */
export async function run(
  invocation: Invocation<DisableFlags>,
  names: readonly string[],
): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  const format = await readFormat(flags.output);
  const dryRun = readDryRun(flags.dryRun, ['none', 'server', 'client'], output);
  const how = readHeldChoice(flags.held);
  if (names.length === 0 && flags.all !== true)
    throw new UsageError('name namespaces, or give --all');
  return await withConnection(invocation, async ({ client }) => {
    const state = await readState(client);
    const wanted = flags.all ? state.namespaces : [...new Set(names)];
    if (wanted.length === 0)
      output.err('No namespace is taken over: there is nothing to give back.');
    const devices = holdsDevices(state) ? await HeldDevices.of(client) : null;
    const plans = await plansFor(client, wanted, state, devices);
    for (const plan of plans) output.err(planLine(plan, how));
    const isOpen = plans.some(({ change }) => !change.isDone);
    const mustAsk = dryRun === 'none' && isOpen && flags.yes !== true;
    if (mustAsk && !(await agrees('Give back to kube-controller-manager?', interrupt))) {
      throw new UsageError('nothing was changed');
    }
    const changes: NamespaceChange[] = [];
    for (const { change, held } of plans) {
      const isReal = dryRun === 'none' && !change.isDone;
      const { timeout } = flags;
      const giving = { client, output, namespace: change.name, how, timeout, interrupt, devices };
      changes.push({ ...change, left: isReal ? await giveBack(giving) : held });
    }
    const done = { verb: 'disable', dryRun, changes, proof: null } as const;
    output.write(await printChange(done, format, flags.headers !== false, output));
    if (dryRun !== 'none') return exitCode.done;
    warnOfLeft(output, changes);
    return changes.some(({ left }) => left.length > 0) ? exitCode.timeout : exitCode.done;
  });
}

async function plansFor(
  client: ApiClient,
  names: readonly string[],
  { namespaces: optedIn, now }: TakeoverState,
  devices: HeldDevices | null,
): Promise<readonly Plan[]> {
  const reader = new ClusterReader(client);
  const nodes = await reader.nodes();
  const tainted = new Set(nodes.filter(evictsPods).map(({ node }) => node.name));
  const plans: Plan[] = [];
  for (const name of names) {
    await client.send(labelRequest(name, false, { dryRun: true }));
    const pods = await reader.podsOf(name);
    const isDone = !optedIn.includes(name);
    const onTainted = pods.filter(({ pod }) => tainted.has(pod.nodeName)).length;
    const change = { name, pods: pods.length, onTainted, isDone, left: [] };
    const held = isDone ? [] : duePods(pods, nodes, now);
    const byDevice = isDone || !devices ? [] : await devices.dueIn(name, pods, now);
    plans.push({ change, held, byDevice: byDevice && without(byDevice, held) });
  }
  return plans;
}

const choiceTexts: Readonly<Record<HeldChoice, string>> = {
  evict: 'is evicted first, as far as PodDisruptionBudgets allow',
  delete: 'is deleted first, without asking PodDisruptionBudgets',
  leave: 'stays',
};

/** The held pods without the others. */
function without<T extends HeldPod>(held: readonly T[], others: readonly HeldPod[]): readonly T[] {
  const uids = new Set(others.map(({ pod }) => pod.uid));
  return held.filter(({ pod }) => !uids.has(pod.uid));
}

const unseen =
  '; for taints of devices it may want to delete some, which may not be read here: it does so by itself, within 17 minutes';

function planLine({ change, held: byNode, byDevice }: Plan, how: HeldChoice): string {
  const { name, pods, isDone } = change;
  const held = how === 'leave' ? byNode : [...byNode, ...(byDevice ?? [])];
  const isLeft = how === 'leave' && byDevice !== null && byDevice.length > 0;
  const goes = isLeft ? `; it deletes at once for their devices: ${namesOf(byDevice)}` : '';
  return `${whatText({ name, pods, isDone }, held, how)}${byDevice === null ? unseen : goes}`;
}

function namesOf(held: readonly HeldPod[]): string {
  return choicesText(held.map(({ pod, why }) => `${pod.name} (${why})`));
}

function whatText(
  { name, pods, isDone }: Pick<NamespaceChange, 'name' | 'pods' | 'isDone'>,
  held: readonly HeldPod[],
  how: HeldChoice,
): string {
  if (isDone) return `namespace ${name}: is not taken over`;
  const what = `namespace ${name}: ${count(pods, 'pod')}`;
  if (held.length === 0) return `${what}, none of which kube-controller-manager wanted to evict`;
  return `${what}; what kube-controller-manager wanted to evict ${choiceTexts[how]}: ${namesOf(held)}`;
}

function warnOfLeft(output: Output, changes: readonly NamespaceChange[]): void {
  const left = changes.flatMap((change) => change.left);
  for (const { pod, why } of left) warn(output, `pod ${pod.namespace}/${pod.name} is left: ${why}`);
  if (left.length === 0) return;
  warn(
    output,
    'kube-controller-manager has forgotten what is left: it stays until the taints of its node or its tolerations change, or until kube-controller-manager restarts and deletes it without asking',
  );
}

interface GivingBack {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly how: HeldChoice;
  /** The time for which refused evictions are tried. */
  readonly timeout: Millis;
  readonly interrupt: AbortSignal;
  readonly output: Output;
  /** Null: taints of devices are not held. */
  readonly devices: HeldDevices | null;
}

const retryMs: Millis = 5_000;

/**
 * kube-controller-manager may find a pod due earlier by this time: taints and the API server's time are known
 * in whole seconds, and count from their end.
 */
const laterMsMax: Millis = 2_000;

/**
 * Evicts the due pods, takes the label off, and returns the pods that no controller evicts from then on, with
 * the reasons. Pods that become due meanwhile are evicted too. A pod that becomes due in the last moments may
 * have been refused or not: kube-controller-manager deletes it at once, or has forgotten it, and the function
 * waits for that.
 */
async function giveBack(giving: GivingBack): Promise<readonly HeldPod[]> {
  const { client, namespace, interrupt } = giving;
  const stay = await release(giving);
  await client.send(labelRequest(namespace, false));
  await letGo(giving).finally(() => giving.devices?.clean());
  const soon = await lookForDue(giving, laterMsMax);
  const isOpen = soon.some(({ pod }) => !stay.has(pod.uid));
  if (isOpen) await setTimeout(laterMsMax, undefined, { signal: interrupt }).catch(() => undefined);
  const left = isOpen ? await lookForDue(giving) : soon;
  return left.map((one) => ({ ...one, why: stay.get(one.pod.uid) ?? one.why }));
}

/**
 * The number and the distance of the touches: the API server may still use the label for a moment after it is
 * gone.
 */
const touchesMax = 5;
const touchMs: Millis = 1_000;

/** kube-controller-manager forgets no pod that is held for its devices: it only has to try again. */
async function letGo(giving: GivingBack): Promise<void> {
  const { devices, output, namespace, interrupt } = giving;
  for (let touches = 0; devices && touches < touchesMax; touches += 1) {
    const due = (await dueForDevices(giving)) ?? [];
    if (due.length === 0) return;
    const fault = await devices.touch(due);
    if (fault !== null) {
      warn(output, `pods of namespace ${namespace} ${laterText}: ${fault}`);
      return;
    }
    await setTimeout(touchMs, undefined, { signal: interrupt }).catch(() => undefined);
    interrupt.throwIfAborted();
  }
}

const laterText =
  'that kube-controller-manager was refused for taints of their devices go at its next try, within 17 minutes';

async function dueForDevices({
  client,
  namespace,
  devices,
}: GivingBack): Promise<readonly HeldForDevice[] | null> {
  if (!devices) return [];
  const reader = new ClusterReader(client);
  return await devices.dueIn(namespace, await reader.podsOf(namespace), reader.now());
}

/** The pods that are due in the namespace by the API server's time, or will be within `ahead`. */
async function lookForDue(
  { client, namespace }: GivingBack,
  ahead: Millis = 0,
): Promise<readonly HeldPod[]> {
  const reader = new ClusterReader(client);
  const [nodes, pods] = await Promise.all([reader.nodes(), reader.podsOf(namespace)]);
  const { serverTime } = await client.ask(listRequest(namespacesPath, { limit: 1 }));
  return duePods(pods, nodes, serverTime ?? reader.now(), ahead);
}

/** Until nothing is due any more, or the time is over; why those stay that do, by uid. */
async function release(giving: GivingBack): Promise<ReadonlyMap<string, string>> {
  const { client, how, timeout, interrupt } = giving;
  if (how === 'leave')
    return new Map((await lookForDue(giving)).map(({ pod, why }) => [pod.uid, why]));
  const end = performance.now() + timeout;
  for (;;) {
    const due = await lookForDue(giving);
    const byDevice = without((await dueForDevices(giving)) ?? [], due);
    const all = [...due, ...byDevice];
    const stay = new Map<string, string>();
    for (const { pod } of all) {
      const why = await remove(client, pod, how);
      if (why !== null) stay.set(pod.uid, why);
    }
    if (all.length === 0 || performance.now() >= end) return stay;
    if (stay.size > 0)
      await setTimeout(retryMs, undefined, { signal: interrupt }).catch(() => undefined);
    interrupt.throwIfAborted();
  }
}

/** The reason why the pod is not gone; null: it leaves. */
async function remove(client: ApiClient, pod: Pod, how: HeldChoice): Promise<string | null> {
  try {
    await client.send(how === 'evict' ? evictPodRequest(pod) : deletePodRequest(pod));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message, causes } = error.failure;
    if (status === 404 || status === 409) return null;
    return causes[0]?.message || message;
  }
}

/**
 * Of the pods of a namespace those that kube-controller-manager wants to delete until `ahead` from now,
 * static pods left out. kube-controller-manager counts from when it saw both the taint and the pod. A taint
 * without a time came when taintmgr wrote down, else when the node's taints were written last. Where not even
 * that is known, it came `now`, so that no pod that tolerates it for a while is evicted for a guess.
 */
export function duePods(
  pods: readonly PodFacts[],
  nodes: readonly NodeFacts[],
  now: Instant,
  ahead: Millis = 0,
): readonly HeldPod[] {
  const tainted = nodes.filter(evictsPods);
  const byName = new Map(tainted.map(({ node }) => [node.name, node]));
  // Of a static pod the API has an image only: it would come back, and the pod itself never goes.
  const there = pods.filter(({ pod }) => {
    return byName.has(pod.nodeName) && pod.deletionTimestamp === null && !pod.mirror;
  });
  const forecast = new UpstreamForecast({
    now,
    nodes: tainted.map((facts) => [dated(facts)]),
    pods: there.map((facts) => [facts]),
    // A refused deletion has left no mark; with these, marks would count as deletions that failed.
    present: [],
    since: null,
  });
  return there.flatMap((facts) => {
    const decision = forecast.decisionOn(now + ahead, facts);
    if (decision?.kind !== 'evict' || decision.deadline > now + ahead) return [];
    const taints = byName.get(facts.pod.nodeName)?.taints ?? [];
    const keys = taints.filter(({ effect }) => effect === 'NoExecute').map(({ key }) => key);
    return [{ pod: facts.pod, dueAt: decision.deadline, why: `for ${keys.join(', ')}` }];
  });
}

/** With the times that taintmgr has written down, for taints that carry none. */
function dated(facts: NodeFacts): NodeFacts {
  const { taints, taintStarts = {} } = facts.node;
  const withTimes = taints.map((taint) => {
    return { ...taint, timeAdded: taint.timeAdded ?? taintStarts[formatTaint(taint)] ?? null };
  });
  return { ...facts, node: { ...facts.node, taints: withTimes } };
}

/** The fate of the held pods. */
type HeldChoice = 'evict' | 'delete' | 'leave';

const choices: readonly HeldChoice[] = ['evict', 'delete', 'leave'];

/** Throws UsageError. */
function readHeldChoice(text: string): HeldChoice {
  const found = choices.find((one) => one === text);
  if (found) return found;
  throw new UsageError(`--held: got "${text}", want ${choices.join(', ')}`);
}
