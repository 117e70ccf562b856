import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, matchesGlob } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { settings } from '../src/flags/settings.ts';
import { readManifests } from './manifests.ts';

// What the Dockerfile names is there, and what it makes is what the manifests and the other scripts
// know. Nobody builds an image here: there is no registry to build on.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const text = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8').replaceAll('\\\n', ' ');

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
const [, , entry = '', program = ''] = manifest.scripts.binary.split(' ');

describe('the Dockerfile', () => {
  it('builds with the scripts there are', () => {
    const commands = all('RUN').flatMap((line) => line.split('&&').map((one) => one.trim()));
    assert.deepEqual(commands, [
      'npm install --no-audit --no-fund --loglevel=error',
      'npm run -s -w apps/controller binary',
    ]);
    assert.ok(existsSync(join(root, 'apps/controller', entry)), entry);
    const maker = manifest.scripts.binary.split(' ')[1] ?? '';
    assert.ok(existsSync(join(root, 'apps/controller', maker)), maker);
  });

  it('takes what the binary script makes, and starts it', () => {
    const [sources, built] = all('COPY');
    assert.equal(sources, '. .');
    const [from, to] = (built ?? '').replace(/^--from=build /, '').split(' ');
    assert.equal(from, join('/src', 'apps/controller', program));
    assert.deepEqual(JSON.parse(only('ENTRYPOINT')), [to]);
    assert.deepEqual(all('WORKDIR'), ['/src']);
    assert.equal(basename(to ?? ''), Object.keys(manifest.bin)[0]);
  });

  it('starts the program that binary:check tries out', () => {
    const check = manifest.scripts['binary:check'].split(' ')[1] ?? '';
    const script = readFileSync(join(root, 'apps/controller', check), 'utf8');
    assert.match(script, /spawnSync\('npm', \['run', '-s', 'binary'\]/);
  });

  it('has a Node that is good for the project on both ends', () => {
    const [build] = all('FROM');
    assert.match(build ?? '', /^node:24-[a-z]+-slim AS build$/);
    const engines = readFileSync(join(root, 'package.json'), 'utf8');
    assert.match(engines, /"node": "\^24\./);
  });

  it('leaves out what the build makes, and nothing that it reads', () => {
    const ignored = readFileSync(join(root, 'deploy/Dockerfile.dockerignore'), 'utf8');
    const patterns = ignored.split('\n').filter((line) => line !== '');
    const isIgnored = (path: string): boolean =>
      patterns.some((pattern) => matchesGlob(path, pattern) || path.startsWith(`${pattern}/`));
    const app = 'apps/controller';
    assert.ok(isIgnored(join(app, program)), 'a program of this machine');
    const read = ['package.json', 'package-lock.json', join(app, entry), join(app, 'package.json')];
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
    const ports = spec.containers[0].ports.map(
      ({ containerPort }: { containerPort: number }) => containerPort,
    );
    assert.deepEqual(ports, [settings.securePort.initial]);
    assert.equal(only('EXPOSE'), String(settings.securePort.initial));
    assert.equal(spec.containers[0].command, undefined);
  });
});
