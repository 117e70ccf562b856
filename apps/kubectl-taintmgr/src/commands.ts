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
  collect,
  dryRunOption,
  type OutputFlags,
  timeoutOption,
} from './cli/common-flags.ts';
import { exitCode } from './cli/exit.ts';
import type { Invocation, Registry } from './cli/registry.ts';
import { narrowingSelector, nodeNames } from './cli/values.ts';
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
export function addCommands(program: CommandUnknownOpts, registry: Registry): void {
  addExplain(registry.addGroup(program, explainGroup()), registry);
  registry.addChanging(
    program,
    drainCommand(),
    () => import('./commands/drain-by-taint/command.ts'),
  );
  registry.addChanging(
    program,
    taintDeviceCommand(),
    () => import('./commands/taint-device/taint-device.ts'),
  );
  registry.addChanging(program, undoCommand(), () => import('./commands/undo/undo.ts'));
  registry.add(program, simulateCommand(), () => import('./commands/simulate/simulate.ts'));
  registry.add(program, pendingCommand(), () => import('./commands/pending.ts'));
  registry.add(program, historyCommand(), () => import('./commands/history.ts'));
  registry.add(program, statusCommand(), () => import('./commands/status/status.ts'));
  registry.add(program, webCommand(), () => import('./commands/web/web.ts'));
  registry.addChanging(program, pauseCommand(), () => import('./commands/pause.ts'));
  registry.addChanging(program, resumeCommand(), () => import('./commands/resume.ts'));
  addTakeover(registry.addGroup(program, takeoverGroup()), registry);
  // With --probe it changes the cluster.
  registry.addChanging(program, doctorCommand(), () => import('./commands/doctor/doctor.ts'));
  registry.add(program, snapshotCommand(), () => import('./commands/snapshot/snapshot.ts'));
  const install = registry.addGroup(program, installGroup());
  registry.addChanging(install, crdsCommand(), () => import('./commands/install.ts'));
  addCompletion(registry.addGroup(program, completionGroup()), registry);
  registry.add(program, versionCommand(), () => import('./commands/version.ts'));
  registry.add(program, helpCommand(), async () => ({
    run: (_: Invocation<object>, words: readonly string[]) => {
      topicOf(program, words).outputHelp();
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

const undoHelp = `
Without a name it lists the drains and rules that can be undone. A rule that taint-device has made is deleted, and
one that it has changed gets the effect None again; pods that terminate already do not come back.

Examples:
  kubectl taintmgr undo drain-20261120-230839-7f3a
  kubectl taintmgr undo maintenance=kernel node-1
  kubectl taintmgr undo nodedrain/kernel
  kubectl taintmgr undo devicetaintrule/gpu-0-ecc`;

/** `undo`, as its help shows it. */
function undoCommand(): CommandUnknownOpts {
  return new Command('undo')
    .summary('undo what a drain has changed on nodes, or a rule of taint-device, and nothing else')
    .description(
      'undo what a drain has changed on nodes, the taint and the cordon, and nothing else: what was there before, or has been set by somebody else since, stays; a NodeDrain is deleted, and so is a rule of taint-device',
    )
    .argument(
      '[drain]',
      'name of the drain, its taint as key[=value] or key[=value]:effect, or devicetaintrule/NAME',
    )
    .argument('[nodes...]', 'names of the nodes; all nodes of the drain by default', nodeNames)
    .option('-l, --selector <selector>', 'label selector for the nodes', narrowingSelector)
    .addOption(dryRunOption('client: only say what would be done; none: do it'))
    .addHelpText('after', undoHelp);
}

/** `pending`, as its help shows it. */
function pendingCommand(): CommandUnknownOpts {
  const command = new Command('pending')
    .summary('list the pods that taints will evict')
    .description('list the pods that taints will evict, and when')
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <selector>', 'label selector for the pods')
    .addOption(
      new Option('--sort-by <key>', 'due, name, node, or a path such as {.taint.key}').default(
        'due',
      ),
    )
    .addHelpText('after', '\nExample:\n  kubectl taintmgr pending -A --sort-by=due -o wide');
  addPolicyFlag(command);
  return addOutputFlags(command);
}

const historyHelp = `
It merges what the cluster still has: the pods themselves, Events, who wrote taints and cordons of nodes,
EvictionRequests, and the records that the leader of taintmgr-controller keeps. The source stands beside each
statement, and what nobody says is named. Without a name it is a table of the namespace.

Examples:
  kubectl taintmgr history -A --since 2h
  kubectl taintmgr history pod web-0 -n shop
  kubectl taintmgr history node node-1
  kubectl taintmgr history deployment/web -n shop -o json`;

/** `history`, as its help shows it. */
function historyCommand(): CommandUnknownOpts {
  const command = new Command('history')
    .summary('say which pods left, who evicted them, and why')
    .description(
      'say which pods left or are leaving, who evicted them, for which taint, when, and what came instead',
    )
    .argument(
      '[kind]',
      'pod, node, deployment, statefulset, daemonset, replicaset, job or namespace',
    )
    .argument('[name]', 'its name; KIND/NAME does as well')
    .option('-A, --all-namespaces', 'of all namespaces')
    .addOption(
      new Option('--since <duration>', 'only of the last time, such as 2h').argParser(pauseLength),
    )
    .addOption(
      new Option(
        '--flight-record <file>',
        'also what a flight record of taintmgr-controller tells',
      ),
    )
    .addHelpText('after', historyHelp);
  return addOutputFlags(command);
}

/** `status`, as its help shows it. */
function statusCommand(): CommandUnknownOpts {
  const command = new Command('status')
    .summary('say who evicts here, how the zones are doing, and what is blocked')
    .description(
      'say who evicts here, how the zones are doing, how many evictions are pending, overdue or blocked, and which drains can be undone',
    )
    .option(
      '--shadow',
      'say instead what kube-controller-manager evicted, and what taintmgr would have done; a controller with --dry-run keeps score',
    );
  addPolicyFlag(command);
  return addOutputFlags(command);
}

const portMax = 65_535;

const webHelp = `
It is served on 127.0.0.1 only, and changes nothing in the cluster. The address that is printed lets one
browser in, once. Ctrl-C ends it.

Examples:
  kubectl taintmgr web
  kubectl taintmgr web --open --port 8002`;

/** `web`, as its help shows it. */
function webCommand(): CommandUnknownOpts {
  const command = new Command('web')
    .summary('show in a browser who leaves when, live')
    .description(
      'show in a browser which pods will be evicted when, by whom, and what keeps them, as it changes',
    )
    .addOption(
      new Option('--port <number>', 'where to serve it, 0: wherever there is room')
        .argParser(portOf)
        .default(0),
    )
    .option('--open', 'also open it in the browser of this machine')
    .addHelpText('after', webHelp);
  addPolicyFlag(command);
  return command;
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= portMax) return port;
  throw new InvalidArgumentError(`Want a whole number from 0 to ${portMax}.`);
}

const pauseHelp = `
It makes an EvictionPause, which taintmgr-controller follows: deadlines stand still while it holds.
Everything that is given must match; with nothing given all evictions for taints are held, and never
those of node-pressure-controller. It ends at its time, or with kubectl taintmgr resume pause/NAME.

Examples:
  kubectl taintmgr pause network-work --zones eu/eu-a --for 2h --reason "new switches"
  kubectl taintmgr pause everything
  kubectl taintmgr resume pause/network-work`;

/** `pause`, as its help shows it. */
function pauseCommand(): CommandUnknownOpts {
  const command = new Command('pause')
    .summary('hold evictions, everywhere or in some places')
    .description(
      'hold evictions, everywhere or in some places, for a time or until they are resumed',
    )
    .argument('<name>', 'what to call the pause')
    .addHelpText('after', pauseHelp);
  for (const option of pauseOptions()) command.addOption(option);
  return addOutputFlags(command);
}

function pauseOptions(): readonly Option[] {
  return [
    new Option('--reason <text>', 'why, for those who see it'),
    new Option('--until <time>', 'when it ends by itself, such as 2026-01-31T18:00:00Z').argParser(
      time,
    ),
    new Option('--for <duration>', 'how long it holds, such as 30m or 2h')
      .argParser(pauseLength)
      .conflicts('until'),
    new Option(
      '--zones <zones>',
      'pods on nodes of these zones, as status prints them: region/zone',
    ).argParser(list),
    new Option('--node-selector <selector>', 'pods on nodes that this label selector leaves'),
    new Option('--taint-keys <keys>', 'evictions for taints with one of these keys').argParser(
      list,
    ),
    new Option('--namespaces <names>', 'pods in these namespaces').argParser(list),
    new Option(
      '--readiness',
      'also do not mark pods of unreachable nodes as not ready, nor taint unhealthy nodes',
    ),
    new Option(
      '--deadlines <bool>',
      'false: evictions go on, and only what --readiness is about is held',
    ).argParser(truth),
    dryRunOption('client: only print it; server: let the API server check it; none: make it'),
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

const resumeHelp = `
The request stands in the lease taintmgr-controller-limits until the controller that leads has carried
it out, within 5 s. Who may patch that lease may resume evictions. It is found by what the leader
publishes (kubectl get taintmanagers), else in the namespaces taintmgr-system and kube-system.
Pauses are ended only by name: nobody ends all of them by mistake.

Examples:
  kubectl taintmgr resume                 all limits that have tripped
  kubectl taintmgr resume zone=eu/eu-a    this one
  kubectl taintmgr resume pause/web       the pause web`;

/** `resume`, as its help shows it. */
function resumeCommand(): CommandUnknownOpts {
  return new Command('resume')
    .summary('open limits of the controller that have tripped, or end a pause')
    .description(
      'open limits of the controller that have tripped (onLimit: trip): what they held is evicted, and their windows begin anew; or end pauses: delete them',
    )
    .argument(
      '[names...]',
      'limits as status shows them, or pause/NAME; all limits that have tripped when left out',
    )
    .option('--lease <namespace/name>', 'lease that keeps the limits, where it is another')
    .addHelpText('after', resumeHelp);
}

const doctorHelp = `
With -f no cluster is asked: the manifests are checked, among themselves, as a CI job does it. What is
given there should be what is applied, so pipe the output of kustomize or helm into -f -. With -f there is
-o sarif as well, for code scanning.

--probe shows whether kube-controller-manager evicts for NoExecute taints, where nothing else does: it makes
a Node that is no machine, with a taint, and a pod on it in a Namespace of its own, sees who evicts the pod,
and takes everything away again, also after Ctrl-C. The next probe takes away what a killed one has left.
It needs these permissions: create, get, list and delete nodes and pods; create, list and delete namespaces;
list events; get serviceaccounts.

Examples:
  kubectl taintmgr doctor
  kubectl taintmgr doctor --probe
  kubectl taintmgr doctor -f deploy/ -R
  kubectl taintmgr doctor -f deploy/ -R -o sarif > doctor.sarif
  kustomize build overlays/production | kubectl taintmgr doctor -f - -o json

Exit codes:
  0  nothing worse than a warning
  1  the cluster could not be examined; with -f: an error, in a manifest or in reading it
  2  something fails in the cluster, or something of a probe is left`;

/** `doctor`, as its help shows it. */
function doctorCommand(): CommandUnknownOpts {
  const command = new Command('doctor')
    .summary('find what would keep evictions from working')
    .description(
      'find what would keep evictions from working: missing permissions, two controllers for the same pods, PodDisruptionBudgets that never allow an eviction, taints without a time, clocks that differ',
    )
    .addOption(
      new Option(
        '-f, --filename <path>',
        'check manifests instead: a file, a folder, or - for standard input; may be repeated',
      ).argParser(collect),
    )
    .option('-R, --recursive', 'with -f: folders in folders too')
    .option('--probe', 'see who evicts a pod that is made for it, on a Node that is made for it')
    .addOption(timeoutOption('with --probe: how long to wait for an eviction', 30_000, '30s'))
    .addHelpText('after', doctorHelp);
  return addOutputFlags(command);
}

const snapshotHelp = `
It holds nodes, pods, PodDisruptionBudgets, leases of nodes and of kube-controller-manager, workloads,
and what policies of taintmgr.dev say, and of these only the fields that decide about scheduling and
evictions: no environment, no commands, no images, no secrets, no addresses. Names and labels are kept.

With --watch it goes on with what happens: what simulate --verify needs to say how true it is.

Examples:
  kubectl taintmgr snapshot > snapshot.json
  kubectl taintmgr snapshot --watch --for 30m > outage.jsonl
  npm run -s cluster -- --snapshot snapshot.json --topology snapshot`;

/** `snapshot`, as its help shows it. */
function snapshotCommand(): CommandUnknownOpts {
  return new Command('snapshot')
    .summary('write a copy of the cluster, without sensitive data')
    .description(
      'write a copy of what decides about evictions in the cluster, without sensitive data: to simulate, to load into an embedded cluster, or to share with others',
    )
    .addOption(
      new Option('-o, --output <format>', 'how to print it')
        .choices(['json', 'yaml'])
        .default('json'),
    )
    .option('--watch', 'then write what changes, a line each, until Ctrl-C or its bound')
    .addOption(
      new Option('--for <duration>', 'with --watch: end after so long').argParser(watchTimeOf),
    )
    .addHelpText('after', snapshotHelp);
}

const watchMsMax: Millis = 7 * 86_400_000;

function watchTimeOf(text: string): Millis {
  const millis = parseDuration(text);
  if (millis !== null && millis >= 1000 && millis <= watchMsMax) return millis;
  throw new InvalidArgumentError('Want a duration from 1s to 168h, such as 30m.');
}

const installHelp = `
The manifests are in the program. It applies them by server-side apply as the field manager taintmgr and
waits until the API server serves the kinds. What is stored already stays.

Exit codes:
  0    applied, or printed
  1    usage, permissions, or the API server
  3    a kind was not served within --timeout

Examples:
  kubectl taintmgr install crds
  kubectl taintmgr install crds --dry-run=client -o yaml
  kubectl taintmgr install crds --dry-run=server`;

/** `install`, whose commands follow. */
function installGroup(): CommandUnknownOpts {
  return new Command('install')
    .summary('put into the cluster what taintmgr needs there')
    .description('put into the cluster what taintmgr needs there')
    .helpCommand(false);
}

/** `install crds`, as its help shows it. */
function crdsCommand(): CommandUnknownOpts {
  const command = new Command('crds')
    .description(
      'apply the CustomResourceDefinitions of EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain and TaintManager',
    )
    .addOption(
      dryRunOption('client: only print them; server: let the API server check them; none: apply'),
    )
    .option('--force-conflicts', 'take over fields that other field managers own')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait until the kinds are served')
        .argParser(duration)
        .default(30_000, '30s'),
    )
    .addHelpText('after', installHelp);
  return addOutputFlags(command);
}

function duration(text: string): number {
  const millis = parseDuration(text);
  if (millis !== null) return millis;
  throw new InvalidArgumentError('Want a duration such as 30s, 10m or 1h30m.');
}

const completionHelp = `
kubectl asks an executable of the name kubectl_complete-taintmgr, on the PATH, what the next word may
be. Set up kubectl's own completion first: kubectl completion --help.`;

/** `completion`, whose commands follow. */
function completionGroup(): CommandUnknownOpts {
  return new Command('completion')
    .summary('let the shell complete commands, flags and names of the cluster')
    .description('let the shell complete commands, flags, nodes, pods, zones and taints')
    .helpCommand(false)
    .addHelpText('after', completionHelp);
}

/** `completion install`, as its help shows it. */
function installCommand(): CommandUnknownOpts {
  return new Command('install')
    .description('write kubectl_complete-taintmgr beside the plugin')
    .option('--directory <directory>', 'where to write it instead; it has to be on the PATH');
}

/** `completion script`, as its help shows it. */
function scriptCommand(): CommandUnknownOpts {
  return new Command('script').description('print kubectl_complete-taintmgr');
}

/** `version`, as its help shows it. */
function versionCommand(): CommandUnknownOpts {
  const command = new Command('version')
    .description('print the versions of this plugin and of the API server')
    .option('--client', 'print the version of the plugin only');
  return addOutputFlags(command);
}

/** `help [COMMAND...]`, which prints what `COMMAND... --help` prints. */
function helpCommand(): CommandUnknownOpts {
  return new Command('help')
    .description('print the help of a command')
    .argument('[command...]', 'for example: explain node');
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
