import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { metricsTable } from '../../src/metrics/table.ts';
import { measure } from './measured.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));

describe('the table of metrics', () => {
  it('has every name that is written in the source, and no name twice', async () => {
    const names = (await metricsTable()).map(({ name }) => name);
    assert.deepEqual(names, [...new Set(names)].toSorted());
    const text = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`${source}/${file}`, 'utf8'))
      .join('\n');
    const prefixes =
      'taintmgr|node_collector|workqueue|rest_client|taint_eviction_controller|kubernetes|leader_election';
    const written = new Set(
      [...text.matchAll(new RegExp(`'((?:${prefixes})_[a-z_]+)'`, 'g'))].map(([, name]) => name),
    );
    assert.deepEqual(
      names.filter((name) => !/^(?:process|nodejs)_/.test(name)),
      [...written].toSorted(),
    );
  });

  it('has every family that a controller answers, with its type and its labels', async () => {
    const { metrics } = measure();
    const rows = new Map((await metricsTable()).map((row) => [row.name, row]));
    for (const family of await metrics.registry.getMetricsAsJSON()) {
      const row = rows.get(family.name);
      assert.equal(row?.type, family.type, family.name);
      for (const { labels } of family.values) {
        const own = Object.keys(labels).filter((label) => label !== 'le');
        assert.deepEqual(
          own.filter((label) => !row?.labels.includes(label)),
          [],
          family.name,
        );
      }
    }
  });

  it('says which setting a metric needs', async () => {
    const needs = new Map((await metricsTable()).map(({ name, needs }) => [name, needs]));
    assert.equal(needs.get('taintmgr_eviction_lag_seconds'), null);
    assert.equal(needs.get('taintmgr_takeover_drift_total'), '--takeover');
    assert.equal(needs.get('leader_election_master_status'), '--leader-elect');
    assert.equal(
      needs.get('taintmgr_node_pressure_doubts_total'),
      '--controllers=node-pressure-controller',
    );
  });
});
