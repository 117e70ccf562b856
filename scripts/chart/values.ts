// The values of the chart: values.yaml, values.schema.json and the table of its README are made of these.
import configSchema from '../../apps/controller/config.schema.json' with { type: 'json' };
import {
  choice,
  type Field,
  flag,
  group,
  objects,
  orDefault,
  type Schema,
  text,
  texts,
  value,
} from './field.ts';

const duration = '([0-9]+(\\.[0-9]+)?(ms|s|m|h))+';

const decisions: Readonly<Record<string, Field>> = {
  mode: choice(
    'How pods leave: `observe` decides and reports everything and evicts nothing; `delete` deletes as ' +
      'kube-controller-manager does; `evict` asks PodDisruptionBudgets for as long as it takes; ' +
      '`evict-then-delete` deletes what is still blocked after `deleteAfter`.',
    ['observe', 'delete', 'evict', 'evict-then-delete'],
  ),
  deleteAfter: text(
    'With `mode: evict-then-delete`: how long after it was due a pod is deleted that budgets still hold.',
    '10m',
    duration,
  ),
  takeover: group('Beside a kube-controller-manager that cannot be changed.', {
    enabled: flag(
      'Decide in its place for namespaces labelled `taintmgr.dev/takeover=enabled`. Needs a mode that ' +
        'acts and Kubernetes 1.30, and goes without `nodeLifecycle.enabled`.',
      false,
    ),
  }),
  nodeLifecycle: group("The work of kube-controller-manager's node-lifecycle-controller.", {
    enabled: flag('Taint nodes that fail.', false),
    legacyPods: flag(
      'The rights of the legacy mode, which `config` chooses with `nodeLifecycle.enforcement: pods`.',
      false,
    ),
  }),
  nodePressure: group('Evictions from nodes that run short of memory, disk or processes.', {
    enabled: flag('Evict them, before their kubelets have to.', false),
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
    enabled: flag('Carry them out.', false),
    rolloutRestart: flag(
      'They may restart rollouts of Deployments of a single pod (`pods.singleReplicas`).',
      false,
    ),
    nodeConditions: flag('They may say on nodes how far they are (`nodeConditions`).', false),
    volumes: flag('They may find out whether volumes are detached (`pods.waitDetached`).', false),
    evictionRequests: flag('They see and make EvictionRequests (`pods.evictBy`).', false),
  }),
  limits: group('Limits of EvictionPolicies.', {
    enabled: flag(
      'The rights that limits with a window need, so that what they count survives a restart.',
      false,
    ),
  }),
  guard: group('A ValidatingAdmissionPolicy (Kubernetes 1.30 or newer).', {
    enabled: flag(
      'Keep kubelets from writing annotations and labels of `taintmgr.dev` on nodes and pods.',
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
    repository: text('Where the image is.', 'ghcr.io/taintmgr/taintmgr-controller', '[^\\s@]+'),
    tag: text('Its tag; empty: the appVersion of the chart.', '', '[\\w][\\w.-]{0,127}|'),
    digest: text(
      'Its digest, `sha256:...`, which counts before the tag.',
      '',
      'sha256:[0-9a-f]{64}|',
    ),
    pullPolicy: choice('When it is pulled.', ['IfNotPresent', 'Always', 'Never']),
  }),
  imagePullSecrets: objects('Secrets to pull it with, as `[{name: NAME}]`.'),
  replicas: value(
    'How many; one acts and the others stand by. null: 1 with `mode: observe`, else 2.',
    null,
    { type: ['integer', 'null'], minimum: 0 },
  ),
  resources: value(
    'Requests and limits of the container.',
    { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } },
    { type: 'object' },
  ),
  logging: group('Log lines.', {
    format: choice('How they are written.', ['json', 'text']),
    verbosity: value('From 2 on with every detail.', 0, { type: 'integer', minimum: 0 }),
  }),
  extraArgs: value('More flags of the controller, as `--kube-api-qps=50`.', [], {
    type: 'array',
    items: { type: 'string', pattern: '^-' },
  }),
  extraEnv: objects('More environment variables of the container, as `[{name: A, value: b}]`.'),
};

