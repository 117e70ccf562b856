import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { LiveHistory, type LiveInput, type LiveMoment } from '@taintmgr/page';
import { Streams } from '../../../src/commands/web/server.ts';

const moment: LiveMoment = {
  ...{ at: 5000, evictedBy: 'nobody', warnings: [], notes: [], zones: [], nodes: [], pods: [] },
  ...{ podsLeftOut: 0, actions: [] },
};

/** The state of an empty cluster so many seconds after it was opened, with a note. */
function stateAt(seconds: number, note: string): LiveInput {
  const history = new LiveHistory('test', 0);
  history.take({ ...moment, at: seconds * 1000, notes: [note] });
  return history.input() ?? assert.fail('nothing was read');
}

/** What comes on a connection, until as many events have come. */
async function eventsOf(response: IncomingMessage, count: number): Promise<readonly string[]> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    const events = text.split('\n\n').slice(0, -1);
    if (events.length >= count) return events;
  }
  return assert.fail(`the stream ended after: ${text}`);
}

describe('streams', () => {
  let server: Server;
  let streams = new Streams(7);
  before(async () => {
    server = createServer((request, response) => {
      const last = request.headers['last-event-id'];
      if (!streams.open(response, last?.toString())) response.writeHead(429).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  async function connect(headers: Record<string, string> = {}): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const [response] = await once(get({ port, host: '127.0.0.1', headers }), 'response');
    return response as IncomingMessage;
  }

  it('give the present state at once, to one who has it already its time alone', async () => {
    streams = new Streams(7);
    streams.publish(stateAt(1, 'a'));
    const [retry, state = ''] = await eventsOf(await connect(), 2);
    assert.equal(retry, 'retry: 2000');
    const [id, kind, data = ''] = state.split('\n');
    assert.deepEqual([id, kind], ['id: 7-1', 'event: state']);
    assert.deepEqual(JSON.parse(data.slice('data: '.length)), stateAt(1, 'a'));
    const [, again] = await eventsOf(await connect({ 'last-event-id': '7-1' }), 2);
    assert.equal(again, 'event: now\ndata: 61');
    const [, other = ''] = await eventsOf(await connect({ 'last-event-id': '6-1' }), 2);
    assert.match(other, /^id: 7-1\nevent: state/);
  });

  it('give a new state where something has changed, else its time', async () => {
    streams = new Streams(7);
    streams.publish(stateAt(1, 'a'));
    const response = await connect();
    const coming = eventsOf(response, 4);
    streams.publish(stateAt(2, 'a'));
    streams.publish(stateAt(3, 'b'));
    const [, , same, changed = ''] = await coming;
    assert.equal(same, 'event: now\ndata: 62');
    assert.match(changed, /^id: 7-2\nevent: state\ndata: .*"notes":\["b"\]/);
  });

  it('give one who is slow the last state, and not all in between', async () => {
    streams = new Streams(7);
    const large = 'x'.repeat(4_000_000);
    streams.publish(stateAt(1, large));
    const response = await connect();
    for (let second = 2; second < 20; second++)
      streams.publish(stateAt(second, `${second}${large}`));
    const events = await eventsOf(response, 3);
    const ids = events.flatMap((event) => /^id: 7-(\d+)/.exec(event)?.[1] ?? []);
    assert.deepEqual(ids, ['1', '19']);
  });

  it('are eight at most', async () => {
    streams = new Streams(7);
    const responses = await Promise.all(Array.from({ length: 8 }, () => connect()));
    assert.deepEqual([...new Set(responses.map(({ statusCode }) => statusCode))], [200]);
    assert.equal((await connect()).statusCode, 429);
    responses[0]?.destroy();
    while (streams.viewers === 8) await new Promise(setImmediate);
    assert.equal((await connect()).statusCode, 200);
  });
});
