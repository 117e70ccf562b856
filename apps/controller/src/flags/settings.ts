// The table of all settings: from each row come flag, variable, field of the configuration file and default.

import { defaultConfig } from '@taintmgr/core';
import { defaultLifecycleConfig } from '@taintmgr/core/lifecycle';
import { defaultPressureConfig } from '@taintmgr/core/pressure';
import { defaultPodWatch, defaultPollOptions } from '@taintmgr/k8s-adapter';
import {
  modeWords,
  pressureRulesOf,
  pressureRulesWords,
  pressureSemanticsOf,
  rulesOf,
  rulesWords,
  semanticsOf,
} from '@taintmgr/k8s-adapter/command-line';
import { inputFile, inputPaths, outputFile } from './files.ts';
import {
  type BySignal,
  boolean,
  bySignal,
  choice,
  declaration,
  dryRunKind,
  duration,
  durationOrNever,
  fractionalNumber,
  httpUrl,
  ipAddress,
  type Kind,
  list,
  objectName,
  paths,
  serviceAccount,
  wholeNumber,
} from './kind.ts';

/** A setting, wherever it is made: flag, variable or configuration file. */
export interface Setting<T> {
  /** Long name without dashes, kube-controller-manager's where it has one. */
  readonly flag: string;
  /** Path in the configuration file, `serving.securePort`; null: not there. */
  readonly field: string | null;
  readonly kind: Kind<T>;
  readonly initial: T;
  readonly description: string;
}

/** The values of a group, by the names of its settings. */
type Values<G> = {
  readonly [Name in keyof G]: G[Name] extends Setting<infer T> ? T : never;
};

/** A row of the table of settings: all facts about one, except names that follow from its own. */
interface Row<T> extends Pick<Setting<T>, 'kind' | 'initial' | 'description'> {
  readonly names: Partial<Pick<Setting<T>, 'flag' | 'field'>>;
}

/** A row; `names`: those that do not follow from its name in the table. */
function row<T>(
  kind: Kind<T>,
  initial: NoInfer<T>,
  description: string,
  names: Row<T>['names'] = {},
): Row<T> {
  return { kind, initial, description, names };
}

/** The settings of some rows. */
type SettingsOf<R> = {
  readonly [Name in keyof R]: R[Name] extends Row<infer T> ? Setting<T> : never;
};

/**
 * Makes settings of rows, in one section of the configuration file, null: at its top. `bindAddress` has the flag
 * `bind-address`, after the prefix, and the field `serving.bindAddress`, where the row names no others.
 */
function section<R extends Readonly<Record<string, Row<unknown>>>>(
  name: string | null,
  rows: R,
  prefix = '',
): SettingsOf<R> {
  const entries = Object.entries(rows).map(([key, { names, ...rest }]) => {
    const flag = prefix + key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const field = name === null ? key : `${name}.${key}`;
    return [key, { flag, field, ...rest, ...names }];
  });
  // Each setting is of the row of its name, which Object.entries cannot say.
  return Object.fromEntries(entries) as SettingsOf<R>;
}

/** The environment variable of a flag: `TAINTMGR_KUBE_API_QPS` for `kube-api-qps`. */
export function variableOf(flag: string): string {
  return `TAINTMGR_${flag.toUpperCase().replaceAll('-', '_')}`;
}

// Names and defaults are kube-controller-manager's where it has them. Differences are noted at the setting.

const general = section(null, {
  config: row(inputFile, '', 'configuration file, YAML or JSON', { field: null }),
  policy: row(
    inputPaths,
    [],
    'file or directory with EvictionPolicy, NodeTaintRule and EvictionPause; may be repeated',
    { field: null },
  ),
  clusterPolicies: row(
    boolean,
    true,
    'follow the EvictionPolicies, NodeTaintRules and EvictionPauses of the cluster; ' +
      'one of --policy counts before one of the cluster with its name',
  ),
  controllers: row(
    list,
    ['*'],
    "which controllers run: '*' all, 'foo' this one, '-foo' not this one " +
      '(taint-eviction-controller, node-lifecycle-controller, node-drain-controller; ' +
      'node-pressure-controller and device-taint-eviction-controller only where they are named)',
  ),
  featureGates: row(
    list,
    [],
    'TaintTolerationComparisonOperators=true lets tolerations with Lt and Gt count',
  ),
  dryRun: row(
    dryRunKind,
    'none',
    'decide and report everything, and change nothing: client sends the API server no write, ' +
      'server (--dry-run alone) sends it with dryRun=All. What others evict is held against it; ' +
      'see --publish-status',
  ),
  allowOverlap: row(
    boolean,
    false,
    'act beside another program that does the same work, or may; what kube-controller-manager evicts ' +
      'beside us is deleted without asking PDBs',
  ),
  kubeControllerManagerRuns: row(
    declaration,
    'unknown',
    'what kube-controller-manager runs of taint-eviction-controller, node-lifecycle-controller and ' +
      'device-taint-eviction-controller, where its flags are not to be seen, as in k3s; none: neither of ' +
      'the first two. That it does not run the third cannot be declared. The status of the ' +
      'TaintManager publishes it, and the plugin believes it',
  ),
  takeover: row(
    boolean,
    false,
    'in a cluster whose kube-controller-manager evicts too: decide in its place for the pods of ' +
      'namespaces labelled taintmgr.dev/takeover=enabled, and for no others; checks the admission ' +
      'policies by which the API server refuses its evictions there, and mends them where it may',
  ),
  publishStatus: row(
    boolean,
    true,
    'while leading, publish settings, counts and a heartbeat as the status of a TaintManager, ' +
      'which is named as the lease without -controller; with --dry-run as -shadow, the one thing ' +
      'that is written then',
  ),
  loggingFormat: row(choice(['text', 'json']), 'text', 'how log lines are written', {
    field: 'logging.format',
  }),
  verbosity: row(wholeNumber(0), 0, 'log level; from 2 on with every detail', {
    flag: 'v',
    field: 'logging.verbosity',
  }),
});

