#!/usr/bin/env node
// In a clone the sources run, as they are; a published package has only what was built.
import { existsSync } from 'node:fs';

const source = new URL('../src/program/main.ts', import.meta.url);
const built = new URL('../dist/program/main.js', import.meta.url);
const { main } = await import(existsSync(source) ? source : built);
process.exit(await main(process.argv.slice(2)));
