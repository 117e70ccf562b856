#!/usr/bin/env node
// In a clone the sources run, as they are; a published package has only what was built.
import { existsSync } from 'node:fs';
import module from 'node:module';

const source = new URL('../src/program/main.ts', import.meta.url);
const built = new URL('../dist/program/main.js', import.meta.url);
const isClone = existsSync(source);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `error: api-server needs Node 22.19 or newer, and this is ${process.version}\n`,
  );
  process.exit(1);
}
if (isClone) {
  // Packages of the clone are read from their sources too.
  module.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...context.conditions, '@taintmgr/source'] }),
  });
}
const { main } = await import(isClone ? source : built);
process.exit(await main(process.argv.slice(2)));