const tracing = section(null, {
  otlpEndpoint: row(
    httpUrl,
    '',
    'send traces of evictions to this collector, as http://collector:4318; by default where ' +
      'OTEL_EXPORTER_OTLP_ENDPOINT says, and nowhere without it',
    { field: 'tracing.endpoint' },
  ),
});

const simulation = section(null, {
  simulate: row(boolean, false, 'run against an embedded cluster, started for the purpose', {
    field: null,
  }),
  seed: row(wholeNumber(0), 1, 'seed of the embedded cluster', { field: null }),
});

const asking = section(null, {
  checkUrl: row(
    httpUrl,
    '',
    'run no controller: ask this address for up to a minute until it answers 200, as helm test does',
    { field: null },
  ),
});

/** Words that operators type, for values that the library has other words for. */
function named<T, Word extends string>(
  words: Kind<Word>,
  meaning: (word: Word) => T,
  wordOf: (value: T) => string,
): Kind<T> {
  return {
    ...words,
    parse: (text) => {
      const word = words.parse(text);
      return word === null ? null : meaning(word);
    },
    format: wordOf,
  };
}

const eviction = section('eviction', {
  mode: row(choice(modeWords), defaultConfig.mode, 'how pods leave where no policy says it'),
  deleteAfter: row(
    durationOrNever,
    'never',
    'with evict-then-delete: how long after it was due a pod is deleted that budgets still hold',
  ),
  semantics: row(
    {
      ...named(choice(rulesWords), semanticsOf, rulesOf),
      placeholder: '<taintmgr|kube-controller-manager>',
    },
    defaultConfig.semantics,
    'whose rules apply; kube-controller-manager-1.36 stays with a version when a later one has others',
  ),
  concurrentEvictions: row(
    wholeNumber(1),
    defaultConfig.evictionsInFlightMax,
    'evictions under way at once',
  ),
  podWatch: row(
    choice(['auto', 'all', 'tainted-nodes']),
    'auto',
    'which pods are read: all, or only those of nodes that are tainted NoExecute or unreachable; ' +
      `auto: the latter from ${defaultPodWatch.podsMin} pods on, where nothing needs all. Where ` +
      `more than ${defaultPodWatch.nodesMax} nodes are tainted, all are read for a while`,
  ),
});

const nodeLifecycle = section('nodeLifecycle', {
  nodeMonitorPeriod: row(
    duration(1),
    defaultLifecycleConfig.nodeMonitorPeriodMs,
    'pause between two looks at the health of all nodes',
  ),
  nodeMonitorGracePeriod: row(
    duration(1),
    defaultLifecycleConfig.nodeMonitorGracePeriodMs,
    'how long a running node may go without a heartbeat before it is marked unhealthy',
  ),
  nodeStartupGracePeriod: row(
    duration(1),
    defaultLifecycleConfig.nodeStartupGracePeriodMs,
    'how long a starting node may go without a heartbeat before it is marked unhealthy',
  ),
  nodeEvictionRate: row(
    fractionalNumber(0),
    defaultLifecycleConfig.nodeEvictionRate,
    'nodes per second and zone that are tainted when nodes fail',
  ),
  secondaryNodeEvictionRate: row(
    fractionalNumber(0),
    defaultLifecycleConfig.secondaryNodeEvictionRate,
    'the same in a zone that is unhealthy and large',
  ),
  largeClusterSizeThreshold: row(
    wholeNumber(0),
    defaultLifecycleConfig.largeClusterSizeThreshold,
    'a zone with more nodes is large; in a smaller one that is unhealthy nothing is tainted',
  ),
  unhealthyZoneThreshold: row(
    fractionalNumber(0, 1),
    defaultLifecycleConfig.unhealthyZoneThreshold,
    'part of the nodes of a zone that is not ready when it counts as unhealthy',
  ),
});

