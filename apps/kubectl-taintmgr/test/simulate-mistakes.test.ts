import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { run } from './run.ts';
import { temporaryFiles, topology } from './simulate-files.ts';

const { path, write: file } = temporaryFiles();

describe('mistakes', () => {
  const cases: readonly (readonly [name: string, script: string, faults: readonly string[]])[] = [
    ['no list', 'events: 5', ['1:9: events: want a list, got 5']],
    [
      'each with its place',
      'events:\n- at: soon\n  cordon: {node: zone-a-1}\n- at: 1m\n  cordon: {zones: a}\n',
      [
        '2:7: events[0].at: want a duration such as 90s, 5m or 1h30m, got "soon"',
        '5:19: events[1].cordon.zones: unknown field; want node, nodes, zone, selector',
      ],
    ],
    [
      'after the end',
      'events:\n- {at: 2h, cordon: {node: zone-a-1}}\n',
      ['2:8: events[0].at: is not before the end of the simulation (--until)'],
    ],
    [
      'nobody',
      'events:\n- {at: 1m, cordon: {node: nobody}}\n- {at: 1m, cordon: {zone: nowhere}}\n',
      [
        '2:3: events[0]: there is no node nobody',
        '3:3: events[1]: no node is meant by zone nowhere',
      ],
    ],
    [
      'refused while it runs',
      'events:\n- {at: 1m, scale: {workload: shop/nothing, replicas: 2}}\n',
      ['2:3: events[0]: at 1m: there is no deployments, statefulsets, replicasets shop/nothing'],
    ],
    [
      'a write while nobody can write',
      'events:\n- {at: 1m, apiOutage: {}, lasts: 1m}\n- {at: 90s, cordon: {node: zone-a-1}}\n',
      ['3:3: events[1]: at 1m30s: the API server is out of reach at this time'],
    ],
    [
      'a leak that nobody acts on',
      'events:\n- {at: 1m, leakMemory: {workload: shop/web, perSecond: 1Mi}}\n',
      [
        '2:3: events[0]: nobody acts on it: add pressure, with thresholds such as settings.evictionHard',
      ],
    ],
    [
      'a threshold',
      'pressure: {settings: {evictionHard: {memory.available: much}}}\nevents: []\n',
      [
        '1:22: pressure.settings: quantities must match the regular expression ' +
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      ],
    ],
    [
      'the engine',
      'engine: {mode: gently}\nevents: []\n',
      ['1:16: engine.mode: got "gently", want delete or evict or evictThenDelete'],
    ],
  ];
  for (const [name, script, faults] of cases) {
    it(name, async () => {
      const [source, events] = [file('topology.yaml', topology), file('wrong.yaml', script)];
      const { code, out, err } = await run('simulate', '-f', source, '--script', events);
      const wanted = faults.map((fault) => `error: ${events}:${fault}\n`).join('');
      assert.deepEqual({ code, out, err }, { code: 1, out: '', err: wanted });
    });
  }

  it('in a topology', async () => {
    const source = file(
      'wrong-topology.yaml',
      'apiVersion: taintmgr.dev/v1alpha1\nkind: Topology\nnodes:\n- {zone: a, count: 0}\n' +
        'workloads:\n- {kind: Gadget, name: a/b}\n',
    );
    const { code, err } = await run('simulate', '-f', source);
    assert.equal(code, 1);
    assert.equal(
      err,
      `error: ${source}:4:20: nodes[0].count: want a whole number from 1, got 0\n` +
        `error: ${source}:6:10: workloads[0].kind: want Deployment, StatefulSet, DaemonSet, Job, got "Gadget"\n`,
    );
  });

  it('in json that is none', async () => {
    const source = file('none.json', '{"items": [\n  {"kind": }\n]}');
    const { code, err } = await run('simulate', '-f', source);
    assert.equal(code, 1);
    assert.equal(err, `error: ${source}:2:12: Unexpected token '}'\n`);
  });
});

describe('--fail-if', () => {
  const script = 'events:\n- at: 1m\n  stopKubelet: {zone: zone-b}\n';
  const cases: readonly (readonly [limit: string, code: number, err: RegExp])[] = [
    ['unavailable(shop/web) > 30%', 2, /^limit crossed: .*: shop\/web had 33\.3%$/m],
    ['unavailable(shop/web) > 40%', 0, /^$/],
    ['unavailable(*/*) >= 2', 2, /had 2$/m],
    ['below(shop/web) > 1m', 2, /shop\/web had 5m/],
    ['evictions(shop/*) > 100', 0, /^$/],
    ['unavailable(shop/wbe) > 1', 1, /no workload shop\/wbe; there are .*shop\/web/],
    ['unavailable(shop/web) < 1', 1, /want METRIC\(NAMESPACE\/NAME\) > VALUE/],
    ['evictions(shop/web) > 3%', 1, /want a number to compare with/],
    ['sorrow(shop/web) > 3', 1, /want one of unavailable, evictions, unplaced, refusals, below/],
  ];
  for (const [limit, code, err] of cases) {
    it(limit, async () => {
      const files = ['-f', file('topology.yaml', topology), '--script', file('zone.yaml', script)];
      const result = await run('simulate', ...files, '--until', '15m', '--fail-if', limit);
      assert.equal(result.code, code, result.err);
      assert.match(result.err, err);
    });
  }
});

it('writes no page where nothing was simulated', async () => {
  const report = path('none.html');
  const { code } = await run('simulate', '-f', file('empty.yaml', ''), '--report', report);
  assert.equal(code, 1);
  assert.throws(() => readFileSync(report), /ENOENT/);
});
