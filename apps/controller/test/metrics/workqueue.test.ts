import assert from 'node:assert/strict';
import { it } from 'node:test';
import { metricsText } from '../../src/metrics/exposition.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { measure, sent } from './measured.ts';

const families = [
  ...['workqueue_depth', 'workqueue_adds_total', 'workqueue_retries_total'],
  ...['workqueue_queue_duration_seconds_count', 'workqueue_work_duration_seconds_count'],
  ...['workqueue_unfinished_work_seconds', 'workqueue_longest_running_processor_seconds'],
];

it('queues are those of the controllers that run', async () => {
  const { options } = measure();
  const controllers = ['taint-eviction-controller'] as const;
  const metrics = createMetrics({ ...options, controllers });
  const text = await metricsText(metrics.registry, 'text');
  const names = (one: string, family: string): readonly string[] =>
    Array.from(
      one.matchAll(new RegExp(`^${family}\\{name="([^"]+)"`, 'gm')),
      ([, name]) => name ?? '',
    );
  const both = await metricsText(measure().metrics.registry, 'text');
  const queues = ['noexec_taint_node', 'noexec_taint_pod'];
  const more = ['node_lifecycle_controller', 'node_lifecycle_controller_pods', ...queues];
  for (const family of families) {
    assert.deepEqual(names(text, family), queues);
    assert.deepEqual(names(both, family), more);
  }
});

it('what is under way is told in seconds, the longest and all together', async (t) => {
  let passed = 0;
  t.mock.method(performance, 'now', () => passed);
  const { metrics, notify } = measure();
  assert.ok(sent.kind === 'commandSent');
  notify(sent, 0);
  passed += 2000;
  notify({ ...sent, command: { ...sent.command, id: 'eviction/2' } }, 0);
  passed += 500;
  const text = await metricsText(metrics.registry, 'text');
  const queue = '{name="noexec_taint_pod"}';
  assert.ok(text.includes(`workqueue_longest_running_processor_seconds${queue} 2.5\n`), text);
  assert.ok(text.includes(`workqueue_unfinished_work_seconds${queue} 3\n`), text);
});
