import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sarifOf } from '../../../../src/commands/doctor/manifests/manifests.ts';
import type { PlacedFinding } from '../../../../src/commands/doctor/manifests/placed-finding.ts';
import { run } from '../../../world/run.ts';

// That the document has the shape of SARIF is checked by the compiler, with its published types.

const finding: PlacedFinding = {
  check: 'budgets',
  level: 'FAIL',
  file: 'deploy/web.yaml',
  line: 26,
  about: 'pdb/web -n shop',
  message: 'it never allows an eviction',
  fix: 'relax the PDB',
};

describe('doctor -f -o sarif', () => {
  it('has a result for each finding, at its line', async () => {
    const { out, err, code } = await run(
      'doctor',
      '-f',
      'docs/commands/examples/shop.yaml',
      '-o',
      'sarif',
    );
    const { version, $schema, runs } = JSON.parse(out);
    assert.deepEqual([version, code], ['2.1.0', 1]);
    assert.match($schema, /sarif-2\.1\.0\.json$/);
    const [{ tool, results }] = runs;
    const rules = tool.driver.rules.map(({ id }: { id: string }) => id);
    assert.equal(err, '5 objects in 1 file: 3 errors, 1 warning\n');
    assert.deepEqual(
      results.map(({ level, locations }: ReturnType<typeof JSON.parse>) => [
        level,
        locations[0].physicalLocation.region.startLine,
      ]),
      [
        ['error', 26],
        ['error', 36],
        ['warning', 41],
        ['error', 43],
      ],
    );
    for (const { ruleId, ruleIndex } of results) assert.equal(rules[ruleIndex], ruleId);
  });

  it('names the file from the root of the sources, escaped, and what to do', () => {
    const place = (file: string) => {
      const [run] = sarifOf([{ ...finding, file }]).runs;
      return run?.results?.[0]?.locations?.[0]?.physicalLocation?.artifactLocation;
    };
    assert.deepEqual(place('./deploy/a b#.yaml'), {
      uri: 'deploy/a%20b%23.yaml',
      uriBaseId: '%SRCROOT%',
    });
    assert.deepEqual(place('/tmp/a.yaml'), { uri: 'file:///tmp/a.yaml' });
    assert.deepEqual(place('-'), { uri: 'stdin' });
    const [result] = sarifOf([finding]).runs[0]?.results ?? [];
    assert.equal(
      result?.message.text,
      'pdb/web -n shop: it never allows an eviction. To mend it: relax the PDB',
    );
  });

  it('knows a finding again whose line has moved', () => {
    const print = (line: number) =>
      sarifOf([{ ...finding, line }]).runs[0]?.results?.[0]?.partialFingerprints;
    assert.deepEqual(print(26), print(99));
  });

  it('is for files only', async () => {
    const { err, code } = await run('doctor', '-o', 'sarif');
    assert.deepEqual(
      [code, err],
      [1, 'error: -o sarif: want -f too, since findings in a cluster have no place in a file\n'],
    );
  });
});
