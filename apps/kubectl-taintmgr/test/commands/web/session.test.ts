import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { Session } from '../../../src/commands/web/server.ts';

type Head = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

const host = '127.0.0.1:8002';
const get = (url: string, headers: Head['headers'] = {}): Head => {
  return { method: 'GET', url, headers: { host, ...headers } };
};

/** A session, the path that lets in, and the cookie that it gives there. */
function opened(): { session: Session; path: string; cookie: string } {
  const session = new Session(8002);
  const path = session.address.slice(`http://${host}`.length);
  const admission = session.judge(get(path));
  assert.equal(admission.kind, 'in');
  const [cookie = ''] = (admission.kind === 'in' && admission.cookie?.split(';')) || [];
  return { session, path, cookie };
}

describe('a session', () => {
  it('lets in whoever has its address, once, and then by the cookie alone', () => {
    const { session, path, cookie } = opened();
    assert.equal(session.judge(get(path)).kind, 'out');
    assert.equal(session.judge(get('/', { cookie: `other=1; ${cookie}` })).kind, 'in');
    assert.equal(session.judge(get('/events', { cookie })).kind, 'in');
    assert.equal(session.judge(get(path, { cookie })).kind, 'in');
  });

  it('gives a cookie that no script reads and no other site sends', () => {
    const session = new Session(8002);
    const path = session.address.slice(`http://${host}`.length);
    const admission = session.judge(get(path));
    assert.match(
      (admission.kind === 'in' && admission.cookie) || '',
      /^taintmgr-web-8002=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  const token = (text: string) => `/?token=${text}`;
  const strangers: readonly (readonly [string, (cookie: string, path: string) => Head])[] = [
    ['no token', () => get('/')],
    ['an address that is none', () => get('//')],
    ['a wrong token', () => get(token('a'.repeat(43)))],
    ['a part of the token', (_, path) => get(path.slice(0, -1))],
    ['the token at another path', (_, path) => get(path.replace('/', '/events'))],
    ['a wrong cookie', (cookie) => get('/', { cookie: `${cookie}x` })],
    [
      'the cookie of another port',
      (cookie) => get('/', { cookie: cookie.replace('8002', '8003') }),
    ],
    ['another Host', (cookie) => get('/', { cookie, host: 'evil.example:8002' })],
    ['no Host', (cookie) => ({ method: 'GET', url: '/', headers: { cookie } })],
    ['a page of another port', (cookie) => get('/', { cookie, 'sec-fetch-site': 'same-site' })],
    ['a page of another site', (cookie) => get('/', { cookie, 'sec-fetch-site': 'cross-site' })],
  ];
  for (const [name, headOf] of strangers) {
    it(`refuses ${name} with 403`, () => {
      const unused = new Session(8002);
      const path = unused.address.slice(`http://${host}`.length);
      const { session, cookie } = opened();
      const isAboutTokens = name.includes('token');
      const admission = (isAboutTokens ? unused : session).judge(headOf(cookie, path));
      assert.equal(admission.kind === 'out' && admission.status, 403);
      if (isAboutTokens) assert.equal(unused.judge(get(path)).kind, 'in', 'it is not used up');
    });
  }

  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
    it(`refuses ${method} with 405, also from whoever is let in`, () => {
      const { session, cookie } = opened();
      const admission = session.judge({ ...get('/', { cookie }), method });
      assert.equal(admission.kind === 'out' && admission.status, 405);
    });
  }
});
