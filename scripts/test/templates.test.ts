// What people meet who come with a bug, an idea or some time: forms of issues, and good first issues.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';

const root = new URL('../../', import.meta.url);
const folder = '.github/ISSUE_TEMPLATE/';
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

interface Field {
  readonly type: string;
  readonly id?: string;
  readonly attributes: { readonly label?: string; readonly value?: string };
}

for (const file of readdirSync(new URL(folder, root)).filter((one) => one !== 'config.yml')) {
  describe(file, () => {
    const form = parse(read(folder + file));
    const fields: readonly Field[] = form.body;

    it('is a form of GitHub', () => {
      assert.deepEqual(Object.keys(form), ['name', 'description', 'labels', 'body']);
      const asked = fields.filter(({ type }) => type === 'textarea');
      assert.ok(asked.length > 0 && asked.every(({ attributes }) => attributes.label));
      assert.equal(new Set(asked.map(({ id }) => id)).size, asked.length);
      for (const { type, attributes } of fields) {
        assert.ok(type === 'textarea' || (type === 'markdown' && attributes.value), type);
      }
    });

    it('asks for the output of commands that there are', () => {
      const commands = Array.from(
        read(folder + file).matchAll(/`kubectl taintmgr ([a-z-]+)/g),
        ([, name = '']) => name,
      );
      const help = read('docs/reference/flags.md');
      for (const name of commands) assert.ok(help.includes(`### kubectl taintmgr ${name}`), name);
    });
  });
}

it('good first issues name files that are there', () => {
  const [, issues = ''] = read('docs/roadmap.md').split('## Good first issues');
  const rows = issues.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'));
  assert.ok(rows.length > 3);
  for (const row of rows) {
    const [, where = ''] = row.split(' | ');
    const paths = Array.from(where.matchAll(/`([^`]+)`/g), ([, path = '']) => path);
    assert.ok(paths.length > 0, row);
    for (const path of paths) {
      const commands = path.startsWith('packages/') ? '' : 'apps/kubectl-taintmgr/src/commands/';
      assert.ok(existsSync(new URL(commands + path, root)), path);
    }
  }
});
