// Shows if takeover is on, and the pods that it holds: takeover status.
import { formatDuration, type Instant } from '@taintmgr/core/time';
import { takeoverLabel } from '@taintmgr/k8s-adapter';
import type { PodFacts } from '@taintmgr/k8s-adapter/survey';
import type { DryRun } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Output } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Format, printAnswer, readFormat } from '../../render/printer.ts';
import { type Column, renderColumns, type TableOptions } from '../../render/table.ts';
import type { StatusFlags } from './flags.ts';
import type { Proof } from './proof.ts';
import {
  graceOf,
  holdsDevices,
  lastHeartbeat,
  obstaclesIn,
  policiesText,
  readState,
  type TakeoverState,
} from './state.ts';

interface Row {
  readonly name: string;
  readonly spared: number;
  readonly held: number;
  readonly evicted: number;
  readonly letThrough: number;
}

const columns: readonly Column<Row>[] = [
  ['NAMESPACE', ({ name }) => name],
  ['SPARED', ({ spared }) => String(spared)],
  ['HELD', ({ held }) => String(held)],
  ['EVICTED', ({ evicted }) => String(evicted)],
  ['LET-THROUGH', ({ letThrough }) => String(letThrough)],
];

/** `takeover status`. */
export async function run(invocation: Invocation<StatusFlags>): Promise<ExitCode> {
  const { flags, output } = invocation;
  const format = await readFormat(flags.output);
  return await withConnection(invocation, async ({ client }) => {
    output.write(await printed(await readState(client), format, flags.headers !== false, output));
    return exitCode.done;
  });
}

function printed(
  state: TakeoverState,
  format: Format,
  headers: boolean,
  output: Output,
): Promise<string> {
  const rows = rowsOf(state);
  const answer = {
    document: documentOf(state, rows),
    rows,
    names: rows.map(({ name }) => `namespace/${name}`),
    table: (options: TableOptions) =>
      [...headLines(state, rows.length > 0), ...tableLines(rows, options)].join('\n'),
  };
  return printAnswer(answer, format, headers, output);
}

/** A namespace of which the leader says nothing has nothing to say. */
function rowsOf({ namespaces, manager }: TakeoverState): readonly Row[] {
  const said = manager?.takeover?.byNamespace ?? [];
  return namespaces.map((name) => {
    const found = said.find((one) => one.name === name);
    const { spared = 0, held = 0, evicted = 0, letThrough = 0 } = found ?? {};
    return { name, spared, held, evicted, letThrough };
  });
}

function headLines(state: TakeoverState, isUsed: boolean): readonly string[] {
  const { manager, now, policies } = state;
  const obstacles = obstaclesIn(state);
  const hold = manager?.takeover?.holdReadiness;
  const who = manager ? `${manager.leader || manager.name} ${lastHeartbeat(manager, now)}` : 'none';
  return [
    obstacles.length === 0
      ? worksText(isUsed, holdsDevices(state))
      : worksNotText(state, obstacles),
    ...obstacles.map((text) => `  ${text}`),
    `heartbeat: ${who}`,
    `policies: ${policiesText(policies)}`,
    ...(hold ? [`readiness is held: ${hold.reason}`] : []),
    ...mislabelledLines(state),
    '',
  ];
}

/** A namespace that was labelled by hand. */
function mislabelledLines({ mislabelled }: TakeoverState): readonly string[] {
  const { key, value } = takeoverLabel;
  return mislabelled.map((one) => {
    const [name, found] = one.split('=');
    return `not taken over: namespace ${name} has ${key}=${found}, and ${value} alone counts`;
  });
}

function worksText(isUsed: boolean, withDevices: boolean): string {
  const taints = withDevices ? 'node and device taints' : 'node taints, not for device taints,';
  return isUsed
    ? `takeover works: kube-controller-manager is refused evictions for ${taints} in the namespaces below`
    : `takeover is ready: kube-controller-manager is refused evictions for ${taints} in namespaces that are taken over`;
}

function worksNotText(state: TakeoverState, obstacles: readonly string[]): string {
  const { version, drift } = state.policies;
  // The effect of modified policies is unknown.
  if (version !== null && obstacles.length === drift.length)
    return 'takeover may not work: the policies are outdated or changed';
  const grace = graceOf(state);
  return grace === 0
    ? 'takeover does not work: kube-controller-manager evicts as before'
    : `takeover ends in ${formatDuration(grace)}, if no heartbeat comes: then kube-controller-manager evicts as before`;
}

function tableLines(rows: readonly Row[], options: TableOptions): readonly string[] {
  if (rows.length === 0)
    return ['No namespace is taken over: kubectl taintmgr takeover enable NAMESPACE'];
  return [renderColumns(columns, rows, options)];
}

function documentOf(state: TakeoverState, rows: readonly Row[]): object {
  const { manager, policies } = state;
  const obstacles = obstaclesIn(state);
  return {
    kind: 'TakeoverStatus',
    works: obstacles.length === 0,
    obstacles,
    manager: manager && {
      name: manager.name,
      leader: manager.leader,
      renewTime: manager.renewedAt === null ? null : new Date(manager.renewedAt).toISOString(),
      enabled: manager.takeover?.enabled === true,
      deviceTaints: holdsDevices(state),
    },
    policies,
    ...(manager?.takeover?.holdReadiness && { holdReadiness: manager.takeover.holdReadiness }),
    namespaces: rows,
    mislabelled: state.mislabelled,
    killSwitch,
  };
}

/** Takes effect in milliseconds; no controller puts the labels back. */
export const killSwitch: string = `kubectl label namespaces -l ${takeoverLabel.key}=${takeoverLabel.value} ${takeoverLabel.key}-`;

/** The change of one namespace. */
export interface NamespaceChange {
  readonly name: string;
  readonly pods: number;
  readonly onTainted: number;
  /** True where nothing changes. */
  readonly isDone: boolean;
  /** Pods that no controller evicts from now on. */
  readonly left: readonly HeldPod[];
}

interface Change {
  readonly verb: 'enable' | 'disable';
  readonly dryRun: DryRun;
  readonly changes: readonly NamespaceChange[];
  readonly proof: Proof | null;
}

const runTexts: Readonly<Record<DryRun, string>> = {
  none: '',
  server: ' (server dry run)',
  client: ' (dry run)',
};

export function printChange(
  change: Change,
  format: Format,
  headers: boolean,
  output: Output,
): Promise<string> {
  const { verb, dryRun, changes, proof } = change;
  const label = verb === 'enable' ? 'labeled' : 'unlabeled';
  const document = {
    kind: 'TakeoverChange',
    action: verb,
    dryRun,
    label: `${takeoverLabel.key}=${takeoverLabel.value}`,
    namespaces: changes.map(({ isDone, left, ...rest }) => ({
      ...rest,
      changed: !isDone,
      left: left.map(({ pod, why }) => ({ name: pod.name, why })),
    })),
    ...(proof && { proof }),
    killSwitch,
  };
  return printAnswer(
    {
      document,
      rows: document.namespaces,
      names: changes.map(({ name }) => `namespace/${name}`),
      table: () =>
        changes
          .map(({ name, isDone }) => {
            return `namespace/${name} ${isDone ? `not ${label}` : label}${runTexts[dryRun]}`;
          })
          .join('\n'),
    },
    format,
    headers,
    output,
  );
}

/** A pod that kube-controller-manager would have deleted by now. */
export interface HeldPod {
  readonly pod: PodFacts['pod'];
  /** The time when it was due by kube-controller-manager's rules. */
  readonly dueAt: Instant;
  /** In words, for those who read of it. */
  readonly why: string;
}
