// Builds the binary and uses it as somebody would who has nothing else: from an empty folder, with an
// empty environment. Prints what it looked at; exits 1 at the first thing that is not as it should be.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };

const timeLimitMs = 240_000;
const app = fileURLToPath(new URL('..', import.meta.url));
const cwd = mkdtempSync(join(tmpdir(), 'taintmgr-binary-'));
const surroundings = { cwd, env: { HOME: cwd, TMPDIR: cwd } };

try {
  const program = build();
  checkVersion(program);
  checkWrongFlag(program);
  await checkWork(program);
  await checkPluginLogin(program);
} finally {
  rmSync(cwd, { recursive: true, force: true });
}

function build() {
  const build = spawnSync('npm', ['run', '-s', 'binary'], { cwd: app, encoding: 'utf8' });
  assert.equal(build.status, 0, build.stderr);
  const program = build.stdout.trim();
  say(`built ${(statSync(program).size / 1e6).toFixed(0)} MB`);
  return program;
}

function checkVersion(program) {
  const { stdout } = spawnSync(program, ['--version'], { ...surroundings, encoding: 'utf8' });
  assert.equal(stdout, `${manifest.version}\n`);
  say(`--version says ${manifest.version}`);
}

function checkWrongFlag(program) {
  const result = spawnSync(program, ['--mode=drop'], { ...surroundings, encoding: 'utf8' });
  assert.equal(
    result.stderr,
    'error: --mode: got "drop", want delete or evict or evict-then-delete\n',
  );
  assert.equal(result.status, 1);
  say('a wrong flag is one line and exit code 1');
}

/** Its own cluster, its server over HTTPS, and an end in order. */
async function checkWork(program) {
  const port = await freePort();
  const open = '--authorization-always-allow-paths=/healthz,/readyz,/livez,/ui';
  const flags = ['--simulate', '--bind-address=127.0.0.1', `--secure-port=${port}`, open];
  const child = start(program, flags);
  const ended = once(child, 'close');
  const lines = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    const { msg } = JSON.parse(line);
    if (msg !== 'caches synced, evictions start') continue;
    assert.equal(await get(port, '/readyz'), '200 ok');
    assert.match(await get(port, '/metrics'), /^403 /);
    say('--simulate: synced, ready, and /metrics is not for everybody');
    assert.match(await get(port, '/ui'), /^200 <!doctype html>/i);
    say('/ui: the page');
    child.kill('SIGTERM');
  }
  const [code] = await ended;
  assert.equal(code, 0, lines.join('\n'));
  assert.equal(JSON.parse(lines.at(-1) ?? '{}').msg, 'stopped', lines.join('\n'));
  say('SIGTERM ends it in order');
}

/** A part that only such kubeconfigs load; nobody serves where it leads. */
async function checkPluginLogin(program) {
  const port = await freePort();
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}` } }],
    users: [
      {
        name: 'u',
        user: { 'auth-provider': { name: 'gcp', config: { 'cmd-path': '/nowhere/login' } } },
      },
    ],
  };
  const kubeconfig = join(cwd, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(config));
  const child = start(program, [`--kubeconfig=${kubeconfig}`, '--secure-port=0']);
  const ended = once(child, 'close');
  const lines = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    if (line.includes('"could not start, will try again"')) child.kill('SIGTERM');
  }
  await ended;
  assert.match(lines.join('\n'), /no credentials: .*\/nowhere\/login/);
  say('a kubeconfig with an auth provider: the library for it is there');
}

/** It ends with this process, also where that has found a fault. */
function start(program, flags) {
  const options = { ...surroundings, timeout: timeLimitMs };
  const child = spawn(program, [...flags, '--logging-format=json'], options);
  process.on('exit', () => child.kill('SIGKILL'));
  return child;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** `200 ok` */
async function get(port, path) {
  const request = https.get({ host: '127.0.0.1', port, path, rejectUnauthorized: false });
  const [response] = await once(request, 'response');
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return `${response.statusCode} ${body}`;
}

function say(text) {
  process.stdout.write(`binary: ${text}\n`);
}
