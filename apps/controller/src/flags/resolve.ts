// Chooses the value of each setting: flag, variable, file or default, the first that has one.
import type { Config } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import type { PressurePool } from '@taintmgr/core/pressure';
import { parseDuration } from '@taintmgr/core/time';
import { connectionFlags, type KubeconfigOptions } from '@taintmgr/k8s-adapter';
import { actionHint, type PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import type { FilePolicy } from '@taintmgr/k8s-adapter/manifests';
import { connectionFlagName, readCommandLine, type Terminal, type Texts } from './command-line.ts';
import { type ConfigFile, fieldAt, readConfigFile } from './config-file.ts';
import { inputFile } from './files.ts';
import { boolean, type Kind, read, text } from './kind.ts';
import { evictionPolicies, lifecyclePolicies } from './policies.ts';
import { readPolicies } from './policy-files.ts';
import { pressurePools } from './pressure/config.ts';
import { refuseRemovedFlags } from './removed.ts';
import { type Setting, type Settings, settings, variableOf } from './settings.ts';

/** The source of a value. */
export type Origin = 'flag' | 'environment' | 'file' | 'default';

/** All that the user has chosen. */
export interface Choices {
  readonly settings: Settings;
  readonly origins: Readonly<Record<keyof Settings, Origin>>;
  readonly connection: KubeconfigOptions;
  /** The settings that only the configuration file has, of evictions, of nodes and of their pressure. */
  readonly policies: Partial<Config>;
  readonly lifecycle: Partial<LifecycleConfig>;
  readonly pressurePools: readonly PressurePool[];
  /** Of the files of --policy. */
  readonly policyObjects: readonly PolicyObject[];
  /** The same with their manifests. */
  readonly filePolicies: readonly FilePolicy[];
  /** The pod in which this process runs; null: unknown, or it runs in none. */
  readonly ownPod: Config['ownPod'];
  /** Variables that look like ours and are none. */
  readonly unknownVariables: readonly string[];
  /** The current spellings of values that are given in an earlier spelling. */
  readonly hints: readonly string[];
}

interface Sources {
  readonly flags: Texts;
  readonly environment: Texts;
  readonly file: ConfigFile;
  readonly fileName: string;
  /** Hints at spellings are added. */
  readonly hints: string[];
}

interface Found<T> {
  readonly value: T;
  readonly origin: Origin;
}

/**
 * Reads command line, environment and configuration file: the first that has a value counts.
 * Throws CommanderError for a command line that cannot be read, SettingError, ConfigFileError and
 * what readPolicies throws.
 */
export function resolveChoices(
  argv: readonly string[],
  environment: Environment,
  terminal?: Terminal,
): Choices {
  refuseRemovedFlags(argv);
  const flags = readCommandLine(argv, terminal);
  const names = Object.values(settings).map(({ flag }) => flag);
  const all = [...names, ...connectionFlags.map(connectionFlagName)];
  const hints: string[] = [];
  const texts = { flags, environment: readEnvironment(environment, all), hints };
  const fileName = find(settings.config, { ...texts, file: {}, fileName: '' }).value;
  const file = fileName === '' ? {} : readConfigFile(fileName, hints);
  const found = findAll({ ...texts, file, fileName });
  const filePolicies = readPolicies(found.settings.policy);
  hints.push(...policyHints(filePolicies));
  return {
    ...found,
    connection: findConnection(flags, texts.environment),
    policies: evictionPolicies(file),
    lifecycle: lifecyclePolicies(file),
    pressurePools: pressurePools(file),
    policyObjects: filePolicies.map(({ object }) => object),
    filePolicies,
    ownPod: ownPodOf(environment),
    unknownVariables: unknownVariables(environment, all),
    hints,
  };
}

function policyHints(policies: readonly FilePolicy[]): readonly string[] {
  return policies.flatMap(({ object: { kind, value }, manifest }) => {
    const hint = actionHint(manifest);
    return hint === null ? [] : [`--policy: ${kind} "${value.name}": ${hint}`];
  });
}

function findAll(sources: Sources): Pick<Choices, 'settings' | 'origins'> {
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    return [name, find(setting, sources)] as const;
  });
  const values = Object.fromEntries(entries.map(([name, { value }]) => [name, value]));
  const origins = Object.fromEntries(entries.map(([name, { origin }]) => [name, origin]));
  // Each value was read by the kind of the setting of its name, which Object.entries cannot say.
  return { settings: values as Settings, origins: origins as Choices['origins'] };
}

