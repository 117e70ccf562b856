// The command line of simulate.
import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { type Millis, parseDuration } from '@taintmgr/core/time';
import type { LostBy } from '@taintmgr/page';
import { addOutputFlags, collect, type OutputFlags } from '../../cli/common-flags.ts';
import { groupFlags, type HelpTexts, withHelp } from '../../cli/help.ts';

/** The command line of `simulate`. */
export interface SimulateFlags extends OutputFlags {
  readonly filename?: readonly string[] | undefined;
  readonly script?: string | undefined;
  readonly event?: readonly string[] | undefined;
  readonly policy?: readonly string[] | undefined;
  readonly apply?: readonly string[] | undefined;
  readonly until: Millis;
  readonly seed: number;
  readonly seeds: number;
  readonly variant?: readonly VariantFlag[] | undefined;
  readonly compare?: true | undefined;
  readonly failIf?: readonly string[] | undefined;
  readonly allowUnknown?: true | undefined;
  readonly top?: Top | undefined;
  readonly report?: string | undefined;
  readonly partial?: true | undefined;
  readonly each?: string | undefined;
  readonly by?: By | undefined;
  readonly replay?: string | undefined;
  readonly verify?: string | undefined;
}

/** The way in which each part is lost, by the names on the live page. */
export type By =
  | { readonly kind: Exclude<LostBy, 'taint'> }
  /** `taint`: the one with which each is tainted; null: each that is in use. */
  | { readonly kind: 'taint'; readonly taint: string | null };

const untilMsUsual: Millis = 1_800_000;
export const untilMsMax: Millis = 7 * 86_400_000;
const seedMax = 2 ** 31;
const seedsMax = 1000;
const topMax = 1_000_000;

/** The flags that say which events happen, which a recording contains. */
const ofScripts = [
  'filename',
  'script',
  'event',
  'policy',
  'apply',
  'until',
  'seed',
  'seeds',
  'variant',
  'compare',
  'failIf',
  'allowUnknown',
  'top',
  'report',
  'partial',
  'each',
  'by',
  'verify',
];

/** The flags by which a cluster without any loss is compared. */
const ofOneCluster = ['variant', 'compare', 'replay', 'apply', 'verify'];

/** The flags for events that might happen, as opposed to events that have happened. */
const ofLosses = [
  'event',
  'failIf',
  'allowUnknown',
  'report',
  'until',
  'apply',
  'each',
  'by',
  'top',
];

const help: HelpTexts = {
  examples: [
    '# Which zone can this cluster not lose?',
    'kubectl taintmgr simulate --each zone',
    '# Play one event, in a copy of the cluster',
    "kubectl taintmgr simulate --event '{at: 1m, drain: {node: node-1}}'",
    '# Play a script on a snapshot, with a page for a browser',
    'kubectl taintmgr snapshot > cluster.json',
    'kubectl taintmgr simulate -f cluster.json --script outage.yaml --report outage.html',
    '# Compare with kube-controller-manager, and fail if a limit is crossed',
    "kubectl taintmgr simulate --script outage.yaml --compare --fail-if 'down(shop/web) > 30%'",
    '# Compare policies, or manifests before and after',
    'kubectl taintmgr simulate --script outage.yaml --variant now=unchanged --variant new=new.yaml',
    'kubectl taintmgr simulate --script outage.yaml --apply deploy/ --seeds 20',
    '# Play a flight record of the controller again',
    'kubectl taintmgr simulate --replay flight.jsonl',
    '# How far is the simulation from what happened?',
    'kubectl taintmgr simulate -f before.json --verify after.json --seeds 20',
  ],
  details: `
Without -f, the cluster of the current context is read once. Nothing is written to that cluster. Its
EvictionPolicies, NodeTaintRules and EvictionPauses apply, after those of --policy. taintmgr-controller runs with
the settings of its leader. If kube-controller-manager evicts in the cluster, its rules are played instead,
unless files or the script have policies.

An event names a zone as status prints it, region/zone, or by its zone label.

--variant NAME=PATH plays the policies of a file or directory in a copy of the cluster, with the same events and
the same seed. These policies apply before those of --policy, the script and the cluster. Two words can
stand in place of a path: kube-controller-manager for its rules, unchanged for the present policies. The
table shows the difference of each variant from the first.

--apply lays manifests over the cluster as kubectl apply does, waits until the cluster is at rest, and plays the
same events before and after. Objects that only the cluster has stay. --policy counts for both.

--each loses each node, zone or value of a label in turn, 1m after the start, each in a copy of the cluster.
--by down: its machines die. cut-off: the control plane cannot reach them. drain: as by kubectl drain.
taint: each taint key in use, or the taint that is named, with effect NoExecute. A script is played in each copy
too. Ctrl-C keeps the losses that are done.

--replay gives the events that taintmgr-controller --flight-record wrote to the engine of this build, and
compares the commands, up to the first difference.

--verify AFTER plays what happened until a second snapshot, until Events, or in a recording of
snapshot --watch, and prints the error of the simulation. A recording that begins with a snapshot needs no -f.
--script says what happened instead of AFTER.`,
  exits: [
    ['0', 'done'],
    ['1', 'an error'],
    ['2', 'a limit of --fail-if was crossed, or --replay found a difference'],
    ['130', 'interrupted by Ctrl-C'],
  ],
};

