// Writes docs/reference from the source: npm run reference. A test fails when it is out of date.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { logKeys } from '../apps/controller/src/log/line.ts';
import { type MetricRow, metricsTable } from '../apps/controller/src/metrics/table.ts';
import { apiPages } from './reference/api.ts';
import { configurationPage } from './reference/configuration.ts';
import { conditionsPage, eventsPage } from './reference/events.ts';
import { flagsPage } from './reference/flags.ts';
import { code, page, sentence, table } from './reference/page.ts';

const folder = 'docs/reference';

/** The pages by their names. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const index = page(
    'Reference',
    'Everything by its name, made from the source.',
    table(
      ['page', 'what is there'],
      [
        [
          '[configuration](configuration.md)',
          'the configuration file, and the kinds of taintmgr.dev, field by field',
        ],
        ['[flags](flags.md)', 'flags and environment variables of both programs'],
        ['[metrics](metrics.md)', 'metrics with their labels and buckets'],
        ['[events](events.md)', 'Events by their reasons'],
        ['[conditions](conditions.md)', 'conditions with their reasons'],
        ['[logs](logs.md)', 'keys of log lines'],
        ['[API](api/README.md)', 'what the libraries export, with signatures'],
      ],
    ),
  );
  return new Map([
    ['README.md', index],
    ['configuration.md', configurationPage()],
    ['flags.md', flagsPage()],
    ['metrics.md', await metricsPage()],
    ['events.md', eventsPage()],
    ['conditions.md', conditionsPage()],
    ['logs.md', logsPage()],
    ...Array.from(apiPages(), ([name, text]) => [`api/${name}`, text] as const),
  ]);
}

/** The introduction before the tables. */
const intro = `The controller writes a line for each thing that happens, to stderr: as text, or with \`--logging-format=json\` as one JSON
object. Scripts should read JSON and rely on keys: a key means the same in every line. Messages (\`msg\`) are for people and may change.

    {"level":"info","time":"2026-01-02T03:04:05.678Z","pod":"shop/web-0","node":"a-1","took":"12ms","msg":"evicted"}

Each line also has \`level\` (\`debug\`, \`info\`, \`warn\`, \`error\`, \`fatal\`), \`time\` and \`msg\`. Lines of level
\`debug\` are written from \`-v=2\` on.`;

/** The page. */
function logsPage(): string {
  const rows = Object.entries(logKeys).sort(([a], [b]) => (a < b ? -1 : 1));
  return page(
    'Log lines',
    intro,
    table(
      ['key', 'meaning'],
      rows.map(([key, about]) => [`\`${key}\``, about]),
    ),
  );
}

// docs/reference/metrics.md: every metric of the controller.
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
async function metricsPage(): Promise<string> {
  const rows = await metricsTable();
  const parts = groups.map(([title, text, prefix]) => {
    const own = rows.filter(({ name }) => prefix.test(name));
    return `## ${title}\n\n${text}\n\n${table(titles, own.map(cells))}`;
  });
  const intro = `\`/metrics\` answers in Prometheus' text format, or as OpenMetrics for clients that request it; \`/metrics/slis\` has the metrics of health checks alone. A label has no values before something has happened that it tells apart. Where a metric needs a setting, there is no such metric without it.`;
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

if (import.meta.main) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  const pages = await referencePages();
  // The page of an entry point that is gone would hide that from npm run changeset:check.
  rmSync(`${folder}/api`, { recursive: true, force: true });
  mkdirSync(`${folder}/api`, { recursive: true });
  for (const [name, text] of pages) writeFileSync(`${folder}/${name}`, text);
}
