// kubectl's command line flags for reaching a cluster, as a table.
import type { KubeconfigOptions } from './kubeconfig.ts';

/** A command line flag for reaching a cluster. */
export interface ConnectionFlag {
  /** As commander and help texts write it: `-n, --namespace <name>`. */
  readonly flags: string;
  readonly description: string;
  /** The option it sets: the flag's long name in camel case. */
  readonly option: keyof KubeconfigOptions;
}

/** kubectl's flags, by its names; all take one value but --insecure-skip-tls-verify. */
export const connectionFlags: readonly ConnectionFlag[] = [
  {
    flags: '--kubeconfig <file>',
    description: 'kubeconfig to use instead of KUBECONFIG and ~/.kube/config',
    option: 'kubeconfig',
  },
  { flags: '--context <name>', description: 'context of the kubeconfig', option: 'context' },
  { flags: '--cluster <name>', description: 'cluster of the kubeconfig', option: 'cluster' },
  { flags: '--user <name>', description: 'user of the kubeconfig', option: 'user' },
  {
    flags: '-n, --namespace <name>',
    description: 'namespace to work in',
    option: 'namespace',
  },
  { flags: '-s, --server <url>', description: 'address of the API server', option: 'server' },
  { flags: '--token <token>', description: 'bearer token to log in with', option: 'token' },
  { flags: '--as <user>', description: 'user to impersonate', option: 'as' },
  {
    flags: '--as-group <group>',
    description: 'group to impersonate; may be repeated',
    option: 'asGroup',
  },
  { flags: '--as-uid <uid>', description: 'uid to impersonate', option: 'asUid' },
  {
    flags: '--certificate-authority <file>',
    description: 'certificate of the authority that signed the API server’s',
    option: 'certificateAuthority',
  },
  {
    flags: '--client-certificate <file>',
    description: 'client certificate to log in with',
    option: 'clientCertificate',
  },
  {
    flags: '--client-key <file>',
    description: 'key of the client certificate',
    option: 'clientKey',
  },
  {
    flags: '--tls-server-name <name>',
    description: 'name to expect in the API server’s certificate',
    option: 'tlsServerName',
  },
  {
    flags: '--insecure-skip-tls-verify',
    description: 'do not check the API server’s certificate; connections are insecure',
    option: 'insecureSkipTlsVerify',
  },
  {
    flags: '--request-timeout <duration>',
    description: 'time limit of one request, e.g. 10s; 0 for none',
    option: 'requestTimeout',
  },
];

/** Of all parsed options those that concern the connection and were given. */
export function connectionOptions(parsed: Readonly<Record<string, unknown>>): KubeconfigOptions {
  const given = connectionFlags
    .map(({ option }) => [option, parsed[option]] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
