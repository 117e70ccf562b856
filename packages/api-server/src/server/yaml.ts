// Writes JSON values as YAML, in blocks as the real server does.
import { isList, isObject, parseAccept } from '@taintmgr/sim-cluster/server';

export const yamlType = 'application/yaml';

/** Whether the first entry of the Accept header that is understood asks for YAML. */
export function prefersYaml(headers: Readonly<Record<string, string>>): boolean {
  for (const { mediaType, parameters } of parseAccept(headers.accept ?? '*/*')) {
    if (mediaType === yamlType && parameters.as === undefined) return true;
    if (mediaType === 'application/json' || mediaType === '*/*') return false;
  }
  return false;
}

/** A document. */
export function yamlText(value: unknown): string {
  return `${block(value, '')}\n`;
}

function block(value: unknown, indent: string): string {
  if (isList(value) && value.length > 0) {
    return value.map((item) => `${indent}- ${block(item, `${indent}  `).trimStart()}`).join('\n');
  }
  if (!isObject(value) || Object.keys(value).length === 0) return `${indent}${scalarText(value)}`;
  return Object.entries(value)
    .map(([key, member]) => `${indent}${scalarText(key)}:${memberText(member, indent)}`)
    .join('\n');
}

function memberText(member: unknown, indent: string): string {
  const isEmpty = !(isList(member) || isObject(member)) || Object.keys(member).length === 0;
  if (isEmpty) return ` ${scalarText(member)}`;
  // Lists stand where their key stands.
  return `\n${block(member, isList(member) ? indent : `${indent}  `)}`;
}

/** Texts that YAML would not read as texts; those of version 1.1 too. */
const notPlain = /^(?:~|null|true|false|yes|no|on|off|y|n|[-+.]?[\d.][\w.:+-]*)$/i;

function scalarText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = /^[A-Za-z_/][\w./-]*(?: [\w./-]+)*$/.test(value) && !notPlain.test(value);
  return isPlain ? value : JSON.stringify(value);
}