const none: BySignal = {};

/**
 * The settings of node-pressure-controller for all nodes that no pool of the configuration file
 * selects. Thresholds have a kubelet's names and grammar, but no defaults: at its own thresholds a
 * kubelet evicts by itself, and sooner.
 */
const nodePressure = section('nodePressure', {
  evictionHard: row(
    bySignal('<', 'memory.available<1Gi,nodefs.available<10%'),
    none,
    'thresholds at which pods of a node are evicted at once; higher than its kubelet has them',
  ),
  evictionSoft: row(
    bySignal('<', 'memory.available<2Gi'),
    none,
    'thresholds at which pods of a node are evicted after a while',
  ),
  evictionSoftGracePeriod: row(
    bySignal('=', 'memory.available=1m30s'),
    none,
    'how long a soft threshold has to be met',
  ),
  evictionMinimumReclaim: row(
    bySignal('=', 'memory.available=500Mi'),
    none,
    'so much more than a threshold has to be available before evictions end',
  ),
  evictionPressureTransitionPeriod: row(
    duration(0),
    300_000,
    'how long the condition of a node lasts after its threshold was last met',
  ),
  evictionMaxPodGracePeriod: row(
    wholeNumber(-1),
    0,
    'seconds that a pod is given at most when it goes for a soft threshold; -1: as long as the pod asks for',
  ),
  nodePressureMode: row(
    choice(['evict', 'delete']),
    'evict',
    'evict: PodDisruptionBudgets are respected; delete: they are ignored, as by kubelets',
    { field: 'nodePressure.mode' },
  ),
  nodePressureSemantics: row(
    named(choice(pressureRulesWords), pressureSemanticsOf, pressureRulesOf),
    'precise',
    'whose rules apply; with kubelet-1.36 numbers are believed however old or odd they are; ' +
      'kubelet-1.6 ranks by QoS class first, and gives 0s at hard thresholds, as in 2017',
    { field: 'nodePressure.semantics' },
  ),
  nodePressureEvictionRate: row(
    fractionalNumber(0.001),
    defaultPressureConfig.evictionsPerSecond ?? 1,
    'evictions per second on all nodes together',
    { field: 'nodePressure.evictionRate' },
  ),
  summarySource: row(
    choice(['proxy', 'kubelet']),
    'proxy',
    'how nodes are asked: proxy, through the API server, for which nodes/proxy is needed; kubelet, ' +
      'at once, for which --summary-service-account needs nodes/stats only',
  ),
  summaryServiceAccount: row(
    serviceAccount,
    'taintmgr-system/taintmgr-summary-reader',
    'with kubelet: whose tokens kubelets are shown; it should have no other right',
  ),
  kubeletCertificateAuthority: row(
    inputFile,
    '',
    'with kubelet: who vouches for the certificates of kubelets; by default who vouches for the ' +
      'API server',
  ),
  summaryPeriod: row(
    duration(1000),
    defaultPollOptions.pollPeriodMs,
    'how often each node is asked what is used on it',
  ),
  summaryRate: row(
    fractionalNumber(0.1),
    defaultPollOptions.pollsPerSecond,
    'nodes asked per second, at most',
  ),
});

const leaderElection = section(
  'leaderElection',
  {
    leaderElect: row(
      boolean,
      true,
      'act only while holding the lease; the other replicas stand by',
      { flag: 'leader-elect' },
    ),
    leaseDuration: row(duration(1000), 15_000, 'how long a lease holds that is not renewed'),
    renewDeadline: row(
      duration(1),
      10_000,
      'how long the leader tries to renew before it stops to lead',
    ),
    retryPeriod: row(duration(1), 2_000, 'wait between two tries to renew or to acquire the lease'),
    resourceLock: row(choice(['leases']), 'leases', 'kind of the object that is locked'),
    resourceName: row(
      objectName,
      'taintmgr-controller',
      'name of the lease; not kube-controller-manager: that one is held by its own leader',
    ),
    resourceNamespace: row(objectName, 'kube-system', 'namespace of the lease'),
  },
  'leader-elect-',
);

