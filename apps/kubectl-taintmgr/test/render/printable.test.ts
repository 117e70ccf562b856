import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { jsonText, onTerminal, printable, shellWord } from '@taintmgr/k8s-adapter/command-line';
import { writeNotes } from '../../src/cli/output.ts';
import { type DrainSettings, effectLine } from '../../src/commands/drain-by-taint/settings.ts';
import { printAnswer } from '../../src/render/printer.ts';
import { paintFor } from '../../src/render/style.ts';
import { wrapped } from '../../src/render/table.ts';
import { CapturedOutput } from '../world/captured-output.ts';
import { execute } from '../world/plugin.ts';
import { run } from '../world/run.ts';

const invisible =
  '\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202e\u2028\u2060\u2066\ufeff\u{e0041}';
const evil = `x\u001b]0;pwned\u0007\u001b[31mRED\u009b31m\u0000${invisible}`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out.
const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/u;

describe('text of others on a terminal', () => {
  it('has an escape for each character that is not seen and steers', () => {
    assert.equal(
      printable(`a${invisible}b`).replaceAll(/\\u(\{\w+\}|\w{4})/g, '.'),
      `a${'.'.repeat(13)}b`,
    );
    assert.equal(printable('\u061c\u{e0041}\u001b\u009b\u007f'), '\\u061c\\u{e0041}^[^[^?');
  });

  it('has an escape for what has no width, and none for the emoji that it belongs to', () => {
    // Fillers, selectors and joiners that are letters and marks, not characters of format.
    const filled = 'a\u034fb\u115fc\u3164d\ufe01e\u180bf\u{e0101}g\uffa0h\ufe0f';
    const shown = 'a\\u034fb\\u115fc\\u3164d\\ufe01e\\u180bf\\u{e0101}g\\uffa0h\\ufe0f';
    assert.equal(printable(filled), shown);
    assert.equal(onTerminal(filled), shown);
    assert.deepEqual(JSON.parse(jsonText(filled)), filled);
    assert.match(jsonText(filled), /^[ -~]+$/);
    assert.equal(printable('\u26a0\ufe0f late'), '\u26a0\ufe0f late');
  });

  // Line ends and our own colours pass the last door: the line that quotes others has to stop them.
  it('makes no line of its own, and has no colour of ours', async (t) => {
    const line = `${evil}\n\u001b[31mFAKE`;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not come out.
    const oneLine = /^[^\n\u001b]*\n?$/;
    assert.match(wrapped(line, '  ', 1_000), oneLine);
    const taint = { key: 'k', value: 'v', effect: 'NoSchedule', timeAdded: null };
    const settings: Pick<DrainSettings, 'taint' | 'effectReason'> = { taint, effectReason: line };
    assert.match(effectLine(settings as DrainSettings) ?? '', oneLine);
    const notes = new CapturedOutput();
    writeNotes(notes, { warnings: [], notes: [line] });
    assert.match(notes.errText, oneLine);
    const server = createServer((request, response) => {
      const metadata = { name: line, resourceVersion: '1' };
      const nodes = { kind: 'NodeList', apiVersion: 'v1', metadata, items: [{ metadata }] };
      const isVersion = request.url === '/version';
      response.end(JSON.stringify(isVersion ? { gitVersion: line } : nodes));
    });
    t.after(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const where = [`--server=http://127.0.0.1:${port}`, '--kubeconfig=/dev/null'];
    const { out } = await run('version', ...where);
    assert.match(out, /^Client Version: .*\nServer Version: [ -~]*\n$/);
    assert.match((await run('__complete', ...where, 'explain', 'node', '')).out, /^:\d+\n$/);
  });

  it('keeps the colours and lines that are ours, and no others', () => {
    const paint = paintFor('always', false, {});
    const ours = `${paint('warning', 'Warning:')}\tone\n${paint('urgent', 'two')} ${paint('calm', 'z')}${paint('quiet', 'q')}`;
    assert.equal(onTerminal(ours), ours);
    assert.equal(onTerminal('\u001b[2J\u001b[5m'), '^[[2J^[[5m');
  });

  it('is told in json and yaml as it is, in escapes', async () => {
    const document = { [evil]: [evil], plain: 'é\nb' };
    const answer = { document, rows: [], names: [], table: () => evil };
    assert.deepEqual(JSON.parse(jsonText(document)), document);
    for (const kind of ['json', 'yaml'] as const) {
      const text = await printAnswer(answer, { kind }, true, new CapturedOutput());
      assert.doesNotMatch(text, raw);
      const { parse } = await import('yaml');
      assert.deepEqual(parse(text), document);
    }
    assert.doesNotMatch(
      (
        await printAnswer(answer, { kind: 'table', wide: false }, true, new CapturedOutput())
      ).replaceAll('\u001b[31m', ''),
      raw,
    );
  });

  it('steers nothing where it comes by a snapshot that crashes, or is calm', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-printable-'));
    const file = join(directory, 'evil.json');
    const metadata = { name: `n${evil}`, namespace: `ns${evil}`, uid: 'u' };
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `n${evil}`, uid: 'n' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 1 },
    };
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [node, deployment] }),
    );
    const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
    const crash = 'setImmediate(()=>{throw(new(Error)(%22a%5Cu001b%5B31m%5Cu009b%5Cu061c%22))})';
    const run = (line: readonly string[], options = '') =>
      execute(process.execPath, ['-C', '@taintmgr/source', main, ...line], {
        PATH: process.env.PATH ?? '',
        NODE_OPTIONS: options,
      });
    try {
      const simulated = await run(['simulate', '-f', file]);
      assert.doesNotMatch(simulated.out + simulated.err, raw);
      assert.doesNotMatch(simulated.err, /crashed/);
      const crashed = await run(['version'], `--import=data:text/javascript,${crash}`);
      assert.match(crashed.err, /crashed, which is a bug: Error: a\^\[\[31m\^\[\\u061c/);
      assert.doesNotMatch(crashed.err, raw);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

it('a word is what it was once a shell has read it', () => {
  const words = [
    'drain-1',
    'maintenance=kernel:NoExecute',
    '',
    'a b',
    "it's",
    '$(reboot)',
    '~',
    '!',
  ];
  for (const word of words) {
    const read = execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' });
    assert.equal(read, word);
  }
  assert.equal(shellWord('drain-1'), 'drain-1');
});
