// The keys of taintmgr.dev that are written into clusters: annotations, labels, finalizers and taints.
// Installed controllers, stored objects and people's manifests have them. A key that goes breaks these:
// the next minor version still reads it, and a changeset begins with "Breaking:".
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What stays for more than some seconds, or is written by people. */
const lasting: readonly string[] = [
  ...['controllers', 'deadline', 'drain', 'evict', 'limits', 'nodedrain', 'node-drain'],
  ...['owned-taints', 'resume-limits', 'start-time', 'stop-time', 'taint-device'],
  ...['taint-eviction', 'taint-starts', 'takeover', 'takeover-version', 'undo-drain'],
];
/** Of objects that a command makes and deletes, and of simulations. */
const passing: readonly string[] = [
  ...['nobody', 'played-revision', 'probe', 'probe-ends', 'released', 'verify'],
];

it('keys of taintmgr.dev are those that a cluster may have', () => {
  const files = globSync('{packages,apps}/*/src/**/*.ts', { cwd: root });
  const keys = files.flatMap((file) =>
    Array.from(
      readFileSync(`${root}${file}`, 'utf8').matchAll(/['"`]taintmgr\.dev\/([a-z][a-z-]*)/g),
      ([, key = '']) => key,
    ),
  );
  const written = new Set(keys.filter((key) => !/^v\d/.test(key) && key !== 'v'));
  assert.deepEqual([...written].sort(), [...lasting, ...passing].sort());
});
