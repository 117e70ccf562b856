// The values of the chart: values.yaml, values.schema.json and the table of its README are made of these.

/** One value, or a group of them. */
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
    'How pods leave: `observe` decides and reports everything and evicts nothing; `delete` deletes as ' +
      'kube-controller-manager does; `evict` asks PodDisruptionBudgets for as long as it takes; ' +
      '`evictThenDelete` deletes what is still blocked after `deleteAfter`.',
    ['observe', 'delete', 'evict', 'evictThenDelete'],
  ),
  deleteAfter: text(
    'With `mode: evictThenDelete`: how long after it was due a pod is deleted that budgets still hold.',
    '10m',
    duration,
  ),
  takeover: group('Beside a kube-controller-manager that cannot be changed.', {
    enabled: flag(
      'Decide in the place of kube-controller-manager for namespaces labelled `taintmgr.dev/takeover=enabled`. Needs a mode that ' +
        'acts and Kubernetes 1.30, and goes without `nodeLifecycle.enabled`.',
      false,
    ),
    repair: flag(
      'Let the controller install the policies again when somebody has deleted or changed them. With its token anybody can ' +
        'refuse everybody everything then (`SECURITY.md`).',
      false,
    ),
  }),
  nodeLifecycle: group("The work of kube-controller-manager's node-lifecycle-controller.", {
    enabled: flag('Taint nodes that fail. Needs a kube-controller-manager that leaves it.', false),
    legacyPods: flag(
      'The rights of the legacy mode, which `config` chooses with `nodeLifecycle.enforcement: pods`.',
      false,
    ),
  }),
  deviceTaints: group("The work of kube-controller-manager's device-taint-eviction-controller.", {
    enabled: flag(
      'Evict pods for taints of their devices too. Needs `takeover.enabled`, or a kube-controller-manager that leaves it.',
      false,
    ),
  }),
  nodePressure: group('Evictions from nodes that run short of memory, disk or processes.', {
    enabled: flag('Evict pods from nodes that run short, before their kubelets have to.', false),
    source: choice(
      'Who is asked what is used: `kubelet` asks kubelets directly with `nodes/stats` (Kubernetes 1.33 ' +
        'or newer, signed serving certificates); `proxy` works everywhere and takes `get` on ' +
        '`nodes/proxy`, which lets whoever has the token run commands in every container.',
      ['kubelet', 'proxy'],
    ),
    evictionHard: text(
      'Thresholds at which pods are evicted at once; higher than kubelets have them.',
      'memory.available<500Mi,nodefs.available<12%,imagefs.available<17%',
      '([a-z.A-Z]+<[0-9.]+[A-Za-z%]*)(,[a-z.A-Z]+<[0-9.]+[A-Za-z%]*)*',
    ),
  }),
  nodeDrains: group('Drains that are declared as NodeDrains. They need a mode that acts.', {
    enabled: flag('Carry out NodeDrains.', false),
    rolloutRestart: flag(
      'Drains may restart rollouts of Deployments of a single pod (`pods.singleReplicas`).',
      false,
    ),
    nodeConditions: flag('Drains may say on nodes how far they are (`nodeConditions`).', false),
    volumes: flag('Drains may find out whether volumes are detached (`pods.waitDetached`).', false),
    evictionRequests: flag('Drains see and make EvictionRequests (`pods.evictBy`).', false),
  }),
  policies: group('Rights that EvictionPolicies need whose `action` is not that of `mode`.', {
    deletions: flag(
      'With `mode: evict`: policies with action Delete, EvictThenDelete or Upstream may delete pods.',
      false,
    ),
    evictions: flag(
      'With `mode: delete`: policies with action Evict, EvictThenDelete or Request may ask PodDisruptionBudgets.',
      false,
    ),
    evictionRequests: flag('Policies with action Request may make EvictionRequests.', false),
  }),
  limits: group('Limits of EvictionPolicies.', {
    enabled: flag(
      'Give the rights that limits with a window need: what they have counted survives a restart.',
      false,
    ),
  }),
  guard: group('ValidatingAdmissionPolicies (Kubernetes 1.30 or newer).', {
    enabled: flag(
      'Keep kubelets from writing annotations and labels of `taintmgr.dev` on nodes and pods, and the account of the ' +
        'controller from changing what the controller does not change.',
      false,
    ),
  }),
  config: value(
    'Fields of a ControllerConfiguration, for settings that have no value of their own here ' +
      '(`apps/controller/config.schema.json`). What the chart sets by itself counts before them.',
    {},
    configFields(),
  ),
};

const program: Readonly<Record<string, Field>> = {
  image: group('What runs.', {
    repository: text(
      'Where the image is, without its tag.',
      'ghcr.io/taintmgr/taintmgr-controller',
      '[^\\s@]+',
    ),
    tag: text('Tag of the image; empty: the appVersion of the chart.', '', '[\\w][\\w.-]{0,127}|'),
    digest: text(
      'Digest of the image, `sha256:...`, which counts before the tag.',
      '',
      'sha256:[0-9a-f]{64}|',
    ),
    pullPolicy: choice('When the image is pulled.', ['IfNotPresent', 'Always', 'Never']),
  }),
  imagePullSecrets: objects('Secrets to pull the image with, as `[{name: NAME}]`.'),
  replicas: value(
    'How many controllers; one acts and the others stand by. null: 1 with `mode: observe`, else 2.',
    null,
    { type: ['integer', 'null'], minimum: 0 },
  ),
  resources: value(
    'Requests and limits of the container.',
    { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } },
    { type: 'object' },
  ),
  logging: group('Log lines.', {
    format: choice('How log lines are written.', ['json', 'text']),
    verbosity: value('How much the log says; from 2 on every detail.', 0, {
      type: 'integer',
      minimum: 0,
    }),
  }),
  extraArgs: value('More flags of the controller, as `--kube-api-qps=50`.', [], {
    type: 'array',
    items: { type: 'string', pattern: '^-' },
  }),
  extraEnv: objects('More environment variables of the container, as `[{name: A, value: b}]`.'),
};

