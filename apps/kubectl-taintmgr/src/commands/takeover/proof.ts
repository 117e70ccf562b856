// Proves before any change that the API server refuses the right requests.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { ApiClient } from '@taintmgr/k8s-adapter';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  namespacePath,
  type PodName,
  podsPathOf,
  rightOf,
  whoAmI,
} from '@taintmgr/k8s-adapter/survey';
import { type Output, warnOfLeft } from '../../cli/output.ts';
import {
  deleteRequest,
  type Leftover,
  makePod,
  refuseWithout,
  scratchNamespaceRequest,
  takeAway,
} from '../../cluster/scratch.ts';
import { askToMark, labelRequest, optedIn, untilRefused } from './state.ts';

/** The result of a proof. */
export interface Proof {
  /** The pod of the proof. */
  readonly pod: string;
  /** The users that were refused, and those whose mark would be stored. */
  readonly refused: readonly string[];
  readonly taken: readonly string[];
}

export interface ProofOptions {
  readonly client: ApiClient;
  /** Opted in already: a pod of theirs will do. */
  readonly namespaces: readonly string[];
  /** The users that the policies exempt. */
  readonly users: readonly string[];
  /** True: the mark for a taint of a device must be refused too. */
  readonly withDevices: boolean;
  /** The time of the API server. */
  readonly now: () => Instant;
  /** True: a namespace may be made for it. */
  readonly mayWrite: boolean;
  /** The output for objects that could not be removed. */
  readonly output: Output;
  /** Ends the proof; the client continues, so that the created objects are removed. */
  readonly interrupt: AbortSignal;
}

/** The users as which kube-controller-manager evicts where it has service accounts, and where it has not. */
const upstreamUsers = [
  'system:serviceaccount:kube-system:node-controller',
  'system:kube-controller-manager',
];
/** Of the service account that it has for taints of devices. */
const deviceUser = 'system:serviceaccount:kube-system:device-taint-eviction-controller';
const timeoutMs: Millis = 5_000;

/** The proof; null: there is no pod to show it on, and none may be made. Throws UsageError. */
export async function prove(options: ProofOptions): Promise<Proof | null> {
  const pod = await markable(options.client, options.namespaces);
  if (pod) return await proveOn(pod, options);
  if (!options.mayWrite) return null;
  const namespace = `taintmgr-proof-${crypto.randomUUID().slice(0, 8)}`;
  const { client, output } = options;
  await refuseWithout(client, [rightOf('delete namespaces')]);
  options.interrupt.throwIfAborted();
  await client.send(scratchNamespaceRequest(namespace, optedIn));
  try {
    const made = { namespace, name: 'proof' };
    await makePod(client, made);
    options.interrupt.throwIfAborted();
    return await proveOn(made, options);
  } finally {
    warnOfLeft(output, await takeNamespaceAway(client, namespace));
  }
}

/** A pod of these namespaces that is neither marked nor deleted; null: there is none. */
export async function markable(
  client: ApiClient,
  namespaces: readonly string[],
): Promise<PodName | null> {
  for (const namespace of namespaces) {
    const pods = (await client.list(podsPathOf(namespace))) as readonly PodObject[];
    const found = pods.find(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        !(status?.conditions ?? []).some(({ type }) => type === 'DisruptionTarget'),
    );
    if (found) return { namespace, name: found.metadata.name };
  }
  return null;
}

interface PodObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

async function proveOn(
  pod: PodName,
  { client, users, withDevices, now }: ProofOptions,
): Promise<Proof> {
  const asker = await askerOf(client, users);
  const answer = await untilRefused(client, pod, now, timeoutMs, asker.as);
  if (answer.kind === 'failed') throw new UsageError(cannotProve(answer.message));
  if (answer.kind === 'taken') throw new UsageError(notRefused(pod, ''));
  // The same asker, as no other may be impersonated everywhere; and the very user where one may.
  const askers = withDevices ? [asker.as, deviceUser] : [];
  for (const as of askers) {
    const found = await askToMark(client, pod, now(), as, 'device');
    if (found.kind === 'taken') throw new UsageError(notRefused(pod, ' for a taint of a device'));
  }
  const [refused, taken] = [[asker.name], [] as string[]];
  for (const user of [...upstreamUsers, ...users]) {
    if (user === asker.name) continue;
    // A user who impersonates himself loses his groups.
    const found = await askToMark(client, pod, now(), user === asker.self ? undefined : user);
    const isOurs = users.includes(user);
    // A user that may not be impersonated, or may not write pods, proves nothing.
    if (found.kind === 'failed') continue;
    if ((found.kind === 'taken') !== isOurs) throw new UsageError(wrongFor(user, isOurs));
    (isOurs ? taken : refused).push(user);
  }
  return { pod: `${pod.namespace}/${pod.name}`, refused, taken };
}

/** The user that asks; `as` undefined: the user of the command. */
export interface Asker {
  readonly name: string;
  /** We; null: not known. */
  readonly self: string | null;
  readonly as: string | undefined;
}

/** We, or kube-controller-manager where we are the very user that the policies exempt. */
export async function askerOf(client: ApiClient, users: readonly string[]): Promise<Asker> {
  const [upstream = ''] = upstreamUsers;
  const self = await whoAmI(client);
  return self !== null && users.includes(self)
    ? { name: upstream, self, as: upstream }
    : { name: self ?? 'you', self, as: undefined };
}

function notRefused({ namespace, name }: PodName, taint: string): string {
  return (
    `the API server does not refuse the mark of an eviction of pod ${namespace}/${name}${taint}: ` +
    'kube-controller-manager would delete it; nothing was changed'
  );
}

function cannotProve(message: string): string {
  return `it cannot be proved that the API server refuses evictions: ${message}; this needs the right to patch pods/status`;
}

function wrongFor(user: string, isOurs: boolean): string {
  return isOurs
    ? `the API server refuses the mark of an eviction by ${user} too, which is taintmgr itself; nothing was changed`
    : `the API server takes the mark of an eviction from ${user}; nothing was changed`;
}

/** Takes a namespace away with its pods; one that stays is at least not taken over. */
export async function takeNamespaceAway(
  client: ApiClient,
  name: string,
): Promise<readonly Leftover[]> {
  const request = client.send(deleteRequest(namespacePath(name)));
  const left = await takeAway(request, `kubectl delete namespace ${name}`);
  if (left.length > 0) await takeAway(client.send(labelRequest(name, false)), '');
  return left;
}
