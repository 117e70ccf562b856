import { defaultConfig } from '@taintmgr/core';
import { defaultLifecycleConfig } from '@taintmgr/core/lifecycle';
import { declaringFlag, defaultPodWatch, modeNamed } from '@taintmgr/k8s-adapter';
import { inputFile, inputPaths, outputFile } from './files.ts';
import {
  boolean,
  choice,
  declaration,
  dryRunKind,
  duration,
  durationOrNever,
  fractionalNumber,
  httpUrl,
  list,
  objectName,
  wholeNumber,
} from './kind.ts';
import { nodePressure } from './pressure/settings.ts';
import { access, serving } from './serving.ts';
import { type Setting, section, setting, type Values } from './setting.ts';

// Names and defaults are kube-controller-manager's where it has them. What differs says so.

const general = {
  config: setting('config', null, inputFile, '', 'configuration file, YAML or JSON'),
  policy: setting(
    'policy',
    null,
    inputPaths,
    [],
    'file or directory with EvictionPolicy, NodeTaintRule and EvictionPause; may be repeated',
  ),
  clusterPolicies: setting(
    'cluster-policies',
    'clusterPolicies',
    boolean,
    true,
    'follow the EvictionPolicies, NodeTaintRules and EvictionPauses of the cluster; ' +
      'one of --policy counts before one of the cluster with its name',
  ),
  controllers: setting(
    'controllers',
    'controllers',
    list,
    ['*'],
    "which controllers run: '*' all, 'foo' this one, '-foo' not this one " +
      '(taint-eviction-controller, node-lifecycle-controller, node-drain-controller; ' +
      'node-pressure-controller only where it is named)',
  ),
  featureGates: setting(
    'feature-gates',
    'featureGates',
    list,
    [],
    'TaintTolerationComparisonOperators=true lets tolerations with Lt and Gt count',
  ),
  dryRun: setting(
    'dry-run',
    'dryRun',
    dryRunKind,
    'none',
    'decide and report everything, and change nothing: client sends the API server no write, ' +
      'server (--dry-run alone) sends it with dryRun=All. What others evict is held against it; ' +
      'see --publish-status',
  ),
  allowOverlap: setting(
    'allow-overlap',
    'allowOverlap',
    boolean,
    false,
    'act beside another program that does the same work, or may; what kube-controller-manager evicts ' +
      'beside us is deleted without asking PDBs',
  ),
  kubeControllerManagerRuns: setting(
    declaringFlag,
    'kubeControllerManagerRuns',
    declaration,
    'unknown',
    'what kube-controller-manager runs of taint-eviction-controller and node-lifecycle-controller, ' +
      'where its flags are not to be seen, as in k3s; none: neither of them. The status of the ' +
      'TaintManager publishes it, and the plugin believes it',
  ),
  takeover: setting(
    'takeover',
    'takeover',
    boolean,
    false,
    'in a cluster whose kube-controller-manager evicts too: decide in its place for the pods of ' +
      'namespaces labelled taintmgr.dev/takeover=enabled, and for no others; checks the admission ' +
      'policies by which the API server refuses its evictions there, and mends them where it may',
  ),
  publishStatus: setting(
    'publish-status',
    'publishStatus',
    boolean,
    true,
    'while leading, publish settings, counts and a heartbeat as the status of a TaintManager, ' +
      'which is named as the lease without -controller; with --dry-run as -shadow, the one thing ' +
      'that is written then',
  ),
  loggingFormat: setting(
    'logging-format',
    'logging.format',
    choice(['text', 'json']),
    'text',
    'how log lines are written',
  ),
  verbosity: setting(
    'v',
    'logging.verbosity',
    wholeNumber(0),
    0,
    'log level; from 2 on with every detail',
  ),
};

const tracing = {
  otlpEndpoint: setting(
    'otlp-endpoint',
    'tracing.endpoint',
    httpUrl,
    '',
    'send traces of evictions to this collector, as http://collector:4318; by default where ' +
      'OTEL_EXPORTER_OTLP_ENDPOINT says, and nowhere without it',
  ),
};

const simulation = {
  simulate: setting(
    'simulate',
    null,
    boolean,
    false,
    'run against an embedded cluster, started for the purpose',
  ),
  seed: setting('seed', null, wholeNumber(0), 1, 'seed of the embedded cluster'),
};

const asking = {
  checkUrl: setting(
    'check-url',
    null,
    httpUrl,
    '',
    'run no controller: ask this address for up to a minute until it answers 200, as helm test does',
  ),
};

const inEviction = section('eviction');

const modes = choice(['delete', 'evict', 'evictThenDelete']);
/** As policies and folders write it, too: `EvictThenDelete`, `evict-then-delete`. */
const evictionMode = {
  ...modes,
  want: `${modes.want} (EvictThenDelete and evict-then-delete are the same)`,
  parse: (value: string) => modes.parse(modeNamed(value)),
};

const eviction = {
  mode: inEviction(
    'mode',
    evictionMode,
    defaultConfig.mode,
    'how pods leave where no policy says it',
  ),
  deleteAfter: inEviction(
    'delete-after',
    durationOrNever,
    'never',
    'with evictThenDelete: how long after it was due a pod is deleted that budgets still hold',
  ),
  semantics: inEviction(
    'semantics',
    choice(['precise', 'upstream-1.36']),
    defaultConfig.semantics,
    'whose rules hold',
  ),
  concurrentEvictions: inEviction(
    'concurrent-evictions',
    wholeNumber(1),
    defaultConfig.evictionsInFlightMax,
    'evictions under way at once',
  ),
  podWatch: inEviction(
    'pod-watch',
    choice(['auto', 'all', 'tainted-nodes']),
    'auto',
    'which pods are read: all, or only those of nodes that are tainted NoExecute or unreachable; ' +
      `auto: the latter from ${defaultPodWatch.podsMin} pods on, where nothing needs all. Where ` +
      `more than ${defaultPodWatch.nodesMax} nodes are tainted, all are read for a while`,
  ),
};

