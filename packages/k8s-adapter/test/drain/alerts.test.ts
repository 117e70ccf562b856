// Which answers of Prometheus are leave to go on.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alertsRequest, readAlerts } from '../../src/controller/procedures/drain-question.ts';

const vector = (...result: readonly object[]): object => {
  return { status: 'success', data: { resultType: 'vector', result } };
};
const disk = { metric: { __name__: 'ALERTS', alertname: 'DiskFull' }, value: [0, '1'] };

describe('an answer of Prometheus', () => {
  for (const [name, body, wanted] of [
    ['nothing', vector(), 'none'],
    ['one alert', vector(disk), 'some: DiskFull fires'],
    [
      'three series',
      vector({ metric: { __name__: 'up' } }, disk, disk),
      'some: up fires, and 2 more',
    ],
    ['a series without a name', vector({}), 'some: a series without a name fires'],
    [
      'a number',
      { status: 'success', data: { resultType: 'scalar', result: [0, '0'] } },
      'unknown: the query answers scalar, want a vector',
    ],
    ['an error', { status: 'error', error: 'parse error' }, 'unknown: parse error'],
    [
      'half an answer',
      { ...vector(), warnings: ['store s1 is down'] },
      'unknown: store s1 is down',
    ],
    ['a page', undefined, 'unknown: the answer is none of Prometheus'],
    ['no data', { status: 'success' }, 'unknown: the query answers nothing, want a vector'],
  ] as const) {
    it(`of ${name}`, () => {
      const alerts = readAlerts(body);
      const text = alerts.kind === 'none' ? 'none' : `${alerts.kind}: ${alerts.message}`;
      assert.equal(text, wanted);
    });
  }

  it('is asked of another server than the API', () => {
    const url = 'http://p:9090/x';
    const { path, elsewhere } = alertsRequest({ url, query: 'ALERTS{a="b c"}', timeout: 5 });
    assert.equal(path, '/api/v1/query?query=ALERTS%7Ba%3D%22b%20c%22%7D');
    assert.deepEqual(elsewhere, { url, timeoutMs: 5 });
  });
});
