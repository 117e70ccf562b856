import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  modeWords,
  pressureRulesOf,
  pressureRulesWords,
  pressureSemanticsOf,
  rulesOf,
  rulesWords,
  semanticsOf,
  spelled,
} from '../../src/text/vocabulary.ts';

describe('a word', () => {
  const cases: readonly (readonly [
    text: string,
    words: readonly string[],
    word: string | undefined,
    hint?: string,
  ])[] = [
    ['evict', modeWords, 'evict'],
    ['evict-then-delete', modeWords, 'evict-then-delete'],
    [
      'evictThenDelete',
      modeWords,
      'evict-then-delete',
      'write evict-then-delete instead of evictThenDelete',
    ],
    [
      'EvictThenDelete',
      modeWords,
      'evict-then-delete',
      'write evict-then-delete instead of EvictThenDelete',
    ],
    ['Evict', modeWords, 'evict', 'write evict instead of Evict'],
    ['drop', modeWords, undefined],
    ['', modeWords, undefined],
    ['precise', modeWords, undefined],
    ['taintmgr', rulesWords, 'taintmgr'],
    ['kube-controller-manager-1.36', rulesWords, 'kube-controller-manager-1.36'],
    ['precise', rulesWords, 'taintmgr', 'write taintmgr instead of precise'],
    [
      'upstream-1.36',
      rulesWords,
      'kube-controller-manager',
      'write kube-controller-manager instead of upstream-1.36',
    ],
    [
      'kcm-1.36',
      rulesWords,
      'kube-controller-manager',
      'write kube-controller-manager instead of kcm-1.36',
    ],
    ['upstream-1.37', rulesWords, undefined],
    ['precise', pressureRulesWords, 'taintmgr', 'write taintmgr instead of precise'],
  ];
  for (const [text, words, word, hint = null] of cases) {
    it(`${JSON.stringify(text)} is ${word ?? 'none'} of ${words.join(', ')}`, () => {
      assert.deepEqual(spelled(text, words), word === undefined ? null : { word, hint });
    });
  }
});

it('names the semantics of the library', () => {
  assert.deepEqual(
    rulesWords.map((word) => [word, semanticsOf(word), rulesOf(semanticsOf(word))]),
    [
      ['taintmgr', 'precise', 'taintmgr'],
      ['kube-controller-manager', 'upstream-1.36', 'kube-controller-manager'],
      ['kube-controller-manager-1.36', 'upstream-1.36', 'kube-controller-manager'],
    ],
  );
  for (const word of pressureRulesWords) {
    assert.equal(pressureRulesOf(pressureSemanticsOf(word)), word);
  }
});
