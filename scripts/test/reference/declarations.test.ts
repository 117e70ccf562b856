import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Declaration, readModule } from '../../reference/declarations.ts';

const cases: readonly (readonly [string, Partial<Declaration>])[] = [
  [
    '/** Decides. Throws RangeError. */\nexport async function decide(pod: Pod, at = now()): Promise<Fate> { return x as Hidden; }',
    {
      kind: 'function',
      comment: 'Decides. Throws RangeError.',
      code: 'function decide(pod: Pod, at = now()): Promise<Fate>;',
      uses: ['Pod', 'Promise', 'Fate'],
    },
  ],
  [
    '// No doc comment.\nexport const all: readonly Pod[] = [];',
    { kind: 'const', comment: '', code: 'const all: readonly Pod[];', uses: ['Pod'] },
  ],
  ['export const limitMax = 5;', { code: 'const limitMax = 5;' }],
  [
    'interface Fate extends Base {\n  readonly kind: "evict";\n  /** In ms. */\n  readonly at: number;\n  pod(): Pod;\n}',
    {
      kind: 'interface',
      code: 'interface Fate extends Base {\n  readonly kind: "evict";\n  /** In ms. */\n  readonly at: number;\n  pod(): Pod;\n}',
      silent: ['pod'],
      uses: ['Base', 'Pod'],
    },
  ],
  [
    'export class Loop extends Base {\n  #at: Hidden = 0;\n  readonly size: Size = of();\n  constructor(pod: Pod) {}\n  private hide(): Hidden {}\n  /** Ends. */\n  async end(): Promise<void> { await 1; }\n}',
    {
      kind: 'class',
      code: 'class Loop extends Base {\n  readonly size: Size;\n  constructor(pod: Pod);\n  /** Ends. */\n  end(): Promise<void>;\n}',
      silent: ['size'],
      uses: ['Base', 'Size', 'Pod', 'Promise'],
    },
  ],
  [
    'function count(text: string): number;\nfunction count(list: readonly Pod[]): number;\nfunction count(any: unknown): number { return 1; }',
    {
      code: 'function count(text: string): number;\nfunction count(list: readonly Pod[]): number;',
    },
  ],
];

for (const [source, expected] of cases) {
  test(`the declaration of: ${source}`, () => {
    const [declaration] = readModule('a.ts', source).declarations.values();
    assert.deepEqual(declaration, { ...declaration, ...expected });
  });
}

test('imports and exports of a door, in groups', () => {
  const source =
    '// About all.\n\n// Events.\n\nexport { type Event, is as isEvent } from "./event.ts";\n\n// Time,\n// and more.\n\nexport const now = 0;\nimport { A as B } from "b";\n';
  const { head, exports, imports } = readModule('index.ts', source);
  assert.equal(head, 'About all.');
  assert.deepEqual(exports, [
    { name: 'Event', local: 'Event', from: './event.ts', group: 'Events.' },
    { name: 'isEvent', local: 'is', from: './event.ts', group: 'Events.' },
    { name: 'now', local: 'now', from: null, group: 'Time,\nand more.' },
  ]);
  assert.deepEqual([...imports], [['B', { from: 'b', name: 'A' }]]);
});

test('a source that does not parse', () => {
  assert.throws(() => readModule('a.ts', 'export const ='), /^SyntaxError: a\.ts: /);
});
