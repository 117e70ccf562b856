import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countEventRequest, onOneLine, postEventRequest } from '../../src/proto/event-requests.ts';

describe('Events', () => {
  it('quote what others have written on one line, in which nothing steers a terminal', () => {
    const subject = { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'p', uid: 'u' };
    const message = 'webhook says:\r\n  \u001b[2J\u009b\u061c\u202e\u2028\ufeff\u3164';
    const event = { subject, type: 'Normal', reason: 'R', message } as const;
    const series = { name: 'p.1', event, component: 'c', firstAt: 0, lastAt: 0, count: 2 };
    for (const request of [postEventRequest(series), countEventRequest(series)]) {
      const quoted = 'webhook says: \\u001b[2J\\u009b\\u061c\\u202e\\u2028\\ufeff\\u3164';
      assert.equal(JSON.parse(request.body ?? '').message, quoted);
    }
  });

  it('quote a long run of spaces in no time', () => {
    const spaces = ' '.repeat(200_000);
    const begun = performance.now();
    assert.equal(onOneLine(`a${spaces}\n${spaces}b\u001b`), 'a b\\u001b');
    assert.equal(onOneLine(`${spaces}\u001b`), `${spaces}\\u001b`);
    assert.ok(performance.now() - begun < 1000);
  });
});
