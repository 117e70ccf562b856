// The commands: what the command line of each looks like, and what runs it, loaded when it runs.
import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { type Instant, type Millis, parseDuration, parseTime } from '@taintmgr/core/time';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { childOf, fullNameOf } from './cli/arguments.ts';
import {
  addOutputFlags,
  addPolicyFlag,
  dryRunOption,
  type OutputFlags,
} from './cli/common-flags.ts';
import { exitCode } from './cli/exit.ts';
import { globalFlags, type HelpTexts, helpWidth, withHelp } from './cli/help.ts';
import type { Output } from './cli/output.ts';
import type { Invocation, Registry } from './cli/registry.ts';
import { narrowingSelector, nodeNames } from './cli/values.ts';
import { doctorCommand } from './commands/doctor/flags.ts';
import { drainCommand } from './commands/drain-by-taint/flags.ts';
import {
  deviceCommand,
  type ExplainFlags,
  explainGroup,
  policyCommand,
  pressureCommand,
  subjectCommand,
  subjectKinds,
  workloadCommand,
} from './commands/explain/flags.ts';
import { simulateCommand } from './commands/simulate/flags.ts';
import { taintDeviceCommand } from './commands/taint-device/flags.ts';
import {
  disableCommand,
  enableCommand,
  takeoverGroup,
  statusCommand as takeoverStatusCommand,
  verifyCommand,
} from './commands/takeover/flags.ts';

/** The commands, in the order in which the help lists them. */
export function addCommands(program: CommandUnknownOpts, registry: Registry, output: Output): void {
  program.commandsGroup('Look:');
  registry.add(program, statusCommand(), () => import('./commands/status/status.ts'));
  addExplain(registry.addGroup(program, explainGroup()), registry);
  registry.add(program, pendingCommand(), () => import('./commands/pending.ts'));
  registry.add(program, historyCommand(), () => import('./commands/history.ts'));
  registry.add(program, webCommand(), () => import('./commands/web/web.ts'));
  // With --probe it changes the cluster.
  registry.addChanging(program, doctorCommand(), () => import('./commands/doctor/doctor.ts'));
  program.commandsGroup('Act:');
  registry.addChanging(
    program,
    drainCommand(),
    () => import('./commands/drain-by-taint/command.ts'),
  );
  registry.addChanging(program, undoCommand(), () => import('./commands/undo/undo.ts'));
  registry.addChanging(program, pauseCommand(), () => import('./commands/pause.ts'));
  registry.addChanging(program, resumeCommand(), () => import('./commands/resume.ts'));
  registry.addChanging(
    program,
    taintDeviceCommand(),
    () => import('./commands/taint-device/taint-device.ts'),
  );
  program.commandsGroup('What if:');
  registry.add(program, simulateCommand(), () => import('./commands/simulate/simulate.ts'));
  registry.add(program, snapshotCommand(), () => import('./commands/snapshot/snapshot.ts'));
  program.commandsGroup('Set up:');
  const install = registry.addGroup(program, installGroup());
  registry.addChanging(install, crdsCommand(), () => import('./commands/install.ts'));
  addTakeover(registry.addGroup(program, takeoverGroup()), registry);
  addCompletion(registry.addGroup(program, completionGroup()), registry);
  registry.add(program, versionCommand(), () => import('./commands/version.ts'));
  addHelp(program, registry, output);
}

/** The commands that print help. */
function addHelp(program: CommandUnknownOpts, registry: Registry, output: Output): void {
  registry.add(program, helpCommand(), async () => ({
    run: (_: Invocation<object>, words: readonly string[]) => {
      topicOf(program, words).outputHelp();
      return exitCode.done;
    },
  }));
  const options = new Command('options').description('list the flags that every command takes');
  withHelp(options, { examples: ['kubectl taintmgr options'] });
  registry.add(program, options, async () => ({
    run: () => {
      output.write(`${globalFlags(program, helpWidth(output.widthOut))}\n`);
      return exitCode.done;
    },
  }));
}

