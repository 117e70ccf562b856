import assert from 'node:assert/strict';
import perfHooks from 'node:perf_hooks';
import { it } from 'node:test';
import { measure } from './measured.ts';

it('does not wake a process at rest to see how late its loop is', async (t) => {
  const monitor = t.mock.method(perfHooks, 'monitorEventLoopDelay');
  const { metrics } = measure();
  const resolutions = monitor.mock.calls.map(({ arguments: [options] }) => options?.resolution);
  assert.deepEqual(resolutions, [86_400_000]);
  const text = await metrics.registry.metrics();
  const lags = text.split('\n').filter((line) => /^# HELP \w*event_?loop_lag/.test(line));
  assert.deepEqual(
    lags.map((line) => line.split(' ')[2]),
    ['nodejs_eventloop_lag_seconds', 'taintmgr_event_loop_lag_seconds'],
  );
});
