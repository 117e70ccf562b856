// Builds the archive for this machine and its manifest, installs it as krew does, and uses it as
// somebody would who has nothing else: the real kubectl, an empty environment, a cluster over HTTPS.
// Prints what it looked at; exits 1 at the first thing that is not as it should be.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import manifest from '../package.json' with { type: 'json' };
import { startTestCluster } from '../test/world/test-cluster.ts';
import { krewManifest } from './krew-manifest.mjs';
import { krewFaults } from './krew-rules.mjs';
import { archiveOf, ownPlatform } from './platforms.ts';

const { version } = manifest;
const home = mkdtempSync(join(tmpdir(), 'taintmgr-krew-'));
const script = fileURLToPath(new URL('../../../scripts/build-archives.mjs', import.meta.url));

try {
  const archive = build();
  const plugin = checkManifest(dirname(archive));
  const bin = install(plugin, archive);
  await use(`${bin}${delimiter}${process.env.PATH}`);
} finally {
  rmSync(home, { recursive: true });
}

function build() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'kubectl-taintmgr'], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const archive = stdout.trim();
  say(
    `built ${archiveOf('kubectl-taintmgr', ownPlatform, version)}, ${(statSync(archive).size / 1e6).toFixed(0)} MB`,
  );
  return archive;
}

function checkManifest(folder) {
  const url = 'https://example.com/v{version}/{archive}';
  const text = krewManifest({ version, folder, url, homepage: 'https://example.com' });
  const plugin = parse(text);
  assert.deepEqual(krewFaults(plugin), []);
  const platforms = plugin.spec.platforms.map(({ selector }) => {
    return `${selector.matchLabels.os}/${selector.matchLabels.arch}`;
  });
  say(`the manifest is as krew wants it, for ${platforms.join(', ')}`);
  return plugin;
}

/** Into the store, all files, as they are; the link is relative. Gives the folder for the PATH. */
function install({ metadata, spec }, archive) {
  const { os, arch } = ownPlatform;
  const platform = spec.platforms.find(
    ({ selector: { matchLabels } }) => matchLabels.os === os && matchLabels.arch === arch,
  );
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
  assert.equal(digest, platform.sha256);
  const staging = join(home, 'staging');
  const store = join(home, '.krew/store', metadata.name);
  const bin = join(home, '.krew/bin');
  for (const folder of [staging, store, bin]) mkdirSync(folder, { recursive: true });
  assert.equal(spawnSync('tar', ['-xzf', archive, '-C', staging]).status, 0);
  const installed = join(store, spec.version);
  renameSync(staging, installed);
  for (const file of ['LICENSE', 'THIRD-PARTY-NOTICES']) {
    assert.ok(existsSync(join(installed, file)), file);
  }
  symlinkSync(relative(bin, join(installed, platform.bin)), join(bin, `kubectl-${metadata.name}`));
  say('installed as krew does: sha256, store, link, license');
  return bin;
}

async function use(PATH) {
  const cluster = await startTestCluster({
    region: 'r',
    zones: ['a'],
    nodesPerZone: 2,
    workloads: [],
    budgets: [],
  });
  const env = { PATH, HOME: home, KUBECONFIG: cluster.kubeconfig };
  const kubectl = async (...args) => (await promisify(execFile)('kubectl', args, { env })).stdout;
  try {
    const versions = await kubectl('taintmgr', 'version');
    assert.match(versions, new RegExp(`^Client Version: v${version}\nServer Version: v`));
    say('kubectl taintmgr version: of the plugin and of the server');
    const node = await kubectl('taintmgr', 'explain', 'node', 'a-1');
    assert.match(node, /^Name: +a-1\n/);
    say('kubectl taintmgr explain node: answers');
    const page = join(home, 'page.html');
    await kubectl('taintmgr', 'simulate', '--until=1m', '--partial', `--report=${page}`);
    assert.match(readFileSync(page, 'utf8'), /<style>[^<]/);
    say('kubectl taintmgr simulate --report: has the page in it');
    const each = ['taintmgr', 'simulate', '--partial', '--each=node', '--until=48h', '-o=name'];
    const { stdout, stderr } = await promisify(execFile)('kubectl', each, { env });
    assert.match(stdout, /^node\/a-/);
    assert.doesNotMatch(stderr, /thread/);
    say('kubectl taintmgr simulate --each: plays in threads');
    await kubectl('taintmgr', 'completion', 'install');
    const words = await kubectl('__complete', 'taintmgr', 'explain', 'node', '');
    assert.match(words, /^a-1\na-2\n/);
    say('kubectl __complete taintmgr: names of nodes, by what completion install has written');
  } finally {
    await cluster.stop();
  }
}

function say(text) {
  process.stdout.write(`krew: ${text}\n`);
}
