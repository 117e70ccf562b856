import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { runScript } from './reflector-script.ts';

// Each file holds commands and, indented under each, what the reflector answered. With REWRITE=1
// the answers are written anew; commit only differences you can explain.
const folder = new URL('testdata/reflector/', import.meta.url);

describe('reflector transcripts', () => {
  for (const file of readdirSync(folder).sort()) {
    it(file, () => {
      const transcript = readFileSync(new URL(file, folder), 'utf8');
      const output = runScript(transcript.replace(/^ {4}.*\n/gm, ''));
      if (process.env.REWRITE === '1') writeFileSync(new URL(file, folder), output);
      else assert.equal(output, transcript);
    });
  }
});
