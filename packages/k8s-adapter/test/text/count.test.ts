import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pausedText } from '../../src/explain/words.ts';
import { choicesText, listText } from '../../src/text/count.ts';

const names = (number: number): readonly string[] =>
  Array.from({ length: number }, (_, index) => `n${index}`);

it('cuts names with a count', () => {
  assert.equal(listText(names(3)), 'n0, n1, n2');
  assert.equal(listText(names(4)), 'n0, n1, n2 and 1 more');
  assert.equal(listText(names(2), ' and '), 'n0 and n1');
  assert.equal(choicesText([]), 'none');
  assert.equal(choicesText(names(12)), names(12).join(', '));
  assert.equal(choicesText(names(700)), `${names(12).join(', ')} and 688 more`);
});

it('cuts what a pause holds', () => {
  const scope = { zones: names(2), nodes: null, taintKeys: [], namespaces: names(60) };
  assert.equal(
    pausedText({ scope, deadlines: true, readiness: false }),
    `evictions in zones n0 and n1, of pods in namespaces ${names(12).join(', ')} and 48 more`,
  );
});
