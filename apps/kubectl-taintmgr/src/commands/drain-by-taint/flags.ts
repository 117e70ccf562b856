import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { parseDuration } from '@taintmgr/core/time';
import { collect } from '../../cli/connection-flags.ts';
import { dryRunOption } from '../../cli/dry-run-flag.ts';
import { narrowingSelector, nodeNames } from '../../cli/names.ts';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';
import { addPolicyFlag, type PolicyFlag } from '../../cli/policy-flag.ts';

/** The command line of `drain-by-taint`. */
export interface DrainFlags extends OutputFlags, PolicyFlag {
  readonly selector?: string | undefined;
  readonly podSelector?: string | undefined;
  readonly dryRun: string;
  readonly force?: true | undefined;
  readonly ignoreDaemonsets?: true | undefined;
  readonly deleteEmptydirData?: true | undefined;
  readonly disableEviction?: true | undefined;
  /** Seconds; negative: the pod's own. */
  readonly gracePeriod: number;
  /** Seconds; 0: every terminating pod is waited for. */
  readonly skipWaitForDeleteTimeout: number;
  /** Milliseconds for each node; 0: no limit. */
  readonly timeout: number;
  /** Objects in one page of a list; 0: all at once. */
  readonly chunkSize: number;
  readonly now?: true | undefined;
  readonly ignoreTolerations?: true | undefined;
  readonly pdbPolicy?: string | undefined;
  /** A part, such as `25%`, is one of the nodes of a wave; 0: all. */
  readonly maxParallelNodes: number | string;
  readonly heldUpNodes: number;
  readonly maxParallelPods: number;
  /** A part is one of the pods of a workload. */
  readonly maxUnavailable?: number | string | undefined;
  readonly zoneSerial?: true | undefined;
  /** Label selectors. */
  readonly wave?: readonly string[] | undefined;
  readonly byPriority?: true | undefined;
  /** `NAMESPACE`, `NAMESPACE/SELECTOR` or `/SELECTOR`. */
  readonly lastPods?: readonly string[] | undefined;
  /** Milliseconds. */
  readonly waitCompleted?: number | undefined;
  /** Milliseconds. */
  readonly waitDetached?: number | undefined;
  readonly restartSingleReplicas?: true | undefined;
  readonly heed?: readonly string[] | undefined;
  readonly pauseLabel?: string | undefined;
  readonly once?: true | undefined;
  readonly rollbackOnFailure?: true | undefined;
  /** False with --no-cordon. */
  readonly cordon?: boolean | undefined;
  readonly allowOverlap?: true | undefined;
  readonly ignorePolicies?: true | undefined;
  /** A file with a NodeDrain; `-`: standard input. */
  readonly filename?: string | undefined;
  readonly serverSide?: true | undefined;
  readonly detach?: true | undefined;
  readonly name?: string | undefined;
}

/** Annotations of others that hold a pod of a drain. */
const heededAnnotations: readonly string[] = [
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
  'karpenter.sh/do-not-disrupt',
];

const asKubectl = 'As kubectl drain:';
const ours = 'Beyond kubectl drain:';

const help = `
Exit codes; .status.result of -o json says the same:
  0    Drained, or Planned with --dry-run
  1    Failed or Refused: usage, missing flags or permissions, or the API server;
       Stopped: somebody else evicts for the taint and ignores PDBs
  2    Blocked: something but time holds pods back, such as a PDB
  3    TimedOut: not finished within --timeout
  130  Interrupted: run the same command again to continue; with --server-side the drain goes on

Examples:
  kubectl taintmgr drain-by-taint maintenance=kernel node-1 --ignore-daemonsets --dry-run=server
  kubectl taintmgr drain-by-taint maintenance=kernel -l pool=blue --ignore-daemonsets --timeout=10m
  kubectl taintmgr drain-by-taint maintenance=kernel:NoSchedule -l pool=blue --zone-serial --pdb-policy=delete-after:1h
  kubectl taintmgr drain-by-taint maintenance=kernel -l pool=blue --wave ring=canary --max-parallel-nodes=25%
  kubectl taintmgr drain-by-taint maintenance=kernel -l pool=blue --server-side --detach
  kubectl taintmgr drain-by-taint -f nodedrain.yaml --dry-run=client`;

/** `drain-by-taint`, as its help shows it. */
export function drainCommand(): CommandUnknownOpts {
  const command = new Command('drain-by-taint')
    .summary('cordon and taint nodes and evict the pods that do not tolerate it')
    .description(
      'cordon and taint nodes and evict the pods that do not tolerate it, each when its toleration expires, respecting PodDisruptionBudgets',
    )
    .argument(
      '[taint]',
      'key[=value]; with :NoSchedule or :NoExecute to choose the effect yourself; or give --filename',
    )
    .argument('[nodes...]', 'names of the nodes; or give --selector', nodeNames)
    .addHelpText('after', help);
  const options = [...kubectlOptions(), ...orderOptions(), ...ownOptions()];
  for (const option of options) command.addOption(option);
  addPolicyFlag(command);
  return addOutputFlags(command);
}

