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

/** What says what happens, which a recording says itself. */
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

const details = `
Without -f the cluster of the current context is read once; nothing is ever written to it. Its
EvictionPolicies, NodeTaintRules and EvictionPauses are in force, those of --policy before them, and
taintmgr-controller is set up as its leader there says. Where kube-controller-manager evicts, it is
played instead, unless policies of files or of the script are given.

Examples:
  kubectl taintmgr snapshot > cluster.json
  kubectl taintmgr simulate -f cluster.json --script outage.yaml --until 1h --report outage.html
  kubectl taintmgr simulate --event '{at: 1m, stopKubelet: {zone: eu/eu-b}, lasts: 10m}'
  kubectl taintmgr simulate --script outage.yaml --compare --fail-if 'down(shop/web) > 30%'
  kubectl taintmgr simulate -f cluster.json --script outage.yaml --variant A=policies --variant B=new \\
    --fail-if 'downtime(shop/web, B) > downtime(shop/web, A)'

  kubectl taintmgr simulate -f cluster.json --apply deploy --script outage.yaml --seeds 20 \\
    --fail-if 'lost(shop/web, after) > lost(shop/web, before)'

--apply lays manifests over the cluster as kubectl apply does, lets it come to rest, and plays the same
events before and after. Objects that are only in the cluster stay; --policy counts for both.

An event names a zone as status prints it, region/zone, or by its zone label alone.

--variant NAME=PATH plays a file or directory of policies in a copy of its own, with the same events
and the same seed; they count before those of --policy, script and cluster. In place of a path:
kube-controller-manager for its rules, unchanged for what is in force without a variant. What the
others have more or less than the first is shown beside it.

--each loses one node, zone or value of a label after the other, each 1m after the beginning in a copy
of its own and for good: --by down, its machines die; cut-off, the control plane cannot reach them; drain,
as by kubectl drain; taint, they get each taint key in use with effect NoExecute, or the taint that is
named. What a script says happens in each copy as well. Ctrl-C keeps what is done.
  kubectl taintmgr simulate -f cluster.json --each zone
  kubectl taintmgr simulate -f cluster.json --each pool --by taint=maintenance:NoExecute

  kubectl taintmgr simulate --replay flight.jsonl

--replay reads what taintmgr-controller --flight-record has written, gives the same events to the
engine of this build, and compares its commands, up to the first difference.

--verify AFTER plays what happened up to a second snapshot, to Events or through what snapshot --watch
has recorded, and says how far the simulation is off; -f may be left out where a recording begins with
its snapshot. --script says what happened in place of AFTER.
  kubectl taintmgr simulate -f before.json --verify after.json --seeds 20

Exit codes: 0 done, 1 an error, 2 a limit of --fail-if was crossed, or --replay found a difference, 130
Ctrl-C.`;

/** `simulate`, as its help shows it. */
export function simulateCommand(): CommandUnknownOpts {
  const command = new Command('simulate')
    .description('play taints and failures in a copy of a cluster, and see what would happen')
    .addOption(
      new Option(
        '-f, --filename <path>',
        'what kubectl get -o json or -o yaml printed, a folder of such files, - for standard input, or a topology; may be repeated',
      ).argParser(collect),
    )
    .option('--script <file>', 'what happens, and when')
    .addOption(
      new Option(
        '--event <event>',
        "one event more, as in a script, e.g. '{at: 1m, drain: {node: node-1}}'; may be repeated",
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
        'also play it with these manifests laid over the cluster: file, folder or -; may be repeated',
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
      new Option('--seed <number>', 'of everything random in the simulated cluster')
        .argParser(seedOf)
        .default(1),
    )
    .addOption(
      new Option(
        '--seeds <count>',
        'play it with so many seeds from --seed on, and tell chance apart',
      )
        .argParser(seedsOf)
        .default(1),
    )
    .addOption(
      new Option(
        '--variant <name=path>',
        'also play it with these policies, kube-controller-manager or unchanged; may be repeated',
      )
        .argParser(addVariant)
        .conflicts('compare'),
    )
    .option('--compare', 'play both kube-controller-manager 1.36 and taintmgr');
  return addOutputFlags(addAnswerFlags(addLossFlags(command)).addHelpText('after', details));
}

/** Adds the flags for the use of the results. */
function addAnswerFlags(command: CommandUnknownOpts): CommandUnknownOpts {
  return command
    .addOption(
      new Option(
        '--fail-if <limit>',
        "exit with 2 when it is so, e.g. 'downtime(shop/web) > 30s'; may be repeated",
      ).argParser(collect),
    )
    .option('--allow-unknown', 'judge --fail-if also by figures marked ?, which may be wrong')
    .addOption(
      new Option(
        '--top <count>',
        'only the worst so many rows of each table, or all; left out: what makes 100 lines',
      ).argParser(topOf),
    )
    .option('--report <file>', 'also write a page for a browser')
    .option('--partial', 'go on where something of the cluster could not be taken, and say so')
    .addOption(
      new Option(
        '--replay <file>',
        'play a flight record of the controller, and compare',
      ).conflicts(ofScripts),
    )
    .addOption(
      new Option(
        '--verify <file>',
        'play what happened from -f to this snapshot, these Events or this recording, and say the error',
      ).conflicts(ofLosses),
    );
}

function addLossFlags(command: CommandUnknownOpts): CommandUnknownOpts {
  return command
    .addOption(
      new Option(
        '--each <part>',
        'lose each node, zone or value of a label (its key) in turn, and tell which loss hurts',
      )
        .argParser(eachOf)
        .conflicts(ofOneCluster),
    )
    .addOption(
      new Option(
        '--by <how>',
        'how --each loses it: down, cut-off, drain, taint or taint=KEY=VALUE:NoExecute (default down)',
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

/** The number of rows of each table that are shown: so many of the worst, or all. */
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

/** Null: it is no taint, or none by which pods leave. It reads no more than that: help loads no engine. */
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
/** What is in force without a variant, in place of a file. */
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
