// The alerts as files: rules of Prometheus, a PrometheusRule of its operator, and what the chart holds.
import { yamlOf } from '../../apps/kubectl-taintmgr/src/render/yaml.ts';
import { alerts } from './alerts.ts';

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
