// Makes one program of the controller and the Node it runs on, for the machine this runs on, as a
// Node single executable application: everything bundled, its code compiled ahead, put into a copy of
// this very Node. What it needs comes from the npm registry. Prints the path of the program.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'postject';
import { build } from 'tsup';

const app = fileURLToPath(new URL('..', import.meta.url));
const output = join(app, 'binary');
const bundle = join(output, 'main.cjs');
const blob = join(output, 'main.blob');
const suffix = process.platform === 'win32' ? '.exe' : '';
const program = join(output, `taintmgr-controller${suffix}`);

rmSync(output, { recursive: true, force: true });
mkdirSync(output);
await bundleInto(output);
prepareBlob();
await makeProgram();
process.stdout.write(`${program}\n`);

/** One file in the older module format: that is what Node can carry inside. */
function bundleInto(outDir) {
  return build({
    entry: [join(app, 'src/main.ts')],
    config: false,
    outDir,
    format: 'cjs',
    target: 'node24',
    platform: 'node',
    noExternal: [/.*/],
    splitting: false,
    minify: true,
    silent: true,
    esbuildOptions: (options) => {
      options.conditions = ['@taintmgr/source'];
    },
  });
}

function prepareBlob() {
  const config = join(output, 'sea-config.json');
  const settings = { main: bundle, output: blob, disableExperimentalSEAWarning: true };
  writeFileSync(config, JSON.stringify({ ...settings, useCodeCache: true }));
  run(process.execPath, '--experimental-sea-config', config);
}

async function makeProgram() {
  copyFileSync(process.execPath, program);
  chmodSync(program, 0o755);
  if (process.platform === 'darwin') run('codesign', '--remove-signature', program);
  await inject(program, 'NODE_SEA_BLOB', readFileSync(blob), {
    // By this Node finds out that it carries something.
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    ...(process.platform === 'darwin' && { machoSegmentName: 'NODE_SEA' }),
  });
  if (process.platform === 'darwin') run('codesign', '--sign', '-', program);
}

function run(command, ...args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}
