import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { checkChoices } from '../../src/flags/checks.ts';
import { type Choices, resolveChoices } from '../../src/flags/resolve.ts';
import { engineConfig } from '../../src/process/engine-config.ts';
import { errorLines } from '../../src/process/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'taintmgr-policy-'));
after(() => rmSync(folder, { recursive: true }));

function manifest(kind: string, name: string, spec: object): string {
  const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind, metadata: { name }, spec };
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, JSON.stringify(object));
  return file;
}

const keep = manifest('EvictionPolicy', 'keep', { action: 'Keep' });
const limited = manifest('EvictionPolicy', 'limited', { limits: [{ per: 'Zone', percent: 10 }] });
const rule = manifest('NodeTaintRule', 'deadlock', {
  condition: { type: 'KernelDeadlock' },
  taint: { key: 'broken', effect: 'NoExecute' },
});

function choose(...argv: readonly string[]): Choices {
  return resolveChoices(argv, {});
}

function linesFor(...argv: readonly string[]): readonly string[] {
  try {
    checkChoices(choose(...argv));
  } catch (error) {
    return (errorLines(error) ?? assert.fail(String(error))).replaceAll(folder, '').split('\n');
  }
  return assert.fail('was accepted');
}

describe('--policy', () => {
  it('is repeated, or a list', () => {
    const names = (...argv: readonly string[]): readonly string[] =>
      choose(...argv).policyObjects.map(({ value }) => value.name);
    assert.deepEqual(names('--policy', keep, `--policy=${rule}`), ['keep', 'deadlock']);
    assert.deepEqual(names(`--policy=${rule},${keep}`), ['deadlock', 'keep']);
  });
  it('shows all that is wrong, each with its place', () => {
    const wrong = join(folder, 'wrong');
    mkdirSync(wrong);
    writeFileSync(join(wrong, 'a.yaml'), 'apiVersion: taintmgr.dev/v1alpha1\nkind: Policy\n');
    writeFileSync(join(wrong, 'b.yaml'), 'a: [');
    const lines = linesFor(`--policy=${wrong}`);
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? '', /^error: --policy \/wrong\/a\.yaml:2:7: got kind "Policy" of/);
    assert.match(lines[1] ?? '', /^error: --policy \/wrong\/b\.yaml:1:5: Flow sequence/);
  });
  it('has limits for which all pods are read, and which are kept', () => {
    assert.equal(checkChoices(choose()).podWatch, 'auto');
    assert.equal(checkChoices(choose(`--policy=${keep}`)).podWatch, 'auto');
    const choices = choose(`--policy=${limited}`);
    const checked = checkChoices(choices);
    assert.equal(checked.podWatch, 'all');
    assert.equal(engineConfig(choices, checked).keepLimits, true);
    const [line] = linesFor(`--policy=${limited}`, '--pod-watch=tainted-nodes');
    assert.match(line ?? '', /want all or auto beside a limit with percent or pods/);
  });
  it('has rules only where somebody acts on them', () => {
    assert.deepEqual(linesFor(`--policy=${rule}`, '--controllers=taint-eviction-controller'), [
      'error: --policy: got "NodeTaintRule deadlock", want node-lifecycle-controller among --controllers, which acts on it',
    ]);
  });
});
