import assert from 'node:assert/strict';
import type http from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { startEmbedded } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { Loop, type Notice } from '../../src/controller/engine-loop.ts';
import { type DriveOptions, drive } from '../../src/driver/driver.ts';
import type { Access, Authorization } from '../../src/transport/access.ts';
import { ApiError } from '../../src/transport/errors.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import type { Sink } from '../../src/transport/sink.ts';
import { listJson, nodeJson, podJson } from '../world/cluster-objects.ts';
import { freePort } from '../world/free-port.ts';
import { bodyOf, startServer, type TestServer } from '../world/http-server.ts';
import { random } from '../world/random.ts';

/** A server that answers lists from a table, leaves watches open and notes every write. */
class Api {
  readonly writes: string[] = [];
  readonly watches: http.ServerResponse[] = [];
  readonly watched: string[] = [];
  pods: object[] = [podJson('a', 'n1', '5')];

  readonly handle = async (
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    if (request.method !== 'GET') {
      this.writes.push(`${request.method} ${pathname}`);
      await bodyOf(request);
      response.end('{}');
    } else if (searchParams.has('watch')) {
      this.watched.push(`${pathname} ${searchParams.get('resourceVersion')}`);
      this.watches.push(response);
      response.flushHeaders();
    } else if (pathname.endsWith('/nodes')) {
      response.end(JSON.stringify(listJson('Node', '10', nodeJson('n1', '3', 'bad'))));
    } else {
      response.end(JSON.stringify(listJson('Pod', '11', ...this.pods)));
    }
  };
}

/** Runs a loop against the server; `until` resolves with the first notice that fits. */
class Run {
  readonly stop = new AbortController();
  readonly ended: Promise<void>;
  readonly notices: Notice[] = [];
  #waiting: { fits: (notice: Notice) => boolean; resolve: (notice: Notice) => void }[] = [];

