import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { type Clock, node, pod, seededRandom } from '@taintmgr/sim-cluster';
import { Loop } from '../../src/controller/engine-loop.ts';
import { drive } from '../../src/driver/driver.ts';
import { exchangeSink } from '../../src/driver/virtual.ts';
import type { Transport } from '../../src/transport/sink.ts';

// The driver in real time, on a machine whose wall clock somebody sets while it waits. The API
// server is on another machine: its clock goes on as before.

const steady: Clock = serverClock();

function serverClock(): Clock {
  const [at, origin] = [Date.now(), performance.now()];
  return {
    now: () => at + Math.floor(performance.now() - origin),
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms).unref();
      return { cancel: () => clearTimeout(timer) };
    },
  };
}

for (const [what, by] of [
  ['back by 10 min', -600_000],
  ['ahead by 1 h', 3_600_000],
] as const) {
  it(`a wall clock set ${what} makes no pod go early or late`, { timeout: 180_000 }, async (t) => {
    const api = new ApiServer({ clock: steady, random: seededRandom(1) });
    const timeAdded = new Date(steady.now()).toISOString().replace(/\.\d+/, '');
    const taints = [{ key: 'bad', effect: 'NoExecute', timeAdded }];
    for (const tolerationSeconds of [2, 600]) {
      const effect = 'NoExecute';
      const tolerations = [{ key: 'bad', operator: 'Exists', effect, tolerationSeconds }];
      const spec = { nodeName: 'n1', tolerations, terminationGracePeriodSeconds: 0 };
      api.create('pods', pod('default', `for-${tolerationSeconds}`, { spec }));
    }
    api.create('nodes', node('n1', { spec: { taints } }));
    const transport: Transport = {
      send: (request, sink) => api.exchange(request, exchangeSink(sink)),
    };
    const loop = new Loop({ machine: createEngine(), random: seededRandom(2) });
    const stop = new AbortController();
    const gone: string[] = [];
    const real = Date.now;
    await drive({
      loop,
      transport,
      signal: stop.signal,
      onNotice(notice) {
        if (notice.kind === 'synced') t.mock.method(Date, 'now', () => real() + by);
        if (notice.kind !== 'commandFinished') return;
        gone.push(notice.command.pod.name);
        // Whatever else is due goes in the same turn.
        setImmediate(() => setImmediate(() => stop.abort()));
      },
    });
    assert.deepEqual(gone, ['for-2']);
    assert.ok(steady.now() >= Date.parse(timeAdded) + 2000);
  });
}