const flagGroups = {
  'Cluster:': ['--filename', '--policy', '--partial'],
  'Events:': ['--script', '--event', '--until', '--seed', '--seeds'],
  'Compare:': ['--compare', '--variant', '--apply'],
  'Lose one part after the other:': ['--each', '--by'],
  'Play recordings:': ['--replay', '--verify'],
  'Answer:': ['--fail-if', '--allow-unknown', '--top', '--report', '--output', '--no-headers'],
};

/** `simulate`, as its help shows it. */
export function simulateCommand(): CommandUnknownOpts {
  const command = new Command('simulate')
    .summary('play taints and failures in a copy of the cluster')
    .description('play taints and failures in a copy of the cluster, and show what would happen')
    .addOption(
      new Option(
        '-f, --filename <path>',
        'cluster to play: a snapshot, output of kubectl get -o json or yaml, a directory of such files, - for standard input, or a topology; may be repeated',
      ).argParser(collect),
    )
    .option('--script <file>', 'file with the events: what happens, and when')
    .addOption(
      new Option(
        '--event <event>',
        "one more event, as in a script, e.g. '{at: 1m, drain: {node: node-1}}'; may be repeated",
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--policy <path>',
        'file or directory with EvictionPolicy, NodeTaintRule and EvictionPause; may be repeated',
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--apply <path>',
        'compare the cluster before and after these manifests: file, directory or -; may be repeated',
      )
        .argParser(collect)
        .conflicts(['variant', 'compare']),
    )
    .addOption(
      new Option('--until <duration>', 'how much time of the cluster to simulate')
        .argParser(untilOf)
        .default(untilMsUsual, '30m'),
    )
    .addOption(
      new Option('--seed <number>', 'seed of everything random in the simulated cluster')
        .argParser(seedOf)
        .default(1),
    )
    .addOption(
      new Option(
        '--seeds <count>',
        'number of seeds to play, from --seed on; shows which differences are chance',
      )
        .argParser(seedsOf)
        .default(1),
    )
    .addOption(
      new Option(
        '--variant <name=path>',
        'also play these policies: a path, kube-controller-manager or unchanged; may be repeated',
      )
        .argParser(addVariant)
        .conflicts('compare'),
    )
    .option('--compare', 'compare kube-controller-manager 1.36 with taintmgr');
  addOutputFlags(addAnswerFlags(addLossFlags(command)));
  groupFlags(command, flagGroups);
  return withHelp(command, help);
}

/** Adds the flags for the use of the results. */
function addAnswerFlags(command: CommandUnknownOpts): CommandUnknownOpts {
  return command
    .addOption(
      new Option(
        '--fail-if <limit>',
        "exit with 2 if the condition holds, e.g. 'downtime(shop/web) > 30s'; may be repeated",
      ).argParser(collect),
    )
    .option('--allow-unknown', 'let --fail-if use figures marked ?, which may be wrong')
    .addOption(
      new Option(
        '--top <count>',
        'number of worst rows of each table, or all (default: as many as fit in 100 lines)',
      ).argParser(topOf),
    )
    .option('--report <file>', 'also write an HTML report to this file')
    .option('--partial', 'continue without what could not be read of the cluster, with a warning')
    .addOption(
      new Option(
        '--replay <file>',
        'play this flight record of the controller, and compare the commands',
      ).conflicts(ofScripts),
    )
    .addOption(
      new Option(
        '--verify <file>',
        'play what happened from -f until this snapshot, these Events or this recording, and print the error',
      ).conflicts(ofLosses),
    );
}

