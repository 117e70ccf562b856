import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiChanges, apiChanges, neededTypes } from '../api-changes.ts';

function report(
  ...groups: readonly (readonly [string, ...string[]])[]
): ReadonlyMap<string, string> {
  const text = groups.map(([title, ...declarations]) => {
    const sections = declarations.map((code) => {
      const [, name = ''] = /^\w+ (\w+)/.exec(code) ?? [];
      return `### ${name}\n\nText.\n\n\`\`\`ts\n${code}\n\`\`\`\n`;
    });
    return `## ${title}\n\n${sections.join('\n')}`;
  });
  return new Map([['core.md', `# core\n\n${text.join('\n')}`]]);
}

const options = 'interface Options {\n  readonly now: number;\n}';
const before = report(
  ['Output', 'function decide(options: Options): void;', 'const none: null;'],
  [neededTypes, options],
);

const cases: readonly (readonly [string, ReadonlyMap<string, string>, Partial<ApiChanges>])[] = [
  ['nothing', before, {}],
  [
    'comments, line breaks and groups',
    report(
      ['Decisions', 'const none: null;', 'function decide(\n  options: Options): void;'],
      [neededTypes, options.replace('{\n', '{\n  /** In ms. */\n')],
    ),
    {},
  ],
  [
    'removed',
    report(['Output', 'function decide(options: Options): void;'], [neededTypes, options]),
    { broken: ['core: none (removed)'] },
  ],
  [
    'changed',
    report(
      ['Output', 'function decide(): void;', 'const none: null;', 'const all: null;'],
      [neededTypes, options],
    ),
    { broken: ['core: decide (changed)'], added: ['core: all (new)'] },
  ],
  [
    'a type that has no name outside',
    report(
      ['Output', 'function decide(options: Options): void;', 'const none: null;'],
      [neededTypes, options.replace('number', 'bigint')],
    ),
    { broken: ['core: Options (changed)'] },
  ],
  [
    'a type that gets a name outside, and an optional member',
    report([
      'Output',
      'function decide(options: Options): void;',
      'const none: null;',
      options.replace('\n}', '\n  readonly seed?: number;\n}'),
    ]),
    { added: ['core: Options (new)', 'core: Options (optional members)'] },
  ],
];

test('the report of the API: types without a name outside that share a name', () => {
  const pages = ['core.md', 'core-drain.md', 'adapter.md'].map((page, at) => {
    const source = `interface Source {\n  readonly page: ${at};\n}`;
    return [page, report([neededTypes, source]).get('core.md') ?? ''] as const;
  });
  assert.deepEqual(apiChanges(new Map(pages), new Map(pages)), { broken: [], added: [] });
  // The types of the last page are on the first now.
  const [first = ['', ''], second = ['', ''], last = ['', '']] = pages;
  const moved = new Map([[first[0], first[1] + last[1]], second]);
  assert.deepEqual(apiChanges(new Map([second, last]), moved), { broken: [], added: [] });
});

for (const [what, after, expected] of cases) {
  test(`the report of the API: ${what}`, () => {
    assert.deepEqual(apiChanges(before, after), { broken: [], added: [], ...expected });
  });
}
