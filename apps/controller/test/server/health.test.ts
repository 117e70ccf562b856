import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Check, healthHandlers } from '../../src/server/health.ts';

// Texts as kube-apiserver's healthz package has them.

const ping: Check = { name: 'ping', fault: () => null };
const remarked: Check = { ...ping, remark: () => 'web of shop waits' };
const bad: Check = { name: 'bad', fault: () => 'this will fail' };

describe('a health endpoint', () => {
  const cases: readonly (readonly [
    name: string,
    checks: readonly Check[],
    path: string,
    status: number,
    body: string,
  ])[] = [
    ['is short when all is well', [ping], '/readyz', 200, 'ok'],
    ['is verbose on request', [ping], '/readyz?verbose', 200, '[+]ping ok\nreadyz check passed\n'],
    [
      'is verbose when something fails, and withholds why',
      [ping, bad],
      '/readyz',
      500,
      '[+]ping ok\n[-]bad failed: reason withheld\nreadyz check failed\n',
    ],
    ['leaves out what is excluded', [ping, bad], '/readyz?exclude=bad', 200, 'ok'],
    [
      'says what is excluded',
      [ping, bad],
      '/readyz?verbose=true&exclude=bad',
      200,
      '[+]ping ok\n[+]bad excluded: ok\nreadyz check passed\n',
    ],
    [
      'warns of names that match nothing',
      [ping, bad],
      '/readyz?verbose&exclude=bad,no&exclude=even-less',
      200,
      '[+]ping ok\n[+]bad excluded: ok\n' +
        'warn: some health checks cannot be excluded: no matches for "even-less","no"\n' +
        'readyz check passed\n',
    ],
    [
      'withholds what people should know as well',
      [remarked],
      '/readyz?verbose',
      200,
      '[+]ping ok\nreadyz check passed\n',
    ],
    ['tells it there', [remarked], '/readyz/ping', 200, 'ok: web of shop waits'],
    ['has each check on its own', [ping, bad], '/readyz/ping', 200, 'ok'],
    ['tells why there', [ping, bad], '/readyz/bad', 500, 'internal server error: this will fail\n'],
  ];
  for (const [name, checks, target, status, body] of cases) {
    it(name, async () => {
      const { pathname: path, searchParams: query } = new URL(target, 'https://localhost');
      const handler = healthHandlers('readyz', checks, () => {}).get(path);
      const answer = await handler?.({ path, query, accept: '' });
      assert.deepEqual(answer, {
        status,
        body,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
        },
      });
    });
  }

  it('tells of each look', async () => {
    const looks: unknown[] = [];
    const handlers = healthHandlers('livez', [ping, bad], (...look) => looks.push(look));
    await handlers.get('/livez')?.({ path: '/livez', query: new URLSearchParams(), accept: '' });
    assert.deepEqual(looks, [
      ['ping', 'livez', null],
      ['bad', 'livez', 'this will fail'],
    ]);
  });
});
