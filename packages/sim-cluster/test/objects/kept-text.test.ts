import assert from 'node:assert/strict';
import { it } from 'node:test';
import { freeze } from '../../src/objects/json.ts';
import { keptText } from '../../src/objects/kept-text.ts';

it('writes the text of what can still change each time, and of what is frozen once', () => {
  const open = { name: 'a' };
  assert.equal(keptText(open), '{"name":"a"}');
  open.name = 'b';
  assert.equal(keptText(open), '{"name":"b"}');
  let written = 0;
  const frozen = freeze({ toJSON: () => ({ written: ++written }) });
  assert.equal(keptText(frozen), '{"written":1}');
  assert.equal(keptText(frozen), '{"written":1}');
});

it('forgets texts when they are too many, and gives the same then', () => {
  let written = 0;
  const counted = freeze({ toJSON: () => ({ written: ++written }) });
  assert.equal(keptText(counted), '{"written":1}');
  const large = Array.from({ length: 5 }, (_, at) => freeze({ text: `${at}`.repeat(8 << 20) }));
  for (const one of large) assert.equal(keptText(one), `{"text":"${one.text}"}`);
  assert.equal(keptText(counted), '{"written":2}', 'it was forgotten');
  assert.equal(keptText(null), 'null');
});
