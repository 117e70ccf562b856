// The flags of drain-by-taint. One table says how each is typed, how its value is read, and which field
// of a NodeDrain it sets.
import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { parseDuration } from '@taintmgr/core/time';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  addOutputFlags,
  addPolicyFlag,
  collect,
  dryRunOption,
  type OutputFlags,
  type PolicyFlag,
} from '../../cli/common-flags.ts';
import { groupFlags, type HelpTexts, withHelp } from '../../cli/help.ts';
import { narrowingSelector, nodeNames, readLabelSelector } from '../../cli/values.ts';

/** A flag whose value has this type. */
export interface Flag<Value> {
  readonly option: Option;
  /** Its path in a NodeDrain; null: the flag is about this command, or about this run of it. */
  readonly field: string | null;
  /** The field as a manifest has it; undefined: the flag alone does not set it. */
  inManifest(value: Value): unknown;
}

type Given = true | undefined;
type Texts = readonly string[] | undefined;

/** Annotations of others that hold a pod of a drain. */
const heededAnnotations: readonly string[] = [
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
  'karpenter.sh/do-not-disrupt',
];

/** kubectl drain's flags, with its names and defaults. */
const kubectlFlags = {
  // A manifest has it only where the API server is to read it from there.
  selector: flag<string | undefined>(
    reads('-l, --selector <selector>', 'label selector for the nodes', narrowingSelector),
    'spec.nodeSelector',
    unset,
  ),
  podSelector: flag<string | undefined>(
    new Option('--pod-selector <selector>', 'label selector for the pods to evict'),
  ),
  dryRun: flag<string>(
    dryRunOption(
      'client: only plan; server: also ask the API server about each eviction, once; none: act',
    ),
  ),
  force: flag<Given>(
    new Option('--force', 'also evict pods that are not managed by a controller'),
    'spec.pods.withoutController',
  ),
  ignoreDaemonsets: flag<Given>(
    new Option('--ignore-daemonsets', 'leave DaemonSet pods on the nodes'),
  ),
  deleteEmptydirData: flag<Given>(
    new Option('--delete-emptydir-data', 'also evict pods whose emptyDir data is lost'),
    'spec.pods.withEmptyDir',
  ),
  // Together with --pdb-policy.
  disableEviction: flag<Given>(
    new Option(
      '--disable-eviction',
      'delete pods, ignoring PodDisruptionBudgets: --pdb-policy=ignore',
    ),
    'spec.budgets',
    unset,
  ),
  /** Negative: the pod's own. */
  gracePeriod: flag<number>(
    reads('--grace-period <seconds>', "grace period; negative: the pod's own", integer).default(-1),
    'spec.pods.gracePeriodSeconds',
    (seconds) => (seconds >= 0 ? seconds : undefined),
  ),
  /** Milliseconds for each node. */
  timeout: flag<number>(
    reads(
      '--timeout <duration>',
      'give up on a node after this time, e.g. 10m; 0: never',
      timeout,
    ).default(0, '0s'),
    'spec.timeouts.node',
    (millis) => (millis > 0 ? durationText(millis) : undefined),
  ),
  skipWaitForDeleteTimeout: flag<number>(
    reads(
      '--skip-wait-for-delete-timeout <seconds>',
      'do not wait for pods that have been terminating for longer; 0: wait for all',
      naturalOrNone,
    ).default(0),
    'spec.timeouts.terminatingPods',
    (seconds) => (seconds > 0 ? `${seconds}s` : undefined),
  ),
  chunkSize: flag<number>(
    reads(
      '--chunk-size <number>',
      'objects to list at a time; 0: all at once',
      naturalOrNone,
    ).default(500),
  ),
};

