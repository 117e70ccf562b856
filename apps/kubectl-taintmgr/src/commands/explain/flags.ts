// The command lines of explain.
import { Argument, Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { pressureRulesWords, upstreamTitle } from '@taintmgr/k8s-adapter/command-line';
import type { QuestionFlags } from '@taintmgr/k8s-adapter/explain';
import {
  addOutputFlags,
  addPolicyFlag,
  collect,
  type OutputFlags,
  type PolicyFlag,
} from '../../cli/common-flags.ts';
import { withHelp } from '../../cli/help.ts';
import { nodeNames, objectName, podNames } from '../../cli/values.ts';
import { workloadKindWords } from '../../cli/workload-words.ts';

/** The command line of `explain`. */
export interface ExplainFlags extends QuestionFlags, PolicyFlag, OutputFlags {
  readonly watch?: true | undefined;
  readonly exitCode?: true | undefined;
  /** Of nodes and pods only. */
  readonly selector?: string | undefined;
}

/** The kinds that have an `explain` command of their own. */
export type SubjectKind = 'node' | 'pod' | 'zone' | 'taint';

/** The help text of each. */
const subjects: Readonly<
  Record<
    SubjectKind,
    readonly [
      aliases: readonly string[],
      argument: string,
      what: string,
      examples: readonly string[],
    ]
  >
> = {
  node: [
    ['nodes', 'no'],
    'names of the nodes (default: all nodes)',
    'say when and why each pod of a node will be evicted, or why it stays',
    [
      'kubectl taintmgr explain node node-1',
      '# What if the node had this taint?',
      'kubectl taintmgr explain node node-1 --with-taint maintenance=kernel',
    ],
  ],
  pod: [
    ['pods', 'po'],
    'names of the pods (default: all pods of the namespace)',
    'say when and why pods will be evicted, or why they stay',
    [
      'kubectl taintmgr explain pod db-0 -n shop',
      '# In ten minutes',
      'kubectl taintmgr explain pod db-0 -n shop --at +10m',
    ],
  ],
  zone: [
    ['zones'],
    'name of the zone, or region/zone',
    'say what the taints of each node of a zone do',
    ['kubectl taintmgr explain zone zone-a', 'kubectl taintmgr explain zone zone-a -o wide'],
  ],
  taint: [
    ['taints'],
    'key[=value][:effect]',
    'say which nodes have a taint, since when, and which pods leave for it',
    ['kubectl taintmgr explain taint node.kubernetes.io/unreachable'],
  ],
};

export const subjectKinds = Object.keys(subjects) as readonly SubjectKind[];

/** `explain`, whose subjects follow. */
export function explainGroup(): CommandUnknownOpts {
  const command = new Command('explain')
    .description('say when and why pods will be evicted, or why they stay')
    .helpCommand(false);
  return withHelp(command, {
    examples: [
      'kubectl taintmgr explain node node-1',
      '# What if the node had this taint?',
      'kubectl taintmgr explain node node-1 --with-taint maintenance=kernel',
      'kubectl taintmgr explain deployment web -n shop',
      'kubectl taintmgr explain pod db-0 -n shop',
    ],
  });
}

/** `explain KIND NAME`, as its help shows it. */
export function subjectCommand(kind: SubjectKind): CommandUnknownOpts {
  const [aliases, argument, what, examples] = subjects[kind];
  const command = new Command(kind).aliases([...aliases]).description(what);
  const isPlural = kind === 'node' || kind === 'pod';
  if (isPlural) {
    command.addArgument(
      new Argument('[names...]', argument).argParser(kind === 'node' ? nodeNames : podNames),
    );
  } else {
    command.addArgument(new Argument(kind === 'taint' ? '<taint>' : '<name>', argument));
  }
  addQuestionFlags(command);
  if (isPlural) command.option('-l, --selector <selector>', `label selector for the ${kind}s`);
  return withHelp(addOutputFlags(command), { examples });
}

/** `explain deployment NAME` and its like, as its help shows it. */
export function workloadCommand(): CommandUnknownOpts {
  const kinds = workloadKindWords.join(', ');
  const command = new Command('workload')
    .summary(
      'explain deployment NAME, statefulset, job, pdb, namespace: what leaves, and what stays',
    )
    .description(
      'say which pods of a workload, a PodDisruptionBudget or a namespace leave and when, what stays, and what replaces them; explain deployment NAME is short for explain workload deployment NAME',
    )
    .addArgument(new Argument('<kind>', kinds))
    .addArgument(new Argument('<name>', 'its name').argParser(objectName));
  addQuestionFlags(command);
  return withHelp(addOutputFlags(command), {
    examples: ['kubectl taintmgr explain deployment web -n shop'],
  });
}

function addQuestionFlags(command: CommandUnknownOpts): void {
  command
    .option('-w, --watch', 'keep running, and show changes')
    .option('--at <time>', 'answer for a later time, e.g. +10m')
    .addOption(withTaintOption())
    .addOption(
      new Option(
        '--without-taint <taint>',
        'assume that the nodes do not have this taint: KEY[=VALUE][:EFFECT]; may be repeated',
      ).argParser(collect),
    )
    .addOption(
      new Option('--compare [program]', `also say what ${upstreamTitle} would do`).preset(
        'kube-controller-manager',
      ),
    )
    .option('--exit-code', 'exit with 1 if a pod will be evicted, with 2 on errors');
  addPolicyFlag(command);
}

/** `--with-taint`, of nodes that do not have the taint yet. */
function withTaintOption(): Option {
  return new Option(
    '--with-taint <taint>',
    'assume this taint on the nodes: KEY[=VALUE][:EFFECT] (default effect NoExecute); may be repeated',
  ).argParser(collect);
}

/** The command line of `explain policy`. */
export interface PolicyFlags extends OutputFlags, PolicyFlag, Pick<QuestionFlags, 'withTaint'> {}

/** `explain policy POD|NODE`, as its help shows it. */
export function policyCommand(): CommandUnknownOpts {
  const command = new Command('policy')
    .description('say which EvictionPolicy counts for a pod or the pods of a node, and why')
    .argument('<subject>', 'NAME or pod/NAME of a pod, or node/NAME')
    .argument('[name]', 'the name, after pod or node')
    .addOption(withTaintOption());
  addPolicyFlag(command);
  return withHelp(addOutputFlags(command), {
    examples: [
      'kubectl taintmgr explain policy pod/db-0 -n shop',
      '# Before the policy is applied, and before a node has the taint',
      'kubectl taintmgr explain policy pod/db-0 -n shop --policy policy.yaml --with-taint maintenance',
    ],
  });
}

/** The subjects about devices, with their help texts. */
const deviceSubjects = {
  device: [
    ['devices'],
    'driver/pool/device',
    'say which taints a device has, since when and by whom, and which pods leave for them',
    'kubectl taintmgr explain device gpu.example.com/node-1/gpu-0',
  ],
  devicetaintrule: [
    ['devicetaintrules'],
    'name of the rule',
    'say which pods a DeviceTaintRule makes leave, when, and against which budgets',
    'kubectl taintmgr explain devicetaintrule gpu-0-ecc',
  ],
} as const;

/** The subjects about devices. */
export type DeviceSubject = keyof typeof deviceSubjects;

/** `explain device` or `explain devicetaintrule`, as its help shows it. */
export function deviceCommand(subject: DeviceSubject): CommandUnknownOpts {
  const [aliases, argument, what, example] = deviceSubjects[subject];
  const command = new Command(subject)
    .aliases([...aliases])
    .description(what)
    .argument(subject === 'device' ? '<device>' : '<name>', argument);
  return withHelp(addOutputFlags(command), { examples: [example] });
}

/** The command line of `explain pressure`. */
export interface PressureFlags extends OutputFlags {
  readonly evictionHard?: string | undefined;
  readonly evictionSoft?: string | undefined;
  readonly evictionSoftGracePeriod?: string | undefined;
  readonly evictionMinimumReclaim?: string | undefined;
  readonly semantics: string;
  readonly signal?: string | undefined;
  readonly exitCode?: true | undefined;
}

/** `explain pressure NODE`, as its help shows it. */
export function pressureCommand(): CommandUnknownOpts {
  const command = new Command('pressure')
    .description(
      'say which resource a node runs out of, which pods would be evicted for that, and in which order',
    )
    .argument('<node>', 'name of the node', objectName)
    .option('--eviction-hard <list>', 'assume these hard thresholds, in the syntax of the kubelet')
    .option('--eviction-soft <list>', 'assume these soft thresholds')
    .option('--eviction-soft-grace-period <list>', 'how long each soft threshold must be met')
    .option('--eviction-minimum-reclaim <list>', 'how much each eviction must reclaim at least')
    .option('--signal <name>', 'show the eviction order for this signal, e.g. nodefs.available')
    .addOption(
      new Option(
        '--semantics <name>',
        `whose rules apply: ${pressureRulesWords.join(', ')}`,
      ).default('kubelet-1.36'),
    )
    .option('--exit-code', 'exit with 1 if a pod would be evicted, with 2 on errors');
  return withHelp(addOutputFlags(command), {
    examples: ['kubectl taintmgr explain pressure node-1'],
  });
}
