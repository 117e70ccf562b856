import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { readConfigFile } from '../../apps/controller/src/flags/config-file.ts';

const root = new URL('../../', import.meta.url);

it('the library example of the README runs and prints what it says', () => {
  const readme = readFileSync(new URL('README.md', root), 'utf8');
  const match = /```ts\n([\s\S]*?)```\s*```\n([\s\S]*?)```/.exec(readme);
  const [whole, code = '', printed = ''] = match ?? assert.fail('no example with its output');
  assert.equal(printedBy(code), printed);
  const core = readFileSync(new URL('packages/core/README.md', root), 'utf8');
  assert.ok(core.includes(whole), 'packages/core/README.md shows another program');
});

it('the examples of the simulated cluster and of the oracle run, and the checkers miss the client', () => {
  assert.equal(printedBy(onlyExample('packages/sim-cluster/README.md')), '');
  assert.match(
    printedBy(onlyExample('tools/oracle/README.md')),
    /invariant: 'condition taints',\n.*\n +evidence: 'node zone-a-1, /,
  );
});

function onlyExample(page: string): string {
  const text = readFileSync(new URL(page, root), 'utf8');
  const [example, ...others] = text.matchAll(/^```ts\n([\s\S]*?)^```$/gm);
  assert.deepEqual(others, []);
  return example?.[1] ?? assert.fail(`no example in ${page}`);
}

it('the configuration in docs/node-lifecycle.md is one', (t) => {
  const page = readFileSync(new URL('docs/node-lifecycle.md', root), 'utf8');
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? assert.fail('no configuration');
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-docs-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'config.yaml');
  writeFileSync(file, yaml);
  assert.doesNotThrow(() => readConfigFile(file));
});

it('README and CONTRIBUTING name the versions of Node that package.json names', () => {
  const nodeOf = (folder: string): string => {
    const { engines } = JSON.parse(readFileSync(new URL(`${folder}package.json`, root), 'utf8'));
    return engines.node.replace('>=', '');
  };
  const clone = nodeOf('');
  const folders = ['packages', 'apps'].flatMap((parent) => {
    return readdirSync(new URL(`${parent}/`, root)).map((name) => `${parent}/${name}/`);
  });
  const [published = '', ...others] = new Set(folders.map(nodeOf));
  assert.deepEqual(others, [], 'all packages need the same');
  for (const file of ['README.md', 'CONTRIBUTING.md']) {
    const text = readFileSync(new URL(file, root), 'utf8');
    assert.ok(text.includes(`Node ${clone} or newer`), `${file}: a clone needs ${clone}`);
    assert.ok(text.includes(`Node ${published} or newer`), `${file}: packages need ${published}`);
  }
});

/** What a program prints that stands on a page. */
function printedBy(code: string): string {
  const args = ['-C', '@taintmgr/source', '--input-type=module-typescript', '-e', code];
  return execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
}
