import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectionFlags, connectionOptions } from '../../src/kubeconfig/connection-flags.ts';

describe('connection flags', () => {
  it('are named as their options, in kubectl’s way', () => {
    for (const { flags, option } of connectionFlags) {
      const long = /--([a-z-]+)/.exec(flags)?.[1] ?? '';
      const camel = long.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
      assert.equal(option, camel);
    }
  });

  it('give the options that were set, and no others', () => {
    const parsed = { context: 'c', asGroup: ['g'], token: undefined, verbose: true };
    assert.deepEqual(connectionOptions(parsed), { context: 'c', asGroup: ['g'] });
  });
});
