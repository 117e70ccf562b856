import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { settings } from '../../src/flags/settings.ts';
import { readManifests } from './manifests.ts';

// What the Dockerfile names is there, and what it makes is what the manifests and the other scripts
// know. Nobody builds an image here: there is no registry to build on.

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const raw = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
const text = raw.replaceAll('\\\n', ' ');

/** What follows an instruction, one for each time it is given. */
function all(instruction: string): readonly string[] {
  return Array.from(text.matchAll(new RegExp(`^${instruction} (.+)$`, 'gm')), ([, rest]) => {
    return (rest ?? '').trim();
  });
}

function only(instruction: string): string {
  const [one, ...others] = all(instruction);
  assert.deepEqual(others, []);
  return one ?? assert.fail(`no ${instruction}`);
}

/** The program that `npm run binary` makes, as its script says. */
const [, maker = '', program = ''] = manifest.scripts.binary.split(' ');
/** What the script bundles, of which the package's manifest says nothing. */
const entry = 'src/main.ts';

describe('the Dockerfile', () => {
  it('builds with the scripts there are', () => {
    const [, build = ''] = all('RUN');
    assert.deepEqual(
      build.split('&&').map((one) => one.trim()),
      [
        'npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error',
        'node scripts/check-locked.mjs',
        'npm run -s -w apps/controller archives -- "linux-$TARGETARCH" --node=/node/node',
        'mkdir /program',
        'tar -xzf apps/controller/archives/*.tar.gz -C /program',
      ],
    );
    const script = readFileSync(join(root, 'apps/controller', maker), 'utf8');
    assert.ok(script.includes(`join(app, '${entry}')`), 'another entry');
  });

  it('has what an archive has: the program, which it starts, and the licenses', () => {
    assert.deepEqual(all('COPY'), [
      '. .',
      '--from=node /usr/local/bin/node /usr/local/LICENSE /node/',
      '--from=build /program/ /',
    ]);
    assert.deepEqual(JSON.parse(only('ENTRYPOINT')), [`/${Object.keys(manifest.bin)[0]}`]);
    assert.deepEqual(all('WORKDIR'), ['/src']);
  });

  it('starts the program that binary:check tries out', () => {
    const check = manifest.scripts['binary:check'].split(' ')[1] ?? '';
    const script = readFileSync(join(root, 'apps/controller', check), 'utf8');
    assert.match(script, /spawnSync\('npm', \['run', '-s', 'binary'\]/);
  });

  it('has a Node that is good for the project on both ends', () => {
    assert.match(raw, /--build-arg NODE_IMAGE=node:24-[a-z]+-slim@sha256:/);
    const engines = readFileSync(join(root, 'package.json'), 'utf8');
    assert.match(engines, /"node": "\^24\./);
  });

  it('is built on images with their digests alone', () => {
    const images = all('FROM').map((image) => image.replaceAll(/\$\{(\w+)\}/g, '<$1>'));
    assert.deepEqual(images, [
      '<NODE_IMAGE> AS node',
      '--platform=<BUILDPLATFORM> <NODE_IMAGE> AS build',
      '<BASE_IMAGE>',
    ]);
    // Without a value of their own, or with one that has a digest.
    for (const argument of all('ARG')) {
      assert.match(argument, /^(TARGETARCH|(NODE|BASE)_IMAGE(=\S+@sha256:[0-9a-f]{64})?)$/);
    }
    const [check = ''] = all('RUN');
    const digest = `sha256:${'0'.repeat(64)}`;
    const [good, bad] = [`node:24@${digest}`, 'node:24'];
    const run = (node: string, base: string): number | null =>
      spawnSync('sh', ['-c', check], { env: { NODE_IMAGE: node, BASE_IMAGE: base } }).status;
    assert.equal(run(good, good), 0);
    assert.deepEqual([run(bad, good), run(good, bad), run(good, `${good}0`)], [1, 1, 1]);
  });

  it('has installed what the lockfile says, or does not go on', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'taintmgr-locked-'));
    t.after(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'node_modules'));
    const path = 'node_modules/yaml';
    const yaml = { version: '2.0.0', integrity: 'sha512-a' };
    const check = (installed: object): readonly [number | null, string] => {
      const write = (file: string, packages: object): void =>
        writeFileSync(join(folder, file), JSON.stringify({ packages }));
      write('package-lock.json', { [path]: yaml });
      write('node_modules/.package-lock.json', installed);
      const script = join(root, 'scripts/check-locked.mjs');
      const { status, stderr } = spawnSync(process.execPath, [script, folder], {
        encoding: 'utf8',
      });
      return [status, stderr];
    };
    assert.deepEqual(check({ [path]: yaml }), [0, '']);
    assert.deepEqual(check({ [path]: { ...yaml, integrity: 'sha512-b' } }), [
      1,
      `error: ${path} is 2.0.0 sha512-b, want 2.0.0 sha512-a\n`,
    ]);
    assert.deepEqual(check({ 'node_modules/new': yaml }), [
      1,
      'error: node_modules/new 2.0.0 is not in package-lock.json\n',
    ]);
  });

  it('leaves out what the build makes, and nothing that it reads', () => {
    const ignored = readFileSync(join(root, 'deploy/Dockerfile.dockerignore'), 'utf8');
    const patterns = ignored.split('\n').filter((line) => line !== '');
    const isIgnored = (path: string): boolean =>
      patterns.some((pattern) => matchesGlob(path, pattern) || path.startsWith(`${pattern}/`));
    const app = 'apps/controller';
    assert.ok(isIgnored(join(app, program)), 'a program of this machine');
    const ours = [entry, maker, 'package.json'].map((path) => join(app, path));
    const read = ['package.json', 'package-lock.json', 'scripts/make-program.mjs', ...ours];
    for (const path of read) {
      assert.ok(existsSync(join(root, path)), path);
      assert.ok(!isIgnored(path), path);
    }
    assert.ok(isIgnored('.git') && isIgnored('packages/core/node_modules'));
  });

  it('runs as the manifests want it, and on the port that the manifests name', () => {
    const { objects } = readManifests('modes/evict');
    const deployment = objects.find(({ kind }) => kind === 'Deployment') ?? assert.fail();
    const { spec } = deployment.spec.template;
    // A kubelet knows that a user is not root by its number alone.
    assert.equal(spec.securityContext.runAsNonRoot, true);
    assert.match(only('USER'), /^[1-9]\d*:[1-9]\d*$/);
    const ports: readonly number[] = spec.containers[0].ports.map(
      ({ containerPort }: { containerPort: number }) => containerPort,
    );
    assert.equal(ports[0], settings.securePort.initial);
    assert.equal(only('EXPOSE'), ports.join(' '));
    assert.equal(spec.containers[0].command, undefined);
  });
});