/** The commands of `explain`, in the order in which its help lists them. */
function addExplain(explain: CommandUnknownOpts, registry: Registry): void {
  const load = () => import('./commands/explain/explain.ts');
  for (const kind of subjectKinds) {
    registry.add(explain, subjectCommand(kind), async () => {
      const { explain: run } = await load();
      return {
        run: (invocation: Invocation<ExplainFlags>, names: string | readonly string[]) =>
          run(kind, [names].flat(), invocation),
      };
    });
  }
  registry.add(explain, workloadCommand(), async () => {
    const { explainNamed } = await load();
    return { run: explainNamed };
  });
  for (const subject of ['device', 'devicetaintrule'] as const) {
    registry.add(explain, deviceCommand(subject), async () => {
      const { explainDevices } = await import('./commands/explain/device.ts');
      return {
        run: (invocation: Invocation<OutputFlags>, name: string) =>
          explainDevices(subject, name, invocation),
      };
    });
  }
  registry.add(explain, policyCommand(), () => import('./commands/explain/policy.ts'));
  registry.add(explain, pressureCommand(), () => import('./commands/explain/pressure.ts'));
}

function addTakeover(takeover: CommandUnknownOpts, registry: Registry): void {
  registry.add(takeover, takeoverStatusCommand(), () => import('./commands/takeover/status.ts'));
  registry.addChanging(takeover, enableCommand(), () => import('./commands/takeover/enable.ts'));
  registry.addChanging(takeover, disableCommand(), () => import('./commands/takeover/disable.ts'));
  registry.addChanging(takeover, verifyCommand(), () => import('./commands/takeover/verify.ts'));
}

function addCompletion(completion: CommandUnknownOpts, registry: Registry): void {
  registry.add(completion, installCommand(), async () => ({
    run: (await import('./commands/completion.ts')).installCompletion,
  }));
  registry.add(completion, scriptCommand(), async () => ({
    run: (await import('./commands/completion.ts')).printCompletion,
  }));
}

const undoHelp: HelpTexts = {
  examples: [
    '# List what can be undone',
    'kubectl taintmgr undo',
    '# Take the taint and the cordon of a drain off its nodes',
    'kubectl taintmgr undo drain-20261120-230839-7f3a',
    'kubectl taintmgr undo maintenance=kernel node-1',
    'kubectl taintmgr undo nodedrain/kernel',
    'kubectl taintmgr undo devicetaintrule/gpu-0-ecc',
  ],
  details: `
What was there before the drain, or was changed by another program since, stays. A NodeDrain is deleted.
A rule that taint-device made is deleted; a rule that it changed gets the effect None again. Pods that
are terminating do not come back.`,
};

/** `undo`, as its help shows it. */
function undoCommand(): CommandUnknownOpts {
  const command = new Command('undo')
    .summary('take back the taint and the cordon of a drain, or a rule of taint-device')
    .description(
      'take back what a drain set on its nodes, the taint and the cordon, or a rule of taint-device',
    )
    .argument(
      '[drain]',
      'name of the drain, its taint as key[=value] or key[=value]:effect, or devicetaintrule/NAME; without it, list what can be undone',
    )
    .argument('[nodes...]', 'names of the nodes (default: all nodes of the drain)', nodeNames)
    .option('-l, --selector <selector>', 'label selector for the nodes', narrowingSelector)
    .addOption(dryRunOption('client: only print what would be undone; none: undo it'));
  return withHelp(command, undoHelp);
}

/** `pending`, as its help shows it. */
function pendingCommand(): CommandUnknownOpts {
  const command = new Command('pending')
    .summary('list the pods that taints will evict, and when')
    .description('list the pods that taints will evict, and when')
    .option('-A, --all-namespaces', 'list the pods of all namespaces')
    .option('-l, --selector <selector>', 'label selector for the pods')
    .addOption(
      new Option(
        '--sort-by <key>',
        'sort by due, name, node, or a path such as {.taint.key}',
      ).default('due'),
    );
  addPolicyFlag(command);
  return withHelp(addOutputFlags(command), {
    examples: [
      '# The pods that leave next, of all namespaces',
      'kubectl taintmgr pending -A',
      'kubectl taintmgr pending -n shop --sort-by=node -o wide',
    ],
  });
}

const historyHelp: HelpTexts = {
  examples: [
    '# The pods that left in the last two hours',
    'kubectl taintmgr history -A --since 2h',
    '# One pod, node or workload',
    'kubectl taintmgr history pod web-0 -n shop',
    'kubectl taintmgr history node node-1',
    'kubectl taintmgr history deployment/web -n shop -o json',
  ],
  details: `
The sources are the pods themselves, Events, the managed fields of nodes, EvictionRequests, and the records
that the leader of taintmgr-controller keeps. Each statement names its source. Without a name, the answer
is a table of the namespace.`,
};

