// Transcripts: files in testdata that hold commands and, indented under each, what was answered. With REWRITE=1 the
// answers are written anew; commit only differences you can explain.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';

/** Has each of these transcripts answered as it is written; `run` plays the commands of one. */
export function itAnswers(folder: string, run: (script: string) => string, names: string): void {
  for (const name of names.trim().split(/\s+/)) {
    it(`answers as in ${name}.txt`, () => {
      const file = new URL(`testdata/${folder}/${name}.txt`, import.meta.url);
      const transcript = readFileSync(file, 'utf8');
      const output = run(transcript.replace(/^ {4}.*\n/gm, ''));
      if (process.env.REWRITE === '1') writeFileSync(file, output);
      else assert.equal(output, transcript);
    });
  }
}

/** Has each transcript of a folder named in a test file of this package. */
export function itNamesAll(folder: string): void {
  it('has no transcript that nobody runs', () => {
    const here = new URL('.', import.meta.url);
    const tests = readdirSync(here, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => readFileSync(new URL(path, here), 'utf8'));
    const calls = tests.flatMap((text) => text.match(/^it\w*Answer\w*\([^)]*\)/gm) ?? []).join();
    const names = readdirSync(new URL(`testdata/${folder}/`, here));
    assert.deepEqual(
      names.filter((name) => !new RegExp(`\\b${name.slice(0, -4)}\\b`).test(calls)),
      [],
    );
  });
}
