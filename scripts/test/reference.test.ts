import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { undocumented } from '../reference/api.ts';
import { configurationFields, describedKinds } from '../reference/configuration.ts';
import { conditions, drainHolds, events } from '../reference/events.ts';
import { variables } from '../reference/flags.ts';
import { referencePages } from '../reference.ts';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

/** The source below a folder, file by file. */
function sourcesIn(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:ts|js)$/.test(file) && !/(?:^|\/)(?:node_modules|dist)\//.test(file))
      .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
  );
}

/** What a pattern's group finds anywhere in them. */
function found(pattern: RegExp, sources: readonly string[]): ReadonlySet<string> {
  return new Set(
    sources.flatMap((text) => [...text.matchAll(pattern)].map(([, one]) => one ?? '')),
  );
}

function missing(wanted: Iterable<string>, known: Iterable<string>): readonly string[] {
  const there = new Set(known);
  return [...wanted].filter((one) => !there.has(one)).toSorted();
}

const written = sourcesIn('packages/core/src', 'packages/k8s-adapter/src', 'apps/controller/src');

describe('the reference', () => {
  it('is what npm run reference writes now', async () => {
    const pages = await referencePages();
    const files = readdirSync('docs/reference', { recursive: true, encoding: 'utf8' });
    const written = files.filter((file) => file.endsWith('.md'));
    assert.deepEqual(written.toSorted(), [...pages.keys()].toSorted());
    for (const [name, text] of pages) {
      assert.equal(
        readFileSync(`docs/reference/${name}`, 'utf8'),
        text,
        `${name}: npm run reference`,
      );
    }
  });

  it('describes every field', () => {
    const kinds = describedKinds().flatMap(({ kind, fields }) =>
      fields.map((field) => ({ ...field, path: `${kind}.${field.path}` })),
    );
    const all = [...configurationFields(), ...kinds];
    assert.ok(all.length > 400);
    const silent = all.filter(({ description }) => description === '').map(({ path }) => path);
    assert.deepEqual(silent, []);
  });

  it('says something of every flag, variable and metric', async () => {
    const pages = await referencePages();
    const silentIn = (name: string, cell: number): readonly string[] =>
      (pages.get(name) ?? '')
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .filter((line) => line.slice(2, -2).split(' | ').at(cell)?.trim() === '');
    assert.deepEqual(silentIn('flags.md', -1), []);
    assert.deepEqual(silentIn('metrics.md', 3), []);
    assert.deepEqual(silentIn('events.md', -1), []);
  });

  it('says something of every exported name of the libraries, and of every member', () => {
    assert.deepEqual(undocumented(), []);
  });

  it('has every reason that is written into a cluster', () => {
    const known = [
      ...events.map(({ reason }) => reason),
      ...conditions.flatMap(({ reasons }) => reasons),
      ...drainHolds.map(({ reason }) => reason),
    ];
    const reasons = found(/\breason(?:\s*=|:)\s*'([A-Z][A-Za-z]+)'/g, written);
    assert.ok(reasons.size > 25);
    // Of answers of the API server, of the report of the shadow, and of a pod's own status.
    const others = ['Forbidden', 'LimitReached', 'BudgetRefused', 'NodeLost'];
    // Of kube-controller-manager's controller for devices, as it is played.
    others.push('DeviceTaintManagerEviction', 'NoEffect', 'OtherEffect', 'PodsPendingEviction');
    assert.deepEqual(missing(reasons, [...known, ...others]), []);
    const texts = written.join('\n');
    const gone = known.filter((reason) => {
      const kubelets = reason.replace(/^NodeHas/, 'KubeletHas');
      return !texts.includes(reason) && !texts.includes(kubelets);
    });
    assert.deepEqual(gone, []);
  });

  it('has every condition that is written', () => {
    const known = conditions.flatMap(({ type }) => type.split(', '));
    const types = found(/\btype: '([A-Z][A-Za-z]+)'/g, written);
    assert.ok(types.size > 8);
    // Of Events, of watches, and of other programs' objects that are read.
    const others = ['Normal', 'Warning', 'EvictionInProgress'];
    assert.deepEqual(missing(types, [...known, ...others]), []);
  });

  it('has every environment variable that is read', () => {
    const sources = [
      ...written,
      ...sourcesIn('apps/kubectl-taintmgr/src', 'apps/kubectl-taintmgr/bin'),
    ];
    const direct = found(/\benv(?:ironment)?\.([A-Z][A-Z_]+)\b/g, sources);
    const taken = found(/\bvariable\(env, '([A-Z_]+)'\)/g, sources);
    const destructured = sources.flatMap((text) =>
      [
        ...text.matchAll(
          /\{([^{}]*)\}\s*(?:=|:)\s*(?:env\b|Readonly<Record<string, string \| undefined>>)|folderOf\(\{([^{}]*)\}/g,
        ),
      ].flatMap(([, one = '', other = '']) =>
        [...`${one} ${other}`.matchAll(/\b([A-Z][A-Z_]{3,})\b/g)].map(([name]) => name),
      ),
    );
    const read = new Set([...direct, ...taken, ...destructured]);
    assert.ok(read.size >= 8, [...read].join());
    assert.deepEqual(
      missing(
        read,
        variables.map(({ name }) => name),
      ),
      [],
    );
    const texts = sources.join('\n');
    assert.deepEqual(
      variables.filter(({ name }) => !texts.includes(name)),
      [],
    );
  });
});
