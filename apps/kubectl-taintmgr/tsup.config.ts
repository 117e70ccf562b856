import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtPage } from '@taintmgr/page/bundled';
import { build, defineConfig, type Options } from 'tsup';
import { seldomLibraries } from './scripts/seldom-libraries.ts';

await rm('dist', { recursive: true, force: true });

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const run = promisify(execFile);

/** The bundle in ES modules, which only the second step reads. */
const modules = 'dist/modules';
/** The command that has a file of its own. */
const alone = 'explain';
/** What few log in with, and few megabytes: all bundles load it from the one place. */
const pluginLogin = 'plugin-login';

const seldomApart: Plugin = {
  name: 'seldom-apart',
  setup(bundler) {
    bundler.onResolve(
      { filter: new RegExp(`^(${seldomLibraries.join('|')})$`) },
      ({ path, kind }) => {
        return kind === 'entry-point' ? undefined : { path: `./${path}.js`, external: true };
      },
    );
  },
};

/** What is a file of its own stays one. */
const apart: Plugin = {
  name: 'apart',
  setup(bundler) {
    const names = [...seldomLibraries, pluginLogin].join('|');
    bundler.onResolve({ filter: new RegExp(`^\\./(${names})\\.js$`) }, ({ path }) => {
      return { path, external: true };
    });
  },
};

/** Commander loads it for subcommands that are programs of their own. We have none. */
const noProcesses: Plugin = {
  name: 'no-processes',
  setup(bundler) {
    bundler.onResolve({ filter: /^(node:)?child_process$/ }, ({ importer }) => {
      return importer.includes('commander') ? { path: 'nothing', namespace: 'empty' } : undefined;
    });
    bundler.onLoad({ filter: /./, namespace: 'empty' }, () => ({ contents: '' }));
  },
};

const bundled: Options = {
  target: 'node22',
  platform: 'node',
  minify: true,
  noExternal: [/.*/],
  // It would take them from the plugin.
  removeNodeProtocol: false,
};

// What is published needs no dependencies and starts fast: a bundle with everything in it, in parts
// that are loaded when they are needed, and those as CommonJS. To load ES modules takes Node longer,
// and to import one of its own as one more so: whatever it offers is looked at, which loads the rest.
export default defineConfig({
  ...bundled,
  entry: {
    main: 'src/main.ts',
    [pluginLogin]: '../../packages/k8s-adapter/src/kubeconfig/plugin-login.ts',
  },
  outDir: modules,
  format: 'esm',
  dts: false,
  esbuildPlugins: [noProcesses, builtPage, seldomApart],
  esbuildOptions: (options) => {
    options.conditions = ['@taintmgr/source'];
  },
  onSuccess: async () => {
    await asCommonJs([`${modules}/*.js`]);
    await asCommonJs(
      Object.fromEntries(seldomLibraries.map((name) => [name, libraryFile(name)])),
      true,
    );
    await inOnePart(alone);
    await rm(modules, { recursive: true });
    await writeFile('dist/package.json', '{ "type": "commonjs" }\n');
    await writeFile('dist/digests.json', JSON.stringify({ [alone]: await digestOf(alone) }));
    const printHelp = ['-C', '@taintmgr/source', 'scripts/print-help.mjs'];
    await writeFile('dist/help.txt', (await run(process.execPath, printHelp)).stdout);
  },
});

function libraryFile(name: string): string {
  return fileURLToPath(import.meta.resolve(name));
}

/** What tells a file from one of another version. */
async function digestOf(name: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(`dist/${name}.js`));
  return hash.digest('hex').slice(0, 16);
}

/** Files as CommonJS, alone or with all that they import: no bundler cuts a bundle of that into parts. */
async function asCommonJs(entry: Options['entry'] & object, bundle = false): Promise<void> {
  await build({
    ...bundled,
    entry,
    config: false,
    outDir: 'dist',
    format: 'cjs',
    bundle,
    splitting: false,
    outExtension: () => ({ js: '.js' }),
    esbuildPlugins: [apart],
    esbuildOptions: asInCommonJs,
  });
}

/**
 * The program for those who ask for one command, which bin/ starts where it is named first: in one file
 * without the code of the others, since each part takes a while to find; bin/kept-code.js keeps it
 * compiled. A bundle in parts comes first, which leaves out what nobody uses: what is loaded when it is
 * needed would be taken whole into a single file.
 */
async function inOnePart(command: string): Promise<void> {
  const folder = `${modules}/${command}`;
  await build({
    ...bundled,
    entry: { main: 'src/main.ts' },
    config: false,
    outDir: folder,
    format: 'esm',
    minify: false,
    esbuildPlugins: [noProcesses, builtPage, seldomApart, onlyCommand(command)],
    esbuildOptions: (options) => {
      options.conditions = ['@taintmgr/source'];
    },
  });
  await asCommonJs({ [command]: `${folder}/main.js` }, true);
  const path = `dist/${command}.js`;
  const text = await readFile(path, 'utf8');
  // bin/ reads it as such.
  if (Buffer.byteLength(text) !== text.length) throw new Error(`${path} is not all ASCII`);
  const plain = withPlainImports(text);
  if (plain === text) throw new Error('esbuild writes imports in another way');
  // As bin/kept-code.js runs it.
  await writeFile(path, `(function (exports, require, module, __filename) {${plain}\n})`);
}

/**
 * `import fs from 'node:fs'` makes an object with a getter for each of the hundred things that the module
 * has, in each place that imports it: here it is one that inherits them.
 */
function withPlainImports(text: string): string {
  const inherits = '({__proto__:require("$1"),default:require("$1")})';
  return text.replaceAll(/[\w$]+\(require\("(node:[\w/]+)"\), ?1\)/g, inherits);
}

const asInCommonJs: NonNullable<Options['esbuildOptions']> = (options) => {
  options.supported = { 'dynamic-import': false };
  // Hardly anybody asks for it.
  options.define = { ...options.define, 'import.meta.url': 'here.url' };
  options.banner = {
    js: "const here = { get url() { return require('node:url').pathToFileURL(__filename).href } };",
  };
};

/** Leaves out the code of all other commands. */
function onlyCommand(command: string): Plugin {
  return {
    name: 'only-command',
    setup(bundler) {
      bundler.onResolve({ filter: /^\.\/commands(\.ts$|\/)/ }, ({ kind, path }) => {
        const isOther = kind === 'dynamic-import' && !path.startsWith(`./commands/${command}/`);
        return isOther ? { path, namespace: 'empty' } : undefined;
      });
      bundler.onResolve({ filter: /plugin-login\.ts$/ }, () => {
        return { path: `./${pluginLogin}.js`, external: true };
      });
    },
  };
}
