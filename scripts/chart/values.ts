// The values of the chart: values.yaml, values.schema.json and the table of its README are made of these.

/** A value, or a group of values. */
export type Field = Value | Group;

/** JSON Schema, draft 7. */
export type Schema = Readonly<Record<string, unknown>>;

interface Value {
  readonly kind: 'value';
  readonly about: string;
  readonly schema: Schema;
  readonly initial: unknown;
}

interface Group {
  readonly kind: 'group';
  readonly about: string;
  readonly fields: Readonly<Record<string, Field>>;
}

/** A value with any schema. */
function value(about: string, initial: unknown, schema: Schema): Value {
  return { kind: 'value', about, initial, schema };
}

function group(about: string, fields: Readonly<Record<string, Field>>): Group {
  return { kind: 'group', about, fields };
}

function flag(about: string, initial: boolean): Value {
  return value(about, initial, { type: 'boolean' });
}

/** `pattern` is a regular expression for the whole of it. */
function text(about: string, initial: string, pattern?: string): Value {
  return value(about, initial, { type: 'string', ...(pattern && { pattern: `^(${pattern})$` }) });
}

function choice(about: string, of: readonly [initial: string, ...string[]]): Value {
  return value(about, of[0], { type: 'string', enum: of });
}

/** Labels, annotations and the like. */
function texts(about: string, initial: Readonly<Record<string, string>> = {}): Value {
  return value(about, initial, { type: 'object', additionalProperties: { type: 'string' } });
}

/** A list of objects of Kubernetes, which the API server checks. */
function objects(about: string, initial: readonly object[] = []): Value {
  return value(about, initial, { type: 'array', items: { type: 'object' } });
}

/** An object of Kubernetes, which the API server checks; null: what `about` says. */
function orDefault(about: string, type: 'array' | 'object'): Value {
  return value(about, null, { type: [type, 'null'] });
}

import configSchema from '../../apps/controller/config.schema.json' with { type: 'json' };

const duration = '([0-9]+(\\.[0-9]+)?(ms|s|m|h))+';

/** The values that the README lists. */
export const decisions: Readonly<Record<string, Field>> = {
  mode: choice(
    'How pods leave: `observe` (evicts nothing, and reports what `evict` would do), `delete`, `evict` ' +
      '(respects PodDisruptionBudgets) or `evict-then-delete` (deletes pods still blocked after `deleteAfter`).',
    ['observe', 'delete', 'evict', 'evict-then-delete'],
  ),
  deleteAfter: text(
    'With `mode: evict-then-delete`: how long after its deadline a blocked pod is deleted.',
    '10m',
    duration,
  ),
  takeover: group('For a kube-controller-manager that you cannot change.', {
    enabled: flag(
      'Decide in place of kube-controller-manager in namespaces with the label `taintmgr.dev/takeover=enabled`. Needs a mode ' +
        'that acts and Kubernetes 1.30 or newer. Excludes `nodeLifecycle.enabled`.',
      false,
    ),
    repair: flag(
      'Let the controller repair the admission policies of takeover. Dangerous: anyone who has its token can then refuse every ' +
        'request in the cluster (`SECURITY.md`).',
      false,
    ),
  }),
  nodeLifecycle: group("The work of kube-controller-manager's node-lifecycle-controller.", {
    enabled: flag(
      'Taint nodes that fail. Start kube-controller-manager without its node-lifecycle-controller.',
      false,
    ),
    legacyPods: flag(
      'Grant the rights of the legacy mode (`config.nodeLifecycle.enforcement: pods`).',
      false,
    ),
  }),
  deviceTaints: group("The work of kube-controller-manager's device-taint-eviction-controller.", {
    enabled: flag(
      'Also evict pods for taints of their devices. Needs `takeover.enabled`, or a kube-controller-manager without its ' +
        'device-taint-eviction-controller.',
      false,
    ),
  }),
  nodePressure: group('Evictions from nodes that run short of memory, disk or processes.', {
    enabled: flag('Evict pods from nodes that run short, before their kubelets do.', false),
    source: choice(
      'Source: `kubelet` asks kubelets directly (Kubernetes 1.33 or newer, signed serving certificates). `proxy` ' +
        'works everywhere, but lets anyone who has the token run commands in every container.',
      ['kubelet', 'proxy'],
    ),
    evictionHard: text(
      'Thresholds at which pods are evicted at once. Set them higher than those of kubelets.',
      'memory.available<500Mi,nodefs.available<12%,imagefs.available<17%',
      '([a-z.A-Z]+<[0-9.]+[A-Za-z%]*)(,[a-z.A-Z]+<[0-9.]+[A-Za-z%]*)*',
    ),
  }),
  nodeDrains: group('NodeDrains. They need a mode that acts.', {
    enabled: flag('Carry out NodeDrains.', false),
    rolloutRestart: flag(
      'Let drains restart rollouts of Deployments with a single pod (`pods.singleReplicas`).',
      false,
    ),
    nodeConditions: flag('Let drains write their progress to nodes (`nodeConditions`).', false),
    volumes: flag('Let drains wait until volumes are detached (`pods.waitDetached`).', false),
    evictionRequests: flag('Let drains read and create EvictionRequests (`pods.evictBy`).', false),
  }),
  policies: group('Rights for EvictionPolicies whose `action` differs from `mode`.', {
    deletions: flag(
      'With `mode: evict`: let policies with action Delete, EvictThenDelete or KubeControllerManager delete pods.',
      false,
    ),
    evictions: flag(
      'With `mode: delete`: let policies with action Evict, EvictThenDelete or Request evict pods.',
      false,
    ),
    evictionRequests: flag('Let policies with action Request create EvictionRequests.', false),
  }),
  limits: group('Limits of EvictionPolicies.', {
    enabled: flag(
      'Grant the rights to store the counts of limits, so that they survive a restart.',
      false,
    ),
  }),
  guard: group('ValidatingAdmissionPolicies (Kubernetes 1.30 or newer).', {
    enabled: flag(
      'Refuse kubelets the annotations and labels of `taintmgr.dev`, and the ServiceAccount of the controller every change that the ' +
        'controller does not make.',
      false,
    ),
  }),
  config: value(
    'Fields of a ControllerConfiguration, for settings without a value in this file ' +
      '(`apps/controller/config.schema.json`). Values of the chart override them.',
    {},
    configFields(),
  ),
};

