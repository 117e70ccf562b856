// Opts namespaces in: taintmgr decides about their pods in the place of kube-controller-manager.
import { formatDuration, type Instant } from '@taintmgr/core/time';
import type { ApiClient } from '@taintmgr/k8s-adapter';
import { count, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { ClusterReader, evictsPods } from '@taintmgr/k8s-adapter/survey';
import { agrees, refuseUnasked } from '../../cli/agreement.ts';
import { readDryRun } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/registry.ts';
import { readFormat } from '../../render/printer.ts';
import type { ChangeFlags } from './flags.ts';
import { askerOf, markable, type Proof, type ProofOptions, prove } from './proof.ts';
import {
  holdsDevices,
  labelRequest,
  lastHeartbeat,
  obstaclesIn,
  policiesText,
  readState,
  type TakeoverState,
  untilRefused,
  windowMs,
} from './state.ts';
import { killSwitch, type NamespaceChange, printChange } from './status.ts';

const settleMsMax = 5_000;

/** `takeover enable NAMESPACE...`. */
export async function run(
  invocation: Invocation<ChangeFlags>,
  names: readonly string[],
): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  const format = await readFormat(flags.output);
  const dryRun = readDryRun(flags.dryRun, ['none', 'server', 'client'], output);
  // The objects of the proof are removed after Ctrl-C too, so requests continue after it.
  const calm = { flags, interrupt: new AbortController().signal };
  return await withConnection(calm, async ({ client }) => {
    const state = await readState(client);
    refuseObstacles(state);
    const changes = await changesOf(client, [...new Set(names)], state);
    const isOpen = changes.some(({ isDone }) => !isDone);
    const mustAsk = dryRun === 'none' && isOpen && flags.yes !== true;
    if (mustAsk) refuseUnasked();
    const since = performance.now();
    const now = (): Instant => state.now + (performance.now() - since);
    const proof =
      dryRun === 'client'
        ? null
        : await proofOf(client, state, {
            ...{ now, output, interrupt },
            mayWrite: dryRun === 'none',
          });
    interrupt.throwIfAborted();
    for (const line of planLines(state, changes, proof)) output.err(line);
    const open = changes.filter(({ isDone }) => !isDone);
    if (mustAsk && !(await agrees('Take over?', interrupt))) {
      throw new UsageError('nothing was changed');
    }
    if (dryRun !== 'client') {
      for (const { name } of open) {
        interrupt.throwIfAborted();
        await optIn(client, name, dryRun === 'server', now, state.policies.users);
      }
    }
    const done = { verb: 'enable', dryRun, changes, proof } as const;
    output.write(await printChange(done, format, flags.headers !== false, output));
    if (dryRun === 'none') output.err(undoText(changes));
    return exitCode.done;
  });
}

function refuseObstacles(state: TakeoverState): void {
  const obstacles = obstaclesIn(state);
  if (obstacles.length === 0) return;
  throw new UsageError(`nothing can be taken over here yet: ${obstacles.join('; ')}`);
}

async function proofOf(
  client: ApiClient,
  state: TakeoverState,
  options: Pick<ProofOptions, 'now' | 'mayWrite' | 'output' | 'interrupt'>,
): Promise<Proof | null> {
  const { namespaces, policies } = state;
  const what = { namespaces, users: policies.users, withDevices: holdsDevices(state) };
  return await prove({ ...options, client, ...what });
}

/** The changes by namespace; throws ApiError for a namespace that does not exist. */
async function changesOf(
  client: ApiClient,
  names: readonly string[],
  state: TakeoverState,
): Promise<readonly NamespaceChange[]> {
  const reader = new ClusterReader(client);
  const nodes = await reader.ifAllowed(() => reader.nodes());
  const tainted = new Set((nodes ?? []).filter(evictsPods).map(({ node }) => node.name));
  const changes: NamespaceChange[] = [];
  for (const name of names) {
    await client.send(labelRequest(name, true, { dryRun: true }));
    const pods = await reader.podsOf(name);
    const onTainted = pods.filter(({ pod }) => tainted.has(pod.nodeName)).length;
    const isDone = state.namespaces.includes(name);
    changes.push({ name, pods: pods.length, onTainted, isDone, left: [] });
  }
  return changes;
}

function planLines(
  state: TakeoverState,
  changes: readonly NamespaceChange[],
  proof: Proof | null,
): readonly string[] {
  const { manager, now, policies } = state;
  const mode = manager?.settings.mode;
  const taints = holdsDevices(state)
    ? 'node and device taints'
    : 'node taints (for device taints it does, and ignores budgets)';
  const how = mode === undefined ? '' : ` (mode ${mode})`;
  return [
    `heartbeat: ${manager?.leader || manager?.name} ${manager ? lastHeartbeat(manager, now) : ''}`,
    `policies: ${policiesText(policies)}`,
    proof ? `proof: ${proofText(proof)}` : noProof,
    ...changes.map(({ name, pods, onTainted, isDone }) => {
      const where = `${count(pods, 'pod')}, ${onTainted} on nodes with NoExecute taints`;
      return `namespace ${name}: ${where}${isDone ? '; taken over already' : ''}`;
    }),
    `kube-controller-manager will evict none of them for ${taints}; taintmgr-controller${how} decides while its heartbeat is not older than ${formatDuration(windowMs)}`,
  ];
}

const noProof =
  'proof: none in this dry run, for it takes a pod in a namespace that is taken over; without --dry-run one is made for it';

function proofText({ pod, refused, taken }: Proof): string {
  const passed = taken.length === 0 ? '' : `, and would accept it from ${taken.join(', ')}`;
  return `the API server refuses the mark of an eviction of pod ${pod} by ${refused.join(', ')}${passed}`;
}

/** Labels the namespace; where its pods are not spared then, the label is taken off again. */
async function optIn(
  client: ApiClient,
  name: string,
  dryRun: boolean,
  now: () => Instant,
  users: readonly string[],
): Promise<void> {
  await client.send(labelRequest(name, true, { dryRun }));
  const pod = dryRun ? null : await markable(client, [name]);
  if (!pod) return;
  const { as } = await askerOf(client, users);
  const answer = await untilRefused(client, pod, now, settleMsMax, as);
  if (answer.kind !== 'taken') return;
  await client.send(labelRequest(name, false));
  throw new UsageError(
    `the API server does not refuse the mark of an eviction of pod ${name}/${pod.name}: the label was taken off namespace ${name} again`,
  );
}

function undoText(changes: readonly NamespaceChange[]): string {
  const names = changes.map(({ name }) => name).join(' ');
  return `undo: kubectl taintmgr takeover disable ${names}\nstop it everywhere at once: ${killSwitch}`;
}
