// Writes the parts of the chart that come from other sources: npm run chart. A test fails when they
// are out of date.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import configSchema from '../apps/controller/config.schema.json' with { type: 'json' };
import { yamlOf } from '../apps/kubectl-taintmgr/src/render/yaml.ts';
import { decisions, type Field, type Schema, sections } from './chart/values.ts';
import { crdFiles } from './crds.ts';
import { chartRules, prometheusRuleYaml, rulesYaml } from './monitoring/alerts.ts';
import { dashboardJson } from './monitoring/dashboard.ts';

/** The folder of the chart. */
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

// Templates of the chart that deploy/kustomize already has: rights, and objects without settings.
// Each file is copied unchanged, with its comments, under the condition that its folder stands for.
const acts = 'include "taintmgr.acts" .';
const asksKubelets = 'include "taintmgr.asksKubelets" .';

/** Files of deploy/kustomize and when they are part of an installation; null: always. */
const sources: readonly (readonly [file: string, when: string | null])[] = [
  ['base/metrics-reader.yaml', null],
  ['base/pauser.yaml', null],
  ['base/viewer.yaml', null],
  ['base/policies.yaml', null],
  ['base/roles.yaml', null],
  ['acting/history.yaml', acts],
  ['acting/leader-election.yaml', acts],
  ['acting/overlap.yaml', acts],
  ['acting/status.yaml', acts],
  ['modes/observe/cluster-role.yaml', 'eq .Values.mode "observe"'],
  ['modes/observe/status.yaml', 'eq .Values.mode "observe"'],
  ['modes/delete/cluster-role.yaml', 'eq .Values.mode "delete"'],
  ['modes/evict/cluster-role.yaml', 'eq .Values.mode "evict"'],
  ['modes/evict-then-delete/cluster-role.yaml', 'eq .Values.mode "evict-then-delete"'],
  ['../takeover/policies.yaml', '.Values.takeover.enabled'],
  ['components/takeover/roles.yaml', '.Values.takeover.enabled'],
  ['components/takeover-repair/roles.yaml', '.Values.takeover.repair'],
  ['components/node-lifecycle/roles.yaml', '.Values.nodeLifecycle.enabled'],
  ['components/device-taints/roles.yaml', '.Values.deviceTaints.enabled'],
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
  [
    'components/eviction-requests/roles.yaml',
    'or .Values.nodeDrains.evictionRequests .Values.policies.evictionRequests',
  ],
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

/** The metadata of an object with specific annotations or labels, which follow. */
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

const note = 'Made by npm run chart from scripts/chart/values.ts.';

/** The chart itself. */
function chartYaml(version: string): string {
  return `# ${note}
apiVersion: v2
name: taintmgr
description: Pod eviction by node taints that people can see, trust and control
type: application
version: ${version}
appVersion: ${version}
kubeVersion: ">=1.28.0-0"
keywords: [taints, eviction, drain, nodes]
home: https://github.com/taintmgr/taintmgr
sources: [https://github.com/taintmgr/taintmgr]
annotations:
  artifacthub.io/license: Apache-2.0
  artifacthub.io/category: integration-delivery
`;
}

/** Each value with its comment and its default. */
function valuesYaml(): string {
  const parts = Object.entries(sections).map(([heading, fields]) => {
    const lines = Object.entries(fields).flatMap(([name, field]) => [
      '',
      ...linesOf(name, field, ''),
    ]);
    return `## ${heading}\n${lines.join('\n')}\n`;
  });
  return `# ${note}\n\n${parts.join('\n')}`;
}

function linesOf(name: string, field: Field, indent: string): readonly string[] {
  const about = folded(field.about, 96 - indent.length).map((line) => `${indent}# ${line}`);
  if (field.kind === 'group') {
    const inner = Object.entries(field.fields);
    return [
      ...about,
      `${indent}${name}:`,
      ...inner.flatMap(([below, one]) => linesOf(below, one, `${indent}  `)),
    ];
  }
  const yaml = yamlOf({ [name]: field.initial }).trimEnd();
  return [...about, ...yaml.split('\n').map((line) => indent + line)];
}

function folded(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length >= width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** The schema that helm holds values against. */
function valuesSchema(): Schema {
  const fields = Object.assign({}, ...Object.values(sections));
  const { definitions } = configSchema as { readonly definitions?: object };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart taintmgr',
    description: note,
    type: 'object',
    additionalProperties: false,
    properties: {
      ...propertiesOf(fields),
      global: { description: 'What a chart above this one shares; nothing here.', type: 'object' },
    },
    ...(definitions && { definitions }),
  };
}

function propertiesOf(fields: Readonly<Record<string, Field>>): Schema {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, schemaOf(field)] as const),
  );
}

function schemaOf(field: Field): Schema {
  const { about: description } = field;
  if (field.kind === 'value') return { description, ...field.schema, default: field.initial };
  const properties = propertiesOf(field.fields);
  return { description, type: 'object', additionalProperties: false, properties };
}

/** The README; `intro` is what stands above the values. */
function readme(intro: string): string {
  const rows = Object.entries(decisions).flatMap(([name, field]) => rowsOf(name, field));
  return `${intro.trimEnd()}\n\n| value | default | what it is |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function rowsOf(path: string, field: Field): readonly string[] {
  if (field.kind === 'group') {
    const inner = Object.entries(field.fields);
    return inner.flatMap(([name, one]) => rowsOf(`${path}.${name}`, one));
  }
  const { initial, about } = field;
  const shown = `\`${JSON.stringify(initial).replaceAll('"', '')}\``;
  return [`| \`${path}\` | ${shown} | ${about.replaceAll('|', '\\|')} |`];
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