  constructor(t: TestContext, server: Pick<TestServer, 'url'>) {
    const authorize = async () => ({ headers: {}, tls: {}, agent: null });
    const access = { server: server.url, authorize, rejected: () => {} };
    const transport = new HttpTransport(access, 'taintmgr/test');
    const loop = new Loop({ machine: createEngine(), random: random(0), streamLists: false });
    const { signal } = this.stop;
    this.ended = drive({ loop, transport, signal, onNotice: (notice) => this.#hear(notice) });
    t.after(async () => {
      this.stop.abort();
      await this.ended;
      transport.close();
    });
  }

  until(fits: (notice: Notice) => boolean): Promise<Notice> {
    const heard = this.notices.find(fits);
    if (heard) return Promise.resolve(heard);
    return new Promise((resolve) => this.#waiting.push({ fits, resolve }));
  }

  #hear(notice: Notice): void {
    this.notices.push(notice);
    for (const { fits, resolve } of this.#waiting) if (fits(notice)) resolve(notice);
  }
}

const finished = (notice: Notice): boolean => notice.kind === 'commandFinished';
const recorded = (notice: Notice): boolean => notice.kind === 'eventRecorded';

describe('driver', () => {
  it('evicts over HTTP, with few connections', async (t) => {
    const api = new Api();
    api.pods = Array.from({ length: 40 }, (_, n) => podJson(`p${n}`, 'n1', `${n + 1}`));
    const server = await startServer(t, api.handle);
    const run = new Run(t, server);
    await run.until(() => run.notices.filter(finished).length === 40);
    await run.until(() => run.notices.filter(recorded).length === 40);
    const outcomes = run.notices.filter((notice) => notice.kind === 'commandFinished');
    assert.ok(outcomes.every(({ outcome }) => outcome.kind === 'done'));
    for (const verb of ['PATCH', 'DELETE', 'POST']) {
      assert.equal(api.writes.filter((text) => text.startsWith(verb)).length, 40, verb);
    }
    // 40 evictions and 10 events under way at once, and two watches: 120 requests share these.
    assert.ok(server.connections() <= 52, `${server.connections()} connections`);
  });

  it('goes on where the watch was when its connection is reset', async (t) => {
    const api = new Api();
    api.pods = [];
    const run = new Run(t, await startServer(t, api.handle));
    await run.until(({ kind }) => kind === 'synced');
    await until(run, () => api.watches.length === 2);
    const index = api.watched.findIndex((text) => text.startsWith('/api/v1/pods'));
    const event = { type: 'ADDED', object: podJson('late', 'n1', '12') };
    api.watches[index]?.write(`${JSON.stringify(event)}\n`);
    await run.until(finished);
    api.watches[index]?.socket?.resetAndDestroy();
    const notice = await run.until(({ kind }) => kind === 'reconnecting');
    assert.ok(notice.kind === 'reconnecting' && notice.next === 'watch');
    await run.until(() => api.watches.length === 3);
    assert.equal(api.watched[2], '/api/v1/pods 12');
  });

  it('ends when told to: nothing is open afterwards', async (t) => {
    const api = new Api();
    const run = new Run(t, await startServer(t, api.handle));
    await run.until(finished);
    const closed = api.watches.map(
      (watch) => new Promise((resolve) => watch.once('close', resolve)),
    );
    run.stop.abort();
    await run.ended;
    await Promise.all(closed);
    assert.equal(closed.length, 2);
  });

  it('ends at once when told to before it began', async (t) => {
    const api = new Api();
    const server = await startServer(t, api.handle);
    const loop = new Loop({ machine: createEngine(), random: random(0), streamLists: false });
    const transport = { send: () => assert.fail('a request was sent') };
    await drive({ loop, transport, signal: AbortSignal.abort(), onNotice: () => {} });
    assert.equal(server.connections(), 0);
  });

  it('tells a mistake of ours, and leaves nothing open', async () => {
    const loop = new Loop({ machine: createEngine(), random: random(0), streamLists: false });
    const hangUps: string[] = [];
    const transport = {
      send: (request: { path: string }, sink: { failed(message: string): void }) => {
        if (request.path.startsWith('/api/v1/pods')) queueMicrotask(() => sink.failed('no'));
        return () => void hangUps.push(request.path);
      },
    };
    const onNotice = (): void => {
      throw new Error('the log is full');
    };
    const { signal } = new AbortController();
    const running = drive({ loop, transport, signal, onNotice });
    await assert.rejects(running, { message: 'the log is full' });
    assert.deepEqual(hangUps, ['/api/v1/nodes?limit=500']);
  });

  it('tells a mistake of the machine when it is asked for its next tick', async () => {
    const nextWake = (): never => {
      throw new Error('it does not know');
    };
    const machine = { ...createEngine(), nextWake };
    const loop = new Loop({ machine, random: random(0), streamLists: false });
    const hangUps: string[] = [];
    const transport = {
      send: ({ path }: { path: string }) => {
        return () => void hangUps.push(path);
      },
    };
    const { signal } = new AbortController();
    const running = drive({ loop, transport, signal, onNotice: () => {} });
    await assert.rejects(running, { message: 'it does not know' });
    assert.deepEqual(hangUps, ['/api/v1/nodes?limit=500', '/api/v1/pods?limit=500']);
  });

  it('takes answers that come before send returns, in the order in which they come', async () => {
    const loop = new Loop({ machine: createEngine(), random: random(0), streamLists: false });
    const stop = new AbortController();
    const order: string[] = [];
    const transport = {
      send: ({ path }: { path: string }, sink: { failed(message: string): void }) => {
        order.push(path);
        sink.failed('unreachable');
        return () => {};
      },
    };
    const onNotice = (notice: Notice): void => {
      order.push(notice.kind);
      if (order.length === 4) stop.abort();
    };
    await drive({ loop, transport, signal: stop.signal, onNotice });
    const lists = ['/api/v1/nodes?limit=500', '/api/v1/pods?limit=500'];
    assert.deepEqual(order, [...lists, 'reconnecting', 'reconnecting']);
  });

  it('sets no new timer for what is heard', async (t) => {
    const stop = new AbortController();
    const loop = new Loop({ machine: createEngine(), random: random(0), streamLists: false });
    const sinks = new Map<string, Sink>();
    const transport = {
      send: ({ path }: { path: string }, sink: Sink) => {
        sinks.set(path.replace('/api/v1/', '').replace(/&allow.*/, ''), sink);
        return () => {};
      },
    };
    const running = drive({ loop, transport, signal: stop.signal, onNotice: () => {} });
    t.after(() => stop.abort());
    for (const [list, kind] of [
      ['nodes', 'Node'],
      ['pods', 'Pod'],
    ] as const) {
      const sink = sinks.get(`${list}?limit=500`);
      sink?.head(200, {});
      sink?.data(JSON.stringify(listJson(kind, '1')));
      sink?.end();
    }
    const watch = sinks.get('pods?watch=true') ?? assert.fail('no watch');
    watch.head(200, {});
    const { mock } = t.mock.method(globalThis, 'setTimeout');
    for (let rv = 2; rv < 500; rv++) {
      const event = { type: 'BOOKMARK', object: { metadata: { resourceVersion: `${rv}` } } };
      watch.data(`${JSON.stringify(event)}\n`);
    }
    assert.equal(mock.callCount(), 0);
    stop.abort();
    await running;
  });
});

describe('a way in that there is not', { concurrency: true }, () => {
  const refusedBy = (status: number, message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.failure.status, status);
    assert.match(error.message, message);
    return true;
  };

  it('ends it when the token is refused three times, after what it learned anew', async (t) => {
    const { url, ca, stop } = await startEmbedded();
    t.after(stop);
    const logins: string[] = [];
    const authorize = async () => {
      logins.push('asked');
      return { headers: { Authorization: 'Bearer expired' }, tls: { ca }, agent: null };
    };
    const rejected = (): void => void logins.push('rejected');
    const { running, failures } = enter(t, { server: url, authorize, rejected });
    await assert.rejects(running, refusedBy(401, /^Error from server \(Unauthorized\): /));
    assert.ok(logins.indexOf('rejected') < logins.lastIndexOf('asked'), String(logins));
    assert.equal(failures.filter((name) => name === failures.at(-1)).length, 3);
  });

  it('ends nothing where another token is to be had', async (t) => {
    const { url, ca, stop } = await startEmbedded({ token: 'fresh' });
    t.after(stop);
    let token = 'expired';
    const authorize = async () => {
      return { headers: { Authorization: `Bearer ${token}` }, tls: { ca }, agent: null };
    };
    const rejected = (): void => {
      token = 'fresh';
    };
    const { running, until, stop: end, failures } = enter(t, { server: url, authorize, rejected });
    await until('synced');
    assert.deepEqual(failures.toSorted(), ['nodes', 'pods']);
    end.abort();
    await running;
  });

  it('ends it without the right to list', async (t) => {
    const nobody = { name: 'nobody', groups: ['system:authenticated'], rules: [] };
    const { url, ca, stop } = await startEmbedded({ users: new Map([['t', nobody]]) });
    t.after(stop);
    const headers = { Authorization: 'Bearer t' };
    const { running } = enter(t, accessTo(url, { headers, tls: { ca } }));
    await assert.rejects(running, refusedBy(403, /is forbidden: User "nobody" cannot list /));
  });

  it('ends it when a token expires later', async (t) => {
    const api = new Api();
    let isExpired = false;
    const server = await startServer(t, (request, response) => {
      if (!isExpired) return void api.handle(request, response);
      response.statusCode = 401;
      response.end();
    });
    const { running, until } = enter(t, accessTo(server.url));
    await until('synced');
    isExpired = true;
    server.breakAll();
    await assert.rejects(running, refusedBy(401, /HTTP status 401/));
  });

  it('ends it where nobody listens, when its patience is over', async (t) => {
    const access = accessTo(`http://127.0.0.1:${await freePort()}`);
    const { running, failures } = enter(t, access, { patienceMs: 1 });
    const message =
      /^request to the API server failed: connect ECONNREFUSED 127\.0\.0\.1:\d+; check /;
    await assert.rejects(running, { name: 'ConnectionError', message });
    assert.equal(failures.filter((name) => name === failures.at(-1)).length, 2);
  });

  it('ends it where there are no credentials', async (t) => {
    const authorize = (): Promise<never> => Promise.reject(new Error('the plugin is not there'));
    const access = { server: 'http://127.0.0.1:1', authorize, rejected: () => {} };
    const message = /^cannot log in to the API server: the plugin is not there; check the user /;
    await assert.rejects(enter(t, access, { patienceMs: 0 }).running, { message });
  });

  it('ends it where the server only fails', async (t) => {
    const server = await startServer(t, (_, response) => {
      response.statusCode = 503;
      response.end();
    });
    const { running } = enter(t, accessTo(server.url), { patienceMs: 0 });
    await assert.rejects(running, refusedBy(503, /HTTP status 503/));
  });

  it('ends nothing once everything was read: the server may come back', async (t) => {
    const api = new Api();
    const server = await startServer(t, api.handle);
    const { running, until, stop } = enter(t, accessTo(server.url), { patienceMs: 0 });
    await until('synced');
    server.breakAll();
    await until('reconnecting');
    stop.abort();
    await running;
  });

  it('ends nothing with endless patience, as a controller has', async (t) => {
    const server = await startServer(t, (_, response) => {
      response.statusCode = 401;
      response.end();
    });
    const patienceMs = Number.POSITIVE_INFINITY;
    const { running, until, stop, failures } = enter(t, accessTo(server.url), { patienceMs });
    for (let tries = 0; tries < 3; tries++) await until('reconnecting', 'pods');
    assert.equal(failures.filter((name) => name === 'pods').length, 3);
    stop.abort();
    await running;
  });
});

function accessTo(server: string, authorization: Partial<Authorization> = {}): Access {
  const authorize = async () => ({ headers: {}, tls: {}, agent: null, ...authorization });
  return { server, authorize, rejected: () => {} };
}

/** Drives an engine that way; `until` resolves with the next notice of this kind. */
function enter(t: TestContext, access: Access, options: Pick<DriveOptions, 'patienceMs'> = {}) {
  const transport = new HttpTransport(access, 'taintmgr/test');
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
    transport.close();
  });
  const loop = new Loop({ machine: createEngine(), random: random(0), streamLists: false });
  const failures: string[] = [];
  let heard = (_: Notice): void => {};
  const onNotice = (notice: Notice): void => {
    if (notice.kind === 'reconnecting') failures.push(notice.resource);
    heard(notice);
  };
  const until = (kind: Notice['kind'], resource?: string): Promise<void> =>
    new Promise((resolve) => {
      heard = (notice) => {
        const isOf =
          resource === undefined || ('resource' in notice && notice.resource === resource);
        if (notice.kind === kind && isOf) resolve();
      };
    });
  const running = drive({ loop, transport, signal: stop.signal, onNotice, ...options });
  return { running, until, stop, failures };
}

/** Waits for a condition that some notice brings about. */
async function until(run: Run, holds: () => boolean): Promise<void> {
  if (!holds()) await run.until(holds);
}
