// Finds the cluster and the way into it, by kubectl's rules, files and flags.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type Millis, parseDuration } from '@taintmgr/core/time';
import type { Access } from '../transport/access.ts';
import { KubeconfigError } from '../transport/errors.ts';
import { KubeconfigAccess } from './access.ts';
import {
  type ClusterSettings,
  clusterSettings,
  type Overrides,
  type UserSettings,
  userSettings,
} from './entries.ts';
import { type Entry, type Kubeconfig, readKubeconfig, textOf } from './file.ts';

/** kubectl's options for reaching a cluster, by the same names and with the same meaning. */
export interface KubeconfigOptions extends Overrides {
  /** The path of the file; left out: the files of KUBECONFIG, or ~/.kube/config. */
  readonly kubeconfig?: string;
  /** The name of the context; left out: the current one. */
  readonly context?: string;
  /** The name of the cluster; left out: that of the context. */
  readonly cluster?: string;
  /** The name of the user; left out: that of the context. */
  readonly user?: string;
  /** The default namespace; left out: that of the context, or `default`. */
  readonly namespace?: string;
  /** E.g. `10s` or `10`; `0` for no limit. */
  readonly requestTimeout?: string;
}

/** Where configuration is looked for besides the options. */
export interface Surroundings {
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null: the user has none. */
  readonly home: string | null;
  /** The directory in which a pod finds its service account. */
  readonly serviceAccount: string;
}

/** A cluster one can talk to. */
export interface ClusterConfig {
  /** Address and credentials, for HttpTransport. */
  readonly access: Access;
  /** The context in use; '' when there is none, e.g. inside a pod. */
  readonly context: string;
  /** The namespace to use where none is named. */
  readonly namespace: string;
  /** Time limit of one request, 0: none; null: not given. */
  readonly requestTimeout: Millis | null;
  /**
   * True if only the server is asked over TLS, and its authority is given: then none of the public
   * authorities is needed.
   */
  readonly needsNoAuthorities: boolean;
  /** The reason why credentials that are there are not sent, for people; null: they are, or there are none. */
  readonly withheld: string | null;
}

interface Choice {
  readonly context: string;
  readonly namespace: string;
  readonly cluster: Entry;
  readonly user: Entry;
}

/**
 * Finds out which cluster is meant and how to log in, by kubectl's rules: --kubeconfig, else the
 * files of KUBECONFIG, else ~/.kube/config, else, where there is none, the pod's service account.
 * Throws KubeconfigError. A fault of the cluster itself shows with the first request.
 */
export async function loadKubeconfig(
  options: KubeconfigOptions = {},
  surroundings: Surroundings = processSurroundings(),
): Promise<ClusterConfig> {
  const requestTimeout = readTimeout(options.requestTimeout);
  const config = await readKubeconfig(
    kubeconfigFiles(options, surroundings),
    options.kubeconfig !== undefined,
  );
  const { context, namespace, cluster, user } =
    isEmpty(config) && !options.server ? inCluster(config, surroundings) : choose(config, options);
  const settings = clusterSettings(cluster, options, surroundings.env);
  const login = userSettings(user, options, settings);
  const access = new KubeconfigAccess(settings, login);
  return {
    access,
    needsNoAuthorities: needsNoAuthorities(settings, login),
    withheld: login.isWithheld ? withheldText(settings.server) : null,
    context,
    namespace: options.namespace || namespace || 'default',
    requestTimeout,
  };
}

/**
 * Says that credentials are not sent to a server without TLS. kubectl does not send them either,
 * and says nothing.
 */
export function withheldText(server: string): string {
  return `no credentials are sent to ${server}, since others could read them on the way: use https://`;
}

/** Proxies and auth providers are asked over TLS too; credential plugins are separate processes. */
function needsNoAuthorities(
  { skipTLSVerify, caData, caFile, proxyUrl }: ClusterSettings,
  { authProvider }: UserSettings,
): boolean {
  const isSaid = skipTLSVerify || caData !== undefined || caFile !== undefined;
  return isSaid && proxyUrl === undefined && authProvider === undefined;
}

