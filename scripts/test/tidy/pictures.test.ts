import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnBy, drawnFile, oldPictures } from '../../tidy/pictures.ts';
import { faultLines, treeOf } from '../../tidy/tree.ts';

test('a picture is as old as the page, the scenario and what came of it', () => {
  const texts = {
    'packages/page/src/browser/paint.ts': 'one(); // why',
    'packages/page/src/browser/live/app.tsx': 'live();',
    'docs/scenarios/three-zones.yaml': 'nodes: 3',
    'docs/scenarios/zone-outage.yaml': 'events: 1',
    'docs/scenarios/README.md': 'words\n$ simulate --script zone-outage.yaml\n6m39s\n```\nmore',
  };
  const drawn = { ...texts, [drawnFile]: drawnBy(treeOf(texts)) };
  assert.deepEqual(oldPictures(treeOf(drawn)), []);
  const same = {
    'packages/page/src/browser/paint.ts': 'one(); // another why',
    'packages/page/src/browser/live/app.tsx': 'other();',
    'docs/scenarios/README.md': `other ${texts['docs/scenarios/README.md']} and more`,
  };
  assert.deepEqual(oldPictures(treeOf({ ...drawn, ...same })), []);
  const old = 'is older than the page or the scenario that it shows; npm run pictures';
  const names = ['zone-outage-light', 'zone-outage-dark', 'losses-light', 'losses-dark'];
  const faults = names.map((name) => `docs/scenarios/${name}.png: ${old}`);
  for (const changed of [
    { 'packages/page/src/browser/paint.ts': 'two();' },
    { 'docs/scenarios/zone-outage.yaml': 'events: 2' },
    { 'docs/scenarios/README.md': texts['docs/scenarios/README.md'].replace('6m39s', '7m') },
    { 'packages/page/src/model/new.ts': 'new();' },
  ])
    assert.deepEqual(faultLines(oldPictures(treeOf({ ...drawn, ...changed }))), faults);
  assert.deepEqual(faultLines(oldPictures(treeOf(texts))), faults, 'nobody says what drew them');
});
