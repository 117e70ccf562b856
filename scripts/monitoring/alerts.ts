// The alerts: what fires, when, how urgent it is, and where it is explained. A test plays each of them.
import { yamlOf } from '../../apps/kubectl-taintmgr/src/render/yaml.ts';

/** An alert in the form of Prometheus. */
interface Alert {
  /** Its page is docs/alerts/NAME.md. */
  readonly name: string;
  readonly expr: string;
  readonly for: string;
  /** critical: pods stay or go that should not. warning: a person should look today. */
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  readonly description: string;
}

/** One installation of a cluster: the replicas behind one Service, or one PodMonitor. */
const installation = 'by (cluster, namespace, job)';

const foreign = `sum ${installation} (taintmgr_foreign_evictions_total`;

export const alerts: readonly Alert[] = [
  {
    name: 'TaintmgrDown',
    expr: 'absent(taintmgr_build_info)',
    for: '5m',
    severity: 'critical',
    summary: 'No metrics of taintmgr-controller',
    description: 'Prometheus has had no metrics of any replica for 5 minutes.',
  },
  {
    name: 'TaintmgrNobodyActing',
    expr: `max ${installation} (taintmgr_acting) == 0`,
    for: '2m',
    severity: 'critical',
    summary: 'No replica of taintmgr-controller acts',
    description:
      'All replicas stand by: none holds the lease, or another program does the same work. taintmgr evicts no pods.',
  },
  {
    name: 'TaintmgrTwoActing',
    expr: `sum ${installation} (taintmgr_acting unless taintmgr_dry_run == 1) > 1`,
    for: '1m',
    severity: 'critical',
    summary: 'More than one replica of taintmgr-controller acts',
    description:
      '{{ $value }} replicas act at once: limits count twice, and replicas overwrite changes of each other.',
  },
  {
    name: 'TaintmgrOverlap',
    expr: `max ${installation} (taintmgr_overlap) == 1`,
    for: '1m',
    severity: 'warning',
    summary: 'Another program evicts for taints too',
    description:
      'taintmgr-controller stands by, or acts beside it with --allow-overlap. The other program may ignore budgets.',
  },
  {
    name: 'TaintmgrEvictedByOther',
    // Its first mark makes the counter: no increase shows that.
    expr: `${foreign}) - (${foreign} offset 10m) or ${foreign}) * 0) > 0 unless max ${installation} (taintmgr_overlap) == 1`,
    for: '0m',
    severity: 'warning',
    summary: 'Another program marks pods for eviction',
    description:
      '{{ $value }} pods of the last 10 minutes. taintmgr-controller continues: the marks are on pods of one node, whose kubelet can forge them, or takeover did not spare the pods.',
  },
  {
    name: 'TaintmgrEvictionsLate',
    expr: `sum ${installation} (increase(taintmgr_late_evictions_total[10m])) > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'Evictions are late',
    description:
      '{{ $value | humanize }} evictions of the last 10 minutes began more than 30 s after the deadline, although nothing held the pods.',
  },
  {
    name: 'TaintmgrEvictionsLost',
    expr: `max ${installation} (taintmgr_lost_evictions) > 0`,
    for: '1m',
    severity: 'critical',
    summary: 'Pods are due and were not evicted',
    description:
      '{{ $value }} pods have been due for more than a minute, nothing holds them, and no request was sent.',
  },
  {
    name: 'TaintmgrEvictionsOverdue',
    expr: `max ${installation} (taintmgr_overdue_evictions) > 0`,
    for: '15m',
    severity: 'warning',
    summary: 'Pods are past their deadline',
    description:
      '{{ $value }} pods are past their deadline: a PodDisruptionBudget, a webhook or a limit holds them.',
  },
  {
    name: 'TaintmgrLimitTripped',
    expr: `max by (cluster, namespace, job, limit) (taintmgr_limit_tripped) == 1`,
    for: '0m',
    severity: 'critical',
    summary: 'A limit has tripped and holds evictions',
    description:
      'Limit {{ $labels.limit }} holds all evictions that it counts, until you resume it.',
  },
  {
    name: 'TaintmgrCacheStale',
    expr: `max by (cluster, namespace, job, resource) (time() - taintmgr_watch_last_event_timestamp_seconds) > 300`,
    for: '2m',
    severity: 'warning',
    summary: 'taintmgr-controller receives no changes of the cluster',
    description:
      'No event for {{ $labels.resource }} for {{ $value | humanizeDuration }}; a healthy watch receives a bookmark each minute.',
  },
  {
    name: 'TaintmgrTakeoverNotInForce',
    expr: `max ${installation} (taintmgr_takeover_policies_in_force) == 0`,
    for: '2m',
    severity: 'critical',
    summary: 'Takeover is not in force',
    description:
      'The admission policies of takeover are missing or changed: kube-controller-manager evicts in taken-over namespaces.',
  },
];

// The alerts as files: rules of Prometheus, a PrometheusRule of its operator, and what the chart holds.
const note = '# Made by npm run chart from scripts/monitoring/alerts.ts.\n';
const pages = 'https://github.com/taintmgr/taintmgr/blob/main/docs/alerts';

/** The one group of rules; `runbooks` is where the pages are. */
function groups(runbooks: string): object {
  const rules = alerts.map(({ name, expr, for: after, severity, summary, description }) => ({
    alert: name,
    expr,
    for: after,
    labels: { severity },
    annotations: { summary, description, runbook_url: `${runbooks}/${name}.md` },
  }));
  return { groups: [{ name: 'taintmgr', rules }] };
}

/** deploy/monitoring/alerts.yaml, for `rule_files` of Prometheus. */
export function rulesYaml(): string {
  return note + yamlOf(groups(pages));
}

/** deploy/monitoring/prometheus-rule.yaml, for its operator. */
export function prometheusRuleYaml(): string {
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'taintmgr', namespace: 'taintmgr-system' },
    spec: groups(pages),
  };
  return note + yamlOf(rule);
}

/** files/alerts.yaml of the chart, which puts its own address in the place of RUNBOOKS. */
export function chartRules(): string {
  return yamlOf(groups('RUNBOOKS'));
}
