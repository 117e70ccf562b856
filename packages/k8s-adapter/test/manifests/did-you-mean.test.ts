import assert from 'node:assert/strict';
import { it } from 'node:test';
import { didYouMean } from '../../src/manifests/did-you-mean.ts';

const cases: readonly (readonly [word: string, names: readonly string[], said: string])[] = [
  ['zones', ['node', 'nodes', 'zone', 'selector'], ', did you mean zone?'],
  ['stopKublet', ['stopKubelet', 'resumeKubelet'], ', did you mean stopKubelet?'],
  ['StopKubelet', ['stopKubelet'], ', did you mean stopKubelet?'],
  // Two letters that changed places are one mistake, in short words too.
  ['drian', ['taint', 'drain', 'cordon'], ', did you mean drain?'],
  ['tiant', ['taint', 'drain', 'untaint'], ', did you mean taint?'],
  ['ndoe', ['zone', 'node'], ', did you mean node?'],
  ['noed', ['zone', 'node'], ', did you mean node?'],
  ['shop/wbe', ['shop/db', 'shop/web'], ', did you mean shop/web?'],
  ['C', ['A', 'B'], ''],
  ['nowhere', ['zone-a', 'zone-b'], ''],
  ['zone', [], ''],
];
for (const [word, names, said] of cases) {
  it(`${word} among ${names.join(', ') || 'nothing'}`, () => {
    assert.equal(didYouMean(word, names), said);
  });
}