/** `history`, as its help shows it. */
function historyCommand(): CommandUnknownOpts {
  const command = new Command('history')
    .summary('say which pods left, who evicted them, and why')
    .description(
      'say which pods left or are leaving, when, for which taint, who evicted them, and what replaced them',
    )
    .argument(
      '[kind]',
      'pod, node, deployment, statefulset, daemonset, replicaset, job or namespace',
    )
    .argument('[name]', 'its name; KIND/NAME works too')
    .option('-A, --all-namespaces', 'list the pods of all namespaces')
    .addOption(
      new Option('--since <duration>', 'only evictions newer than this, e.g. 2h').argParser(
        pauseLength,
      ),
    )
    .addOption(
      new Option('--flight-record <file>', 'also read this flight record of taintmgr-controller'),
    );
  return withHelp(addOutputFlags(command), historyHelp);
}

/** `status`, as its help shows it. */
function statusCommand(): CommandUnknownOpts {
  const command = new Command('status')
    .summary('say who evicts here, and what is pending, overdue or blocked')
    .description(
      'say who evicts here, how the zones are, how many evictions are pending, overdue or blocked, and which drains can be undone',
    )
    .option(
      '--shadow',
      'compare instead what kube-controller-manager evicted with what taintmgr would have done; needs a controller with --dry-run',
    );
  addPolicyFlag(command);
  return withHelp(addOutputFlags(command), {
    examples: ['kubectl taintmgr status', 'kubectl taintmgr status --shadow'],
  });
}

const portMax = 65_535;

const webHelp: HelpTexts = {
  examples: [
    'kubectl taintmgr web --open',
    '# Without a cluster: two simulated ones, and accidents on buttons',
    'kubectl taintmgr web --demo',
  ],
  details: `
The page is served on 127.0.0.1 only, and changes nothing in the cluster. The printed address admits one
browser, once. Ctrl-C stops the server.`,
};

/** `web`, as its help shows it. */
function webCommand(): CommandUnknownOpts {
  const command = new Command('web')
    .summary('show pending evictions live in a browser')
    .description(
      'show live in a browser which pods will be evicted, when, by which controller, and what holds them',
    )
    .addOption(
      new Option('--port <number>', 'port to listen on; 0: any free port')
        .argParser(portOf)
        .default(0),
    )
    .option(
      '--demo',
      'show two simulated clusters with accidents on buttons, and no cluster of yours; opens a browser',
    )
    .option('--open', 'open the page in a browser');
  addPolicyFlag(command);
  return withHelp(command, webHelp);
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= portMax) return port;
  throw new InvalidArgumentError(`Want a whole number from 0 to ${portMax}.`);
}

const pauseHelp: HelpTexts = {
  examples: [
    '# Hold all evictions for taints, until they are resumed',
    'kubectl taintmgr pause everything',
    'kubectl taintmgr resume pause/everything',
    '# Hold evictions in one zone, for two hours',
    'kubectl taintmgr pause switches --zones eu/eu-a --for 2h --reason "new switches"',
  ],
  details: `
The command creates an EvictionPause. While the pause holds, taintmgr-controller stops the clock of every
deadline that the pause covers. A pod is held if it matches all flags that are given. Node-pressure evictions
are never held. A pause ends at its time, or with: kubectl taintmgr resume pause/NAME`,
};

/** `pause`, as its help shows it. */
function pauseCommand(): CommandUnknownOpts {
  const command = new Command('pause')
    .summary('hold evictions, everywhere or in some places')
    .description(
      'hold evictions, everywhere or in some places, for a time or until they are resumed',
    )
    .argument('<name>', 'name of the pause');
  for (const option of pauseOptions()) command.addOption(option);
  return withHelp(addOutputFlags(command), pauseHelp);
}

