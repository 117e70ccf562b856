import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Result } from './run.ts';

// A transcript is what a terminal shows: `$ command`, then what was printed, and an exit code other
// than 0 last as `[exit code 1]`. In a text file lines of stderr begin with `! `; in a page of the
// documentation they stand as they are, in blocks fenced by ```console.

/** Gives what is different each time a form that is always the same. */
export type Normalize = (text: string) => string;

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

const seconds = /((?:remaining|next|last)Seconds"?: )-?\d+/g;

/** How long something takes, or is ago: `3s`, `1.5s`, `2m`, `2m5s`. A slow machine needs minutes. */
export const durations: RegExp = /\b(?:\d+m)?\d+(?:\.\d+)?s\b|\b\d+m\b/g;

/** What no two runs have in common: times, uids, ports. */
const normalize: Normalize = (text) =>
  text
    .replace(uid, '<uid>')
    .replace(time, '<time>')
    .replace(seconds, '$1<seconds>')
    .replace(/127\.0\.0\.1:\d{2,5}/g, '127.0.0.1:<port>');

const block = /^```console\n([\s\S]*?)^```$/gm;

/**
 * Plays every command of a file in order and compares what it prints. With REWRITE=1 what is
 * different is written into the file; the test still fails if a command fails that the file does
 * not show as failing.
 */
export async function playTranscript(
  file: URL,
  play: (line: string) => Promise<Result>,
  normalizeMore: Normalize = (text) => text,
): Promise<void> {
  const text = readFileSync(file, 'utf8');
  const isPage = file.pathname.endsWith('.md');
  const parts = isPage ? Array.from(text.matchAll(block), ([, body = '']) => body) : [text];
  const played: string[] = [];
  const show = isPage ? onPage : inFile;
  for (const part of parts) {
    played.push(await playPart(part, async (line) => show(await play(line)), normalizeMore));
  }
  const blocks = [...played];
  const rewritten = isPage
    ? text.replace(block, () => `\`\`\`console\n${blocks.shift()}\`\`\``)
    : played.join('');
  if (process.env.REWRITE === '1') {
    writeFileSync(file, rewritten);
    const known = failingIn(text);
    const failing = failingIn(rewritten).filter((line) => !known.includes(line));
    assert.deepEqual(failing, [], `${file.pathname}: commands that did not fail before`);
  } else {
    // By lines: of two long texts no message shows where they differ.
    const message = `${file.pathname} (rewrite it with REWRITE=1)`;
    assert.deepEqual(...apart(rewritten.split('\n'), text.split('\n')), message);
  }
}

/** The commands that end with an exit code other than 0. */
function failingIn(text: string): readonly string[] {
  const scenes = text.split(/^(?=\$ )/m).filter((scene) => /^\[exit code \d+\]$/m.test(scene));
  return scenes.map((scene) => scene.slice(0, scene.indexOf('\n')));
}

/** Both without the lines that both begin with. */
function apart(lines: string[], others: string[]): [string[], string[]] {
  const first = lines.findIndex((line, index) => line !== others[index]);
  return first < 0 ? [lines, others] : [lines.slice(first), others.slice(first)];
}

/** What a part would say now; where that is the same in other words it stays as it is. */
async function playPart(
  part: string,
  play: (line: string) => Promise<string>,
  normalizeMore: Normalize,
): Promise<string> {
  const [head = '', ...scenes] = part.split(/^(?=\$ )/m);
  const isFirstScene = head.startsWith('$ ');
  const all = isFirstScene ? [head, ...scenes] : scenes;
  let text = isFirstScene ? '' : head;
  for (const scene of all) {
    const [line = '', ...lines] = scene.split('\n');
    const said = lines.join('\n');
    // Blank lines and comments between two scenes belong to nobody.
    const [, old = '', rest = ''] = /^([\s\S]*?)((?:\n*(?:#[^\n]*\n)*)*)$/.exec(said) ?? [];
    const now = await play(line.slice(2));
    const same =
      normalizeMore(normalize(now)).trimEnd() === normalizeMore(normalize(old)).trimEnd();
    text += `${line}\n${same ? said : now + rest.replace(/^\n/, '')}`;
  }
  return text;
}

function inFile({ code, out, err }: Result): string {
  const errors = err === '' ? '' : `${err.trimEnd().replace(/^/gm, '! ')}\n`;
  return `${ended(out)}${errors}${exitLine(code)}`;
}

function onPage({ code, out, err }: Result): string {
  return `${ended(out)}${ended(err)}${exitLine(code)}`;
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function exitLine(code: number): string {
  return code === 0 ? '' : `[exit code ${code}]\n`;
}
