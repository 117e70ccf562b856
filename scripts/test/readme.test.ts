import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

const root = new URL('../../', import.meta.url);

it('the library example of the README runs and prints what it says', () => {
  const readme = readFileSync(new URL('README.md', root), 'utf8');
  const match = /```ts\n([\s\S]*?)```\s*```\n([\s\S]*?)```/.exec(readme);
  const [, code = '', printed = ''] = match ?? assert.fail('no example with its output');
  const args = ['-C', '@taintmgr/source', '--input-type=module-typescript', '-e', code];
  assert.equal(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }), printed);
});
