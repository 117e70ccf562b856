import { cp, rm, writeFile } from 'node:fs/promises';
import { build, defineConfig, type Options } from 'tsup';

await rm('dist', { recursive: true, force: true });

/** The bundle in ES modules, which only the second step reads. */
const modules = 'dist/modules';

/** Commander loads it for subcommands that are programs of their own. We have none. */
const noProcesses: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'no-processes',
  setup(bundler) {
    bundler.onResolve({ filter: /^(node:)?child_process$/ }, ({ importer }) => {
      return importer.includes('commander') ? { path: 'nothing', namespace: 'empty' } : undefined;
    });
    bundler.onLoad({ filter: /./, namespace: 'empty' }, () => ({ contents: '' }));
  },
};

// What is published needs no dependencies and starts fast: a bundle with everything in it, in parts
// that are loaded when they are needed, and those as CommonJS. To load ES modules takes Node longer,
// and to import one of its own as one more so: whatever it offers is looked at, which loads the rest.
export default defineConfig({
  entry: ['src/main.ts'],
  outDir: modules,
  format: 'esm',
  target: 'node22',
  platform: 'node',
  dts: false,
  minify: true,
  noExternal: [/.*/],
  esbuildPlugins: [noProcesses],
  // It would take them from the plugin.
  removeNodeProtocol: false,
  esbuildOptions: (options) => {
    options.conditions = ['@taintmgr/source'];
  },
  onSuccess: async () => {
    await asCommonJs();
    await rm(modules, { recursive: true });
    // The page of `simulate --report` is put together when it is written.
    await cp('src/commands/simulate/result/page/assets', 'dist/assets', { recursive: true });
    await writeFile('dist/assets/package.json', '{ "type": "module" }\n');
  },
});

/** The same files as CommonJS: no bundler cuts a bundle of that into parts. */
async function asCommonJs(): Promise<void> {
  await build({
    entry: [`${modules}/*.js`],
    config: false,
    outDir: 'dist',
    format: 'cjs',
    target: 'node22',
    platform: 'node',
    bundle: false,
    splitting: false,
    minify: true,
    outExtension: () => ({ js: '.js' }),
    esbuildOptions: (options) => {
      options.supported = { 'dynamic-import': false };
      options.define = { ...options.define, 'import.meta.url': 'fileUrl' };
      options.banner = {
        js: "const fileUrl = require('node:url').pathToFileURL(__filename).href;",
      };
    },
  });
  await writeFile('dist/package.json', '{ "type": "commonjs" }\n');
}
