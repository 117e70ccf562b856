import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { builtPage } from '@taintmgr/page/bundled';
import { defineConfig, type Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

/** The login that few use, and nearly half of all code: a separate file. */
const loginApart: Plugin = {
  name: 'login-apart',
  setup(bundler) {
    bundler.onResolve({ filter: /\/plugin-login\.ts$/ }, ({ kind }) => {
      return kind === 'entry-point' ? undefined : { path: './plugin-login.js', external: true };
    });
  },
};

// The package needs no dependencies and starts fast: one file with everything in it, as CommonJS, which
// bin/kept-code.js keeps compiled.
export default defineConfig({
  entry: {
    main: 'src/main.ts',
    'plugin-login': '../../packages/k8s-adapter/src/kubeconfig/plugin-login.ts',
  },
  format: 'cjs',
  outExtension: () => ({ js: '.js' }),
  target: 'node22',
  platform: 'node',
  dts: false,
  clean: true,
  minify: true,
  splitting: false,
  noExternal: [/.*/],
  // Without the prefix the plugin below would not see the imports.
  removeNodeProtocol: false,
  esbuildPlugins: [loginApart, builtPage],
  esbuildOptions: (options) => {
    options.conditions = ['@taintmgr/source'];
    // There is nothing to import from.
    options.supported = { 'dynamic-import': false };
    // Where it is, as the function says below.
    options.define = { ...options.define, 'import.meta.url': '__filename' };
  },
  onSuccess: async () => {
    await writeFile('dist/main.js', inFunction(await readFile('dist/main.js', 'utf8')));
    await writeFile('dist/package.json', '{ "type": "commonjs" }\n');
  },
});

/** As bin/kept-code.js runs it: a function, after what tells it from that of another version. */
function inFunction(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `/* ${digest} */ (function (exports, require, module, __filename) {${text}\n})`;
}
