// The cluster and user entries of a kubeconfig with the flags applied.

import { existsSync, readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import path from 'node:path';
import { asList, asRecord, isRecord } from '../proto/json.ts';
import { KubeconfigError } from '../transport/errors.ts';
import { type Entry, textOf } from './file.ts';
import { proxyOf, shownUrl } from './proxy.ts';

/** The options that stand above what a file says, by kubectl's names. */
export interface Overrides {
  /** `--server`: the URL of the API server. */
  readonly server?: string;
  /** `--token`: a bearer token. */
  readonly token?: string;
  /** `--as`: the user to impersonate. */
  readonly as?: string;
  /** `--as-group`: the groups to impersonate. */
  readonly asGroup?: readonly string[];
  /** `--as-uid`: the UID to impersonate. */
  readonly asUid?: string;
  /** `--insecure-skip-tls-verify`: any certificate of the server is accepted. */
  readonly insecureSkipTlsVerify?: boolean;
  /** `--certificate-authority`: the path of a file with the authorities, PEM. */
  readonly certificateAuthority?: string;
  /** `--client-certificate`: the path of a certificate, PEM. */
  readonly clientCertificate?: string;
  /** `--client-key`: the path of its private key, PEM. */
  readonly clientKey?: string;
  /** `--tls-server-name`: the name in the certificate of the server. */
  readonly tlsServerName?: string;
}

/** A cluster in the words of @kubernetes/client-node. */
export interface ClusterSettings {
  readonly name: string;
  readonly server: string;
  readonly skipTLSVerify: boolean;
  readonly caData?: string;
  readonly caFile?: string;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  /** The settings that the cluster entry holds for credential plugins. */
  readonly pluginConfig?: unknown;
}

/** A user in the words of @kubernetes/client-node, and the settings that it does not know. */
export interface UserSettings {
  readonly name: string;
  readonly certData?: string;
  readonly certFile?: string;
  readonly keyData?: string;
  readonly keyFile?: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: object;
  readonly authProvider?: object;
  /** Impersonation headers. */
  readonly headers: OutgoingHttpHeaders;
  /** There is a way to log in that is not used, since the server is not asked over TLS; left out: none. */
  readonly isWithheld?: true;
}

/** Reads a cluster. Throws KubeconfigError naming the field. */
export function clusterSettings(
  entry: Entry,
  overrides: Overrides,
  env: Readonly<Record<string, string | undefined>>,
): ClusterSettings {
  const { fields, place } = entry;
  const server = serverUrl(entry, overrides);
  const proxyUrl = proxyOf(entry, server, env);
  const tlsServerName = overrides.tlsServerName || textOf(fields, 'tls-server-name', place);
  const isSkipped = fields['insecure-skip-tls-verify'] === true && !overrides.certificateAuthority;
  const insecure = overrides.insecureSkipTlsVerify ?? isSkipped;
  if (insecure && overrides.certificateAuthority) {
    const both = '--insecure-skip-tls-verify and --certificate-authority';
    throw new KubeconfigError(`${both} exclude each other; give one of them`);
  }
  const authority = certificateAuthority(entry, overrides);
  // As in kubectl: a user who names an authority wants it asked. A flag says that this once it is
  // not.
  if (insecure && overrides.insecureSkipTlsVerify !== true && authority !== null) {
    throw new KubeconfigError(
      `${place}: insecure-skip-tls-verify and certificate-authority exclude each other; ` +
        'remove one of them',
    );
  }
  return {
    name: 'cluster',
    server,
    skipTLSVerify: insecure,
    ...(!insecure && authority),
    ...(tlsServerName && { tlsServerName }),
    ...(proxyUrl && { proxyUrl }),
    ...pluginConfig(entry),
  };
}

/**
 * Reads a user; of the ways to log in the one kubectl would take. Credential plugins that ask for it
 * learn of the cluster. Throws KubeconfigError.
 */
export function userSettings(
  entry: Entry,
  overrides: Overrides,
  cluster: ClusterSettings,
): UserSettings {
  const headers = impersonation(entry, overrides);
  // As kubectl, which does not even run a credential plugin then.
  if (new URL(cluster.server).protocol !== 'https:') {
    const given = overrides.token || loginFields.some((field) => entry.fields[field]);
    return { name: 'user', headers, ...(given && { isWithheld: true }) };
  }
  const certificate = material(entry, 'client-certificate', overrides.clientCertificate);
  const key = material(entry, 'client-key', overrides.clientKey);
  if ((certificate === null) !== (key === null)) {
    const [present, absent] = certificate
      ? ['client-certificate', 'client-key']
      : ['client-key', 'client-certificate'];
    throw new KubeconfigError(`${entry.place}: ${present} without ${absent}; both are needed`);
  }
  return {
    name: 'user',
    ...(certificate?.data && { certData: certificate.data }),
    ...(certificate?.file && { certFile: certificate.file }),
    ...(key?.data && { keyData: key.data }),
    ...(key?.file && { keyFile: key.file }),
    ...login(entry, overrides, cluster),
    headers,
  };
}

function serverUrl({ fields, place }: Entry, overrides: Overrides): string {
  const [server, source] = overrides.server
    ? [overrides.server, '--server']
    : [textOf(fields, 'server', place), `${place}: server`];
  if (server === '') throw new KubeconfigError(`${source} is missing`);
  if (!/^https?:\/\//i.test(server) || !URL.canParse(server)) {
    throw new KubeconfigError(
      `${source}: got ${shownUrl(server)}, want a URL such as https://10.0.0.1:6443`,
    );
  }
  const { username, password, search, hash } = new URL(server);
  if (username + password + search + hash !== '') {
    throw new KubeconfigError(
      `${source}: got ${shownUrl(server)}, which messages would show; want the URL alone, ` +
        'and name and password as username and password of the user',
    );
  }
  return server.replace(/\/+$/, '');
}

function certificateAuthority(
  entry: Entry,
  overrides: Overrides,
): Pick<ClusterSettings, 'caData' | 'caFile'> | null {
  const found = material(entry, 'certificate-authority', overrides.certificateAuthority);
  if (found === null) return null;
  return {
    ...(found.data && { caData: found.data }),
    ...(found.file && { caFile: found.file }),
  };
}

/** A certificate or key: the option's file, else the data in the kubeconfig, else its file. */
function material(
  { fields, place, directory }: Entry,
  field: string,
  override: string | undefined,
): { data?: string; file?: string } | null {
  if (override) return { file: existing(`--${field}`, path.resolve(override)) };
  const data = textOf(fields, `${field}-data`, place);
  const file = textOf(fields, field, place);
  if (data !== '' && file !== '') {
    throw new KubeconfigError(`${place}: ${field} and ${field}-data exclude each other`);
  }
  if (data !== '') return { data };
  return file === ''
    ? null
    : { file: existing(`${place}: ${field}`, path.resolve(directory, file)) };
}

function existing(source: string, file: string): string {
  if (existsSync(file)) return file;
  throw new KubeconfigError(`${source}: ${file}: no such file`);
}

type Login = Pick<UserSettings, 'token' | 'exec' | 'authProvider' | 'username' | 'password'>;

const loginFields = ['token', 'tokenFile', 'username', 'exec', 'auth-provider'];

function login(entry: Entry, overrides: Overrides, cluster: ClusterSettings): Login {
  const { fields, place, directory } = entry;
  const tokenFile = textOf(fields, 'tokenFile', place);
  const token = overrides.token || textOf(fields, 'token', place);
  const [username, password] = [
    textOf(fields, 'username', place),
    textOf(fields, 'password', place),
  ];
  if (token + tokenFile !== '' && username + password !== '') {
    throw new KubeconfigError(
      `${place}: more than one way to log in: a token, and username or password; remove one of them`,
    );
  }
  if (isRecord(fields.exec) && isRecord(fields['auth-provider'])) {
    throw new KubeconfigError(`${place}: exec and auth-provider exclude each other`);
  }
  if (overrides.token) return { token };
  if (tokenFile !== '') {
    // As client-go: the token beside it is for a file that cannot be read.
    const at = path.resolve(directory, tokenFile);
    const file = token === '' ? existing(`${place}: tokenFile`, at) : at;
    const authProvider = { name: 'tokenFile', config: { tokenFile: file } };
    return { authProvider, ...(token !== '' && { token }) };
  }
  if (token !== '') return { token };
  if (username !== '') return { username, password };
  if (isRecord(fields.exec)) return { exec: execPlugin(entry, cluster) };
  return isRecord(fields['auth-provider']) ? { authProvider: knownProvider(entry) } : {};
}

const providers = ['azure', 'gcp', 'oidc'];

/** For any other provider the library reports nothing, and asks as the anonymous user. */
function knownProvider({ fields, place }: Entry): object {
  const provider = asRecord(fields['auth-provider']);
  const name = textOf(provider, 'name', `${place}: auth-provider`);
  if (providers.includes(name)) return provider;
  const want = `want one of ${providers.join(', ')}, or a credential plugin (exec)`;
  throw new KubeconfigError(`${place}: auth-provider: got ${JSON.stringify(name)}, ${want}`);
}

const pluginVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const interactiveModes = ['Never', 'IfAvailable', 'Always'];

/** A credential plugin, with the input that kubectl gives it, and without an interactive user. */
function execPlugin({ fields, place, directory }: Entry, cluster: ClusterSettings): object {
  const exec = asRecord(fields.exec);
  const command = textOf(exec, 'command', `${place}: exec`);
  if (command === '') throw new KubeconfigError(`${place}: exec: command is missing`);
  const apiVersion = textOf(exec, 'apiVersion', `${place}: exec`);
  if (!pluginVersions.includes(apiVersion)) {
    const what = apiVersion === '' ? 'is missing' : 'is none that is known';
    const want = pluginVersions.join(' or ');
    throw new KubeconfigError(`${place}: exec: apiVersion ${what}; want ${want}`);
  }
  const { interactiveMode } = exec;
  const isLeftOut = interactiveMode === undefined && apiVersion !== pluginVersions[0];
  if (!isLeftOut && !interactiveModes.includes(String(interactiveMode))) {
    const what = interactiveMode === undefined ? 'is missing' : 'is none that is known';
    const want = interactiveModes.join(', ');
    throw new KubeconfigError(`${place}: exec: interactiveMode ${what}; want one of ${want}`);
  }
  if (interactiveMode === 'Always') {
    throw new KubeconfigError(
      `${place}: exec: interactiveMode is "Always", but there is no terminal; ` +
        'want IfAvailable or Never',
    );
  }
  const info = {
    apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec.provideClusterInfo === true && { cluster: clusterInfo(cluster) }),
    },
  };
  const env = [...asList(exec.env), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }];
  // A path is relative to the file; a bare name is looked up in PATH.
  const located = command.includes('/') ? path.resolve(directory, command) : command;
  return { ...exec, command: located, args: asList(exec.args), env };
}

