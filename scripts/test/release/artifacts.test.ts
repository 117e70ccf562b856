import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  artifactOf,
  artifactTable,
  readChecksums,
  sizeText,
  writeChecksums,
  writeTarball,
} from '../../release/artifacts.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-release-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('what a release has made', () => {
  it('is listed, and read again only as it was listed', (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, 'a.tgz'), 'a');
    const artifacts = [artifactOf(join(folder, 'a.tgz'))];
    writeChecksums(folder, artifacts);
    assert.deepEqual(readChecksums(folder), artifacts);
    assert.equal(
      artifactTable(artifacts),
      `  SIZE  ${'SHA256'.padEnd(64)}  FILE\n0.0 kB  ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.tgz\n`,
    );
    const page = readFileSync(new URL('../../../docs/releases.md', import.meta.url), 'utf8');
    const [command = ''] = /^sha256sum .*$/m.exec(page) ?? [];
    const check = () => spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
    assert.equal(check().stdout, 'a.tgz: OK\n');
    writeFileSync(join(folder, 'a.tgz'), 'b');
    assert.equal(check().stdout, 'a.tgz: FAILED\n');
    assert.throws(() => readChecksums(folder), /a\.tgz: sha256 is 3e23e8\w+, want ca9781/);
  });

  it('is the same archive whenever, by whomever and under whichever umask its files were written', async (t) => {
    const sums = [];
    for (const name of ['one', 'two']) {
      const folder = join(folderOf(t), name);
      mkdirSync(join(folder, 'in'), { recursive: true });
      for (const file of name === 'one' ? ['a', 'b'] : ['b', 'a']) {
        writeFileSync(join(folder, 'in', file), file, { mode: name === 'one' ? 0o600 : 0o664 });
      }
      const archive = join(folder, 'archive.tgz');
      await writeTarball(archive, join(folder, 'in'), name === 'one' ? ['a', 'b'] : ['b', 'a']);
      sums.push(artifactOf(archive).sha256);
    }
    assert.equal(sums[0], sums[1]);
  });

  it('has sizes as registries write them', () => {
    assert.deepEqual([999_949, 45_592_032].map(sizeText), ['999.9 kB', '45.6 MB']);
  });
});