const inNodeLifecycle = section('nodeLifecycle');

const nodeLifecycle = {
  nodeMonitorPeriod: inNodeLifecycle(
    'node-monitor-period',
    duration(1),
    defaultLifecycleConfig.nodeMonitorPeriodMs,
    'pause between two looks at the health of all nodes',
  ),
  nodeMonitorGracePeriod: inNodeLifecycle(
    'node-monitor-grace-period',
    duration(1),
    defaultLifecycleConfig.nodeMonitorGracePeriodMs,
    'how long a running node may go without a heartbeat before it is marked unhealthy',
  ),
  nodeStartupGracePeriod: inNodeLifecycle(
    'node-startup-grace-period',
    duration(1),
    defaultLifecycleConfig.nodeStartupGracePeriodMs,
    'how long a starting node may go without a heartbeat before it is marked unhealthy',
  ),
  nodeEvictionRate: inNodeLifecycle(
    'node-eviction-rate',
    fractionalNumber(0),
    defaultLifecycleConfig.nodeEvictionRate,
    'nodes per second and zone that are tainted when nodes fail',
  ),
  secondaryNodeEvictionRate: inNodeLifecycle(
    'secondary-node-eviction-rate',
    fractionalNumber(0),
    defaultLifecycleConfig.secondaryNodeEvictionRate,
    'the same in a zone that is unhealthy and large',
  ),
  largeClusterSizeThreshold: inNodeLifecycle(
    'large-cluster-size-threshold',
    wholeNumber(0),
    defaultLifecycleConfig.largeClusterSizeThreshold,
    'a zone with more nodes is large; in a smaller one that is unhealthy nothing is tainted',
  ),
  unhealthyZoneThreshold: inNodeLifecycle(
    'unhealthy-zone-threshold',
    fractionalNumber(0, 1),
    defaultLifecycleConfig.unhealthyZoneThreshold,
    'part of the nodes of a zone that is not ready when it counts as unhealthy',
  ),
};

const inLeaderElection = section('leaderElection', 'leader-elect-');

const leaderElection = {
  leaderElect: inLeaderElection(
    'leader-elect',
    boolean,
    true,
    'act only while holding the lease; the other replicas stand by',
  ),
  leaseDuration: inLeaderElection(
    'leader-elect-lease-duration',
    duration(1000),
    15_000,
    'how long a lease holds that is not renewed',
  ),
  renewDeadline: inLeaderElection(
    'leader-elect-renew-deadline',
    duration(1),
    10_000,
    'how long the leader tries to renew before it stops to lead',
  ),
  retryPeriod: inLeaderElection(
    'leader-elect-retry-period',
    duration(1),
    2_000,
    'wait between two tries to renew or to acquire the lease',
  ),
  resourceLock: inLeaderElection(
    'leader-elect-resource-lock',
    choice(['leases']),
    'leases',
    'kind of the object that is locked',
  ),
  resourceName: inLeaderElection(
    'leader-elect-resource-name',
    objectName,
    'taintmgr-controller',
    'name of the lease; not kube-controller-manager: that one is held by its own leader',
  ),
  resourceNamespace: inLeaderElection(
    'leader-elect-resource-namespace',
    objectName,
    'kube-system',
    'namespace of the lease',
  ),
};

const client = {
  kubeApiQps: setting(
    'kube-api-qps',
    'clientConnection.qps',
    fractionalNumber(0),
    0,
    'requests per second to the API server; 0: as many as it takes ' +
      '(kube-controller-manager: 20)',
  ),
  kubeApiBurst: setting(
    'kube-api-burst',
    'clientConnection.burst',
    wholeNumber(1),
    30,
    'requests at once beyond --kube-api-qps',
  ),
  kubeApiContentType: setting(
    'kube-api-content-type',
    'clientConnection.contentType',
    choice(['application/json', 'application/vnd.kubernetes.protobuf']),
    'application/vnd.kubernetes.protobuf',
    'format in which watches, and lists streamed by them, are asked for; a server that has no ' +
      'protobuf, which takes less of both sides, is asked for JSON by itself',
  ),
};

// Size and number of files are named as kube-apiserver names those of its audit log.

/** What the flight recorder can be told. */
const flightRecorder = {
  flightRecord: setting(
    'flight-record',
    'flightRecord.file',
    outputFile,
    '',
    'record each event and each command, to be replayed by kubectl taintmgr simulate ' +
      '--replay; compressed where the name ends in .gz; by default nothing is recorded',
  ),
  flightRecordMaxsize: setting(
    'flight-record-maxsize',
    'flightRecord.maxSize',
    wholeNumber(1),
    512,
    'maximum size of a flight record in megabytes; then recording stops, and the controller goes on',
  ),
  flightRecordMaxbackup: setting(
    'flight-record-maxbackup',
    'flightRecord.maxBackup',
    wholeNumber(0),
    3,
    'flight records of earlier starts to keep, as FILE.1, FILE.2 and so on',
  ),
};

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

/** What is chosen. Durations are in milliseconds. */
export type Settings = Values<typeof settings>;
