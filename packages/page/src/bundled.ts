// For those who bundle a program that writes pages.
import type { Plugin } from 'esbuild';
import { pageParts } from './build.ts';

/** The page is in the bundle as it was built, without what builds it. */
export const builtPage: Plugin = {
  name: 'built-page',
  setup(bundler) {
    bundler.onLoad({ filter: /packages[/\\]page[/\\]src[/\\]build\.ts$/ }, async () => {
      const parts = JSON.stringify(await pageParts());
      return { contents: `export const pageParts = () => Promise.resolve(${parts});` };
    });
  },
};
