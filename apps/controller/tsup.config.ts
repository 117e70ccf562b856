import { isBuiltin } from 'node:module';
import { builtPage } from '@taintmgr/page/bundled';
import { defineConfig, type Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

/**
 * `import` of one of Node's modules reads all of its members, which loads the rest: `node:http` brings a
 * WebSocket with half of Node's web features, 14 MB of memory. Here only the named members are read.
 */
const namedOnly: Plugin = {
  name: 'named-only',
  setup(bundler) {
    bundler.onResolve({ filter: /^(node:)?[a-z][\w/]*$/ }, ({ path, kind }) => {
      return kind === 'import-statement' && isBuiltin(path)
        ? { path, namespace: 'builtin', sideEffects: false }
        : undefined;
    });
    bundler.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => {
      const members = Object.keys(process.getBuiltinModule(path) ?? {}).map(
        (name) => `export const ${name} = /* @__PURE__ */ member('${name}');`,
      );
      const all = `const all = /* @__PURE__ */ process.getBuiltinModule('${path}');`;
      const head = `${all} const member = (name) => all[name]; export default all;`;
      return { contents: [head, ...members].join('\n') };
    });
  },
};

// A bundle with everything in it: the published file needs no dependencies and starts fast.
export default defineConfig({
  entry: ['src/main.ts'],
  format: 'esm',
  target: 'node22',
  platform: 'node',
  dts: false,
  clean: true,
  minify: true,
  noExternal: [/.*/],
  // Without the prefix the plugin below would not see the imports.
  removeNodeProtocol: false,
  esbuildPlugins: [builtPage, namedOnly],
  // Some of the bundled libraries are CommonJS and call require for Node's own modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
