// Makes one program of a TypeScript entry and the Node it runs on, as a Node single executable
// application: everything bundled, put into a copy of Node. With a platform (linux-arm64, win32-x64)
// for another machine, whose Node is what --node names or comes from the npm registry; otherwise for
// this one, with its code compiled ahead. Prints the path of the program, which on Windows ends in .exe.
//
// What is not always needed can be a part of its own, an asset that is not looked at before it is: V8 keeps
// the source of all that it has looked at in memory. ENTRY loads them; what is no TypeScript stays as it is.
//
//   node scripts/make-program.mjs ENTRY PROGRAM [PLATFORM] [--node=FILE] [--part=NAME=FILE ...]
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inject } from 'postject';
import { build } from 'tsup';
import { builtPage } from '../packages/page/src/bundled.ts';
import { fetchNode } from './node-programs.ts';

/** Where the program is, wherever a link to it may be. */
const here =
  "const programUrl = require('node:url').pathToFileURL(require('node:fs').realpathSync(process.execPath)).href;";

/** `require` of the entry and of parts, which loads parts as well as what Node has. */
const loadsParts = `
require = ((own) => {
  const loaded = new Map();
  const load = (id) => {
    if (!id.startsWith('./')) return own(id);
    const known = loaded.get(id);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(id, module);
    const source = own('node:sea').getAsset(id.slice(2), 'utf8');
    const names = ['exports', 'require', 'module'];
    own('node:vm').compileFunction(source, names, { filename: id })(module.exports, load, module);
    return module.exports;
  };
  return load;
})(require);
`;

/** Where the packages are that are imported by name. */
const packages = fileURLToPath(new URL('../packages/', import.meta.url));
const own = `${process.platform}-${process.arch}`;

const { positionals, values: flags } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: 'string', multiple: true, default: [] },
    node: { type: 'string' },
  },
});
const [entry, path, platform = own] = positionals;
if (!entry || !path) throw new Error('want: make-program.mjs ENTRY PROGRAM [PLATFORM]');
/** Files by the names of the parts that they become. */
const parts = new Map(
  flags.part.map((part) => {
    const [name, ...file] = part.split('=');
    return [name, resolve(file.join('='))];
  }),
);
const program = platform.startsWith('win32-') ? `${path}.exe` : path;
const folder = mkdtempSync(join(tmpdir(), 'taintmgr-program-'));
try {
  const node = nodeOf(platform);
  const main = await bundleInto(folder, 'main', entry);
  mkdirSync(dirname(program), { recursive: true });
  await makeProgram(node, blobOf({ main, assets: await assetsOf(parts) }, node));
} finally {
  rmSync(folder, { recursive: true });
}
process.stdout.write(`${resolve(program)}\n`);

/** The Node for a platform, of the version that this runs on; throws where `--node` is another one. */
function nodeOf(name) {
  if (name === own) return process.execPath;
  if (!flags.node) return fetchNode(name, folder);
  if (!readFileSync(flags.node).includes(`/release/v${process.versions.node}/`)) {
    throw new Error(`--node: ${flags.node}: want Node ${process.versions.node}, which runs here`);
  }
  return resolve(flags.node);
}

/**
 * client-node does not say that its modules do nothing but define things. Without that all 3 MB of
 * it are taken in for the little that is used.
 */
function dropUnusedParts(build) {
  build.onResolve({ filter: /./ }, async ({ path, pluginData, ...asked }) => {
    if (pluginData === dropUnusedParts) return undefined;
    const found = await build.resolve(path, { ...asked, pluginData: dropUnusedParts });
    const isPart = /client-node[\\/]dist[\\/]/.test(found.path);
    return isPart && found.errors.length === 0 ? { ...found, sideEffects: false } : undefined;
  });
}

/** Parts stay outside of what loads them. */
function leaveParts(build) {
  const names = new Map([...parts].map(([name, file]) => [file, name]));
  build.onResolve({ filter: /^(\..*\.ts|@taintmgr\/[a-z-]+)$/ }, ({ path, resolveDir, kind }) => {
    const file = path.replace(/^@taintmgr\/(.+)$/, `${packages}$1/src/index.ts`);
    const name = kind === 'entry-point' ? undefined : names.get(resolve(resolveDir, file));
    return name === undefined ? undefined : { path: `./${name}.js`, external: true };
  });
}

/** The parts, as files by their names. */
async function assetsOf(parts) {
  const assets = {};
  for (const [name, file] of parts) {
    assets[`${name}.js`] = file.endsWith('.ts') ? await bundleInto(folder, name, file) : file;
  }
  return assets;
}

/** One file in the older module format: that is what Node can carry inside. */
async function bundleInto(outDir, name, file) {
  await build({
    entry: { [name]: file },
    config: false,
    outDir,
    format: 'cjs',
    target: 'node24',
    platform: 'node',
    noExternal: [/.*/],
    // node:sea has no other name.
    removeNodeProtocol: false,
    splitting: false,
    minify: true,
    silent: true,
    esbuildPlugins: [
      { name: 'parts', setup: leaveParts },
      { name: 'unused-parts', setup: dropUnusedParts },
      builtPage,
    ],
    esbuildOptions: (options) => {
      options.conditions = ['@taintmgr/source'];
      // With one letter that is none of Latin-1, V8 keeps two bytes for each letter of the source.
      options.charset = 'ascii';
      // There is nothing to import from: what is not in the file is a part, or Node's own.
      options.supported = { 'dynamic-import': false };
      // What the code looks for beside itself is beside the program.
      options.define = { ...options.define, 'import.meta.url': 'programUrl' };
      options.banner = { js: name === 'main' ? here + loadsParts : here };
    },
  });
  return join(outDir, `${name}.cjs`);
}

/** Compiled ahead where the program is for this very machine: another could not use it. */
function blobOf(content, node) {
  const [config, output] = ['sea-config.json', 'main.blob'];
  const useCodeCache = node === process.execPath;
  const settings = {
    ...content,
    // It stands in the blob. By its name alone it is the same each time.
    main: relative(folder, content.main),
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache,
    // No signal opens a debugger, and no environment adds flags: whoever can set NODE_OPTIONS could
    // have anything run with our credentials.
    execArgv: ['--disable-sigusr1'],
    execArgvExtension: 'none',
  };
  writeFileSync(join(folder, config), JSON.stringify(settings));
  // V8 draws the seed of its hashes, which stand in compiled code. The seed is no part of the program.
  run(process.execPath, '--random-seed=1', '--experimental-sea-config', config);
  return readFileSync(join(folder, output));
}

async function makeProgram(node, blob) {
  copyFileSync(node, program);
  chmodSync(program, 0o755);
  const isApple = platform.startsWith('darwin-');
  if (isApple) run('codesign', '--remove-signature', resolve(program));
  await inject(program, 'NODE_SEA_BLOB', blob, {
    // By this Node finds out that it carries something.
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    ...(isApple && { machoSegmentName: 'NODE_SEA' }),
  });
  if (isApple) run('codesign', '--sign', '-', resolve(program));
}

/** Runs a program to its end, in the folder of what is made. */
function run(command, ...args) {
  const { status, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}