const program: Readonly<Record<string, Field>> = {
  image: group('The image of the controller.', {
    repository: text(
      'Registry and name of the image, without a tag.',
      'ghcr.io/taintmgr/taintmgr-controller',
      '[^\\s@]+',
    ),
    tag: text('Tag of the image. Empty: the appVersion of the chart.', '', '[\\w][\\w.-]{0,127}|'),
    digest: text(
      'Digest of the image, `sha256:...`. Overrides the tag.',
      '',
      'sha256:[0-9a-f]{64}|',
    ),
    pullPolicy: choice('When the image is pulled.', ['IfNotPresent', 'Always', 'Never']),
  }),
  imagePullSecrets: objects('Secrets to pull the image with: `[{name: NAME}]`.'),
  replicas: value(
    'Number of replicas. One acts, the others stand by. null: 1 with `mode: observe`, otherwise 2.',
    null,
    { type: ['integer', 'null'], minimum: 0 },
  ),
  resources: value(
    'Requests and limits of the container.',
    { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } },
    { type: 'object' },
  ),
  logging: group('Log lines.', {
    format: choice('Format of log lines.', ['json', 'text']),
    verbosity: value('Verbosity of the log. 2 or higher logs every detail.', 0, {
      type: 'integer',
      minimum: 0,
    }),
  }),
  extraArgs: value('More flags of the controller, for example `--kube-api-qps=50`.', [], {
    type: 'array',
    items: { type: 'string', pattern: '^-' },
  }),
  extraEnv: objects('More environment variables of the container: `[{name: A, value: b}]`.'),
};

