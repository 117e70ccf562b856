import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { checkChoices } from '../../src/flags/checks.ts';
import { removedFlags, removedGates } from '../../src/flags/removed.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';
import { settings } from '../../src/flags/settings.ts';
import { errorLines } from '../../src/process/program.ts';

// What earlier versions of Kubernetes took, and what replaces it.

const history = readFileSync(new URL('../../../../docs/history.md', import.meta.url), 'utf8');
const flagsPage = readFileSync(
  new URL('../../../../docs/reference/flags.md', import.meta.url),
  'utf8',
);
const folder = mkdtempSync(join(tmpdir(), 'taintmgr-removed-'));
after(() => rmSync(folder, { recursive: true }));

/** The one line that is printed; null: it was accepted. */
function lineFor(...argv: readonly string[]): string | null {
  try {
    checkChoices(resolveChoices(argv, {}));
    return null;
  } catch (error) {
    const lines = errorLines(error) ?? assert.fail(`a mistake of ours: ${error}`);
    assert.ok(!lines.includes('\n'), lines);
    return lines;
  }
}

it('a name that every object has is no removed flag, gate or controller', () => {
  assert.throws(() => lineFor('--constructor=1'), /unknown option '--constructor=1'/);
  assert.doesNotMatch(lineFor('--feature-gates=toString=true') ?? '', /removed/);
  assert.match(lineFor('--controllers=constructor') ?? '', /constructor/);
});

describe('a flag of an earlier version', () => {
  for (const [flag, { instead }] of Object.entries(removedFlags)) {
    for (const word of [`--${flag}`, `--${flag}=5m`, `--${flag.replaceAll('-', '_')}=true`]) {
      it(`${word} says what replaces it`, () => {
        const line = lineFor('--mode=evict', word) ?? '';
        assert.match(
          line,
          /^error: --\S+ (was removed in Kubernetes 1\.\d+|is no flag here); instead: /,
        );
        assert.ok(line.endsWith(`; instead: ${instead}`), line);
      });
    }
    it(`--${flag} is none of ours, and has its row in docs/reference/flags.md`, () => {
      assert.ok(!Object.values(settings).some((setting) => setting.flag === flag));
      assert.ok(flagsPage.includes(`\`--${flag}\``));
    });
  }

  it('what it names instead is a flag of ours', () => {
    const ours = new Set(Object.values(settings).map(({ flag }) => flag));
    const texts = Object.values(removedFlags).map(({ instead }) => instead);
    const named = texts
      .flatMap((text) => text.match(/--[a-z-]+/g) ?? [])
      .map((name) => name.slice(2));
    const others = ['server', 'kubeconfig'];
    assert.deepEqual(
      named.filter((name) => !ours.has(name) && !others.includes(name)),
      [],
    );
  });

  it('another unknown flag is left to the reader of the command line', () => {
    assert.throws(
      () => resolveChoices(['--unknown'], {}, { writeErr: () => {}, writeOut: () => {} }),
      {
        message: "error: unknown option '--unknown'",
      },
    );
  });
});

describe('a feature gate of an earlier version', () => {
  for (const [gate, text] of Object.entries(removedGates)) {
    it(`${gate} says what is so now`, () => {
      const expected = `error: --feature-gates: ${gate} was removed: ${text}`;
      assert.equal(lineFor(`--feature-gates=${gate}=false`), expected);
      assert.ok(history.includes(`\`${gate}\``), 'its row in docs/history.md');
    });
  }
});

describe('the mode that goes by pods', () => {
  const file = join(folder, 'config.yaml');
  writeFileSync(
    file,
    'apiVersion: taintmgr.dev/v1alpha1\nkind: ControllerConfiguration\n' +
      'nodeLifecycle: {enforcement: pods, podEvictionTimeout: 5m}\n',
  );

  it('is refused beside our own semantics, in one line', () => {
    assert.equal(
      lineFor(`--config=${file}`),
      `error: --config ${file}: nodeLifecycle.enforcement: got "pods", ` +
        'want taints, or --semantics=kube-controller-manager beside it',
    );
  });

  it('is accepted with those of kube-controller-manager', () => {
    assert.equal(lineFor(`--config=${file}`, '--semantics=kube-controller-manager'), null);
  });
});

it('the ranking of 2017 can be chosen', () => {
  assert.equal(lineFor('--node-pressure-semantics=kubelet-1.6'), null);
});
