import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Gauge, Registry } from 'prom-client';
import { metricsHandler } from '../../src/metrics/exposition.ts';

function handler() {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'pods_total', help: 'Pods, "all".', labelNames: ['zone'], registers }).inc(
    { zone: 'r1:\0:a"b\\c\nd' },
    2,
  );
  new Gauge({ name: 'size_total', help: 'No counter.', registers }).set(1e-8);
  return metricsHandler(registry);
}

const inquiry = { path: '/metrics', query: new URLSearchParams() };

describe('metrics', () => {
  it('are text by default', async () => {
    const { headers, body } = await handler()({ ...inquiry, accept: '*/*' });
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.deepEqual(body.split('\n'), [
      '# HELP pods_total Pods, "all".',
      '# TYPE pods_total counter',
      'pods_total{zone="r1:\0:a\\"b\\\\c\\nd"} 2',
      '# HELP size_total No counter.',
      '# TYPE size_total gauge',
      'size_total 1e-8',
      '',
    ]);
  });

  it('are OpenMetrics on request, again and again', async () => {
    const handle = handler();
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2';
    const first = await handle({ ...inquiry, accept });
    assert.equal(
      first.headers['content-type'],
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    assert.deepEqual(first.body.split('\n'), [
      '# HELP pods Pods, \\"all\\".',
      '# TYPE pods counter',
      'pods_total{zone="r1:\0:a\\"b\\\\c\\nd"} 2',
      '# HELP size_total No counter.',
      '# TYPE size_total gauge',
      'size_total 1e-8',
      '# EOF',
      '',
    ]);
    assert.deepEqual(await handle({ ...inquiry, accept }), first);
    const text = await handle({ ...inquiry, accept: '' });
    assert.match(text.body, /^# TYPE pods_total counter$/m);
  });
});
