import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ColorChoice, paintFor } from '../../src/render/style.ts';

describe('paintFor', () => {
  const yellow = '\u001b[33m\u001b[1mx\u001b[22m\u001b[39m';
  const cases: readonly (readonly [
    name: string,
    choice: ColorChoice,
    isTerminal: boolean,
    env: Readonly<Record<string, string>>,
    expected: string,
  ])[] = [
    ['a terminal', 'auto', true, { TERM: 'xterm' }, yellow],
    ['a file', 'auto', false, { TERM: 'xterm' }, 'x'],
    ['a terminal and NO_COLOR', 'auto', true, { NO_COLOR: '1' }, 'x'],
    ['an empty NO_COLOR', 'auto', true, { NO_COLOR: '' }, yellow],
    ['a dumb terminal', 'auto', true, { TERM: 'dumb' }, 'x'],
    ['always, in spite of NO_COLOR', 'always', false, { NO_COLOR: '1' }, yellow],
    ['never', 'never', true, {}, 'x'],
  ];
  for (const [name, choice, isTerminal, env, expected] of cases) {
    it(name, () => assert.equal(paintFor(choice, isTerminal, env)('warning', 'x'), expected));
  }
});
