// What the flight recorder is told by the settings.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Registry } from 'prom-client';
import { checkChoices } from '../../src/flags/checks.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';
import type { FlightRecorder } from '../../src/flight/recorder.ts';
import { startFlightRecorder } from '../../src/flight/start.ts';
import { createLogger } from '../../src/log/logger.ts';
import { Meter } from '../../src/metrics/meter.ts';
import { engineConfig } from '../../src/process/engine-config.ts';

const idle = { handle: () => [], nextWake: () => null };

/** A folder of its own for the test. */
function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-flight-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

function start(...flags: readonly string[]): FlightRecorder | null {
  const choices = resolveChoices(flags, {});
  const log = createLogger({ format: 'json', verbose: false, write: () => {} });
  const engine = engineConfig(choices, checkChoices(choices));
  return startFlightRecorder({
    settings: choices.settings,
    engine,
    meter: new Meter(new Registry()),
    log,
  });
}

/** Records a step, and says what the first line of the file is. */
async function headOf(file: string, ...flags: readonly string[]) {
  const recorder = start(`--flight-record=${file}`, ...flags) ?? assert.fail();
  recorder.around(idle).handle(0, { kind: 'tick' });
  await recorder.close();
  return JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '');
}

describe('a flight record', () => {
  it('is none where no file is named', () => assert.equal(start(), null));

  it('names the seed of a cluster that is embedded, and of no other', async (t) => {
    const file = join(folder(t), 'flight');
    const { seed } = await headOf(file);
    assert.equal(seed, undefined);
    assert.equal((await headOf(file, '--simulate', '--seed=7')).seed, 7);
  });

  it('becomes as large as its megabytes, and no larger', async (t) => {
    const file = join(folder(t), 'flight');
    const recorder = start(`--flight-record=${file}`, '--flight-record-maxsize=1') ?? assert.fail();
    const machine = recorder.around(idle);
    for (let at = 0; recorder.lost === 0; at++) machine.handle(at, { kind: 'tick' });
    await recorder.close();
    assert.ok(recorder.size <= 2 ** 20 && recorder.size > 2 ** 20 - 1000, `${recorder.size}`);
  });

  it('is kept for so many starts', async (t) => {
    const file = join(folder(t), 'flight');
    for (let i = 0; i < 4; i++) await headOf(file, '--flight-record-maxbackup=2');
    const kept = [1, 2, 3].map((number) => existsSync(`${file}.${number}`));
    assert.deepEqual(kept, [true, true, false]);
  });
});