/** The flags for the number at once, the order, and the features that only taintmgr has. */
const ownFlags = {
  maxParallelNodes: flag<number | string>(
    reads(
      '--max-parallel-nodes <number>',
      'nodes to drain at a time, e.g. 2, or 25% of a wave; 0: all',
      naturalOrPart,
    ).default(1),
    'spec.limits.nodesAtOnce',
  ),
  heldUpNodes: flag<number>(
    reads(
      '--held-up-nodes <number>',
      'nodes beyond --max-parallel-nodes that may be open because only blocked pods have been left for a minute',
      natural,
    ).default(1),
    'spec.limits.heldUpNodes',
  ),
  maxParallelPods: flag<number>(
    reads('--max-parallel-pods <number>', 'pods to evict at a time; 0: no limit', natural).default(
      0,
    ),
    'spec.limits.podsAtOnce',
  ),
  maxUnavailable: flag<number | string | undefined>(
    reads(
      '--max-unavailable <number>',
      'evict a pod only while at most this number, or e.g. 25%, of its workload is unavailable',
      naturalOrPart,
    ),
    'spec.limits.maxUnavailable',
  ),
  zoneSerial: flag<Given>(
    new Option('--zone-serial', 'finish one zone before the next; stop after a zone that failed'),
    'spec.order',
    (isGiven) => isGiven && 'ByZone',
  ),
  wave: flag<Texts>(
    reads(
      '--wave <selector>',
      'finish the nodes with these labels before the others; may be repeated; stop after a wave that failed',
      collect,
    ),
    'spec.waves',
    // Each is named by its selector.
    (texts) => texts?.map((name) => ({ name, nodeSelector: readLabelSelector('--wave', name) })),
  ),
  byPriority: flag<Given>(
    new Option('--by-priority', 'on each node, evict pods with lower priority first'),
    'spec.pods.order',
    (isGiven) => isGiven && 'ByPriority',
  ),
  lastPods: flag<Texts>(
    reads(
      '--last-pods <namespace/selector>',
      'on each node, evict these pods when all others are gone; NAMESPACE or /SELECTOR is enough; may be repeated',
      collect,
    ),
    'spec.pods.last',
    (texts) => texts?.map(groupOf),
  ),
  /** Milliseconds. */
  waitCompleted: flag<number | undefined>(
    reads(
      '--wait-completed <duration>',
      'how long pods of Jobs may take to finish before they are evicted',
      duration,
    ),
    'spec.pods.waitCompleted.timeout',
    (millis) => (millis === undefined ? undefined : durationText(millis)),
  ),
  /** Milliseconds. */
  waitDetached: flag<number | undefined>(
    reads(
      '--wait-detached <duration>',
      'evict pods of a StatefulSet one by one, each when the volumes of the previous pod are detached, or after this time',
      duration,
    ),
    'spec.pods.waitDetached.timeout',
    (millis) => (millis === undefined ? undefined : durationText(millis)),
  ),
  restartSingleReplicas: flag<Given>(
    new Option(
      '--restart-single-replicas',
      'restart the rollout of Deployments with one pod, so that a new pod is ready before the old one leaves',
    ),
    'spec.pods.singleReplicas',
    (isGiven) => isGiven && 'RolloutRestart',
  ),
  heed: flag<Texts>(
    new Option('--heed <annotation>', 'skip pods with this annotation; may be repeated')
      .choices(heededAnnotations)
      .argParser(heeded),
    'spec.heeds.podAnnotations',
    (texts) => texts && [...new Set(texts)],
  ),
  pauseLabel: flag<string | undefined>(
    new Option('--pause-label <key>', 'skip nodes with this label'),
    'spec.heeds.pauseLabel',
  ),
  now: flag<Given>(
    new Option('--now', 'do not wait for tolerations to expire'),
    'spec.tolerations',
    (isGiven) => isGiven && 'NoWait',
  ),
  // After --now, which it goes beyond.
  ignoreTolerations: flag<Given>(
    new Option('--ignore-tolerations', 'evict every pod now, even if it tolerates the taint'),
    'spec.tolerations',
    (isGiven) => isGiven && 'Ignore',
  ),
  // Together with --disable-eviction.
  pdbPolicy: flag<string | undefined>(
    new Option(
      '--pdb-policy <policy>',
      'respect: retry until PodDisruptionBudgets allow the eviction; delete-after:DURATION: retry for this time, then delete; ignore: delete (default respect)',
    ),
    'spec.budgets',
    unset,
  ),
  once: flag<Given>(new Option('--once', 'try to evict each pod once, without retries')),
  rollbackOnFailure: flag<Given>(
    new Option('--rollback-on-failure', 'undo the changes on nodes that could not be drained'),
    'spec.onFailure',
    (isGiven) => isGiven && 'RollBack',
  ),
  /** False with --no-cordon. */
  cordon: flag<boolean | undefined>(
    new Option('--no-cordon', 'add the taint, do not cordon'),
    'spec.cordon',
    (isWanted) => (isWanted === false ? 'Never' : 'AtStart'),
  ),
  ignorePolicies: flag<Given>(
    new Option(
      '--ignore-policies',
      'also evict pods that an EvictionPolicy keeps or an EvictionPause holds',
    ),
  ),
  allowOverlap: flag<Given>(
    new Option(
      '--allow-overlap',
      'use NoExecute even if another controller may evict for the taint; stop if it does',
    ),
  ),
  serverSide: flag<Given>(
    new Option(
      '--server-side',
      'create a NodeDrain for taintmgr-controller to carry out, and follow it; Ctrl-C does not stop the drain',
    ),
  ),
  detach: flag<Given>(new Option('--detach', 'with --server-side: do not follow it')),
  /** `-`: standard input. */
  filename: flag<string | undefined>(
    new Option(
      '-f, --filename <file>',
      'read the drain from a NodeDrain manifest, instead of arguments and most flags; -: standard input',
    ),
  ),
  // A manifest has a name without it too.
  name: flag<string | undefined>(
    new Option('--name <name>', 'with --server-side: name of the NodeDrain'),
    'metadata.name',
    unset,
  ),
};