function pauseOptions(): readonly Option[] {
  return [
    new Option('--reason <text>', 'why, for everyone who sees the pause'),
    new Option(
      '--until <time>',
      'time at which the pause ends, e.g. 2026-01-31T18:00:00Z',
    ).argParser(time),
    new Option('--for <duration>', 'how long the pause holds, e.g. 30m or 2h')
      .argParser(pauseLength)
      .conflicts('until'),
    new Option(
      '--zones <zones>',
      'only pods on nodes of these zones, as status prints them: region/zone',
    ).argParser(list),
    new Option('--node-selector <selector>', 'only pods on nodes with these labels'),
    new Option('--taint-keys <keys>', 'only evictions for taints with these keys').argParser(list),
    new Option('--namespaces <names>', 'only pods in these namespaces').argParser(list),
    new Option(
      '--readiness',
      'also neither mark pods of unreachable nodes as not ready nor taint unhealthy nodes',
    ),
    new Option(
      '--deadlines <bool>',
      'false: evictions continue, and only what --readiness names is held',
    ).argParser(truth),
    dryRunOption(
      'client: only print the pause; server: let the API server check it; none: create it',
    ),
  ];
}

function truth(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('Want true or false.');
}

function list(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',')];
}

function time(text: string): Instant {
  const instant = parseTime(text);
  if (instant !== null) return instant;
  throw new InvalidArgumentError('Want a time such as 2026-01-31T18:00:00Z.');
}

function pauseLength(text: string): Millis {
  const millis = parseDuration(text);
  if (millis !== null && millis > 0) return millis;
  throw new InvalidArgumentError('Want a duration such as 30m or 2h.');
}

const resumeHelp: HelpTexts = {
  examples: [
    '# All limits that have tripped',
    'kubectl taintmgr resume',
    '# One limit',
    'kubectl taintmgr resume zone=eu/eu-a',
    '# One pause',
    'kubectl taintmgr resume pause/web',
  ],
  details: `
The request is written to the lease taintmgr-controller-limits, and the leading controller carries it out
within 5s. Every user who may patch that lease may resume evictions. The lease is the one that the leader
publishes (kubectl get taintmanagers), or the one in the namespaces taintmgr-system and kube-system.
Pauses end only by name, so that no command ends all of them by mistake.`,
};

/** `resume`, as its help shows it. */
function resumeCommand(): CommandUnknownOpts {
  const command = new Command('resume')
    .summary('resume evictions: reset tripped limits, or end a pause')
    .description(
      'resume evictions: reset limits that have tripped (onLimit: Trip), so that the pods that they held are evicted, or delete pauses',
    )
    .argument(
      '[names...]',
      'limits as status prints them, or pause/NAME (default: all limits that have tripped)',
    )
    .option('--lease <namespace/name>', 'lease with the limits, if it is not the default one');
  return withHelp(command, resumeHelp);
}

const snapshotHelp: HelpTexts = {
  examples: [
    'kubectl taintmgr snapshot > cluster.json',
    'kubectl taintmgr simulate -f cluster.json --each zone',
    '# Record what happens for 30 minutes, and compare the simulation with it',
    'kubectl taintmgr snapshot --watch --for 30m > outage.jsonl',
    'kubectl taintmgr simulate --verify outage.jsonl',
  ],
  details: `
A snapshot has nodes, pods, PodDisruptionBudgets, leases of nodes and of kube-controller-manager, workloads,
and the policies of taintmgr.dev. Of these it has only the fields that decide about scheduling and evictions:
no environment, commands, images, secrets or addresses. Names and labels are kept.`,
};

/** `snapshot`, as its help shows it. */
function snapshotCommand(): CommandUnknownOpts {
  const command = new Command('snapshot')
    .summary('write a copy of the cluster to simulate, without sensitive data')
    .description(
      'write a copy of what decides about evictions in the cluster, without sensitive data, to simulate or to share',
    )
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['json', 'yaml'])
        .default('json'),
    )
    .option('--watch', 'then write each change as a line, until Ctrl-C or the end of --for')
    .addOption(
      new Option('--for <duration>', 'with --watch: how long to record, e.g. 30m').argParser(
        watchTimeOf,
      ),
    );
  return withHelp(command, snapshotHelp);
}

const watchMsMax: Millis = 7 * 86_400_000;

function watchTimeOf(text: string): Millis {
  const millis = parseDuration(text);
  if (millis !== null && millis >= 1000 && millis <= watchMsMax) return millis;
  throw new InvalidArgumentError('Want a duration from 1s to 168h, such as 30m.');
}

