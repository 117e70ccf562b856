import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { FaultyFile, PolicyPathError, readPolicyFiles } from '../../src/doors/manifests.ts';

const folder = mkdtempSync(join(tmpdir(), 'taintmgr-policies-'));
after(() => rmSync(folder, { recursive: true }));

function pause(name: string): string {
  return `apiVersion: taintmgr.dev/v1alpha1\nkind: EvictionPause\nmetadata: {name: ${name}}\n`;
}

/** A directory with these files. */
function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const path = join(folder, name);
  mkdirSync(path);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

function faultsOf(paths: readonly string[]): readonly string[] {
  try {
    readPolicyFiles(paths, 0);
    return [];
  } catch (error) {
    assert.ok(error instanceof FaultyFile || error instanceof PolicyPathError, String(error));
    return error.message.replaceAll(folder, '').split('\n');
  }
}

describe('policy files', () => {
  it('are those of directories in the order of their names, beside single ones', () => {
    const directory = folderOf('sound', {
      '20-b.yml': pause('b'),
      '10-a.yaml': `\uFEFF${pause('a')}`,
      '30-c.json': JSON.stringify({
        apiVersion: 'taintmgr.dev/v1alpha1',
        kind: 'EvictionPause',
        metadata: { name: 'c' },
      }),
      'kustomization.yaml': 'resources: [10-a.yaml]',
      '.hidden.yaml': 'nonsense',
      'README.md': '# Policies',
    });
    const single = join(folderOf('single', { 'z.yaml': pause('z') }), 'z.yaml');
    const names = readPolicyFiles([single, directory], 0).map(({ value }) => value.name);
    assert.deepEqual(names, ['z', 'a', 'b', 'c']);
  });
  it('may have nothing wrong in any of them', () => {
    const directory = folderOf('wrong', {
      'a.yaml': 'kind: Pod',
      'b.yaml': `${pause('a')}specs: 1`,
    });
    const want =
      'want EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain, TaintManager of taintmgr.dev/v1alpha1';
    assert.deepEqual(faultsOf([directory]), [
      `/wrong/a.yaml:1:7: got kind "Pod" and no apiVersion, ${want}`,
      '/wrong/b.yaml:4:8: unknown field "specs"',
    ]);
  });
  it('may not have one name twice', () => {
    const directory = folderOf('twice', {
      'a.yaml': `${pause('a')}---\n${pause('b')}`,
      'b.yaml': pause('b'),
    });
    assert.deepEqual(faultsOf([directory]), [
      '/twice/b.yaml:3:18: metadata.name: EvictionPause "b" is in /twice/a.yaml:5:1 already',
    ]);
  });
  it('have to be there', () => {
    assert.deepEqual(faultsOf([join(folder, 'nowhere')]), ['/nowhere: no such file']);
    const empty = folderOf('empty', { 'README.md': '' });
    assert.deepEqual(faultsOf([empty]), ['/empty: no file in it ends in .yaml, .yml or .json']);
  });
});
