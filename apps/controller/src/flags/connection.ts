// The settings for reaching the API server, which come from flags and file.
import { parseDuration } from '@taintmgr/core/time';
import { connectionFlags, type KubeconfigOptions } from '@taintmgr/k8s-adapter';
import { connectionFlagName, type Texts } from './command-line.ts';
import { inputFile } from './files.ts';
import { boolean, type Kind, read, text } from './kind.ts';
import { variableOf } from './setting.ts';

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

/** What may be any text is not named; whether there is such a context, the kubeconfig says. */
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
export function findConnection(flags: Texts, environment: Texts): KubeconfigOptions {
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