const client = section('clientConnection', {
  kubeApiQps: row(
    fractionalNumber(0),
    0,
    'requests per second to the API server; 0: as many as it takes ' +
      '(kube-controller-manager: 20)',
    { field: 'clientConnection.qps' },
  ),
  kubeApiBurst: row(wholeNumber(1), 30, 'requests at once beyond --kube-api-qps', {
    field: 'clientConnection.burst',
  }),
  kubeApiContentType: row(
    choice(['application/json', 'application/vnd.kubernetes.protobuf']),
    'application/vnd.kubernetes.protobuf',
    'format in which watches, and lists streamed by them, are asked for; a server that has no ' +
      'protobuf, which takes less of both sides, is asked for JSON by itself',
    { field: 'clientConnection.contentType' },
  ),
});

// Size and number of files are named as kube-apiserver names those of its audit log.

const flightRecorder = section('flightRecord', {
  flightRecord: row(
    outputFile,
    '',
    'record each event and each command, to be replayed by kubectl taintmgr simulate ' +
      '--replay; compressed where the name ends in .gz; by default nothing is recorded',
    { field: 'flightRecord.file' },
  ),
  flightRecordMaxsize: row(
    wholeNumber(1),
    512,
    'maximum size of a flight record in megabytes; then recording stops, and the controller continues',
    { field: 'flightRecord.maxSize' },
  ),
  flightRecordMaxbackup: row(
    wholeNumber(0),
    3,
    'flight records of earlier starts to keep, as FILE.1, FILE.2 and so on',
    { field: 'flightRecord.maxBackup' },
  ),
});

// The settings of the endpoints: pages, certificates, and the readers that are let in.

const serving = section('serving', {
  bindAddress: row(
    ipAddress,
    '::',
    'address to serve health, metrics and explanations on; :: and 0.0.0.0 mean all of a machine, ' +
      'of both families',
  ),
  securePort: row(
    wholeNumber(0, 65_535),
    10_257,
    'port to serve them on over HTTPS; 0: not at all',
  ),
  healthzBindAddress: row(ipAddress, '::', 'address to serve health alone on'),
  healthzPort: row(
    wholeNumber(0, 65_535),
    0,
    'port to serve health alone on, over HTTP, for the probes of a kubelet; 0: not at all',
  ),
  tlsCertFile: row(
    inputFile,
    '',
    'certificate to serve with, read again when it changes; by default one of its own making',
  ),
  tlsPrivateKeyFile: row(inputFile, '', 'key of --tls-cert-file'),
  tlsMinVersion: row(
    choice(['VersionTLS12', 'VersionTLS13']),
    'VersionTLS12',
    'oldest version of TLS that is spoken',
  ),
});

const access = section(null, {
  authenticationKubeconfig: row(
    inputFile,
    '',
    'kubeconfig to review tokens with; by default the connection of the controller itself',
    { field: 'authentication.kubeconfig' },
  ),
  tokenCacheTtl: row(duration(0), 10_000, 'how long the review of a token holds', {
    flag: 'authentication-token-webhook-cache-ttl',
    field: 'authentication.tokenWebhookCacheTTL',
  }),
  clientCaFile: row(
    inputFile,
    '',
    'authority whose client certificates log in: user is the common name, groups the organizations',
    { field: 'authentication.clientCAFile' },
  ),
  authorizationKubeconfig: row(
    inputFile,
    '',
    'kubeconfig to ask with who may read what; by default the connection of the controller itself',
    { field: 'authorization.kubeconfig' },
  ),
  alwaysAllowPaths: row(
    paths,
    ['/healthz', '/readyz', '/livez'],
    "paths open to everybody; one that ends in '*' stands for all that begin so",
    { flag: 'authorization-always-allow-paths', field: 'authorization.alwaysAllowPaths' },
  ),
  allowedTtl: row(duration(0), 10_000, 'how long a permission holds', {
    flag: 'authorization-webhook-cache-authorized-ttl',
    field: 'authorization.webhookCacheAuthorizedTTL',
  }),
  deniedTtl: row(duration(0), 10_000, 'how long a refusal holds', {
    flag: 'authorization-webhook-cache-unauthorized-ttl',
    field: 'authorization.webhookCacheUnauthorizedTTL',
  }),
});

/** All settings, in the groups of --help. */
export const groups: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = {
  General: general,
  Simulation: simulation,
  'Another controller': asking,
  Traces: tracing,
  Eviction: eviction,
  'Node lifecycle': nodeLifecycle,
  'Node pressure': nodePressure,
  'Leader election': leaderElection,
  'Requests to the API server': client,
  'Flight recorder': flightRecorder,
  Serving: serving,
  'Access to what is served': access,
};

/** The table of all settings by name: flag, field of the file, default. */
export const settings = {
  ...general,
  ...simulation,
  ...asking,
  ...tracing,
  ...eviction,
  ...nodeLifecycle,
  ...nodePressure,
  ...leaderElection,
  ...client,
  ...flightRecorder,
  ...serving,
  ...access,
};

/** The values that are chosen. Durations are in milliseconds. */
export type Settings = Values<typeof settings>;
