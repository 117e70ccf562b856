// The simulated API server: writes, watches, memory and lists as it grows, beside a Map of objects
// without rules, versions or history. npm run bench -- cluster
import { ApiServer, RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { podObject, podPath } from './cluster-objects.ts';
import { bytesOf, contend, inProcess, nanosOf, printTable, short } from './measure.ts';

const sizes = [1_000, 10_000, 100_000];
const fanOuts = [0, 1, 10, 100];
const writes = 2_000;
const fanOutPods = 1_000;
const pageLength = 500;
const warmUp = 500;

interface Row {
  readonly bytes: number;
  readonly write: number;
  readonly list: number;
  readonly page: number;
}

function compare(): void {
  const rows = sizes.flatMap((pods) =>
    ['server', 'map'].map((name) => {
      const row = inProcess<Row>(import.meta.filename, name, pods);
      return [
        `${name}, ${short(pods)} pods`,
        `${short(row.bytes / pods)} B`,
        `${short(1e9 / row.write)}/s`,
        `${short(row.list / 1e6)} ms`,
        `${short(row.page / 1e6)} ms`,
      ];
    }),
  );
  process.stdout.write('cluster: an API server in this process, pods of 3 kB\n');
  printTable(['', 'held per pod', 'patches', 'whole list', `page of ${pageLength}`], rows);
  const watched = fanOuts.map((watchers) => {
    const nanos = inProcess<number>(import.meta.filename, 'watch', watchers);
    const rate = 1e9 / nanos;
    return [`${watchers} watches`, `${short(rate)}/s`, `${short(rate * watchers)}/s`];
  });
  process.stdout.write('cluster: patches while others watch\n');
  printTable(['', 'patches', 'events sent'], watched);
}

/** What is measured of each contender. */
interface Contender {
  readonly held: object;
  patch(index: number, turn: number): void;
  /** The number of characters of an answer. */
  list(limit: number): number;
}

function run(name: string, pods: number): Row {
  const make = name === 'server' ? serverWith : mapWith;
  const bytes = bytesOf(() => make(pods).held);
  const contender = make(pods);
  const count = Math.min(writes, pods);
  const write = nanosOf(1, () => {
    for (let index = 0; index < count; index++) contender.patch(index, index);
  });
  const list = nanosOf(3, () => contender.list(0));
  const page = nanosOf(3, () => contender.list(pageLength));
  return { bytes, write: write / count, list, page };
}

function serverWith(pods: number): Contender {
  const api = loaded(pods);
  return {
    held: api,
    patch: (index, turn) => patch(api, index, turn),
    list: (limit) => send(api, 'GET', `/api/v1/pods?limit=${limit}`, '').length,
  };
}

function mapWith(pods: number): Contender {
  const map = new Map<string, Record<string, unknown>>();
  for (let index = 0; index < pods; index++) {
    map.set(String(index), JSON.parse(JSON.stringify(podObject(index))));
  }
  return {
    held: map,
    patch: (index, turn) => {
      const { metadata } = JSON.parse(patchBody(turn));
      map.set(String(index), { ...map.get(String(index)), metadata });
    },
    list: (limit) => {
      const items = [...map.values()];
      return JSON.stringify(limit > 0 ? items.slice(0, limit) : items).length;
    },
  };
}

/** Nanoseconds per patch. */
function runWatched(watchers: number): number {
  const api = loaded(fanOutPods);
  let characters = 0;
  const hear = {
    head: () => {},
    data: (text: string) => {
      characters += text.length;
    },
    end: () => {},
    reset: () => {},
  };
  const { resourceVersion } = JSON.parse(send(api, 'GET', '/api/v1/pods?limit=1', '')).metadata;
  const path = `/api/v1/pods?watch=true&resourceVersion=${resourceVersion}`;
  for (let index = 0; index < watchers; index++) {
    api.exchange({ method: 'GET', path, headers: {}, body: null }, hear);
  }
  const nanos = nanosOf(1, () => {
    for (let index = 0; index < writes; index++) patch(api, index % fanOutPods, index);
  });
  if (watchers > 0 && characters === 0) throw new Error('the watches heard nothing');
  return nanos / writes;
}

function loaded(pods: number): ApiServer {
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1) });
  for (let index = 0; index < pods; index++) api.load([podObject(index)]);
  return api;
}

function patchBody(turn: number): string {
  return JSON.stringify({ metadata: { annotations: { turn: `${turn}` } } });
}

function patch(api: ApiServer, index: number, turn: number): void {
  send(api, 'PATCH', podPath(index), patchBody(turn));
}

/** One request; throws for an answer that is not a success. */
function send(api: ApiServer, method: string, path: string, body: string): string {
  const chunks: string[] = [];
  let status = 0;
  const headers = { 'content-type': 'application/merge-patch+json' };
  api.exchange(
    { method, path, headers, body: body === '' ? null : body },
    {
      head: (code) => {
        status = code;
      },
      data: (chunk) => void chunks.push(String(chunk)),
      end: () => {},
      reset: () => {},
    },
  );
  const text = chunks.join('');
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text;
}

const [contender, watchers] = process.argv.slice(2);
if (contender === 'watch') {
  process.stdout.write(JSON.stringify(runWatched(Number(watchers))));
  process.exit();
}
contend(compare, run, warmUp);
