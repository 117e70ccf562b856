import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import { run } from '../../world/run.ts';
import { temporaryFiles, topology } from '../../world/simulate-files.ts';

const { path, write: file } = temporaryFiles();

describe('a report', () => {
  const source = file('plain.yaml', topology);
  const before = file('before.html', 'of yesterday');
  // It can be played for a minute.
  const failing = file('failing.yaml', 'events:\n- {at: 1m, resume: {pause: work}}\n');

  for (const [what, report] of [
    ['in a folder that is not there', path('nowhere/page.html')],
    ['in what is no folder', `${source}/page.html`],
    ['that is a folder', path('.')],
    ['that ends like a folder', path('nowhere/')],
    ['without a name', ''],
  ] as const) {
    it(`${what} is refused before anything is played`, async () => {
      const { code, out, err } = await run(
        ...['simulate', '-f', source, '--script', failing, '--report', report],
      );
      assert.deepEqual([code, out], [1, '']);
      assert.ok(err.startsWith(`error: --report ${report}: `), err);
    });
  }

  it('that is there stands where the simulation fails', async () => {
    const args = ['-f', source, '--script', failing, '--report', before];
    assert.equal((await run('simulate', ...args)).code, 1);
    assert.equal(readFileSync(before, 'utf8'), 'of yesterday');
  });

  it('is for its owner alone, also where a link or an open file stood there', async () => {
    const [aim, linked, open] = [file('aim', 'theirs'), path('linked.html'), file('open.html', '')];
    symlinkSync(aim, linked);
    chmodSync(open, 0o644);
    for (const report of [linked, open]) {
      const args = ['-f', source, '--until', '1m', '--report', report];
      assert.equal((await run('simulate', ...args)).code, 0);
      const made = lstatSync(report);
      assert.deepEqual([made.isFile(), made.mode & 0o777], [true, 0o600]);
    }
    assert.equal(readFileSync(aim, 'utf8'), 'theirs');
  });

  // The one file of Linux that can be opened and takes nothing.
  it('that cannot be written in the end costs no answer', {
    skip: process.platform !== 'linux',
  }, async () => {
    const args = ['-f', source, '--until', '1m', '--report', '/dev/full'];
    const { code, out, err } = await run('simulate', ...args);
    assert.equal(code, 1);
    assert.match(out, /shop\/web/);
    assert.match(err, /error: --report \/dev\/full: ENOSPC: no space left on device, write$/m);
  });
});
