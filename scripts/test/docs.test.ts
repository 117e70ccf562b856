// What pages only name is there: commands of the plugin, with their flags; and manifests are sound.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { readManifest } from '@taintmgr/k8s-adapter/kinds';
import { readPolicyFiles } from '@taintmgr/k8s-adapter/manifests';
import { parse } from 'yaml';
import { readConfigFile } from '../../apps/controller/src/flags/config-file.ts';
import { run } from '../../apps/kubectl-taintmgr/test/world/run.ts';

const root = new URL('../../', import.meta.url);
const docs = new URL('docs/', root);
const called = /kubectl taintmgr ((?:[a-z][a-z-]*(?:[ \t]|(?=[^\w/]|$)))+)([^`\n]*)/gm;

interface Call {
  readonly page: string;
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

function callsOf(page: string): readonly Call[] {
  const text = readFileSync(new URL(page, docs), 'utf8');
  return Array.from(text.matchAll(called), ([, words = '', rest = '']) => ({
    page,
    words: words.trim().split(' '),
    // What follows a parenthesis belongs to another command.
    flags: Array.from(
      (rest.split(')')[0] ?? '').matchAll(/(?:^|\s)(--[a-z-]+)/g),
      ([, flag = '']) => flag,
    ),
  }));
}

/** The help of the command that these words begin with, and of its group where there is one. */
async function helpOf([command = '', second = '']: readonly string[]): Promise<string> {
  const whole = await run(command, second, '--help');
  if (second !== '' && whole.code === 0) return whole.out;
  const { code, out } = await run(command, '--help');
  return code === 0 ? out : '';
}

it('pages name no command and no flag that the plugin does not have', async () => {
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' });
  const calls = pages.filter((page) => page.endsWith('.md')).flatMap(callsOf);
  assert.ok(calls.length > 50);
  const common = (await run('options')).out;
  const helps = new Map<string, string>();
  for (const { page, words, flags } of calls) {
    const key = words.slice(0, 2).join(' ');
    const help = helps.get(key) ?? (await helpOf(words));
    helps.set(key, help);
    const usage = `\nUsage:\n  kubectl taintmgr ${words[0]}`;
    const isKnown = words[0] === 'help' || help.includes(usage);
    const [, part] = words;
    const isGroup = part !== undefined && /^Commands:$/m.test(help);
    const hasPart = !isGroup || help.includes(`\n  ${part} `);
    assert.ok(isKnown && hasPart, `${page}: there is no kubectl taintmgr ${words.join(' ')}`);
    for (const flag of flags) {
      assert.ok(`${help}${common}`.includes(flag), `${page}: ${words.join(' ')} has no ${flag}`);
    }
  }
});

/** Manifests of ours in blocks that are fenced or indented, without what indents them. */
function manifestsOf(page: string): readonly string[] {
  const text = readFileSync(new URL(page, root), 'utf8');
  const block = /^( {4})?apiVersion: taintmgr\.dev\/v1alpha1\n(?:(?:\1(?!```|\$ ).+)?\n)*/gm;
  return Array.from(text.matchAll(block), ([body, indent = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

function drainFaults(text: string): readonly unknown[] {
  const judged = readManifest(parse(text), 0);
  return judged.kind === 'refused' ? judged.faults : [];
}

it('manifests in pages are sound', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-docs-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'manifest.yaml');
  const pages = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (page) => /^(docs|deploy|apps|packages)\/.*\.md$/.test(page) && !/node_modules/.test(page),
  );
  const found = pages.flatMap((page) => manifestsOf(page).map((text) => ({ page, text })));
  assert.ok(found.length > 4);
  for (const { page, text } of found) {
    if (text.includes('kind: NodeDrain')) {
      assert.deepEqual(drainFaults(text), [], `${page}:\n${text}`);
      continue;
    }
    writeFileSync(file, text);
    const isSettings = text.includes('kind: ControllerConfiguration');
    const read = (): unknown => (isSettings ? readConfigFile(file) : readPolicyFiles([file], 0));
    assert.doesNotThrow(read, `${page}:\n${text}`);
  }
});