/** By the names under which commander has their values. */
export const drainFlags = { ...kubectlFlags, ...ownFlags };

export type DrainFlag = keyof typeof drainFlags;

/** The command line of `drain-by-taint`. */
export type DrainFlags = OutputFlags &
  PolicyFlag & {
    readonly [Name in DrainFlag]: (typeof drainFlags)[Name] extends Flag<infer Value>
      ? Value
      : never;
  };

const help: HelpTexts = {
  examples: [
    '# Only plan: which pods leave, when, and what is in the way',
    'kubectl taintmgr drain-by-taint maintenance=kernel node-1 --ignore-daemonsets --dry-run=client',
    '# Drain nodes by label, one after the other',
    'kubectl taintmgr drain-by-taint maintenance=kernel -l pool=blue --ignore-daemonsets',
    '# Finish the canary nodes before the others, a quarter at a time',
    'kubectl taintmgr drain-by-taint maintenance=kernel -l pool=blue --wave ring=canary --max-parallel-nodes=25%',
    '# Wait one hour for PodDisruptionBudgets, then delete',
    'kubectl taintmgr drain-by-taint maintenance=kernel node-1 --pdb-policy=delete-after:1h',
    '# Let taintmgr-controller drain, by a NodeDrain',
    'kubectl taintmgr drain-by-taint maintenance=kernel -l pool=blue --server-side --detach',
    '# Undo',
    'kubectl taintmgr undo maintenance=kernel node-1',
  ],
  exits: [
    ['0', 'Drained, or Planned with --dry-run'],
    [
      '1',
      'Failed or Refused: usage, missing flags or permissions, or the API server; Stopped: another controller evicts for the taint and ignores PDBs',
    ],
    ['2', 'Blocked: a PDB or another obstacle that does not resolve with time'],
    ['3', 'TimedOut: not finished within --timeout'],
    [
      '130',
      'Interrupted: run the same command again to continue; with --server-side the drain continues',
    ],
  ],
  details: 'The field .status.result of -o json has the word that stands before each exit code.',
};

const ownGroups = {
  'How many at once, in which order:': [
    ...['--max-parallel-nodes', '--held-up-nodes', '--max-parallel-pods', '--max-unavailable'],
    ...['--zone-serial', '--wave', '--by-priority', '--last-pods'],
  ],
  'Which pods leave, and when:': [
    ...['--now', '--ignore-tolerations', '--pdb-policy', '--once', '--wait-completed'],
    ...['--wait-detached', '--restart-single-replicas', '--heed', '--pause-label'],
    ...['--policy', '--ignore-policies'],
  ],
  'The taint, and its end:': ['--no-cordon', '--allow-overlap', '--rollback-on-failure'],
  'As a NodeDrain:': ['--server-side', '--detach', '--name', '--filename'],
};

