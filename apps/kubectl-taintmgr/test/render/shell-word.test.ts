import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { shellWord } from '../../src/render/printable.ts';

it('a word is what it was once a shell has read it', () => {
  const words = [
    'drain-1',
    'maintenance=kernel:NoExecute',
    '',
    'a b',
    "it's",
    '$(reboot)',
    '~',
    '!',
  ];
  for (const word of words) {
    const read = execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' });
    assert.equal(read, word);
  }
  assert.equal(shellWord('drain-1'), 'drain-1');
});