/** kubectl drain's flags, with its names and defaults. */
function kubectlOptions(): readonly Option[] {
  const options = [
    new Option('-l, --selector <selector>', 'label selector for the nodes').argParser(
      narrowingSelector,
    ),
    new Option('--pod-selector <selector>', 'label selector for the pods to evict'),
    dryRunOption(
      'client: only plan; server: ask the API server about each eviction, once; none: act',
    ),
    new Option('--force', 'also evict pods that are not managed by a controller'),
    new Option('--ignore-daemonsets', 'leave DaemonSet pods where they are'),
    new Option('--delete-emptydir-data', 'also evict pods whose emptyDir data is lost'),
    new Option(
      '--disable-eviction',
      'delete pods, ignoring PodDisruptionBudgets: --pdb-policy=ignore',
    ),
    new Option('--grace-period <seconds>', "grace period; negative: the pod's own")
      .argParser(integer)
      .default(-1),
    new Option('--timeout <duration>', 'give up on a node after this time, e.g. 10m; 0: never')
      .argParser(timeout)
      .default(0, '0s'),
    new Option(
      '--skip-wait-for-delete-timeout <seconds>',
      'do not wait for pods that have terminated for longer; 0: wait for all',
    )
      .argParser(naturalOrNone)
      .default(0),
    new Option('--chunk-size <number>', 'objects to list at a time; 0: all at once')
      .argParser(naturalOrNone)
      .default(500),
  ];
  return options.map((option) => option.helpGroup(asKubectl));
}

/** How much at once, and in which order. */
function orderOptions(): readonly Option[] {
  const options = [
    new Option(
      '--max-parallel-nodes <number>',
      'nodes to drain at a time, or 25% of a wave; 0: all',
    )
      .argParser(naturalOrPart)
      .default(1),
    new Option(
      '--held-up-nodes <number>',
      'nodes that do not count in that, where for a minute nothing but blocked pods is left',
    )
      .argParser(natural)
      .default(1),
    new Option('--max-parallel-pods <number>', 'pods to evict at a time; 0: no limit')
      .argParser(natural)
      .default(0),
    new Option(
      '--max-unavailable <number>',
      'pods of a workload, or 25% of them, that may be unavailable for the next to be evicted',
    ).argParser(naturalOrPart),
    new Option('--zone-serial', 'finish one zone before the next; stop after one that failed'),
    new Option(
      '--wave <selector>',
      'finish the nodes with these labels before the others; may be repeated; stop after a wave that failed',
    ).argParser(collect),
    new Option('--by-priority', 'on each node, evict pods of a lower priority before others'),
    new Option(
      '--last-pods <namespace/selector>',
      'on each node, evict these pods when all others are gone; may be repeated; one of both is enough',
    ).argParser(collect),
    new Option('--wait-completed <duration>', 'let pods of Jobs finish for so long').argParser(
      duration,
    ),
    new Option(
      '--wait-detached <duration>',
      'evict the pods of a StatefulSet one after the other, the next when the volumes of the one before are detached; for so long',
    ).argParser(duration),
    new Option(
      '--restart-single-replicas',
      'restart the rollout of Deployments of one pod, so that another is ready first',
    ),
    new Option('--heed <annotation>', 'leave pods that have it; may be repeated')
      .choices(heededAnnotations)
      .argParser(heeded),
    new Option('--pause-label <key>', 'leave nodes that have this label'),
  ];
  return options.map((option) => option.helpGroup(ours));
}

function ownOptions(): readonly Option[] {
  const options = [
    new Option('--now', 'do not wait for tolerations to expire'),
    new Option('--ignore-tolerations', 'evict every pod at once, even if it tolerates the taint'),
    new Option(
      '--pdb-policy <policy>',
      'respect (the default): retry until PodDisruptionBudgets allow it; delete-after:DURATION: then delete; ignore: delete at once',
    ),
    new Option('--once', 'try each pod once'),
    new Option('--rollback-on-failure', 'undo the changes on nodes that could not be drained'),
    new Option('--no-cordon', 'add the taint without cordoning'),
    new Option(
      '--ignore-policies',
      'also evict pods that an EvictionPolicy keeps or an EvictionPause holds',
    ),
    new Option(
      '--allow-overlap',
      'use NoExecute although another controller may evict for it; stop when it does',
    ),
    new Option(
      '--server-side',
      'create a NodeDrain, which taintmgr-controller carries out, and follow it; Ctrl-C leaves it running',
    ),
    new Option('--detach', 'with --server-side: do not follow it'),
    new Option(
      '-f, --filename <file>',
      'drain as the NodeDrain of this file says, instead of TAINT, NODE and most flags; -: standard input',
    ),
    new Option('--name <name>', 'with --server-side: the name of the NodeDrain'),
  ];
  return options.map((option) => option.helpGroup(ours));
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
