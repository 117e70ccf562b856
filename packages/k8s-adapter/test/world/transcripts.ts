import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';

/**
 * One test for each file of the folder. A file holds commands and, indented under each, what they
 * were answered with. With REWRITE=1 the answers are written anew; commit only differences you can
 * explain.
 */
export function testTranscripts(folder: URL, run: (script: string) => string): void {
  for (const file of readdirSync(folder).sort()) {
    it(file, () => {
      const transcript = readFileSync(new URL(file, folder), 'utf8');
      const output = run(transcript.replace(/^ {4}.*\n/gm, ''));
      if (process.env.REWRITE === '1') writeFileSync(new URL(file, folder), output);
      else assert.equal(output, transcript);
    });
  }
}
