import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseProgramFlags } from '../../src/program/flags.ts';

const program = fileURLToPath(new URL('../../bin/api-server.js', import.meta.url));

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(...args: readonly string[]): Promise<Run> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk) => (stderr += chunk));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

/** A command that runs JavaScript. */
const javascript = (code: string) => ['--', process.execPath, '-e', code];

describe('the command line of api-server', () => {
  for (const [args, message] of [
    [['--port', 'x'], '--port: got "x", want a whole number from 0 to 65535'],
    [['--port', '65536'], '--port: got "65536", want a whole number from 0 to 65535'],
    [['--seed', '-1'], /--seed/],
    [['--topology', 'two'], '--topology: got "two", want empty or three-zones'],
    [['--kubeconfig', ''], '--kubeconfig: it is empty'],
    [['--'], '--: want a command after it'],
    [['--nodes', '3'], /Unknown option '--nodes'/],
    [['extra'], /Unexpected argument 'extra'/],
  ] as const) {
    it(`refuses ${args.join(' ')}`, () => {
      assert.throws(() => parseProgramFlags(args), { message });
    });
  }

  it('leaves to the command what comes after --', () => {
    assert.deepEqual(parseProgramFlags(['--port', '0', '--', 'a', '--port', 'x']), {
      topology: 'empty',
      command: ['a', '--port', 'x'],
      port: 0,
    });
  });
});

describe('api-server', () => {
  it('runs a command with its kubeconfig, ends with its exit code, and leaves nothing', async () => {
    const { code, stdout } = await run(
      ...javascript('console.log(process.env.KUBECONFIG); process.exitCode = 7;'),
    );
    assert.equal(code, 7);
    assert.match(stdout, /^\/.*kubeconfig\n$/);
    assert.equal(existsSync(stdout.trim()), false);
  });

  it('is at rest when the command starts', async () => {
    const nodes = `
      const { readFileSync } = require('node:fs');
      const config = readFileSync(process.env.KUBECONFIG, 'utf8');
      const server = /server: "?([^"\\n]+)/.exec(config)[1];
      const token = /token: "?([^"\\n]+)/.exec(config)[1];
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
      fetch(server + '/api/v1/nodes', { headers: { authorization: 'Bearer ' + token } })
        .then((response) => response.json())
        .then(({ items }) => console.log(items.map(({ status }) =>
          status.conditions.find(({ type }) => type === 'Ready').status).join()));`;
    const { stdout } = await run('--topology', 'three-zones', ...javascript(nodes));
    assert.equal(stdout, `${Array(9).fill('True').join()}\n`);
  });

  it('says what it cannot run', async () => {
    const { code, stderr } = await run('--', 'no-such-program');
    assert.equal(code, 1);
    assert.equal(
      stderr,
      'error: no-such-program: spawn no-such-program ENOENT\nSee api-server --help\n',
    );
  });

  it('says where it is, and ends with who has started it by a pipe', async () => {
    const child = spawn(process.execPath, [program, '--token', 'T'], { stdio: 'pipe' });
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (!line.startsWith('export KUBECONFIG=')) continue;
      assert.match(readFileSync(line.replace('export KUBECONFIG=', ''), 'utf8'), /token: "?T"?$/m);
      child.stdin.end();
    }
    if (child.exitCode === null) await once(child, 'exit');
    assert.equal(child.exitCode, 0);
    assert.match(lines[0] ?? '', /^ready: https:\/\/127\.0\.0\.1:\d+$/);
  });

  it('prints its help and its version', async () => {
    assert.match((await run('--help')).stdout, /^A Kubernetes API server .*\n\nUsage:\n/);
    assert.match((await run('--version')).stdout, /^\d+\.\d+\.\d+/);
    const wrong = await run('--topology', 'two');
    assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
    assert.match(wrong.stderr, /^error: --topology: got "two", .*\nSee api-server --help\n$/);
  });
});
