import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type MetricRow, metricsTable } from '../../apps/controller/src/metrics/table.ts';
import { monitoringFiles } from '../chart.ts';
import { alerts } from '../monitoring/alerts.ts';
import { dashboardQueries } from '../monitoring/dashboard.ts';

/** Labels that Prometheus gives what it collects, and that of histograms. */
const ofTargets = ['cluster', 'namespace', 'job', 'pod', 'le'];

/** Metrics and labels that a query names, without functions, operators, numbers and ranges. */
function namesIn(query: string): { readonly metrics: string[]; readonly labels: string[] } {
  const bare = query.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]/g, '');
  const grouped = [...bare.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(', '),
  );
  const matched = [...bare.matchAll(/(\w+)=~?""/g)].map(([, label = '']) => label);
  const rest = bare.replaceAll(/\bby \([^)]*\)/g, '').replaceAll(/\{[^}]*\}/g, '');
  const metrics = [...rest.matchAll(/\b[a-z]\w+\b(?! *\()/g)].map(([name]) => name);
  const words = ['or', 'and', 'unless', 'on', 'offset'];
  return {
    metrics: metrics.filter((name) => !words.includes(name)),
    labels: [...grouped, ...matched],
  };
}

function metricOf(table: readonly MetricRow[], name: string): MetricRow | undefined {
  return table.find((row) => {
    const parts = row.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    return parts.some((part) => row.name + part === name);
  });
}

describe('what watches the controller', async () => {
  const table = await metricsTable();
  const queries = [...dashboardQueries(), ...alerts.map(({ expr }) => expr)];
  for (const query of queries) {
    it(`names what there is: ${query}`, () => {
      const { metrics, labels } = namesIn(query);
      assert.ok(metrics.length > 0);
      const rows = metrics.map((name) => metricOf(table, name) ?? assert.fail(`no metric ${name}`));
      const known = [...ofTargets, ...rows.flatMap((row) => row.labels)];
      for (const label of labels) assert.ok(known.includes(label), `no label ${label}`);
    });
  }

  it('is in deploy/monitoring as its sources say (npm run chart)', () => {
    const files = monitoringFiles();
    assert.deepEqual(readdirSync('deploy/monitoring').sort(), [...files.keys()].sort());
    for (const [name, text] of files) {
      assert.equal(readFileSync(`deploy/monitoring/${name}`, 'utf8'), text, name);
    }
  });

  it('has a page for each alert, and none beside', () => {
    const pages = readdirSync('docs/alerts').filter((name) => name !== 'README.md');
    assert.deepEqual(pages.sort(), alerts.map(({ name }) => `${name}.md`).sort());
    for (const { name, severity } of alerts) {
      const text = readFileSync(`docs/alerts/${name}.md`, 'utf8');
      assert.ok(text.startsWith(`# ${name}\n`), name);
      const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
      assert.deepEqual(headings, ['What it means', 'Why it matters', 'How to check', 'What to do']);
      assert.match(text, new RegExp(`Severity: ${severity}`), name);
    }
    assert.ok(existsSync('docs/alerts/README.md'));
  });
});
