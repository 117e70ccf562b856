import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { runLifecycleScript } from './script.ts';

// As transcripts.test.ts, for nodes: with REWRITE=1 the answers are written anew.
const folder = new URL('../testdata/lifecycle/', import.meta.url);

describe('transcripts of nodes', () => {
  for (const file of readdirSync(folder).sort()) {
    it(file, () => {
      const transcript = readFileSync(new URL(file, folder), 'utf8');
      const script = transcript.replace(/^ {4}.*\n/gm, '');
      const output = runLifecycleScript(script);
      if (process.env.REWRITE === '1') writeFileSync(new URL(file, folder), output);
      else assert.equal(output, transcript);
    });
  }
});
