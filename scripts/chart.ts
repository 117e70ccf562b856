// Writes what of the chart is made from other sources: npm run chart. A test says when it is to be run.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chartYaml, readme, valuesSchema, valuesYaml } from './chart/files.ts';
import { crdFiles } from './crds.ts';
import { chartRules, prometheusRuleYaml, rulesYaml } from './monitoring/alerts.ts';
import { dashboardJson } from './monitoring/dashboard.ts';

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

// Templates of the chart that deploy/kustomize has already: rights, and objects without settings. Each
// file is taken over as it is, comments and all, under the condition that its folder stands for.
const acts = 'include "taintmgr.acts" .';
const asksKubelets = 'include "taintmgr.asksKubelets" .';

/** Files of deploy/kustomize and when they are part of an installation; null: always. */
const sources: readonly (readonly [file: string, when: string | null])[] = [
  ['base/metrics-reader.yaml', null],
  ['base/pauser.yaml', null],
  ['base/viewer.yaml', null],
  ['base/policies.yaml', null],
  ['base/roles.yaml', null],
  ['acting/leader-election.yaml', acts],
  ['acting/overlap.yaml', acts],
  ['acting/status.yaml', acts],
  ['modes/observe/cluster-role.yaml', 'eq .Values.mode "observe"'],
  ['modes/observe/status.yaml', 'eq .Values.mode "observe"'],
  ['modes/delete/cluster-role.yaml', 'eq .Values.mode "delete"'],
  ['modes/evict/cluster-role.yaml', 'eq .Values.mode "evict"'],
  ['modes/evict-then-delete/cluster-role.yaml', 'eq .Values.mode "evictThenDelete"'],
  ['../takeover/policies.yaml', '.Values.takeover.enabled'],
  ['components/takeover/roles.yaml', '.Values.takeover.enabled'],
  ['components/takeover-repair/roles.yaml', '.Values.takeover.repair'],
  ['components/node-lifecycle/roles.yaml', '.Values.nodeLifecycle.enabled'],
  ['components/legacy-pods/roles.yaml', '.Values.nodeLifecycle.legacyPods'],
  ['parts/node-pressure/roles.yaml', '.Values.nodePressure.enabled'],
  [
    'components/node-pressure/roles.yaml',
    'and .Values.nodePressure.enabled (eq .Values.nodePressure.source "proxy")',
  ],
  ['components/node-pressure-kubelets/roles.yaml', asksKubelets],
  ['components/node-pressure-kubelets/service-account.yaml', asksKubelets],
  ['components/node-drains/roles.yaml', '.Values.nodeDrains.enabled'],
  ['components/rollout-restart/roles.yaml', '.Values.nodeDrains.rolloutRestart'],
  ['components/rollout-restart/admission-policy.yaml', '.Values.nodeDrains.rolloutRestart'],
  ['components/node-conditions/roles.yaml', '.Values.nodeDrains.nodeConditions'],
  ['components/volumes/roles.yaml', '.Values.nodeDrains.volumes'],
  ['components/eviction-requests/roles.yaml', '.Values.nodeDrains.evictionRequests'],
  ['components/deletions/roles.yaml', '.Values.policies.deletions'],
  ['components/evictions/roles.yaml', '.Values.policies.evictions'],
  ['components/limits/roles.yaml', '.Values.limits.enabled'],
  ['components/guard-annotations/admission-policy.yaml', '.Values.guard.enabled'],
  ['components/guard-annotations/account-policy.yaml', '.Values.guard.enabled'],
];

/** The templates by their names, `rights/acting-overlap.yaml`. */
function rightsTemplates(): ReadonlyMap<string, string> {
  return new Map(
    sources.map(([file, when]) => {
      const yaml = readFileSync(`deploy/kustomize/${file}`, 'utf8');
      const note = `# Made by npm run chart from ${join('deploy/kustomize', file)}.\n`;
      const text = note + template(yaml, 'taintmgr.metadata');
      const name = file.replace(/^(components|modes|\.\.)\//, '').replaceAll('/', '-');
      return [`rights/${name}`, conditional(text, when)];
    }),
  );
}

/** The templates of definitions, `crds/NAME.yaml`. */
function crdTemplates(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const definitions = [...files].filter(([name]) => name !== 'kustomization.yaml');
  return new Map(
    definitions.map(([name, yaml]) => [
      `crds/${name}`,
      conditional(template(yaml, 'taintmgr.crdMetadata'), '.Values.crds.install'),
    ]),
  );
}

/** The metadata of an object that has annotations or labels of its own, which follow. */
function withOwn(name: string, own: string): string {
  const labels = '  labels:\n    {{- include "taintmgr.labels" . | nindent 4 }}\n';
  const others = '{{- toYaml . | nindent 4 }}';
  return own === 'labels'
    ? `metadata:\n${name}  {{- with .Values.annotations }}\n  annotations:\n    ${others}\n  {{- end }}\n${labels}`
    : `metadata:\n${name}${labels}  annotations:\n    {{- with .Values.annotations }}${others}{{ end }}\n`;
}

function conditional(text: string, when: string | null): string {
  return when === null ? text : `{{- if ${when} }}\n${text}{{- end }}\n`;
}

/** In the namespace of the release, with its labels and annotations, and nothing else changed. */
function template(yaml: string, metadata: string): string {
  if (yaml.includes('{{')) throw new Error('what is made a template must not look like one');
  return yaml
    .replaceAll('namespace: taintmgr-system', 'namespace: {{ .Release.Namespace | quote }}')
    .replaceAll(':taintmgr-system:', ':{{ .Release.Namespace }}:')
    .replace(
      /^metadata:\n(?:( {2}name: .*\n) {2}(annotations|labels):\n)?/gm,
      (_, name?: string, own?: string) =>
        name !== undefined && own !== undefined
          ? withOwn(name, own)
          : `metadata:\n  {{- include "${metadata}" . | nindent 2 }}\n`,
    );
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
