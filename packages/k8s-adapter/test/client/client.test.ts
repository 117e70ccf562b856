import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readModifyWrite } from '../../src/controller/task.ts';
import { type ApiRequest, getRequest, objectRequest } from '../../src/proto/requests.ts';
import { ApiError } from '../../src/transport/errors.ts';
import { listJson, nodeJson } from '../world/cluster-objects.ts';
import { client, json, type Reply } from './replies.ts';

describe('client', () => {
  it('answers the parsed body', async () => {
    const { api } = client(json(200, nodeJson('n1', '1')));
    assert.deepEqual(await api.get('/api/v1/nodes/n1'), nodeJson('n1', '1'));
  });

  it('reads a list page by page', async () => {
    const { api, asked } = client((path, sink) => {
      const last = path.includes('continue=');
      const page = listJson('Node', '5', nodeJson(last ? 'b' : 'a', '1'));
      json(200, last ? page : { ...page, metadata: { resourceVersion: '5', continue: 'x' } })(
        path,
        sink,
      );
    });
    const items = await api.list('/api/v1/nodes', { labelSelector: 'a=b' });
    assert.deepEqual(items, [nodeJson('a', '1'), nodeJson('b', '1')]);
    assert.deepEqual(asked, [
      '/api/v1/nodes?labelSelector=a%3Db&limit=500',
      '/api/v1/nodes?labelSelector=a%3Db&limit=500&continue=x',
    ]);
  });

  it('asks for the next page before it reads this one', async () => {
    const { api, asked } = client((path, sink) => {
      const next = Number(/continue=(\d)/.exec(path)?.[1] ?? 0) + 1;
      const page = listJson('Node', '5', nodeJson(`a${next}`, '1'), nodeJson(`b${next}`, '1'));
      json(
        200,
        next === 3 ? page : { ...page, metadata: { resourceVersion: '5', continue: `${next}` } },
      )('', sink);
    });
    const seen = new Map<string, number>();
    const read = (object: unknown) => {
      seen.set((object as { metadata: { name: string } }).metadata.name, asked.length);
    };
    assert.equal((await api.listAs(read, '/api/v1/nodes')).length, 6);
    assert.deepEqual(
      ['a1', 'a2', 'a3'].map((name) => seen.get(name)),
      [2, 3, 3],
    );
  });

  it('asks for no more pages when one cannot be read', async () => {
    const { api, asked } = client((path, sink) => {
      const next = Number(/continue=(\d+)/.exec(path)?.[1] ?? 0) + 1;
      const page = { metadata: next === 50 ? {} : { continue: `${next}` }, items: [{ next }] };
      sink.head(200, {});
      sink.data(JSON.stringify(page));
      sink.end();
    });
    const read = ({ next }: { next: number }): void => {
      if (next === 3) throw new Error('no such page');
    };
    const isPage = (object: unknown): object is { next: number } =>
      typeof object === 'object' && object !== null && 'next' in object;
    const all = api.listAs((object) => isPage(object) && read(object), '/x');
    await assert.rejects(all, { message: 'no such page' });
    await new Promise(setImmediate);
    assert.ok(asked.length <= 10, `${asked.length} pages were asked for`);
  });

  it('reads a long answer after the short ones that came with it', async () => {
    const order: string[] = [];
    const { api } = client((path, sink) => json(200, { text: 'x'.repeat(200_000) })(path, sink));
    const short = client((path, sink) => json(200, {})(path, sink));
    const next = async (): Promise<void> => {
      await short.api.get('/first');
      await short.api.get('/second');
      order.push('what the short one leads to');
    };
    await Promise.all([api.get('/long').then(() => order.push('the long one')), next()]);
    assert.deepEqual(order, ['what the short one leads to', 'the long one']);
  });

  it('starts a list over when the server forgets it, three times at most', async () => {
    const expired = { reason: 'Expired', message: 'The provided continue parameter is too old' };
    const { api, asked } = client((path, sink) => {
      if (path.includes('continue=')) json(410, expired)(path, sink);
      else
        json(200, { ...listJson('Node', '5'), metadata: { resourceVersion: '5', continue: 'x' } })(
          path,
          sink,
        );
    });
    await assert.rejects(api.list('/api/v1/nodes'), ApiError);
    assert.equal(asked.length, 6);
  });

  it('carries out a procedure, and throws its last refusal', async () => {
    const path = '/api/v1/nodes/n1';
    const write = (): ApiRequest => objectRequest('PUT', `${path}?write`, {});
    const steps = () => readModifyWrite(() => getRequest(path), write, 1);
    const refused = (conflicts: number): Reply => {
      let left = conflicts;
      return (to, sink) => {
        const isRefused = to.endsWith('?write') && left-- > 0;
        const status = { kind: 'Status', status: 'Failure', reason: 'Conflict', message: 'old' };
        json(isRefused ? 409 : 200, isRefused ? status : nodeJson('n1', '1'))(to, sink);
      };
    };
    const late = client(refused(1));
    await late.api.carryOut(steps());
    assert.deepEqual(late.asked, [path, `${path}?write`, path, `${path}?write`]);
    const message = 'Error from server (Conflict): old';
    await assert.rejects(client(refused(2)).api.carryOut(steps()), { name: 'ApiError', message });
    const odd = readModifyWrite(
      () => getRequest(path),
      () => ({ kind: 'changed', message: 'other' }),
    );
    await assert.rejects(client(refused(0)).api.carryOut(odd), /unexpected step: changed/);
  });

  it('waits for an answer for months, where it may', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { api } = client(
      (path, sink) => {
        t.mock.timers.tick(86_400_000);
        json(200, { gitVersion: 'v1.36.2' })(path, sink);
      },
      { requestTimeout: 90 * 86_400_000 },
    );
    assert.deepEqual(await api.get('/version'), { gitVersion: 'v1.36.2' });
  });

  it('ends when told to, and hangs up', async () => {
    const stop = new AbortController();
    const { api, hungUp } = client(() => stop.abort(new Error('Ctrl-C')), { signal: stop.signal });
    await assert.rejects(api.get('/version'), { message: 'Ctrl-C' });
    assert.deepEqual(hungUp, ['/version']);
    await assert.rejects(api.get('/version'), { message: 'Ctrl-C' });
  });
});