/** `drain-by-taint`, as its help shows it. */
export function drainCommand(): CommandUnknownOpts {
  const command = new Command('drain-by-taint')
    .summary('drain nodes: cordon, taint, and evict what does not tolerate the taint')
    .description(
      'drain nodes: cordon and taint them, and evict each pod that does not tolerate the taint when its toleration expires, respecting PodDisruptionBudgets',
    )
    .argument('[taint]', 'KEY or KEY=VALUE; add :NoSchedule or :NoExecute to choose the effect')
    .argument('[nodes...]', 'names of the nodes, or give --selector', nodeNames);
  for (const { option } of Object.values(kubectlFlags)) {
    command.addOption(option.helpGroup('As kubectl drain:'));
  }
  for (const { option } of Object.values(ownFlags)) {
    command.addOption(option);
  }
  addPolicyFlag(command);
  groupFlags(command, ownGroups);
  return withHelp(addOutputFlags(command), help);
}

/** As it is typed: `--max-parallel-nodes`, `--no-cordon`. */
export function flagText(flag: DrainFlag | keyof PolicyFlag): string {
  return flag === 'policy' ? '--policy' : (drainFlags[flag].option.long ?? '');
}

/** The flags of those that were given which set a field, or part of it. */
export function flagsOf(path: string, given: ReadonlySet<string>): readonly string[] {
  const isIn = (field: string): boolean =>
    path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
  return Object.entries(drainFlags).flatMap(([flag, { option, field }]) => {
    return field !== null && given.has(flag) && isIn(field) ? (option.long ?? '') : [];
  });
}

function flag<Value>(
  option: Option,
  field: string | null = null,
  inManifest: (value: Value) => unknown = (value) => value,
): Flag<Value> {
  return { option, field, inManifest };
}

function unset(): undefined {
  return undefined;
}

function reads<T>(usage: string, text: string, read: (text: string, before: T) => T): Option {
  return new Option(usage, text).argParser(read);
}

function integer(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Want a whole number.');
}

function natural(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Want a whole number from 0.');
}

/** As with kubectl a negative one is as none. */
function naturalOrNone(text: string): number {
  return Math.max(0, integer(text));
}

function naturalOrPart(text: string): number | string {
  if (/^(100|[1-9]\d?)%$/.test(text)) return text;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Want a whole number from 0, or a part such as 25%.');
}

function heeded(text: string, before: readonly string[] = []): readonly string[] {
  if (heededAnnotations.includes(text)) return [...before, text];
  throw new InvalidArgumentError(`Want ${heededAnnotations.join(' or ')}.`);
}

/** With kubectl a negative one begins evictions, and gives them up at once. */
function timeout(text: string): number {
  if (!text.startsWith('-')) return duration(text);
  throw new InvalidArgumentError('The drain would end before it begins; 0: it never gives up.');
}

function duration(text: string): number {
  const millis = parseDuration(text);
  if (millis !== null) return millis;
  throw new InvalidArgumentError('Want a duration such as 30s, 10m or 1h30m.');
}

/** `logging`, `logging/app=shipper` or `/app=storage`. */
function groupOf(text: string): object {
  const slash = text.indexOf('/');
  const namespace = slash < 0 ? text : text.slice(0, slash);
  const selector = slash < 0 ? '' : text.slice(slash + 1);
  if ((namespace === '' || /[=!,() ]/.test(namespace)) && (slash !== 0 || selector === '')) {
    const got = JSON.stringify(text);
    throw new UsageError(
      `--last-pods: got ${got}, want NAMESPACE, NAMESPACE/SELECTOR such as logging/app=shipper, or /SELECTOR`,
    );
  }
  return {
    ...(namespace !== '' && { namespaces: [namespace] }),
    ...(selector !== '' && { podSelector: readLabelSelector('--last-pods', selector) }),
  };
}

/** As a manifest may have it, in the largest unit that fits; a part of a second counts as a whole one. */
export function durationText(millis: number): string {
  const seconds = Math.ceil(millis / 1000);
  if (seconds === 0) return '0s';
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
