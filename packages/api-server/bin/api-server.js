#!/usr/bin/env node
// In a clone the sources run, as they are; a published package has only what was built.
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';

const source = new URL('../src/program/main.ts', import.meta.url);
const built = new URL('../dist/program/main.js', import.meta.url);
const isClone = existsSync(source);
if (isClone) {
  // Packages of the clone are read from their sources too.
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...context.conditions, '@taintmgr/source'] }),
  });
}
const { main } = await import(isClone ? source : built);
process.exit(await main(process.argv.slice(2)));
