// The reporter of a whole run of the tests: how far it is, each failure when it comes, and at the end
// the files that took longest.
import { relative } from 'node:path';
import { spec } from 'node:test/reporters';

const filesInAll = process.argv.filter((each) => each.endsWith('.test.ts')).length;
const slowestMax = 10;
/** So many of the last characters that a file has written to stderr are shown if it fails. */
const saidMax = 10_000;
/** Where nobody looks on, a line for each so many files. */
const filesEach = 50;
const isWatched = process.stdout.isTTY === true;

export default async function* report(source) {
  const started = performance.now();
  const files = [];
  const said = new Map();
  const faulty = new Set();
  const words = new spec();
  let failed = 0;
  const heading = () => {
    const { length } = files;
    const faults = failed === 0 ? '' : `, ${failed} failed`;
    return `${length} of ${filesInAll} test files after ${time(performance.now() - started)}${faults}`;
  };
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:fail' && data.details.error?.failureType !== 'subtestsFailed') {
      failed += 1;
      faulty.add(data.file);
      if (isWatched) yield '\r\x1b[K';
      words.write(event);
      yield String(words.read() ?? '');
    } else if (type === 'test:stderr') {
      said.set(data.file, `${said.get(data.file) ?? ''}${data.message}`.slice(-saidMax));
    } else if (type === 'test:summary' && data.file) {
      files.push(data);
      if (isWatched) yield `\r\x1b[K${heading()}`;
      else if (files.length % filesEach === 0) yield `${heading()}\n`;
    } else if (type === 'test:summary') {
      if (isWatched) yield '\r\x1b[K';
      words.end();
      for await (const text of words) yield String(text);
      for (const file of faulty) {
        if (said.has(file)) yield `stderr of ${nameOf(file)}:\n${said.get(file)}\n`;
      }
      files.sort((a, b) => b.duration_ms - a.duration_ms);
      yield 'the files that took longest:\n';
      for (const { file, duration_ms } of files.slice(0, slowestMax)) {
        yield `  ${(duration_ms / 1000).toFixed(1).padStart(6)} s  ${nameOf(file)}\n`;
      }
      const { passed, skipped, todo } = data.counts;
      yield `${passed} tests passed, ${data.counts.failed} failed, ${skipped} skipped, ${todo} to do in ${time(data.duration_ms)}\n`;
    }
  }
}

function nameOf(file) {
  return relative(process.cwd(), file);
}

function time(millis) {
  const seconds = Math.round(millis / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
