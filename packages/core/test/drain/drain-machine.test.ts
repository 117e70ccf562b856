import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { runDrainScript } from './script.ts';

// Each file holds events and, indented under each, what the drain answered. With REWRITE=1 the
// answers are written anew; commit only differences you can explain.
const folder = new URL('../testdata/drain/', import.meta.url);

describe('drains', () => {
  for (const file of readdirSync(folder).sort()) {
    it(file, () => {
      const transcript = readFileSync(new URL(file, folder), 'utf8');
      const output = runDrainScript(transcript.replace(/^ {4}.*\n/gm, ''));
      if (process.env.REWRITE === '1') writeFileSync(new URL(file, folder), output);
      else assert.equal(output, transcript);
    });
  }
});
