// Writes what of the chart is made from other sources: npm run chart. A test says when it is to be run.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chartYaml, readme, valuesSchema, valuesYaml } from './chart/files.ts';
import { crdTemplates, rightsTemplates } from './chart/rights.ts';
import { crdFiles } from './crds.ts';
import { dashboardJson } from './monitoring/dashboard.ts';
import { chartRules, prometheusRuleYaml, rulesYaml } from './monitoring/rules.ts';

/** Where the chart is. */
export const chartFolder = 'deploy/helm/taintmgr';
/** Folders in which everything is made. */
export const madeFolders: readonly string[] = ['templates/rights', 'templates/crds', 'files'];

/** The files by their paths within the chart. */
export function chartFiles(): ReadonlyMap<string, string> {
  const { version } = JSON.parse(readFileSync('packages/core/package.json', 'utf8'));
  const intro = readFileSync('scripts/chart/readme.md', 'utf8');
  const templates = [...rightsTemplates(), ...crdTemplates(crdFiles())];
  return new Map([
    ['Chart.yaml', chartYaml(version)],
    ['values.yaml', valuesYaml()],
    ['values.schema.json', `${JSON.stringify(valuesSchema(), null, 2)}\n`],
    ['README.md', readme(intro)],
    ['files/alerts.yaml', chartRules()],
    ['files/dashboard.json', dashboardJson()],
    ...templates.map(([name, text]) => [`templates/${name}`, text] as const),
  ]);
}

/** The files of deploy/monitoring by their names. */
export function monitoringFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['alerts.yaml', rulesYaml()],
    ['dashboard.json', dashboardJson()],
    ['prometheus-rule.yaml', prometheusRuleYaml()],
  ]);
}

if (import.meta.main) {
  for (const folder of madeFolders)
    rmSync(join(chartFolder, folder), { recursive: true, force: true });
  const inChart = [...chartFiles()].map(([name, text]) => [join(chartFolder, name), text] as const);
  const beside = [...monitoringFiles()].map(
    ([name, text]) => [join('deploy/monitoring', name), text] as const,
  );
  for (const [file, text] of [...inChart, ...beside]) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
