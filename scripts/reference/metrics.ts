// docs/reference/metrics.md: every metric of the controller.
import { type MetricRow, metricsTable } from '../../apps/controller/src/metrics/table.ts';
import { code, page, sentence, table } from './page.ts';

const groups: readonly (readonly [title: string, text: string, prefix: RegExp])[] = [
  ['Of taintmgr', 'What no other program counts.', /^taintmgr_/],
  [
    "Of kube-controller-manager's controllers",
    'Names, labels, buckets and texts are those of kube-controller-manager 1.36, so that dashboards and alerts for it go on working. `[ALPHA]`, `[BETA]` and `[STABLE]` say how far each has come there.',
    /^(?:taint_eviction_controller|node_collector|workqueue|leader_election|kubernetes)_/,
  ],
  ['Of requests to the API server', "Names and labels are client-go's.", /^rest_client_/],
  ['Of the process', "prom-client's own.", /^(?:process|nodejs)_/],
];

/** The page. */
export async function metricsPage(): Promise<string> {
  const rows = await metricsTable();
  const parts = groups.map(([title, text, prefix]) => {
    const own = rows.filter(({ name }) => prefix.test(name));
    return `## ${title}\n\n${text}\n\n${table(titles, own.map(cells))}`;
  });
  const intro = `\`/metrics\` answers in Prometheus' text format, or as OpenMetrics for whoever asks for that; \`/metrics/slis\` has the metrics of health checks alone. A label has no values before something has happened that it tells apart. Where a metric needs a setting, there is no such metric without it.`;
  return page('Metrics of taintmgr-controller', intro, ...parts, bucketsPart(rows));
}

const titles = ['metric', 'type', 'labels', 'what it says', 'needs'] as const;

function cells({ name, type, labels, help, needs, path }: MetricRow): readonly string[] {
  const where = path === '/metrics' ? '' : ` (\`${path}\`)`;
  return [
    `${code(name)}${where}`,
    type,
    labels.map(code).join(', '),
    sentence(help),
    code(needs ?? ''),
  ];
}

function bucketsPart(rows: readonly MetricRow[]): string {
  const histograms = rows.flatMap(({ name, buckets }) =>
    buckets ? [[code(name), buckets.map(String).join(', ')]] : [],
  );
  return `## Buckets of histograms\n\nEach has \`+Inf\` too.\n\n${table(['metric', 'upper bounds'], histograms)}`;
}
