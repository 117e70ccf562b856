// Opts namespaces out: kube-controller-manager decides about their pods again.
import type { ApiClient } from '@taintmgr/k8s-adapter';
import { withConnection } from '../../cli/connection.ts';
import { readDryRun } from '../../cli/dry-run-flag.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/invocation.ts';
import { type Output, warn } from '../../cli/output.ts';
import { evictsPods } from '../../cluster/facts.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { choicesText, count } from '../../render/count.ts';
import { readFormat } from '../../render/format.ts';
import { UsageError } from '../../usage-error.ts';
import { agrees } from './ask.ts';
import type { DisableFlags } from './flags.ts';
import { duePods, type HeldChoice, type HeldPod, readHeldChoice } from './held.ts';
import { giveBack } from './release.ts';
import { labelRequest } from './requests.ts';
import { type NamespaceChange, printChange } from './result.ts';
import { readState } from './state.ts';

/** A namespace, and what is held in it. */
interface Plan {
  readonly change: NamespaceChange;
  readonly held: readonly HeldPod[];
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
    const plans = await plansFor(client, wanted, state.namespaces, state.now);
    for (const { change, held } of plans) output.err(planLine(change, held, how));
    const isOpen = plans.some(({ change }) => !change.isDone);
    const mustAsk = dryRun === 'none' && isOpen && flags.yes !== true;
    if (mustAsk && !(await agrees('Give back to kube-controller-manager?', interrupt))) {
      throw new UsageError('nothing was changed');
    }
    const changes: NamespaceChange[] = [];
    for (const { change, held } of plans) {
      const isReal = dryRun === 'none' && !change.isDone;
      const giving = { client, namespace: change.name, how, timeout: flags.timeout, interrupt };
      changes.push({ ...change, left: isReal ? await giveBack(giving) : held });
    }
    const done = { verb: 'disable', dryRun, changes, proof: null } as const;
    output.write(await printChange(done, format, flags.headers !== false));
    if (dryRun !== 'none') return exitCode.done;
    warnOfLeft(output, changes);
    return changes.some(({ left }) => left.length > 0) ? exitCode.timeout : exitCode.done;
  });
}

async function plansFor(
  client: ApiClient,
  names: readonly string[],
  optedIn: readonly string[],
  now: number,
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
    plans.push({ change, held: isDone ? [] : duePods(pods, nodes, now) });
  }
  return plans;
}

const choiceTexts: Readonly<Record<HeldChoice, string>> = {
  evict: 'is evicted first, as far as PodDisruptionBudgets allow',
  delete: 'is deleted first, without asking PodDisruptionBudgets',
  leave: 'stays',
};

function planLine(
  { name, pods, isDone }: NamespaceChange,
  held: readonly HeldPod[],
  how: HeldChoice,
): string {
  if (isDone) return `namespace ${name}: is not taken over`;
  const what = `namespace ${name}: ${count(pods, 'pod')}`;
  if (held.length === 0) return `${what}, none of which kube-controller-manager wanted to evict`;
  const names = choicesText(held.map(({ pod, why }) => `${pod.name} (${why})`));
  return `${what}; what kube-controller-manager wanted to evict ${choiceTexts[how]}: ${names}`;
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
