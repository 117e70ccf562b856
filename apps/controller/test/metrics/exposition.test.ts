import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { metricsHandler, numberText } from '../../src/metrics/exposition.ts';

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

describe('numbers', () => {
  const cases: readonly (readonly [value: number, text: string])[] = [
    [0, '0'],
    [1, '1'],
    [-2.5, '-2.5'],
    [0.1, '0.1'],
    [0.0001, '0.0001'],
    [9.999999999999999e-5, '9.999999999999999e-05'],
    [1e-8, '1e-08'],
    [163.84, '163.84'],
    [262_144, '262144'],
    [1_048_576, '1.048576e+06'],
    [16_777_216, '1.6777216e+07'],
    [1_800_000_000.125, '1.800000000125e+09'],
    [1e21, '1e+21'],
    [1e100, '1e+100'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
  ];
  for (const [value, text] of cases) it(text, () => assert.equal(numberText(value), text));
});

describe('metrics', () => {
  it('are in order: families, series, labels, and le last', async () => {
    const registry = new Registry();
    const registers = [registry];
    const labelNames = ['verb', 'host'] as const;
    const histogram = { name: 'b_seconds', help: 'B.', labelNames, registers, buckets: [0.5, 1e7] };
    const waits = new Histogram(histogram);
    waits.observe({ verb: 'PUT', host: 'h' }, 1);
    waits.observe({ verb: 'GET', host: 'h' }, 0.25);
    new Gauge({ name: 'a', help: 'A \\ line\nand another.', registers }).set(1_000_000);
    new Counter({ name: 'c_total', help: 'Nothing yet.', labelNames, registers });
    const { body } = await metricsHandler(registry)({ ...inquiry, accept: '' });
    assert.deepEqual(body.split('\n'), [
      '# HELP a A \\\\ line\\nand another.',
      '# TYPE a gauge',
      'a 1e+06',
      '# HELP b_seconds B.',
      '# TYPE b_seconds histogram',
      'b_seconds_bucket{host="h",verb="GET",le="0.5"} 1',
      'b_seconds_bucket{host="h",verb="GET",le="1e+07"} 1',
      'b_seconds_bucket{host="h",verb="GET",le="+Inf"} 1',
      'b_seconds_sum{host="h",verb="GET"} 0.25',
      'b_seconds_count{host="h",verb="GET"} 1',
      'b_seconds_bucket{host="h",verb="PUT",le="0.5"} 0',
      'b_seconds_bucket{host="h",verb="PUT",le="1e+07"} 1',
      'b_seconds_bucket{host="h",verb="PUT",le="+Inf"} 1',
      'b_seconds_sum{host="h",verb="PUT"} 1',
      'b_seconds_count{host="h",verb="PUT"} 1',
      '',
    ]);
  });

  it('are text by default', async () => {
    const { headers, body } = await handler()({ ...inquiry, accept: '*/*' });
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.deepEqual(body.split('\n'), [
      '# HELP pods_total Pods, "all".',
      '# TYPE pods_total counter',
      'pods_total{zone="r1:\0:a\\"b\\\\c\\nd"} 2',
      '# HELP size_total No counter.',
      '# TYPE size_total gauge',
      'size_total 1e-08',
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
      'size_total 1e-08',
      '# EOF',
      '',
    ]);
    assert.deepEqual(await handle({ ...inquiry, accept }), first);
    const text = await handle({ ...inquiry, accept: '' });
    assert.match(text.body, /^# TYPE pods_total counter$/m);
  });
});
