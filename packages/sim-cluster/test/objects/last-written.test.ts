import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freeze } from '../../src/objects/json.ts';
import { lastWritten } from '../../src/objects/last-written.ts';
import { chunksOf, jsonReply, jsonWatch } from '../../src/wire/answer.ts';

const pod = (name: string) => {
  return { kind: 'Pod', apiVersion: 'v1', metadata: { name }, spec: { nodeName: 'n' } };
};

describe('what was written last', () => {
  it('is given again for the same object, and only for that', () => {
    let count = 0;
    const write = lastWritten((object: object) => `${JSON.stringify(object)} ${++count}`);
    const [a, b] = [freeze({ name: 'a' }), freeze({ name: 'b' })];
    const written = [a, a, b, b, a].map(write);
    const [one, two, three] = ['{"name":"a"} 1', '{"name":"b"} 2', '{"name":"a"} 3'];
    assert.deepEqual(written, [one, one, two, two, three]);
  });

  it('is written anew where the object may have changed', () => {
    const write = lastWritten((object: object) => JSON.stringify(object));
    const open = { name: 'a' };
    assert.equal(write(open), '{"name":"a"}');
    open.name = 'b';
    assert.equal(write(open), '{"name":"b"}');
  });
});

describe('an answer and an event about one object', () => {
  it('say it as they do alone, whichever comes first', () => {
    const frozen = freeze(pod('a'));
    const open = pod('a');
    const line = `${JSON.stringify({ type: 'MODIFIED', object: open })}\n`;
    assert.equal(jsonWatch.event('MODIFIED', frozen), line);
    assert.deepEqual([...chunksOf(jsonReply(200, frozen, false))], [`${JSON.stringify(open)}\n`]);
    assert.deepEqual([...chunksOf(jsonReply(200, frozen, true))], [JSON.stringify(open, null, 2)]);
    assert.equal(jsonWatch.event('MODIFIED', frozen), line);
  });

  it('are about the object that was asked for, where another was written in between', () => {
    const [a, b] = [freeze(pod('a')), freeze(pod('b'))];
    const names = [a, b, a].map((object) =>
      JSON.parse([...chunksOf(jsonReply(200, object, false))].join('')),
    );
    assert.deepEqual(names, [a, b, a]);
  });
});
