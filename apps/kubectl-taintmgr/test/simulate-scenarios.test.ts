import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from './run.ts';
import { playTranscript } from './transcript.ts';

// What docs/scenarios shows is what its commands print; their pages are written beside copies of the
// files, so that nothing is left in the documentation.

const scenarios = new URL('../../../docs/scenarios/', import.meta.url);
const folder = process.cwd();
let directory = '';

before(() => {
  directory = mkdtempSync(join(tmpdir(), 'scenarios-'));
  cpSync(fileURLToPath(scenarios), directory, { recursive: true });
  process.chdir(directory);
});
after(() => {
  process.chdir(folder);
  rmSync(directory, { recursive: true });
});

it('every scenario says what happens, and makes its page', async () => {
  const played: string[] = [];
  await playTranscript(new URL('README.md', scenarios), async (line) => {
    const args = line.replace(/^kubectl taintmgr /, '').split(' ');
    const report = args.at(args.indexOf('--report') + 1) ?? '';
    const result = await run(...args);
    assert.ok(existsSync(report), report);
    played.push(args.at(args.indexOf('--script') + 1) ?? '');
    return result;
  });
  const topologies = ['spot-pool.yaml', 'three-zones.yaml'];
  const scripts = readdirSync(directory).filter((name) => name.endsWith('.yaml'));
  assert.deepEqual([...played, ...topologies].sort(), scripts.sort());
});
