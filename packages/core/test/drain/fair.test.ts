// In a drain as well: a namespace whose evictions are answered late holds up no other.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runDrainScript } from './script.ts';

it('a drain evicts the pods of a namespace beside one whose evictions are answered late', () => {
  const podsOf = (namespace: string, count: number, tolerates = ''): readonly string[] =>
    Array.from(
      { length: count },
      (_, index) => `0 pod ${namespace}/${namespace}-${index + 10} n1${tolerates}`,
    );
  const script = [
    'drain m:NoExecute n1 {}',
    '0 node n1 m:NoExecute@0',
    ...podsOf('hang', 40),
    ...podsOf('calm', 5, ' for m:NoExecute 3'),
    '0 synced',
    '3 tick',
    '4.1 tick',
    '4.2 done calm/calm-10',
    '4.3 tick',
  ];
  const played = runDrainScript(script.join('\n'));
  const until = (time: string): string => played.slice(0, played.indexOf(`\n${time}`));
  const sent = (text: string, namespace: string): number =>
    text.match(new RegExp(`evictPod .*${namespace}/`, 'g'))?.length ?? 0;
  assert.equal(sent(until('3 tick'), 'hang'), 16, played);
  assert.equal(sent(until('4.2 done'), 'calm'), 4, played);
  assert.equal(sent(played, 'calm'), 5);
  assert.equal(sent(played, 'hang'), 16);
});
