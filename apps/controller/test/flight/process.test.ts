import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { node, pod } from '@taintmgr/sim-cluster';
import { ask } from '../harness/https-client.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

// --flight-record of the whole controller, against an API server over HTTPS.

const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0 };

async function start(t: TestContext, file: string): Promise<[TestApi, RunningProcess]> {
  const cluster = await startTestApi([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]);
  t.after(() => cluster.stop());
  cluster.api.create('nodes', node('n1'));
  cluster.api.create('pods', pod('default', 'victim', { spec }));
  const flags = [
    '--controllers=taint-eviction-controller',
    '--authorization-always-allow-paths=/*',
    `--flight-record=${file}`,
  ];
  return [cluster, await startProcess(t, { connection: cluster, flags })];
}

async function evict({ api }: TestApi, controller: RunningProcess): Promise<void> {
  await controller.saw('caches synced, evictions start');
  const one = api.get('nodes', '', 'n1');
  assert.ok(one);
  const taints = [{ key: 'bad', effect: 'NoExecute' }];
  api.update('nodes', { ...one, spec: { ...one.spec, taints } });
  await controller.saw('evicted', { pod: 'default/victim' });
}

async function metricsOf({ port }: RunningProcess): Promise<Readonly<Record<string, number>>> {
  const { body } = await ask(port, '/metrics');
  const lines = Array.from(body.matchAll(/^taintmgr_(flight_\w+) (\S+)$/gm));
  return Object.fromEntries(lines.map(([, name = '', value]) => [name, Number(value)]));
}

it('records what the controller is told and does', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-flight-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'flight.jsonl');
  const [cluster, controller] = await start(t, file);
  await evict(cluster, controller);
  const metrics = await metricsOf(controller);
  assert.equal(metrics.flight_record_active, 1);
  assert.equal(metrics.flight_record_lost_total, 0);
  assert.ok(Number(metrics.flight_record_bytes) > 1000);
  await controller.stop();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const { kind, engine } = JSON.parse(lines[0] ?? '');
  assert.deepEqual([kind, engine.semantics, engine.mode], ['FlightRecord', 'precise', 'delete']);
  assert.ok(lines.some((line) => /"kind":"deletePod".*"name":"victim"/.test(line)));
  assert.equal(lines.at(-1), '{"end":"stopped"}');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

it('evicts on when the disk is full, says so once and counts', async (t) => {
  const [cluster, controller] = await start(t, '/dev/full');
  await evict(cluster, controller);
  const stopped = 'flight record stopped, evictions continue without it';
  await controller.saw(stopped);
  const ended = controller.lines.filter(({ msg }) => msg === stopped);
  assert.deepEqual(
    ended.map(({ level, file, why }) => [level, file, why]),
    [['warn', '/dev/full', 'ENOSPC: no space left on device, write']],
  );
  const metrics = await metricsOf(controller);
  assert.equal(metrics.flight_record_active, 0);
  assert.ok(Number(metrics.flight_record_lost_total) > 0);
  await controller.stop();
});
