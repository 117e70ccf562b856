import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runtimes } from '../world/runtimes.ts';

// Numbers, the table of faults and the days of trouble on the other runtimes.

const files = ['json.test.ts', 'reflector-faults.test.ts', 'reflector-day.test.ts'].map((name) =>
  fileURLToPath(new URL(`../proto/${name}`, import.meta.url)),
);

describe('reflector and JSON', () => {
  for (const { name, binary, test } of runtimes.filter((runtime) => runtime.name !== 'Node')) {
    it(`passes the same tests on ${name}`, async () => {
      const { failed, output } = await new Promise<{ failed: boolean; output: string }>((resolve) =>
        execFile(binary, [...test, ...files], { timeout: 400_000 }, (error, stdout, stderr) =>
          resolve({ failed: error !== null, output: stdout + stderr }),
        ),
      );
      assert.ok(!failed, output);
    });
  }
});