const pods: Readonly<Record<string, Field>> = {
  priorityClassName: text('Priority of the controller; empty: none.', 'system-cluster-critical'),
  resourceQuota: group('Some providers admit critical pods only where a quota names their class.', {
    enabled: flag('Make a ResourceQuota for pods of `priorityClassName`.', true),
  }),
  podDisruptionBudget: group('Of the controller itself.', {
    enabled: flag(
      'Make a PodDisruptionBudget: at most one replica is away at a time, and no drain is blocked for good.',
      true,
    ),
  }),
  nodeSelector: texts('Nodes that the controller may run on.', { 'kubernetes.io/os': 'linux' }),
  tolerations: objects(
    'Taints that the controller tolerates: it must not evict itself, but is replaced on a dead node.',
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
    'Affinity of the controller. null: rather not two replicas on one node; `{}`: none.',
    'object',
  ),
  topologySpreadConstraints: orDefault(
    'How replicas are spread. null: over zones, where that is possible; `[]`: not at all.',
    'array',
  ),
  labels: texts('More labels of every object.'),
  annotations: texts('More annotations of every object.'),
  podLabels: texts("More labels of the controller's pods."),
  podAnnotations: texts("More annotations of the controller's pods."),
  serviceAccount: group('The ServiceAccount taintmgr-controller, whose name others rely on.', {
    annotations: texts('More annotations of the ServiceAccount.'),
  }),
};

const watching: Readonly<Record<string, Field>> = {
  tracing: group('Traces of evictions, by OpenTelemetry.', {
    endpoint: text(
      'Collector to send traces to by OTLP over HTTP, as `http://collector:4318`; empty: none. With a ' +
        'NetworkPolicy, open the way there by `networkPolicy.extraEgress`.',
      '',
      'https?://[^\\s@]+|',
    ),
  }),
  metrics: group('Who reads /metrics.', {
    readers: value(
      'ServiceAccounts that may read /metrics, as `[{name: NAME, namespace: NAMESPACE}]`.',
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
      'Secret with `tls.crt` and `tls.key` to serve with; empty: a certificate of its own making.',
      '',
    ),
  }),
  serviceMonitor: group('For the Prometheus operator.', {
    enabled: flag('Make a ServiceMonitor, which shows the token of Prometheus.', false),
    interval: text('How often metrics are read.', '30s', duration),
    labels: texts('More labels, which your Prometheus selects by.'),
  }),
  podMonitor: group('The same without the Service; choose one of both.', {
    enabled: flag('Make a PodMonitor.', false),
    interval: text('How often metrics are read.', '30s', duration),
    labels: texts('More labels, which your Prometheus selects by.'),
    tokenSecret: group('Secret in the namespace of the release with the token to show.', {
      name: text(
        'Name of the Secret with the token that Prometheus shows; needed for a PodMonitor.',
        '',
      ),
      key: text('Key of the token in that Secret.', 'token'),
    }),
  }),
  prometheusRule: group('The alerts of docs/alerts.', {
    enabled: flag('Make a PrometheusRule with the alerts.', false),
    labels: texts('More labels, which your Prometheus selects by.'),
    runbookUrl: text(
      'Where the runbook pages are: the name of the alert and `.md` are put behind it.',
      'https://github.com/taintmgr/taintmgr/blob/main/docs/alerts',
      'https?://.+[^/]',
    ),
  }),
  dashboard: group('The Grafana dashboard.', {
    enabled: flag("Make a ConfigMap with the dashboard, for Grafana's sidecar.", false),
    labels: texts('Labels by which the sidecar finds the ConfigMap.', { grafana_dashboard: '1' }),
    annotations: texts('Annotations of the ConfigMap, by which the sidecar chooses a folder.'),
  }),
  networkPolicy: group('Who may reach the controller, and whom it may reach.', {
    enabled: flag('Make a NetworkPolicy for the controller.', false),
    metricsFrom: objects('Peers that may reach the port of the metrics.', [
      { namespaceSelector: { matchLabels: { metrics: 'enabled' } } },
    ]),
    apiServer: objects(
      'Peers that are the API server, as `[{ipBlock: {cidr: ...}}]`; empty: anyone.',
    ),
    extraEgress: objects('More rules for outgoing connections, as of a NetworkPolicy.'),
  }),
};

const definitions: Readonly<Record<string, Field>> = {
  crds: group('The definitions of EvictionPolicy and the other kinds.', {
    install: flag('Install the definitions, and bring them up to date with each upgrade.', true),
    keep: flag(
      'Leave the definitions, and with them all policies, when the release is uninstalled.',
      true,
    ),
  }),
};

/** Headings of values.yaml, each with its values. */
export const sections: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  'What it does': decisions,
  'The program': program,
  'Its pods and objects': pods,
  'Watching it': watching,
  Definitions: definitions,
};

/** The fields of the file, without the two that say what it is. */
function configFields(): Schema {
  const { apiVersion: _apiVersion, kind: _kind, ...properties } = configSchema.properties;
  const { definitions: shared } = configSchema as { readonly definitions?: object };
  const rest = shared ? { definitions: shared } : {};
  return { type: 'object', additionalProperties: false, properties, ...rest };
}
