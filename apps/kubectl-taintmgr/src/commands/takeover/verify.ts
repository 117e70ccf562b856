// Plays on a node of the user's choice what takeover promises, and says what came of it.
import { setTimeout } from 'node:timers/promises';
import { toleratesTaint } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { choicesText, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  ClusterReader,
  evictsPods,
  ifThere,
  namespacePath,
  type Right,
  rightOf,
} from '@taintmgr/k8s-adapter/survey';
import { agrees } from '../../cli/agreement.ts';
import { readDryRun } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { type Output, warnOfLeft } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import {
  type Leftover,
  refuseWithout,
  scratchLabels,
  scratchNamespaceRequest,
} from '../../cluster/scratch.ts';
import { type Format, printAnswer, readFormat } from '../../render/printer.ts';
import { type Column, renderColumns, type TableOptions } from '../../render/table.ts';
import { DeviceTrial, deviceCase, deviceUser } from './device-trial.ts';
import type { VerifyFlags } from './flags.ts';
import { askerOf } from './proof.ts';
import { obstaclesIn, optedIn, readState, type TakeoverState, untilRefused } from './state.ts';
import {
  atOnce,
  atOnceCase,
  build,
  type CaseResult,
  clear,
  type Fate,
  fateOf,
  later,
  laterCase,
  otherCase,
  type Places,
  taint,
  trialTaint,
  watch,
} from './trial.ts';

/** `takeover verify`. */
export async function run(invocation: Invocation<VerifyFlags>): Promise<ExitCode> {
  const { flags, output, interrupt } = invocation;
  const format = await readFormat(flags.output);
  const dryRun = readDryRun(flags.dryRun, ['none', 'server', 'client'], output);
  const { node, scratch } = flags;
  const places: Places = { node, inside: scratch, outside: `${scratch}-out` };
  // The created objects are removed after Ctrl-C too, so requests continue after it.
  const calm = { flags, interrupt: new AbortController().signal };
  return await withConnection(calm, async ({ client }) => {
    const state = await readState(client);
    await refuseUnfit(client, state, node);
    await refuseWithout(client, cleaningRights(places));
    const found = await DeviceTrial.of(client, state, places);
    const device = typeof found === 'string' ? null : found;
    output.err(planText(places));
    if (typeof found === 'string') output.err(found);
    if (device)
      output.err('tries a device of its own too, with a ResourceSlice and a ResourceClaim');
    const check = (timeout: Millis) =>
      checkNamespaces(client, places, { output, timeout, interrupt });
    if (dryRun === 'server') await check(0);
    if (dryRun !== 'none') return exitCode.done;
    if (flags.yes !== true && !(await agrees('Do that?', interrupt))) {
      throw new UsageError('nothing was changed');
    }
    // Namespaces that exist already belong to others: these are not cleared.
    await check(flags.timeout);
    const left: Leftover[] = [];
    try {
      const trial = { state, places, device, timeout: flags.timeout };
      const results = await play(client, trial, interrupt);
      output.write(await printed(results, format, flags.headers !== false, output));
      if (!results.every(({ passed }) => passed)) return exitCode.unhealthy;
    } finally {
      if (device) left.push(...(await device.clear()));
      left.push(...(await clear(client, places)));
      warnOfLeft(output, left);
    }
    return left.length === 0 ? exitCode.done : exitCode.unhealthy;
  });
}

/** Of these objects alone: a role may name them. */
function cleaningRights({ node, inside, outside }: Places): readonly Right[] {
  const ofScratch = [inside, outside].flatMap((name) => [
    { ...rightOf('patch pods'), namespace: name },
    { ...rightOf('delete namespaces'), name },
  ]);
  return [{ ...rightOf('patch nodes'), name: node }, ...ofScratch];
}

function planText({ node, inside, outside }: Places): string {
  return [
    `creates the namespaces ${inside}, which is taken over, and ${outside}, which is not`,
    `puts two pods of the first and one of the second on node ${node}`,
    `taints the node with ${trialTaint.key}:${trialTaint.effect} for some seconds, and removes everything again`,
  ].join('\n');
}

/** Throws UsageError where takeover does not work, or where others would have to leave the node. */
async function refuseUnfit(client: ApiClient, state: TakeoverState, name: string): Promise<void> {
  const obstacles = obstaclesIn(state);
  if (obstacles.length > 0) {
    throw new UsageError(`there is nothing to verify: ${obstacles.join('; ')}`);
  }
  const reader = new ClusterReader(client);
  const found = await reader.node(name);
  if (evictsPods(found)) {
    throw new UsageError(`--node: ${name} has NoExecute taints; choose one that has none`);
  }
  const meant = { ...trialTaint, value: '', timeAdded: null };
  const leaving = (await reader.podsOn([name])).filter(
    ({ pod }) =>
      !pod.tolerations.some((one) => toleratesTaint(one, meant, { comparisonOperators: false })),
  );
  if (leaving.length === 0) return;
  const names = choicesText(leaving.map(({ pod }) => `${pod.namespace}/${pod.name}`));
  throw new UsageError(
    `--node: pods of ${name} would be evicted for the taint: ${names}; choose a node without such pods`,
  );
}

