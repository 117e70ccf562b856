// The texts of others, as Markdown and HTML show them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cut, duration, list, plain, table } from '../../../action/markdown.ts';

/** The text that a reader of the page sees. */
function seen(markdown: string): string {
  return markdown
    .replaceAll('&#8203;', '')
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
}

describe('a text of others', () => {
  for (const [text, markdown] of [
    ['deploy/web.yaml:26', 'deploy/web.yaml:26'],
    ['spec.replicas 4 -> 2', 'spec.replicas 4 -> 2'],
    ['a | b', 'a &#124; b'],
    ['```\n# x', '&#96;&#96;&#96; &#35; x'],
    ['<img src=x>', '&#60;img src=x>'],
    ['[a](https://b)', '&#91;a&#93;(https&#58;//b)'],
    ['WWW.b', 'WWW&#46;b'],
    ['@team', '&#64;&#8203;team'],
    ['*b* _i_', '&#42;b&#42; &#95;i&#95;'],
    ['a\u202Eb\u0000c', 'a b c'],
    ['Größe', 'Größe'],
  ] as const) {
    it(JSON.stringify(text), () => assert.equal(plain(text), markdown));
  }

  it('is one line that says the same and does nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const markdown = plain(text);
        assert.doesNotMatch(markdown, /[^\p{L}\p{N} .,:;/()%+=?>"'&#-]|:\/\//u);
        assert.doesNotMatch(markdown.replaceAll(/&#\d+;/g, ''), /[&#]/);
        const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
        assert.equal(
          seen(markdown)
            .replaceAll(/[\p{C}\s]+/gu, ' ')
            .trim(),
          line,
        );
      }),
    );
  });

  it('is cut where it is long, and not within a character', () => {
    assert.equal(plain('😀'.repeat(500)), `${'&#128512;'.repeat(400)}...`);
  });
});

it('a table without rows is none', () => {
  assert.equal(table(['a', 'b'], []), '');
  assert.equal(table(['a', 'b'], [['1', '2']]), '| a | b |\n| --- | --- |\n| 1 | 2 |\n\n');
});

it('a list says how many it does not show', () => {
  assert.equal(list(['a', 'b'], 2), '- a\n- b\n');
  assert.equal(list(['a', 'b', 'c'], 1), '- a\n- and 2 more\n');
});

it('a summary that GitHub would throw away is cut at the end of a line', () => {
  const text = 'ä'.repeat(10).concat('\n').repeat(10);
  assert.equal(cut(text, 1000), text);
  const [shown = '', said] = cut(text, 50).split('\n\n');
  assert.equal(shown, ['ä'.repeat(10), 'ä'.repeat(10)].join('\n'));
  assert.equal(said, '... cut after 50 bytes; the log of the step has all\n');
});

for (const [seconds, text] of [
  [0, '0s'],
  [0.4, '0s'],
  [59.6, '1m'],
  [3661, '1h1m1s'],
  [-10, '10s'],
] as const) {
  it(`${seconds} seconds are ${text}`, () => assert.equal(duration(seconds), text));
}
