// The files of Debian packages, and of all the Go libraries that they depend on, one for each line.
// node dependencies.mjs PACKAGES NAME ... - the first argument is a Packages file of the archive.
import { readFileSync } from 'node:fs';

const [file = '', ...names] = process.argv.slice(2);
const paragraphs = readFileSync(file, 'utf8').split('\n\n');
const byName = new Map();
for (const fields of paragraphs.map(fieldsOf)) {
  const provided = namesIn(fields.get('Provides') ?? '');
  // Of several versions the archive lists the newest last.
  for (const name of provided) if (!byName.has(name)) byName.set(name, fields);
  byName.set(fields.get('Package'), fields);
}

const seen = new Set();
const left = [...names];
for (let name = left.pop(); name !== undefined; name = left.pop()) {
  const fields = byName.get(name);
  if (!fields) throw new Error(`${file} has no package ${name}`);
  if (seen.has(fields.get('Filename'))) continue;
  seen.add(fields.get('Filename'));
  left.push(...namesIn(fields.get('Depends') ?? '').filter((each) => /^golang-.*-dev$/.test(each)));
}
process.stdout.write(`${[...seen].sort().join('\n')}\n`);

function fieldsOf(paragraph) {
  const lines = paragraph.split('\n').filter((line) => /^[A-Z]/.test(line));
  return new Map(lines.map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 2)]));
}

/** Of alternatives the first. */
function namesIn(list) {
  return list.split(', ').flatMap((each) => /^[a-z0-9][-+.a-z0-9]*/.exec(each) ?? []);
}
