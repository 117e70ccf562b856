import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { builtPage } from '@taintmgr/page/bundled';
import { build, defineConfig, type Options } from 'tsup';

await rm('dist', { recursive: true, force: true });

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

/** The bundle in ES modules, which only the second step reads. */
const modules = 'dist/modules';
/** The commands that have a file of their own. */
const parts = ['explain', 'help'];
/** What few log in with, and few megabytes: all bundles load it from the one place. */
const pluginLogin = 'plugin-login';

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
  esbuildPlugins: [noProcesses, builtPage],
  esbuildOptions: (options) => {
    options.conditions = ['@taintmgr/source'];
  },
  onSuccess: async () => {
    await asCommonJs();
    await rm(modules, { recursive: true });
    for (const part of parts) await inOnePart(part);
    await writeFile('dist/digests.json', JSON.stringify(await digestsOf(parts)));
  },
});

/** What tells a file from one of another version. */
async function digestsOf(names: readonly string[]): Promise<Record<string, string>> {
  const entries = names.map(async (name) => {
    const hash = createHash('sha256').update(await readFile(`dist/${name}.js`));
    return [name, hash.digest('hex').slice(0, 16)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The same files as CommonJS: no bundler cuts a bundle of that into parts. */
async function asCommonJs(): Promise<void> {
  await build({
    ...bundled,
    entry: [`${modules}/*.js`],
    config: false,
    outDir: 'dist',
    format: 'cjs',
    bundle: false,
    splitting: false,
    outExtension: () => ({ js: '.js' }),
    esbuildOptions: asInCommonJs,
  });
  await writeFile('dist/package.json', '{ "type": "commonjs" }\n');
}

/**
 * The program for those who ask for one command, which bin/ starts where it is named first: in one file
 * without the code of the others, since each part takes a while to find; bin/kept-code.js keeps it
 * compiled.
 */
async function inOnePart(command: string): Promise<void> {
  await build({
    ...bundled,
    entry: { [command]: 'src/main.ts' },
    config: false,
    outDir: 'dist',
    format: 'cjs',
    splitting: false,
    outExtension: () => ({ js: '.js' }),
    esbuildPlugins: [noProcesses, builtPage, onlyCommand(command)],
    esbuildOptions: (options, context) => {
      asInCommonJs(options, context);
      options.conditions = ['@taintmgr/source'];
    },
  });
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
