import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import core from '../../packages/core/package.json' with { type: 'json' };
import { readChanges, releaseNotes, withDate, withSection } from '../changelog.ts';

const before =
  '# Changelog\n\n## 0.1.0 - 2026-11-30\n\n- [It](docs/a.md#b)\n  [works](https://c.d/e).\n';

function changesOf(t: TestContext, texts: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'changes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [at, text] of texts.entries()) writeFileSync(join(folder, `${at}.md`), text);
  return readChanges(folder);
}

it('changesets become one section, grouped by what they do to users', (t) => {
  const changes = changesOf(t, [
    '---\n"@taintmgr/controller": patch\n---\n\nStop a leak of $& bytes.\n',
    '---\n"@taintmgr/kubectl-taintmgr": minor\n"@taintmgr/core": minor\n---\n\nPods wait.\n\n    like this\n\nOr go.\n',
    '---\n---\n',
    '---\n"@taintmgr/core": minor\n---\n\nBreaking: `Pod.name` is gone; read `pod.id`.\n',
    '---\n"@taintmgr/core": minor\n---\n\nAnswers name the node.\n',
  ]);
  assert.equal(
    withSection(before, '0.2.0', '2027-01-05', changes),
    before.replace(
      '## 0.1.0',
      () => `## 0.2.0 - 2027-01-05

### Breaking changes

- \`Pod.name\` is gone; read \`pod.id\`. (core)

### Changes

- Answers name the node. (core)
- Pods wait.

      like this

  Or go. (core, kubectl-taintmgr)

### Fixes

- Stop a leak of $& bytes. (controller)

## 0.1.0`,
    ),
  );
});

for (const [fault, text, message] of [
  [
    'breaks users in a patch',
    '---\n"a": patch\n---\nBreaking: x',
    /got patch for a breaking change/,
  ],
  ['says nothing', '---\n"a": minor\n---\n', /0\.md: want a sentence/],
  ['has no packages', 'Pods wait.\n', /0\.md: want --- around the packages/],
] as const) {
  it(`a changeset is refused that ${fault}`, (t) => {
    assert.throws(() => changesOf(t, [text]), message);
  });
}

it('a version gets another date', () => {
  const after = withDate(before, '0.1.0', '2026-12-24');
  assert.equal(after, before.replace('2026-11-30', '2026-12-24'));
  assert.throws(() => withDate(before, '0.1', '2026-12-24'), /no section "## 0\.1 - DATE"/);
});

it('notes of a release have whole lines, and links to the files of its tag', () => {
  assert.equal(
    releaseNotes(before, '0.1.0', 'taintmgr/taintmgr'),
    '- [It](https://github.com/taintmgr/taintmgr/blob/v0.1.0/docs/a.md#b) [works](https://c.d/e).\n',
  );
});

it('CHANGELOG.md has a section for the version of the packages', () => {
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const notes = releaseNotes(changelog, core.version, 'taintmgr/taintmgr');
  assert.ok(notes.length > 10);
  assert.doesNotMatch(notes, /\]\((?!https:)/);
});