function addLossFlags(command: CommandUnknownOpts): CommandUnknownOpts {
  return command
    .addOption(
      new Option(
        '--each <part>',
        'lose each node, zone or value of a label (KEY) in turn, and show which loss hurts',
      )
        .argParser(eachOf)
        .conflicts(ofOneCluster),
    )
    .addOption(
      new Option(
        '--by <how>',
        'how --each loses a part: down, cut-off, drain, taint or taint=KEY=VALUE:NoExecute (default down)',
      ).argParser(byOf),
    );
}

function eachOf(text: string): string {
  if (text.trim() !== '') return text.trim();
  throw new InvalidArgumentError('Want node, zone or the key of a label.');
}

function untilOf(text: string): Millis {
  const millis = parseDuration(text);
  if (millis !== null && millis >= 1000 && millis <= untilMsMax) return millis;
  throw new InvalidArgumentError('Want a duration from 1s to 168h, such as 30m or 1h30m.');
}

function seedOf(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= seedMax) return value;
  throw new InvalidArgumentError(`Want a whole number from 0 to ${seedMax}.`);
}

function seedsOf(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= seedsMax) return value;
  throw new InvalidArgumentError(`Want a whole number from 1 to ${seedsMax}.`);
}

function topOf(text: string): Top {
  const value = Number(text);
  if (text === 'all') return text;
  if (/^\d+$/.test(text) && value >= 1 && value <= topMax) return value;
  throw new InvalidArgumentError(`Want a whole number from 1 to ${topMax}, or all.`);
}

/** The number of rows of each table that are shown: the worst, or all. */
export type Top = number | 'all';

function byOf(text: string): By {
  if (text === 'down' || text === 'cut-off' || text === 'drain') return { kind: text };
  if (text === 'taint') return { kind: 'taint', taint: null };
  const [, given] = /^taint=(.*)$/.exec(text) ?? [];
  const taint = given === undefined ? null : noExecuteTaint(given);
  if (taint !== null) return { kind: 'taint', taint };
  throw new InvalidArgumentError(
    'Want down, cut-off, drain, taint or taint=KEY=VALUE:NoExecute, whose VALUE may be left out.',
  );
}

const taintPattern =
  /^((?:[a-z\d][a-z\d.-]*\/)?[A-Za-z\d](?:[\w.-]{0,61}[A-Za-z\d])?)(?:=((?:[A-Za-z\d](?:[\w.-]{0,61}[A-Za-z\d])?)?))?:NoExecute$/;

/** Null: it is no taint, or none by which pods leave. This reads no more than that: help loads no engine. */
function noExecuteTaint(text: string): string | null {
  const [, key, value = ''] = taintPattern.exec(text) ?? [];
  if (key === undefined) return null;
  return `${key}${value === '' ? '' : `=${value}`}:NoExecute`;
}

/** `--variant NAME=PATH`, as it is given. */
export interface VariantFlag {
  readonly name: string;
  /** A file or directory with policies, or one of the reserved words. */
  readonly from: string;
}

/** The rules of kube-controller-manager, in place of a file. */
export const upstreamWord = 'kube-controller-manager';
/** The word for the present state, in place of a variant's file. */
export const unchangedWord = 'unchanged';

/** The runs of --apply: the cluster as it is, and with the manifests. */
export const beforeName = 'before';
export const afterName = 'after';

const namePattern = /^[A-Za-z][\w.-]{0,39}$/;

/** Reads one `--variant` beside those before it. Throws InvalidArgumentError. */
function addVariant(text: string, before: readonly VariantFlag[] = []): readonly VariantFlag[] {
  const at = text.indexOf('=');
  const [name, from] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 0 || !namePattern.test(name) || from === '') {
    const names = 'a NAME of at most 40 letters, digits, "_", "-" and "."';
    const reserved = `${unchangedWord} or ${upstreamWord}`;
    throw new InvalidArgumentError(`Want NAME=FILE or NAME=DIRECTORY, ${names}, or ${reserved}.`);
  }
  if (before.some((one) => one.name === name)) {
    throw new InvalidArgumentError(`There is a variant ${name} already.`);
  }
  return [...before, { name, from }];
}
