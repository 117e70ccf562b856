// docs/reference/flags.md: every flag and environment variable of both programs.
import { connectionFlagName } from '../../apps/controller/src/flags/command-line.ts';
import { removedFlags } from '../../apps/controller/src/flags/removed.ts';
import { groups, type Setting, variableOf } from '../../apps/controller/src/flags/settings.ts';
import { processOutput } from '../../apps/kubectl-taintmgr/src/cli/output.ts';
import { wholeProgram } from '../../apps/kubectl-taintmgr/src/program.ts';
import { connectionFlags } from '../../packages/k8s-adapter/src/doors/command-line.ts';
import { code, page, sentence, table } from './page.ts';

/** A command of the plugin, as its own library has it. */
const plugin = wholeProgram({
  output: processOutput(),
  interrupt: new AbortController().signal,
});
type PluginCommand = typeof plugin;
type Option = PluginCommand['options'][number];

/** The page. */
export function flagsPage(): string {
  return page(
    'Flags and environment variables',
    'The flags of [taintmgr-controller](#taintmgr-controller) and of [kubectl taintmgr](#kubectl-taintmgr), the [environment variables](#environment-variables) of both, and [flags of other programs](#flags-that-are-gone) that the controller knows the replacement of. `--help` of each command says the same.',
    controllerPart(),
    pluginPart(),
    variablesPart(),
    removedPart(),
  );
}

function controllerPart(): string {
  const parts = Object.entries(groups).map(([heading, group]) => {
    const rows = Object.values(group).map(settingRow);
    return `### ${heading}\n\n${table(['flag', 'default', 'field', 'what it does'], rows)}`;
  });
  const connection = connectionFlags.map((flag) => [
    code(flag.flags),
    code(variableOf(connectionFlagName(flag))),
    sentence(flag.description),
  ]);
  return [
    '## taintmgr-controller',
    'Each flag is an environment variable too: `--kube-api-qps` is `TAINTMGR_KUBE_API_QPS`. Those with a field are in the [configuration file](configuration.md) as well. The first that is set counts: flag, variable, file, default.',
    ...parts,
    `### Connection\n\n${table(['flag', 'variable', 'what it does'], connection)}`,
  ].join('\n\n');
}

function settingRow({
  flag,
  field,
  kind,
  initial,
  description,
}: Setting<unknown>): readonly string[] {
  const short = flag === 'v' ? '-v, ' : '';
  const shown = kind.format(initial);
  return [
    code(`${short}--${flag} ${kind.placeholder}`),
    code(shown),
    code(field ?? ''),
    sentence(description),
  ];
}

function pluginPart(): string {
  const commands = leavesOf(plugin).map((command) => {
    const rows = command.options.filter(({ hidden }) => !hidden).map(optionRow);
    const what = sentence(command.summary() || command.description());
    const head = `### ${nameOf(command)}\n\n${what}: ${code(`${nameOf(command)} ${command.usage()}`)}`;
    return rows.length === 0
      ? head
      : `${head}\n\n${table(['flag', 'default', 'what it does'], rows)}`;
  });
  const common = plugin.options.filter(({ hidden }) => !hidden).map(optionRow);
  return [
    '## kubectl taintmgr',
    `These stand before or after any command:\n\n${table(['flag', 'default', 'what it does'], common)}`,
    ...commands,
  ].join('\n\n');
}

/** The runnable commands, in the order of the help, without internal ones. */
function leavesOf(command: PluginCommand): readonly PluginCommand[] {
  const shown = command.commands.filter((one) => !one.name().startsWith('_'));
  return shown.flatMap((one) => (one.commands.length === 0 ? [one] : leavesOf(one)));
}

function nameOf(command: PluginCommand): string {
  const names: string[] = [];
  for (let at: PluginCommand | null = command; at; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}

function optionRow({ flags, defaultValue, description, argChoices }: Option): readonly string[] {
  const shown = defaultValue === undefined ? '' : String(defaultValue);
  const choices = argChoices ? ` (${argChoices.join(', ')})` : '';
  return [code(flags), code(shown), sentence(`${description}${choices}`)];
}

function variablesPart(): string {
  const rows = variables.map(({ name, who, what }) => [code(name), who, what]);
  return `## Environment variables\n\nBeside \`TAINTMGR_*\` of the controller's flags:\n\n${table(['variable', 'read by', 'what it does'], rows)}`;
}

function removedPart(): string {
  const rows = Object.entries(removedFlags).map(([flag, { since, instead }]) => [
    code(`--${flag}`),
    since,
    sentence(instead),
  ]);
  return `## Flags that are gone\n\nOf earlier kube-controller-managers and kubelets. The controller refuses them and says what does their work; [history](../history.md) says why.\n\n${table(['flag', 'removed in', 'instead'], rows)}`;
}

// The environment variables that our programs read, beside those of the controller's flags.
interface Variable {
  readonly name: string;
  readonly who: 'both' | 'kubectl taintmgr' | 'taintmgr-controller';
  readonly what: string;
}

/** A test holds the names against the source. */
export const variables: readonly Variable[] = [
  {
    name: 'KUBECONFIG',
    who: 'both',
    what: 'Kubeconfig files, separated as in `PATH`, merged as kubectl merges them; `~/.kube/config` where it is empty',
  },
  {
    name: 'KUBERNETES_SERVICE_HOST',
    who: 'both',
    what: 'In a pod: where the API server is. With it and without a kubeconfig the service account is used',
  },
  {
    name: 'KUBERNETES_SERVICE_PORT',
    who: 'both',
    what: 'In a pod: its port; 443 where it is missing',
  },
  {
    name: 'HTTPS_PROXY',
    who: 'both',
    what: 'Proxy to an API server at https; `proxy-url` of the kubeconfig counts before it. Small letters do as well',
  },
  {
    name: 'HTTP_PROXY',
    who: 'both',
    what: 'The same for one at http',
  },
  {
    name: 'NO_PROXY',
    who: 'both',
    what: 'Hosts, domains, addresses and ranges that are reached without a proxy, separated by commas',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    who: 'taintmgr-controller',
    what: 'Collector to which traces of evictions are sent, where `--otlp-endpoint` names none; other variables of OpenTelemetry: [traces](../tracing.md)',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    who: 'taintmgr-controller',
    what: 'The same, with the path',
  },
  {
    name: 'OTEL_SDK_DISABLED',
    who: 'taintmgr-controller',
    what: '`true`: no traces',
  },
  {
    name: 'NO_COLOR',
    who: 'kubectl taintmgr',
    what: 'Anything but empty: no colours, unless `--color` asks for them',
  },
  {
    name: 'TERM',
    who: 'kubectl taintmgr',
    what: '`dumb`: no colours, and no lines that are written again',
  },
  {
    name: 'PATH',
    who: 'kubectl taintmgr',
    what: 'Where `completion install` puts the completion: beside the plugin',
  },
  {
    name: 'NODE_DISABLE_COMPILE_CACHE',
    who: 'kubectl taintmgr',
    what: 'Anything but empty: no compiled code is kept from one run to the next',
  },
  {
    name: 'XDG_CACHE_HOME',
    who: 'kubectl taintmgr',
    what: 'Where compiled code is kept; `~/.cache` (macOS: `~/Library/Caches`) where it is empty',
  },
  {
    name: 'LOCALAPPDATA',
    who: 'kubectl taintmgr',
    what: 'The same on Windows',
  },
];
