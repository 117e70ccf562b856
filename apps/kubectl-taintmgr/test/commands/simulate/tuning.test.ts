import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

const tuning = new URL('../../../src/commands/simulate/tuning.ts', import.meta.url);

/** How large V8 lets the space for new objects get while most of them stay, in MiB; in a process of its own. */
function newSpace(between: string): number {
  const script = `
    import v8 from 'node:v8';
    const { tuneForSimulation, holdNewSpace } = await import(${JSON.stringify(tuning)});
    tuneForSimulation();
    let most = 0;
    const kept = [];
    for (let at = 0; at < 6_000_000; at++) {
      kept[at % 3_000_000] = { at };
      if (at % 10_000 > 0) continue;
      ${between};
      const spaces = v8.getHeapSpaceStatistics();
      most = Math.max(most, spaces.find(({ space_name }) => space_name === 'new_space').space_size);
    }
    process.stdout.write(String(most / 2 ** 20));`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  // V8 complains there of a flag that it does not know.
  assert.equal(String(child.stderr), '');
  return Number(child.stdout);
}

describe('the space for new objects of a simulation', () => {
  it('grows beyond 64 MiB where nobody holds it', () => {
    assert.ok(newSpace('') > 64);
  });

  it('ends there where a run asks now and then', () => {
    assert.equal(newSpace('holdNewSpace()'), 64);
  });
});
