// What Prometheus would make of metrics that were collected: which alerts fire, by its own promtool.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

const rules = fileURLToPath(new URL('../../../../deploy/monitoring/alerts.yaml', import.meta.url));
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** Why tests that need promtool are skipped; false: they are not, and must not be where CI says so. */
export const skip: string | false =
  !hasPromtool && process.env.REQUIRE_PROMTOOL !== '1' && 'there is no promtool on PATH';

/** /metrics of one replica, at one time. */
export interface Scrape {
  readonly instance: string;
  readonly text: string;
  /** When it was collected. */
  readonly atSeconds: number;
}

/** For so long each replica shows what it showed when it was collected. */
export interface Phase {
  readonly minutes: number;
  readonly scrapes: readonly Scrape[];
  /** Instants that metrics tell of move on with the time; false: they stand still, as was seen. */
  readonly moves: boolean;
}

/** Values of a series, one for each minute; null: it is not there. */
type Values = (number | null)[];

/** Names of the alerts that fire in the last minute. */
export function firing(phases: readonly Phase[]): readonly string[] {
  const series = seriesOf(phases);
  const minutes = phases.reduce((sum, phase) => sum + phase.minutes, 0);
  const input = [...series].map(([name, values]) => ({
    series: name,
    values: values.map((value) => (value === null ? '_' : String(value))).join(' '),
  }));
  const expected: string[] = [];
  // promtool says no values, only whether those are right that it is given: it names those it has got.
  for (;;) {
    const [status, output] = run(input, minutes - 1, expected);
    if (status === 0) return expected.toSorted();
    const got = /got:\s*(.*)/s.exec(output)?.[1] ?? assert.fail(output);
    const names = [...got.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name);
    assert.ok(names.length > expected.length, output);
    expected.splice(0, expected.length, ...names);
  }
}

function run(input: readonly object[], minute: number, names: readonly string[]) {
  const exp_samples = names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }));
  const expr = 'group by (alertname) (ALERTS{alertstate="firing"})';
  const test = {
    rule_files: [rules],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: input,
        promql_expr_test: [{ expr, eval_time: `${minute}m`, exp_samples }],
      },
    ],
  };
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-alerts-'));
  try {
    const file = join(folder, 'test.yaml');
    writeFileSync(file, stringify(test, { lineWidth: 0 }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
      encoding: 'utf8',
    });
    return [status, stdout + stderr] as const;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All series by their names and labels. Time begins at 0, so instants are moved there. */
function seriesOf(phases: readonly Phase[]): ReadonlyMap<string, Values> {
  const series = new Map<string, Values>();
  let begun = 0;
  for (const { minutes, scrapes, moves } of phases) {
    for (const { instance, text, atSeconds } of scrapes) {
      for (const [name, labels, value] of samples(text)) {
        const isInstant = name.endsWith('_timestamp_seconds');
        const key = `${name}{${[labels, `instance="${instance}"`, ...target].filter(Boolean)}}`;
        const values = series.get(key) ?? [];
        while (values.length < begun) values.push(null);
        for (let minute = begun; minute < begun + minutes; minute += 1) {
          const now = (moves ? minute : begun) * 60;
          values.push(isInstant ? now + value - atSeconds : value);
        }
        series.set(key, values);
      }
    }
    begun += minutes;
  }
  return series;
}

const target = ['job="taintmgr-controller-metrics"', 'namespace="taintmgr-system"'];

/** Of ours alone: no alert names others. */
function samples(
  text: string,
): readonly (readonly [name: string, labels: string, value: number])[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value = ''] =
      /^(taintmgr_\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const number = Number(value.replace('Inf', 'Infinity'));
    return name === undefined || !Number.isFinite(number) ? [] : [[name, labels, number] as const];
  });
}
