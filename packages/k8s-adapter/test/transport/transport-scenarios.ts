import type { ApiRequest } from '../../src/proto/requests.ts';
import type { TlsMaterial } from '../../src/transport/access.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { defaultHttp2Timing } from '../../src/transport/http2-connection.ts';
import { deferred, get, sink } from '../world/heard.ts';

/** The servers of one run, all with the behaviour of `transport-server.ts`. */
export interface Servers {
  /** HTTP/2 and HTTP/1.1 by choice of the client. */
  readonly both: string;
  /** HTTP/1.1 only. */
  readonly old: string;
  /** The way to `both` that can fall silent. */
  readonly wire: string;
  /** An HTTP proxy. */
  readonly proxy: string;
  /** PEM. */
  readonly ca: string;
}

/** Finds a silent server at once, and a slow one now and then: only for servers that fall silent. */
const impatient = { pingEvery: 150, idle: 60_000 };

/** One way to reach a server, and what was asked of it. */
class Client {
  readonly transport: HttpTransport;
  readonly #servers: Servers;

  constructor(
    servers: Servers,
    server: string,
    { proxied = false, servername = 'api.test', timing = defaultHttp2Timing } = {},
  ) {
    this.#servers = servers;
    const tls: TlsMaterial = { ca: servers.ca, servername };
    const headers = { Authorization: 'Bearer t', 'impersonate-group': ['a', 'b'] };
    const proxy = proxied ? new URL(servers.proxy) : null;
    const authorize = async () => ({ headers, tls, proxy, agent: null });
    const access = { server, authorize, rejected: () => {} };
    this.transport = new HttpTransport(access, 'taintmgr/test', timing);
  }

  /** What one request is answered with; what runtimes word differently is left out. */
  async ask(path: string, request: Partial<ApiRequest> = {}): Promise<string> {
    const heard = sink();
    this.transport.send({ ...get(path), ...request }, heard);
    await heard.over;
    return heard.lines.map((line) => line.replace(/^failed .*/s, 'failed')).join(' ');
  }