/** The longest wait for a namespace that is being deleted, and the output to report it. */
interface Patience {
  readonly output: Output;
  readonly timeout: Millis;
  readonly interrupt: AbortSignal;
}

const lookEveryMs: Millis = 200;

/** Throws ApiError where one of the namespaces is there already, and not about to go. */
async function checkNamespaces(
  client: ApiClient,
  { inside, outside }: Places,
  { output, timeout, interrupt }: Patience,
): Promise<void> {
  const end = performance.now() + timeout;
  for (const [name, labels] of [
    [inside, optedIn],
    [outside, {}],
  ] as const) {
    const request = scratchNamespaceRequest(name, labels);
    for (let isSaid = false; ; isSaid = true) {
      try {
        await client.send({ ...request, path: `${request.path}?dryRun=All` });
        break;
      } catch (error) {
        if (!isExisting(error) || performance.now() >= end || interrupt.aborted) throw error;
        if (!(await isEndingScratch(client, name))) throw error;
      }
      if (!isSaid) output.err(`waits until namespace ${name} of an earlier run has been deleted`);
      await setTimeout(lookEveryMs);
    }
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof ApiError && error.failure.status === 409;
}

interface ScratchNamespace {
  readonly metadata: {
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** True for a namespace of an earlier run that is being deleted, or has just gone. */
async function isEndingScratch(client: ApiClient, name: string): Promise<boolean> {
  const found = await ifThere(() => client.get(namespacePath(name)));
  if (found === null) return true;
  const { deletionTimestamp, labels = {} } = (found as ScratchNamespace).metadata;
  const isOurs = Object.entries(scratchLabels).every(([key, value]) => labels[key] === value);
  return isOurs && deletionTimestamp !== undefined;
}

interface Trial {
  readonly state: TakeoverState;
  readonly places: Places;
  /** Null: taints of devices are not tried. */
  readonly device: DeviceTrial | null;
  readonly timeout: Millis;
}

async function play(
  client: ApiClient,
  { state, places, device, timeout }: Trial,
  interrupt: AbortSignal,
): Promise<readonly CaseResult[]> {
  const since = performance.now();
  const now = (): Instant => state.now + (performance.now() - since);
  const { inside, outside } = places;
  await build(client, places);
  await device?.build();
  const pod = { namespace: inside, name: atOnce };
  const { as } = await askerOf(client, state.policies.users);
  const refused = await untilRefused(client, pod, now, timeout, as);
  if (refused.kind !== 'refused') {
    const detail = refused.kind === 'taken' ? 'the mark would be stored' : refused.message;
    return [{ number: 1, what: 'the policies refuse', passed: false, detail }];
  }
  await taint(client, places.node, now());
  await device?.taint();
  const taintedAt = performance.now();
  const sinceTaint = (): Millis => performance.now() - taintedAt;
  const fates = new Map<string, Fate>();
  const look = async (namespace: string, name: string): Promise<Fate> => {
    const key = `${namespace}/${name}`;
    const before = fates.get(key) ?? null;
    const fate = await fateOf(client, { namespace, name }, before, sinceTaint);
    fates.set(key, fate);
    return fate;
  };
  let results: readonly CaseResult[] = [];
  await watch(
    async () => {
      results = [
        atOnceCase(await look(inside, atOnce)),
        otherCase(await look(outside, atOnce)),
        laterCase(await look(inside, later), sinceTaint()),
        ...(device ? [deviceCase(await look(inside, deviceUser))] : []),
      ];
      return results.every(({ passed }) => passed);
    },
    timeout,
    interrupt,
  );
  return results;
}

const columns: readonly Column<CaseResult>[] = [
  ['CASE', ({ number }) => String(number)],
  ['WHAT', ({ what }) => what],
  ['RESULT', ({ passed }) => (passed ? 'passed' : 'FAILED')],
  ['DETAIL', ({ detail }) => detail],
];

function printed(
  results: readonly CaseResult[],
  format: Format,
  headers: boolean,
  output: Output,
): Promise<string> {
  const answer = {
    document: {
      kind: 'TakeoverVerification',
      passed: results.every(({ passed }) => passed),
      cases: results,
    },
    rows: results,
    names: results.map(({ number }) => `case/${number}`),
    table: (options: TableOptions) => renderColumns(columns, results, options),
  };
  return printAnswer(answer, format, headers, output);
}