const pods: Readonly<Record<string, Field>> = {
  priorityClassName: text(
    'PriorityClass of the controller. Empty: none.',
    'system-cluster-critical',
  ),
  resourceQuota: group(
    'Some providers admit critical pods only in namespaces with a quota for their class.',
    {
      enabled: flag('Create a ResourceQuota for pods of `priorityClassName`.', true),
    },
  ),
  podDisruptionBudget: group('The PodDisruptionBudget of the controller.', {
    enabled: flag(
      'Create a PodDisruptionBudget: at most one replica is unavailable at a time, and no drain is blocked permanently.',
      true,
    ),
  }),
  nodeSelector: texts('Labels of the nodes that the controller may run on.', {
    'kubernetes.io/os': 'linux',
  }),
  tolerations: objects(
    'Tolerations of the controller. It must not evict itself, and is replaced when its node fails.',
    [
      { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
      ...['not-ready', 'unreachable'].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
      { operator: 'Exists', effect: 'NoExecute' },
    ],
  ),
  affinity: orDefault(
    'Affinity of the controller. null: prefers one replica per node; `{}`: none.',
    'object',
  ),
  topologySpreadConstraints: orDefault(
    'Topology spread constraints. null: spreads replicas across zones where possible; `[]`: none.',
    'array',
  ),
  labels: texts('More labels of every object.'),
  annotations: texts('More annotations of every object.'),
  podLabels: texts("More labels of the controller's pods."),
  podAnnotations: texts("More annotations of the controller's pods."),
  serviceAccount: group('The ServiceAccount taintmgr-controller. Its name is fixed.', {
    annotations: texts('More annotations of the ServiceAccount.'),
  }),
};

const watching: Readonly<Record<string, Field>> = {
  tracing: group('Traces of evictions, by OpenTelemetry.', {
    endpoint: text(
      'Collector for traces (OTLP over HTTP), for example `http://collector:4318`. Empty: none. With a ' +
        'NetworkPolicy, allow the connection in `networkPolicy.extraEgress`.',
      '',
      'https?://[^\\s@]+|',
    ),
  }),
  metrics: group('Access to /metrics.', {
    readers: value(
      'ServiceAccounts that may read /metrics: `[{name: NAME, namespace: NAMESPACE}]`.',
      [],
      {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['name', 'namespace'],
          properties: {
            name: { type: 'string', minLength: 1, description: 'Name of the ServiceAccount.' },
            namespace: { type: 'string', minLength: 1, description: 'Its namespace.' },
          },
        },
      },
    ),
    tlsSecretName: text(
      'Secret with `tls.crt` and `tls.key` of the server. Empty: a self-signed certificate.',
      '',
    ),
  }),
  serviceMonitor: group('For the Prometheus operator.', {
    enabled: flag('Create a ServiceMonitor that uses the token of Prometheus.', false),
    interval: text('Interval between scrapes.', '30s', duration),
    labels: texts('More labels, for the selector of your Prometheus.'),
  }),
  podMonitor: group(
    'For the Prometheus operator, without the Service. Choose this or serviceMonitor.',
    {
      enabled: flag('Create a PodMonitor.', false),
      interval: text('Interval between scrapes.', '30s', duration),
      labels: texts('More labels, for the selector of your Prometheus.'),
      tokenSecret: group('Secret with the token of Prometheus, in the namespace of the release.', {
        name: text('Name of the Secret. Required for a PodMonitor.', ''),
        key: text('Key of the token in the Secret.', 'token'),
      }),
    },
  ),
  prometheusRule: group('The alerts of docs/alerts.', {
    enabled: flag('Create a PrometheusRule with the alerts.', false),
    labels: texts('More labels, for the selector of your Prometheus.'),
    runbookUrl: text(
      'URL of the runbooks. The chart appends the name of the alert and `.md`.',
      'https://github.com/taintmgr/taintmgr/blob/main/docs/alerts',
      'https?://.+[^/]',
    ),
  }),
  dashboard: group('The Grafana dashboard.', {
    enabled: flag("Create a ConfigMap with the dashboard, for Grafana's sidecar.", false),
    labels: texts('Labels of the ConfigMap, for the selector of the sidecar.', {
      grafana_dashboard: '1',
    }),
    annotations: texts('Annotations of the ConfigMap, for example the folder.'),
  }),
  networkPolicy: group('Network access to and from the controller.', {
    enabled: flag('Create a NetworkPolicy for the controller.', false),
    metricsFrom: objects('Peers that may connect to the metrics port.', [
      { namespaceSelector: { matchLabels: { metrics: 'enabled' } } },
    ]),
    apiServer: objects('Addresses of the API server: `[{ipBlock: {cidr: ...}}]`. Empty: any.'),
    extraEgress: objects('More egress rules of the NetworkPolicy.'),
  }),
};

const definitions: Readonly<Record<string, Field>> = {
  crds: group('The CustomResourceDefinitions of taintmgr.dev.', {
    install: flag('Install the definitions, and update them with each upgrade.', true),
    keep: flag('Keep the definitions, and all policies, when you uninstall the release.', true),
  }),
};

/** Headings of values.yaml, each with its values. */
export const sections: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  'What it does': decisions,
  'The program': program,
  'Its pods and objects': pods,
  Monitoring: watching,
  Definitions: definitions,
};

/** The fields of the file, without apiVersion and kind. */
function configFields(): Schema {
  const { apiVersion: _apiVersion, kind: _kind, ...properties } = configSchema.properties;
  const { definitions: shared } = configSchema as { readonly definitions?: object };
  const rest = shared ? { definitions: shared } : {};
  return { type: 'object', additionalProperties: false, properties, ...rest };
}
