import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import list from '../node-programs.json' with { type: 'json' };
import { checkNode, makeable } from '../node-programs.ts';

const skip = process.versions.node !== list.version && `the list is of Node ${list.version}`;

it('a program has the Node of the list: this one has, another file is refused', { skip }, () => {
  checkNode(`${process.platform}-${process.arch}`, process.execPath);
  const other = fileURLToPath(import.meta.url);
  for (const platform of ['linux-x64', 'linux-arm64', 'win32-x64']) {
    assert.ok(makeable.includes(platform));
    assert.throws(
      () => checkNode(platform, other),
      /node-programs\.test\.ts: Node for \S+ has sha256 [0-9a-f]{64}, want [0-9a-f]{64}$/,
    );
  }
});