/** The names in a section of the same files, as `--context` takes them. Throws KubeconfigError. */
export async function kubeconfigNames(
  section: 'clusters' | 'users' | 'contexts',
  options: Pick<KubeconfigOptions, 'kubeconfig'> = {},
  surroundings: Surroundings = processSurroundings(),
): Promise<readonly string[]> {
  const config = await readKubeconfig(kubeconfigFiles(options, surroundings), false);
  return [...config[section].keys()];
}

function processSurroundings(): Surroundings {
  const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';
  return { env: process.env, home: homeOrNull(), serviceAccount };
}

/** A user id without an entry in /etc/passwd, and no HOME, as containers may have: Node throws. */
function homeOrNull(): string | null {
  try {
    return homedir();
  } catch {
    return null;
  }
}

function kubeconfigFiles(
  { kubeconfig }: KubeconfigOptions,
  { env, home }: Surroundings,
): readonly string[] {
  if (kubeconfig !== undefined) return [path.resolve(kubeconfig)];
  const listed = (env.KUBECONFIG ?? '').split(path.delimiter).filter((file) => file !== '');
  if (listed.length === 0) return home === null ? [] : [path.join(home, '.kube', 'config')];
  return [...new Set(listed.map((file) => path.resolve(file)))];
}

function isEmpty({ clusters, contexts, users, currentContext }: Kubeconfig): boolean {
  return clusters.size + contexts.size + users.size === 0 && currentContext === '';
}

function choose(config: Kubeconfig, options: KubeconfigOptions): Choice {
  const context = options.context || config.currentContext;
  const contextEntry = context === '' ? null : find(config, 'context', context, '');
  const named = (field: string): string =>
    contextEntry ? textOf(contextEntry.fields, field, contextEntry.place) : '';
  const from = (option: string | undefined): string =>
    option ? '' : ` (named by context "${context}")`;
  const cluster = options.cluster || named('cluster');
  const user = options.user || named('user');
  if (cluster === '' && !options.server) {
    const choice = [...config.contexts.keys()].join(', ') || 'none is defined';
    const problem = contextEntry ? `${contextEntry.place}: cluster is missing` : noContext(config);
    throw new KubeconfigError(`${problem}; choose a context with --context: ${choice}`);
  }
  return {
    context,
    namespace: named('namespace'),
    cluster: cluster === '' ? blankEntry : find(config, 'cluster', cluster, from(options.cluster)),
    user: user === '' ? blankEntry : find(config, 'user', user, from(options.user)),
  };
}

/** The entry that --server alone gives: no further settings. */
const blankEntry: Entry = { place: 'options', directory: '.', fields: {} };

function noContext({ files }: Kubeconfig): string {
  return `${files.join(', ')}: current-context is not set`;
}

function find(
  config: Kubeconfig,
  kind: 'context' | 'cluster' | 'user',
  name: string,
  from: string,
): Entry {
  const entries = config[`${kind}s`];
  const entry = entries.get(name);
  if (entry) return entry;
  const known = [...entries.keys()].join(', ') || 'none';
  const files = config.files.join(', ');
  throw new KubeconfigError(
    `${kind} "${name}"${from} does not exist in ${files}; it knows: ${known}`,
  );
}

/** A pod's way to its own cluster, in the words of a kubeconfig. */
function inCluster({ files }: Kubeconfig, { env, serviceAccount }: Surroundings): Choice {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  const tokenFile = path.join(serviceAccount, 'token');
  if (!host || !existsSync(tokenFile)) {
    const looked = files.length === 0 ? 'HOME is not set' : `${files.join(', ')} missing or empty`;
    throw new KubeconfigError(
      `no cluster configured: ${looked}; ` +
        'name a file with --kubeconfig or KUBECONFIG, or a server with --server',
    );
  }
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const entry = { place: 'service account', directory: serviceAccount };
  return {
    context: '',
    namespace: inClusterNamespace(serviceAccount),
    cluster: { ...entry, fields: { server, 'certificate-authority': 'ca.crt' } },
    user: { ...entry, fields: { tokenFile } },
  };
}

function inClusterNamespace(serviceAccount: string): string {
  const file = path.join(serviceAccount, 'namespace');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}

function readTimeout(text: string | undefined): Millis | null {
  if (text === undefined) return null;
  const timeout = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (timeout !== null) return timeout;
  const got = JSON.stringify(text);
  throw new KubeconfigError(`--request-timeout: got ${got}, want a duration such as 10s or 1m30s`);
}