const installHelp: HelpTexts = {
  examples: [
    'kubectl taintmgr install crds',
    '# Only print the manifests',
    'kubectl taintmgr install crds --dry-run=client -o yaml',
    'kubectl taintmgr install crds --dry-run=server',
  ],
  details: `
The manifests are part of the program. They are applied by server-side apply, with the field manager taintmgr.
Then the command waits until the API server serves the kinds. Objects that are stored already are kept.`,
  exits: [
    ['0', 'applied, or printed'],
    ['1', 'usage, permissions, or the API server'],
    ['3', 'a kind was not served within --timeout'],
  ],
};

/** `install`, whose commands follow. */
function installGroup(): CommandUnknownOpts {
  const command = new Command('install')
    .summary('install the CustomResourceDefinitions of taintmgr')
    .description('install what taintmgr needs in the cluster')
    .helpCommand(false);
  return withHelp(command, { examples: ['kubectl taintmgr install crds'] });
}

/** `install crds`, as its help shows it. */
function crdsCommand(): CommandUnknownOpts {
  const command = new Command('crds')
    .description(
      'apply the CustomResourceDefinitions of EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain and TaintManager',
    )
    .addOption(
      dryRunOption(
        'client: only print them; server: let the API server check them; none: apply them',
      ),
    )
    .option(
      '--force-conflicts',
      'take over fields of other field managers, and replace definitions of a newer version',
    )
    .addOption(
      new Option('--timeout <duration>', 'how long to wait until the kinds are served')
        .argParser(duration)
        .default(30_000, '30s'),
    );
  return withHelp(addOutputFlags(command), installHelp);
}

function duration(text: string): number {
  const millis = parseDuration(text);
  if (millis !== null) return millis;
  throw new InvalidArgumentError('Want a duration such as 30s, 10m or 1h30m.');
}

const completionHelp: HelpTexts = {
  examples: ['kubectl taintmgr completion install'],
  details: `
kubectl runs the executable kubectl_complete-taintmgr on the PATH to complete a word. Set up kubectl's own
completion first: kubectl completion --help`,
};

/** `completion`, whose commands follow. */
function completionGroup(): CommandUnknownOpts {
  const command = new Command('completion')
    .summary('set up shell completion for commands, flags and names')
    .description('set up shell completion for commands, flags, nodes, pods, zones and taints')
    .helpCommand(false);
  return withHelp(command, completionHelp);
}

/** `completion install`, as its help shows it. */
function installCommand(): CommandUnknownOpts {
  const command = new Command('install')
    .description('write kubectl_complete-taintmgr beside the plugin')
    .option('--directory <directory>', 'directory to write to instead; it must be on the PATH');
  return withHelp(command, {
    examples: [
      'kubectl taintmgr completion install',
      'kubectl taintmgr completion install --directory ~/bin',
    ],
  });
}

/** `completion script`, as its help shows it. */
function scriptCommand(): CommandUnknownOpts {
  const command = new Command('script').description('print kubectl_complete-taintmgr');
  return withHelp(command, {
    examples: ['kubectl taintmgr completion script > ~/bin/kubectl_complete-taintmgr'],
  });
}

/** `version`, as its help shows it. */
function versionCommand(): CommandUnknownOpts {
  const command = new Command('version')
    .description('print the versions of this plugin and of the API server')
    .option('--client', 'print the version of the plugin only');
  return withHelp(addOutputFlags(command), {
    examples: ['kubectl taintmgr version', 'kubectl taintmgr version --client -o json'],
  });
}

/** `help [COMMAND...]`, which prints what `COMMAND... --help` prints. */
function helpCommand(): CommandUnknownOpts {
  const command = new Command('help')
    .description('print the help of a command')
    .argument('[command...]', 'words of the command, e.g. explain node');
  return withHelp(command, { examples: ['kubectl taintmgr help explain node'] });
}

/** The command that the words lead to. Throws UsageError where they lead nowhere. */
function topicOf(program: CommandUnknownOpts, words: readonly string[]): CommandUnknownOpts {
  let command = program;
  for (const word of words) {
    const next = childOf(command, word);
    if (!next) {
      const topic = JSON.stringify(words.join(' '));
      throw new UsageError(
        `unknown help topic ${topic}; ${fullNameOf(command)} --help lists the commands`,
      );
    }
    command = next;
  }
  return command;
}