  /** Tells one of the servers, by a connection of its own, what it is to do. */
  async control(what: string): Promise<void> {
    const client = new Client(this.#servers, this.#servers.both);
    await client.ask(`/control/${what}`);
    client.transport.close();
  }
}

type Scenario = (servers: Servers) => Promise<readonly string[]>;

/** What a transport can do, each told in lines that are the same on every runtime. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'speaks HTTP/2': async (servers) => {
    const client = new Client(servers, servers.both);
    const echo = await client.ask('/echo', { method: 'DELETE', body: '{"ü":1}' });
    client.transport.close();
    return [echo];
  },

  'keeps no process alive that has nothing left to ask': async (servers) => {
    return [await new Client(servers, servers.both).ask('/echo')];
  },

  'falls back to HTTP/1.1, and keeps the connection': async (servers) => {
    const client = new Client(servers, servers.old);
    const told = [await client.ask('/echo'), await client.ask('/echo', { method: 'DELETE' })];
    told.push(await client.ask('/connections'));
    client.transport.close();
    return told;
  },

  'goes through a proxy': async (servers) => {
    const client = new Client(servers, servers.both, { proxied: true });
    const told = [await client.ask('/echo'), await client.ask('/control/proxied')];
    client.transport.close();
    return told;
  },

  'minds the name in the certificate': async (servers) => {
    const client = new Client(servers, servers.both, { servername: 'evil.test' });
    const told = await client.ask('/echo');
    client.transport.close();
    return [told];
  },

  'carries many calls over few connections': async (servers) => {
    const client = new Client(servers, servers.both);
    const all = await Promise.all(Array.from({ length: 300 }, () => client.ask('/slow')));
    const [, , connections] = (await client.ask('/sessions')).split(' ');
    client.transport.close();
    return [...new Set(all), `few: ${Number(connections) <= 4}`];
  },

  'reads in pauses where much is owed, and hears of the end': async (servers) => {
    const client = new Client(servers, servers.both);
    const slow = Array.from({ length: 40 }, () => '/slow');
    const told: string[] = [];
    // By now it knows that answers take a while.
    for (let wave = 0; wave < 4; wave++) {
      told.push(...(await Promise.all(slow.map((path) => client.ask(path, { method: 'DELETE' })))));
    }
    const cutOff = ['/half?closed', ...slow.map(() => '/quiet')];
    told.push(...(await Promise.all(cutOff.map((path) => client.ask(path, { method: 'DELETE' })))));
    told.push(await client.ask('/echo'));
    client.transport.close();
    return [...new Set(told)];
  },

  'brings a long answer whole': async (servers) => {
    const client = new Client(servers, servers.both);
    const answer = await client.ask('/long');
    client.transport.close();
    return [`${answer.replaceAll(/[ x]/g, '')} ${answer.length > 12_000_000}`];
  },

  'hangs up one call, not the connection': async (servers) => {
    const client = new Client(servers, servers.both);
    const first = deferred();
    const heard = sink(first.resolve);
    const hangUp = client.transport.send(get('/drip?until-closed'), heard);
    await first.promise;
    hangUp();
    const told = [await client.ask('/control/closed'), await client.ask('/echo')];
    client.transport.close();
    return told;
  },

  'tells an answer that is cut off': async (servers) => {
    const client = new Client(servers, servers.both);
    const told = [await client.ask('/half?reset'), await client.ask('/half?closed')];
    told.push(await client.ask('/echo'));
    client.transport.close();
    return told;
  },

  'repeats what went into a dead connection, but no POST': async (servers) => {
    const client = new Client(servers, servers.both);
    const told = [await client.ask('/echo'), await client.ask('/break-once?get')];
    told.push(await client.ask('/break-once?post', { method: 'POST', body: '{}' }));
    client.transport.close();
    return told;
  },

  'repeats what the server refused to begin, even a POST': async (servers) => {
    const client = new Client(servers, servers.both);
    const told = [await client.ask('/echo')];
    told.push(await client.ask('/refuse-once', { method: 'POST', body: '{}' }));
    client.transport.close();
    return told;
  },

  'goes to a new connection after GOAWAY, and keeps the stream of the old one': async (servers) => {
    const client = new Client(servers, servers.both);
    const dripped = deferred();
    let drops = 0;
    let enough = Number.POSITIVE_INFINITY;
    const hangUp = client.transport.send(
      get('/drip'),
      sink(() => {
        drops += 1;
        if (drops >= enough) dripped.resolve();
      }),
    );
    const told = [await client.ask('/goaway'), await client.ask('/echo')];
    enough = drops + 3;
    await dripped.promise;
    hangUp();
    client.transport.close();
    return told;
  },

  'finds a silent connection within seconds': async (servers) => {
    const client = new Client(servers, servers.wire, { timing: impatient });
    const first = deferred();
    const heard = sink(first.resolve);
    client.transport.send(get('/drip'), heard);
    await first.promise;
    await client.control('silence');
    await heard.over;
    await client.control('mend');
    const told = [`${heard.lines.at(-1)}`.replace(/for .*/, ''), await client.ask('/echo')];
    client.transport.close();
    return told;
  },

  'repeats what went into a silent connection': async (servers) => {
    const client = new Client(servers, servers.wire, { timing: impatient });
    const told = [await client.ask('/echo')];
    await client.control('silence');
    await client.control('mend');
    told.push(await client.ask('/echo'));
    client.transport.close();
    return told;
  },

  'says that a connection lives whose answer says nothing': async (servers) => {
    const client = new Client(servers, servers.both, { timing: impatient });
    const answered = deferred();
    const told: string[] = [];
    const alive = (age: number): void => {
      told.push(age >= 0 && age < 10_000 ? 'alive' : `an age of ${age}`);
      answered.resolve();
    };
    const hangUp = client.transport.send(get('/quiet'), { ...sink(() => {}), alive });
    await answered.promise;
    hangUp();
    client.transport.close();
    return told;
  },

  'gives no connection up because this process was busy': async (servers) => {
    // The server has to answer within that, on a machine that does something else too.
    const timing = { ...impatient, pingEvery: 2000 };
    const client = new Client(servers, servers.both, { timing });
    const first = deferred();
    const hangUp = client.transport.send(get('/quiet'), sink(first.resolve));
    await first.promise;
    for (let turn = 0; turn < 2; turn++) {
      const end = performance.now() + 2 * timing.pingEvery;
      while (performance.now() < end);
      await new Promise((resolve) => setTimeout(resolve, timing.pingEvery / 5));
    }
    const told = [await client.ask('/sessions')];
    hangUp();
    client.transport.close();
    return told;
  },
};