/** The cluster as client.authentication.k8s.io/v1 has it. */
function clusterInfo(cluster: ClusterSettings): object {
  const { server, tlsServerName, skipTLSVerify, proxyUrl, pluginConfig: config } = cluster;
  const { caData, caFile } = cluster;
  const authority = caData ?? (caFile && readFileSync(caFile).toString('base64'));
  return {
    server,
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(skipTLSVerify && { 'insecure-skip-tls-verify': true }),
    ...(authority && { 'certificate-authority-data': authority }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
    config: config ?? null,
  };
}

const pluginExtension = 'client.authentication.k8s.io/exec';

function pluginConfig({ fields }: Entry): Pick<ClusterSettings, 'pluginConfig'> {
  const found = asList(fields.extensions)
    .map(asRecord)
    .find(({ name }) => name === pluginExtension);
  return found ? { pluginConfig: found.extension } : {};
}

function impersonation({ fields, place }: Entry, overrides: Overrides): OutgoingHttpHeaders {
  const user = overrides.as || textOf(fields, 'as', place);
  const uid = overrides.asUid || textOf(fields, 'as-uid', place);
  const groups = texts(overrides.asGroup?.length ? overrides.asGroup : fields['as-groups']);
  if (user === '' && (uid !== '' || groups.length > 0)) {
    throw new KubeconfigError('a group or uid to impersonate needs a user: add --as');
  }
  const extras = Object.entries(asRecord(fields['as-user-extra']));
  return Object.assign(
    user === '' ? {} : { 'impersonate-user': headerText(user) },
    uid === '' ? {} : { 'impersonate-uid': headerText(uid) },
    groups.length === 0 ? {} : { 'impersonate-group': groups.map(headerText) },
    ...extras.map(([key, values]) => extraHeader(key, texts(values))),
  );
}

function texts(value: unknown): string[] {
  return asList(value).filter((item) => typeof item === 'string');
}

/** The characters that may stand in the name of a header; of these client-go escapes the percent sign. */
const nameByte = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;

/**
 * Returns the header that impersonates one more attribute of a user, written as client-go writes
 * it.
 */
export function extraHeader(key: string, values: readonly string[]): OutgoingHttpHeaders {
  const escaped = [...Buffer.from(key)]
    .map((byte) => [byte, String.fromCharCode(byte)] as const)
    .map(([byte, text]) => (nameByte.test(text) ? text : percentEncoded(byte)));
  return { [`impersonate-extra-${escaped.join('')}`]: values.map(headerText) };
}

/** Go sends the bytes of UTF-8 and reads them as such; Node takes each letter of a header for a byte. */
function headerText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function percentEncoded(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
