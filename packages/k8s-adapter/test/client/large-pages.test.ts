import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiClient } from '../../src/client/client.ts';
import { Reflector, type ReflectorEffect } from '../../src/proto/reflector.ts';
import { listJson, nodeJson } from '../world/cluster-objects.ts';
import { random } from '../world/random.ts';

// A server whose objects are so large that a full page of them is more than is read: it answers as
// many megabytes as objects are asked for.

const chunk = new Uint8Array(2 ** 20);
const objects = 100;
/** A page may have 64 MiB. */
const fits = 62;

function limitOf(path: string): number {
  return Number(/limit=(\d+)/.exec(path)?.[1]);
}

/** The page that begins at the continue token. */
function page(path: string): object {
  const from = Number(/continue=(\d+)/.exec(path)?.[1] ?? 0);
  const to = Math.min(objects, from + limitOf(path));
  const items = Array.from({ length: to - from }, (_, index) => nodeJson(`n${from + index}`, '1'));
  const list = listJson('Node', '5', ...items);
  const token = to < objects ? { continue: String(to) } : {};
  return { ...list, metadata: { resourceVersion: '5', ...token } };
}

const expected = [500, 250, 125, 62, 62].map(
  (limit, index) => `${limit} from ${index < 4 ? 0 : 62}`,
);

function asked(path: string): string {
  return `${limitOf(path)} from ${/continue=(\d+)/.exec(path)?.[1] ?? 0}`;
}

describe('a page that is longer than we read', () => {
  it('is hung up on and asked for again with half the limit, where it stood', () => {
    const reflector = new Reflector({
      ...{ resource: 'nodes', path: '/api/v1/nodes', project: String, random: random(0) },
      ...{ watch: true, streamLists: false, selectors: {} },
    });
    const requests: string[] = [];
    const aborted: string[] = [];
    let synced = false;
    const hear = (effects: readonly ReflectorEffect<string>[]): void => {
      for (const effect of effects) {
        if (effect.kind === 'abort') aborted.push(effect.id);
        if (effect.kind === 'synced') synced = true;
        if (effect.kind !== 'send' || effect.request.path.includes('watch')) continue;
        const { id, request } = effect;
        requests.push(asked(request.path));
        hear(reflector.handle(0, { kind: 'head', id, status: 200, headers: {} }));
        if (limitOf(request.path) <= fits) {
          const data = JSON.stringify(page(request.path));
          hear(reflector.handle(0, { kind: 'chunk', id, data }));
          hear(reflector.handle(0, { kind: 'end', id }));
        } else {
          for (let mib = 0; mib <= 64; mib++) {
            hear(reflector.handle(0, { kind: 'chunk', id, data: chunk }));
          }
        }
      }
    };
    hear(reflector.handle(0, { kind: 'start' }));
    assert.deepEqual(requests, expected);
    assert.deepEqual(aborted, ['nodes/1', 'nodes/2', 'nodes/3']);
    assert.ok(synced);
    assert.equal(reflector.size, objects);
  });

  it('is read in smaller ones by commands too', async () => {
    const requests: string[] = [];
    let hungUp = 0;
    const client = new ApiClient({
      server: 'https://api',
      transport: {
        send({ path }, sink) {
          requests.push(asked(path));
          queueMicrotask(() => {
            sink.head(200, {});
            if (limitOf(path) > fits) for (let mib = 0; mib <= 64; mib++) sink.data(chunk);
            else {
              sink.data(JSON.stringify(page(path)));
              sink.end();
            }
          });
          return () => {
            hungUp += 1;
          };
        },
      },
    });
    assert.equal((await client.list('/api/v1/nodes')).length, objects);
    assert.deepEqual(requests, expected);
    assert.equal(hungUp, requests.length);
  });
});
