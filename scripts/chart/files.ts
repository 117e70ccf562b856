// Files of the chart that say what its values are: values.yaml, values.schema.json, README.md.
import configSchema from '../../apps/controller/config.schema.json' with { type: 'json' };
import { yamlOf } from '../../apps/kubectl-taintmgr/src/render/yaml.ts';
import { decisions, type Field, type Schema, sections } from './values.ts';

const note = 'Made by npm run chart from scripts/chart/values.ts.';

/** The chart itself. */
export function chartYaml(version: string): string {
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

/** Each value with what is said of it and its default. */
export function valuesYaml(): string {
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
export function valuesSchema(): Schema {
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
export function readme(intro: string): string {
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
