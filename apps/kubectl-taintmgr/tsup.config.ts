import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
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
/** The command that has files of its own: one for what most ask, and one with all of it. */
const alone = 'explain';
const allOfIt = 'explain-more';
/** What the first loads while the cluster answers: all that it takes to say what becomes of pods. */
const answers = 'explain-answers';
const inAnswers = ['answer', 'pod', 'zone', 'taint'];
/** What the first has not: questions that load a quarter of the code and are asked seldom. */
const seldomAsked = /^\.\/(live|commands\/explain\/(policy|pressure))\.ts$/;
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
    const names = [...seldomLibraries, pluginLogin, allOfIt].join('|');
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
    await inOnePart(alone, [startsAgain]);
    await inOnePart(allOfIt);
    await rm(modules, { recursive: true });
    await writeFile('dist/package.json', '{ "type": "commonjs" }\n');
    await writeFile(
      'dist/digests.json',
      JSON.stringify(await digestsOf([alone, answers, allOfIt])),
    );
    const printHelp = ['-C', '@taintmgr/source', 'scripts/print-help.mjs'];
    await writeFile('dist/help.txt', (await run(process.execPath, printHelp)).stdout);
  },
});

function libraryFile(name: string): string {
  return fileURLToPath(import.meta.resolve(name));
}

/** What tells a file from one of another version. */
async function digestsOf(names: readonly string[]): Promise<Record<string, string>> {
  const entries = names.map(async (name) => {
    const hash = createHash('sha256').update(await readFile(`dist/${name}.js`));
    return [name, hash.digest('hex').slice(0, 16)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Files as CommonJS, alone or with all that they import: no bundler cuts a bundle of that into parts. */
async function asCommonJs(
  entry: Options['entry'] & object,
  bundle = false,
  ...plugins: readonly Plugin[]
): Promise<void> {
  await build({
    ...bundled,
    entry,
    config: false,
    outDir: 'dist',
    format: 'cjs',
    bundle,
    splitting: false,
    outExtension: () => ({ js: '.js' }),
    esbuildPlugins: [apart, ...plugins],
    esbuildOptions: asInCommonJs,
  });
}

/**
 * The program for those who ask for one command, which bin/ starts where it is named first: in one file
 * without the code of the others, since each part takes a while to find; bin/kept-code.js keeps it
 * compiled. A bundle in parts comes first, which leaves out what nobody uses: what is loaded when it is
 * needed would be taken whole into a single file.
 */
async function inOnePart(name: string, plugins: readonly Plugin[] = []): Promise<void> {
  const folder = `${modules}/${name}`;
  await build({
    ...bundled,
    entry: { main: 'src/main.ts' },
    config: false,
    outDir: folder,
    format: 'esm',
    minify: false,
    esbuildPlugins: [noProcesses, builtPage, seldomApart, ...plugins, onlyCommand(alone)],
    esbuildOptions: (options) => {
      options.conditions = ['@taintmgr/source'];
    },
  });
  if (name === alone) await inFrontAndBack(folder);
  else await asCommonJs({ [name]: `${folder}/main.js` }, true);
  for (const file of name === alone ? [alone, answers] : [name]) {
    const path = `dist/${file}.js`;
    // As bin/kept-code.js runs it.
    const head = '(function (exports, require, module, __filename) {';
    const text = await readFile(path, 'utf8');
    // bin/ reads it as such.
    if (Buffer.byteLength(text) !== text.length) throw new Error(`${path} is not all ASCII`);
    const plain = withPlainImports(text);
    if (file === alone && plain === text) throw new Error('esbuild writes imports in another way');
    await writeFile(path, `${head}${plain}\n})`);
  }
}

/**
 * `import fs from 'node:fs'` makes an object with a getter for each of the hundred things that the module
 * has, in each place that imports it: here it is one that inherits them.
 */
function withPlainImports(text: string): string {
  const inherits = '({__proto__:require("$1"),default:require("$1")})';
  return text.replaceAll(/[\w$]+\(require\("(node:[\w/]+)"\), ?1\)/g, inherits);
}

/**
 * Two files of a bundle in parts, so that the answers are loaded when the questions are on their way. Each
 * gives what it has by `member`, and bin/start.js gets it there: of the first, parts that both need.
 */
async function inFrontAndBack(folder: string): Promise<void> {
  const files = await readdir(folder);
  const back = inAnswers.map((name) => {
    const file = files.find((one) => one.replace(/-[A-Z0-9]{8}\.js$/, '') === name);
    if (!file) throw new Error(`the bundle of ${alone} has no part ${name}`);
    return file;
  });
  const front = await partsFrom('main.js', folder, new Set(back));
  const member = (list: readonly string[]): string => {
    const cases = list.map((file) => `${JSON.stringify(file)}: () => require('./${file}')`);
    return `const all = {${cases.join()}}; export const member = (name) => all[name]();`;
  };
  const shared = [...front].filter((file) => file !== 'main.js');
  await writeFile(`${folder}/front.js`, `import './main.js'; ${member(shared)}`);
  await writeFile(`${folder}/back.js`, member(back));
  await asCommonJs({ [alone]: `${folder}/front.js` }, true, elsewhere(answers, new Set(back)));
  await asCommonJs({ [answers]: `${folder}/back.js` }, true, elsewhere(alone, front));
}

/** A part and all that it imports, now or later, without those of `others`. */
async function partsFrom(
  part: string,
  folder: string,
  others: ReadonlySet<string>,
  found: Set<string> = new Set(),
): Promise<ReadonlySet<string>> {
  if (others.has(part) || found.has(part)) return found;
  found.add(part);
  const text = await readFile(`${folder}/${part}`, 'utf8');
  for (const [, imported = ''] of text.matchAll(
    /^(?:.*\bfrom |import |.*\bimport\()"\.\/(.+\.js)"/gm,
  )) {
    if (existsSync(`${folder}/${imported}`)) await partsFrom(imported, folder, others, found);
  }
  return found;
}

/** These parts are in another file. */
function elsewhere(file: string, parts: ReadonlySet<string>): Plugin {
  return {
    name: 'elsewhere',
    setup(bundler) {
      bundler.onResolve({ filter: /^\.\/.*\.js$/ }, ({ path, kind }) => {
        const part = path.slice('./'.length);
        if (kind === 'entry-point' || !parts.has(part)) return undefined;
        return { path: `${file}/${part}`, external: true };
      });
    },
  };
}

/**
 * Where the answer takes what a file has not, the one that has it starts from the arguments again. Nothing
 * was asked or said before that, and it ends the process.
 */
const startsAgain: Plugin = {
  name: 'starts-again',
  setup(bundler) {
    bundler.onResolve({ filter: seldomAsked }, ({ path }) => ({ path, namespace: 'again' }));
    bundler.onLoad({ filter: /./, namespace: 'again' }, () => ({
      contents: `import './${allOfIt}.js'; export const run = () => new Promise(() => {});`,
    }));
    bundler.onResolve({ filter: new RegExp(`^\\./${allOfIt}\\.js$`) }, ({ path }) => {
      return { path, external: true };
    });
  },
};

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
      bundler.onResolve({ filter: /^\.\/commands\// }, ({ kind, path }) => {
        const isOther = kind === 'dynamic-import' && !path.startsWith(`./commands/${command}/`);
        return isOther ? { path, namespace: 'empty' } : undefined;
      });
      bundler.onResolve({ filter: /plugin-login\.ts$/ }, () => {
        return { path: `./${pluginLogin}.js`, external: true };
      });
    },
  };
}
