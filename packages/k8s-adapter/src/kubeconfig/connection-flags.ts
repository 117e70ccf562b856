// kubectl's command line flags for reaching a cluster, as a table.
import type { KubeconfigOptions } from './kubeconfig.ts';

/** A command line flag for reaching a cluster. */
export interface ConnectionFlag {
  /** As commander and help texts write it: `-n, --namespace <name>`. */
  readonly flags: string;
  /** Text for people, as kubectl's help has it. */
  readonly description: string;
  /** The option it sets: the flag's long name in camel case. */
  readonly option: keyof KubeconfigOptions;
}

type Row = readonly [option: keyof KubeconfigOptions, flags: string, description: string];

const rows: readonly Row[] = [
  [
    'kubeconfig',
    '--kubeconfig <file>',
    'kubeconfig to use instead of KUBECONFIG and ~/.kube/config',
  ],
  ['context', '--context <name>', 'context of the kubeconfig'],
  ['cluster', '--cluster <name>', 'cluster of the kubeconfig'],
  ['user', '--user <name>', 'user of the kubeconfig'],
  ['namespace', '-n, --namespace <name>', 'namespace to work in'],
  ['server', '-s, --server <url>', 'address of the API server'],
  ['token', '--token <token>', 'bearer token to log in with'],
  ['as', '--as <user>', 'user to impersonate'],
  ['asGroup', '--as-group <group>', 'group to impersonate; may be repeated'],
  ['asUid', '--as-uid <uid>', 'uid to impersonate'],
  [
    'certificateAuthority',
    '--certificate-authority <file>',
    'certificate of the authority that signed the API server’s',
  ],
  ['clientCertificate', '--client-certificate <file>', 'client certificate to log in with'],
  ['clientKey', '--client-key <file>', 'key of the client certificate'],
  ['tlsServerName', '--tls-server-name <name>', 'name to expect in the API server’s certificate'],
  [
    'insecureSkipTlsVerify',
    '--insecure-skip-tls-verify',
    'do not check the API server’s certificate; connections are insecure',
  ],
  [
    'requestTimeout',
    '--request-timeout <duration>',
    'time limit of one request, e.g. 10s; 0 for none',
  ],
];

/** kubectl's flags, by its names; all take one value but --insecure-skip-tls-verify. */
export const connectionFlags: readonly ConnectionFlag[] = rows.map(
  ([option, flags, description]) => ({ flags, description, option }),
);

/** Picks the options that `connectionFlags` set, as far as they were given. */
export function connectionOptions(parsed: Readonly<Record<string, unknown>>): KubeconfigOptions {
  const given = connectionFlags
    .map(({ option }) => [option, parsed[option]] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
