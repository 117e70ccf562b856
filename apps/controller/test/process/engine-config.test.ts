// Which machines a run has, by its settings.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkChoices } from '../../src/flags/checks.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';
import { engineConfig } from '../../src/process/engine-config.ts';

describe('NodeDrains', () => {
  for (const [flags, areCarriedOut] of [
    [[], true],
    [['--controllers=taint-eviction-controller'], false],
    [['--cluster-policies=false'], false],
    // Nothing that a drain has set would be seen: it would begin for ever, and its evictions be none for taints.
    [['--dry-run=client'], false],
    [['--dry-run=server'], false],
  ] as const) {
    it(`${areCarriedOut ? 'are' : 'are not'} carried out with ${flags.join(' ') || 'no flags'}`, () => {
      const choices = resolveChoices(flags, {});
      assert.equal(engineConfig(choices, checkChoices(choices)).nodeDrains, areCarriedOut);
    });
  }
});