function find<T>(setting: Setting<T>, sources: Sources): Found<T> {
  const { flags, environment, file, fileName, hints } = sources;
  const { flag, field, kind, initial } = setting;
  const variable = variableOf(flag);
  const [fromFlag, fromEnvironment] = [flags.get(flag), environment.get(flag)];
  if (fromFlag !== undefined) {
    return { value: read(kind, `--${flag}`, fromFlag, hints), origin: 'flag' };
  }
  if (fromEnvironment !== undefined) {
    return { value: read(kind, variable, fromEnvironment, hints), origin: 'environment' };
  }
  const fromFile = field === null ? undefined : fieldAt(file, field);
  if (fromFile === undefined) return { value: initial, origin: 'default' };
  const where = `--config ${fileName}: ${field}`;
  return { value: read(kind, where, textOf(fromFile), hints), origin: 'file' };
}

/** A value of the file as a flag would have it. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (!(value instanceof Object)) return String(value);
  return Object.entries(value)
    .map(([name, on]) => `${name}=${on}`)
    .join(',');
}

const url: Kind<string> = {
  ...text('<url>'),
  want: 'a URL such as https://10.0.0.1:6443',
  isUrl: true,
  parse: (value) => (/^https?:/.test(value) && URL.canParse(value) ? value : null),
};

/** As kubectl has it: seconds, where there is no unit. */
const timeout: Kind<string> = {
  ...text('<duration>'),
  want: 'a duration such as 10s or 1m30s, or 0 for none',
  parse: (value) => (/^\d+$/.test(value) || parseDuration(value) !== null ? value : null),
};

const groups: Kind<readonly string[]> = {
  placeholder: '<group>',
  want: 'groups separated by commas',
  parse: (value) => value.split(','),
  format: (names) => names.join(','),
};

/** Options that may be any text are not named; whether there is such a context, the kubeconfig says. */
const kinds: Readonly<Partial<Record<keyof KubeconfigOptions, Kind<unknown>>>> = {
  kubeconfig: inputFile,
  server: url,
  asGroup: groups,
  certificateAuthority: inputFile,
  clientCertificate: inputFile,
  clientKey: inputFile,
  insecureSkipTlsVerify: boolean,
  requestTimeout: timeout,
};

const anyText = text('<text>');

/** The options of the connection, from command line and environment. Throws SettingError. */
function findConnection(flags: Texts, environment: Texts): KubeconfigOptions {
  const entries = connectionFlags.flatMap((connection) => {
    const { option } = connection;
    const flag = connectionFlagName(connection);
    const [fromFlag, fromEnvironment] = [flags.get(flag), environment.get(flag)];
    const given = fromFlag ?? fromEnvironment;
    if (given === undefined) return [];
    const where = fromFlag === undefined ? variableOf(flag) : `--${flag}`;
    return [[option, read<unknown>(kinds[option] ?? anyText, where, given)] as const];
  });
  return Object.fromEntries(entries);
}

/** Settings from environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that every container gets for a Service whose name begins with ours. */
const serviceLink = /_(SERVICE_(HOST|PORT)\w*|PORT(_\d+_(TCP|UDP|SCTP)\w*)?)$/;

/** The values of these flags that are in the environment, by flag. */
function readEnvironment(environment: Environment, flags: readonly string[]): Texts {
  const found = flags.flatMap((flag) => {
    const value = environment[variableOf(flag)];
    return value === undefined ? [] : [[flag, value] as const];
  });
  return new Map(found);
}

/** The pod in which we run, as the manifests tell by the downward API. */
function ownPodOf({ POD_NAME: name, POD_NAMESPACE: namespace }: Environment): Config['ownPod'] {
  return name && namespace ? { namespace, name } : null;
}

/** Variables that look like ours and belong to no flag: probably misspelt. */
function unknownVariables(environment: Environment, flags: readonly string[]): readonly string[] {
  const known = new Set(flags.map(variableOf));
  return Object.keys(environment)
    .filter((name) => name.startsWith('TAINTMGR_') && !known.has(name) && !serviceLink.test(name))
    .sort();
}