const pods: Readonly<Record<string, Field>> = {
  priorityClassName: text('Priority of its pods; empty: none.', 'system-cluster-critical'),
  resourceQuota: group('Some providers admit critical pods only where a quota names their class.', {
    enabled: flag('Make that quota, for `priorityClassName`.', true),
  }),
  podDisruptionBudget: group('Of the controller itself.', {
    enabled: flag(
      'At most one replica is away at a time; a drain of its node is never blocked.',
      true,
    ),
  }),
  nodeSelector: texts('Nodes it may run on.', { 'kubernetes.io/os': 'linux' }),
  tolerations: objects('Taints it tolerates: it must not evict itself.', [
    { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  ]),
  affinity: orDefault(
    'Its affinity. null: rather not two replicas on one node; `{}`: none.',
    'object',
  ),
  topologySpreadConstraints: orDefault(
    'How replicas are spread. null: over zones, where that is possible; `[]`: not at all.',
    'array',
  ),
  labels: texts('More labels of every object.'),
  annotations: texts('More annotations of every object.'),
  podLabels: texts('More labels of its pods.'),
  podAnnotations: texts('More annotations of its pods.'),
  serviceAccount: group('The ServiceAccount taintmgr-controller, whose name others rely on.', {
    annotations: texts('More annotations of it.'),
  }),
};

const watching: Readonly<Record<string, Field>> = {
  tracing: group('Traces of evictions, by OpenTelemetry.', {
    endpoint: text(
      'Collector to send them to by OTLP over HTTP, as `http://collector:4318`; empty: none. With a ' +
        'NetworkPolicy, open the way there by `networkPolicy.extraEgress`.',
      '',
      'https?://[^\\s@]+|',
    ),
  }),
  metrics: group('Who reads /metrics.', {
    readers: value('ServiceAccounts that may: these are bound to taintmgr-metrics-reader.', [], {
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
    }),
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
      name: text('Its name, needed for a PodMonitor.', ''),
      key: text('Its key.', 'token'),
    }),
  }),
  prometheusRule: group('The alerts of docs/alerts.', {
    enabled: flag('Make a PrometheusRule.', false),
    labels: texts('More labels, which your Prometheus selects by.'),
    runbookUrl: text(
      'Where the runbook pages are: the name of the alert and `.md` are put behind it.',
      'https://github.com/taintmgr/taintmgr/blob/main/docs/alerts',
      'https?://.+[^/]',
    ),
  }),
  dashboard: group('The Grafana dashboard.', {
    enabled: flag("Make a ConfigMap with it, for Grafana's sidecar.", false),
    labels: texts('Labels by which the sidecar finds it.', { grafana_dashboard: '1' }),
    annotations: texts('Annotations, by which the sidecar chooses a folder.'),
  }),
  networkPolicy: group('Who may reach the controller, and whom it may reach.', {
    enabled: flag('Make a NetworkPolicy.', false),
    metricsFrom: objects('Peers that may read metrics.', [
      { namespaceSelector: { matchLabels: { metrics: 'enabled' } } },
    ]),
    apiServer: objects(
      'Peers that are the API server, as `[{ipBlock: {cidr: ...}}]`; empty: anyone.',
    ),
    extraEgress: objects('More rules for outgoing connections.'),
  }),
};

const definitions: Readonly<Record<string, Field>> = {
  crds: group('The definitions of EvictionPolicy and the other kinds.', {
    install: flag('Install them, and bring them up to date with each upgrade.', true),
    keep: flag('Leave them, and with them all policies, when the release is uninstalled.', true),
  }),
};

/** Headings of the README, each with its values. */
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
