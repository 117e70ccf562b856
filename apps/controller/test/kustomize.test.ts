import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { resolveChoices } from '../src/flags/resolve.ts';
import { manifestFolder, readManifests } from './manifests.ts';

// deploy/kustomize as kubectl reads it, and as our tests do.

const modes = ['delete', 'evict', 'evict-then-delete', 'observe'].map((mode) => `modes/${mode}`);
const found = spawnSync('kubectl', ['version', '--client']).status === 0;
const isRequired = process.env.REQUIRE_KUBECTL === '1';
const skip = !found && !isRequired && 'there is no kubectl on PATH';

interface Named {
  readonly kind?: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

function nameOf({ kind, metadata: { name, namespace = '' } }: Named): string {
  return `${kind} ${namespace}/${name}`;
}

describe('deploy/kustomize', () => {
  for (const mode of modes) {
    it(`${mode} is what kubectl makes of it`, { skip }, () => {
      const { stdout, stderr, status } = spawnSync('kubectl', ['kustomize', manifestFolder(mode)], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
      const objects: readonly Named[] = parseAllDocuments(stdout).map((each) => each.toJS());
      const ours = readManifests(mode).objects.map(nameOf);
      assert.deepEqual(objects.map(nameOf).sort(), ours.sort());
    });

    it(`${mode} sets variables that there are`, () => {
      const { settings, origins, unknownVariables } = resolveChoices(
        [],
        readManifests(mode, 'components/node-lifecycle').environment,
      );
      assert.deepEqual(unknownVariables, []);
      assert.deepEqual(settings.controllers, ['*']);
      assert.equal(settings.resourceNamespace, 'taintmgr-system');
      const chosen = mode === 'modes/observe' ? origins.dryRun : origins.mode;
      assert.equal(chosen, 'environment');
    });
  }
});
