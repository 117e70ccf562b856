// /metrics as text and as OpenMetrics, written as programs in Go write it.
import type { Registry } from 'prom-client';
import { exactAnswer, type Handler } from '../server/answer.ts';

const textType = 'text/plain; version=0.0.4; charset=utf-8';
const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Answers with the metrics of a registry, as OpenMetrics where the client asks for that format. */
export function metricsHandler(registry: Registry): Handler {
  return async ({ accept }) =>
    accept.includes('application/openmetrics-text')
      ? exactAnswer(await metricsText(registry, 'openMetrics'), 200, openMetricsType)
      : exactAnswer(await metricsText(registry, 'text'), 200, textType);
}

/** The text formats of metrics: Prometheus' own and OpenMetrics 1.0. */
type TextFormat = 'text' | 'openMetrics';

type Family = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];
type Labels = Family['values'][number]['labels'];

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/**
 * The metrics of a registry as programs in Go write them, byte for byte. Families, series and labels are in
 * alphabetical order, `le` last; numbers have Go's shortest form; families without a series are left out. A
 * consumer that reads kube-controller-manager by `le` or by text finds the same form here.
 */
export async function metricsText(registry: Registry, format: TextFormat): Promise<string> {
  const families = await registry.getMetricsAsJSON();
  const lines = families
    .toSorted((one, other) => compare(one.name, other.name))
    .flatMap((family) => familyLines(family, format));
  const end = format === 'openMetrics' ? ['# EOF'] : [];
  return [...lines, ...end].map((line) => `${line}\n`).join('');
}

function familyLines(family: Family, format: TextFormat): readonly string[] {
  const { help, type, values } = family;
  if (values.length === 0) return [];
  const name = familyName(family, format);
  const helped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  const quoted = format === 'openMetrics' ? helped.replaceAll('"', '\\"') : helped;
  return [
    `# HELP ${name} ${quoted}`,
    `# TYPE ${name} ${type}`,
    ...samplesOf(family).map(({ name, labels, value }) => `${name}${labels} ${numberText(value)}`),
  ];
}

/** In OpenMetrics a counter's family goes without the `_total` of its series. */
function familyName({ name, type }: Family, format: TextFormat): string {
  const isCounter = format === 'openMetrics' && String(type) === 'counter';
  return isCounter ? name.replace(/_total$/, '') : name;
}

/** The parts of one histogram stay as they are: its buckets, then `_sum` and `_count`. */
function samplesOf({ name, values }: Family): readonly Sample[] {
  return values
    .map((sample) => ({
      name: 'metricName' in sample ? String(sample.metricName) : name,
      series: labelsText(without(sample.labels, 'le')),
      labels: labelsText(sample.labels),
      value: sample.value,
    }))
    .toSorted((one, other) => compare(one.series, other.series));
}

function labelsText(labels: Labels): string {
  const { le, ...others } = labels;
  const pairs = Object.entries(others).toSorted(([one], [other]) => compare(one, other));
  if (le !== undefined) pairs.push(['le', typeof le === 'number' ? numberText(le) : le]);
  if (pairs.length === 0) return '';
  return `{${pairs.map(([name, value]) => `${name}="${labelText(String(value))}"`).join(',')}}`;
}

function without(labels: Labels, name: string): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([other]) => other !== name));
}

function labelText(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

/** As Go's strconv writes a number in its shortest form: `1e-08`, `0.0001`, `1.048576e+06`. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const size = String(Math.abs(power)).padStart(2, '0');
  return `${digits}e${power < 0 ? '-' : '+'}${size}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
