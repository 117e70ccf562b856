import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  linesFrom,
  type RecordingLine,
  recordingLine,
  recordingText,
} from '../../src/cluster/recording.ts';

const at = Date.parse('2026-06-01T08:00:00.250Z');
const object = { kind: 'Pod', metadata: { name: 'web-0', namespace: 'shop' } };

const lines: readonly RecordingLine[] = [
  { at, type: 'BEGIN', kinds: ['Pod', 'Node'] },
  { at, type: 'ADDED', object },
  { at, type: 'MODIFIED', object, after: at - 90_000 },
  { at, type: 'DELETED', object },
  { at, type: 'GAP', kind: 'Pod', after: at - 90_000 },
  { at, type: 'END', reason: 'bytes' },
];

describe('a line of a recording', () => {
  for (const line of lines) {
    it(`${line.type} is read as it is written`, () => {
      const text = recordingText(line);
      assert.match(text, /^\{"at":"2026-06-01T08:00:00\.250Z","type":"/);
      assert.deepEqual(recordingLine(text), line);
    });
  }

  const others: readonly (readonly [string, string])[] = [
    ['half of one', '{"at":"2026-06-01T08:00:00.250Z","type":"ADD'],
    ['no object', '[]'],
    ['without a time', '{"type":"END","reason":"time"}'],
    ['with a time that is none', '{"at":"soon","type":"END","reason":"time"}'],
    ['of an unknown type', '{"at":"2026-06-01T08:00:00Z","type":"BOOKMARK"}'],
    ['without its object', '{"at":"2026-06-01T08:00:00Z","type":"ADDED"}'],
    ['with an object without a name', '{"at":"2026-06-01T08:00:00Z","type":"ADDED","object":{}}'],
    ['a gap from nowhere', '{"at":"2026-06-01T08:00:00Z","type":"GAP","kind":"Pod"}'],
    ['an end for no reason', '{"at":"2026-06-01T08:00:00Z","type":"END"}'],
    ['an event of a watch', '{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"p"}}}'],
  ];
  for (const [what, text] of others) {
    it(`is none: ${what}`, () => assert.equal(recordingLine(text), null));
  }
});

it('the lines of a recording begin after its snapshot', () => {
  const head = '{"kind":"List","items":[\n{"at":"no line"}\n]}\n';
  const text = lines.map((line) => `${recordingText(line)}\n`).join('');
  assert.equal(linesFrom(head + text), head.length);
  assert.equal(linesFrom(head), -1);
  assert.equal(linesFrom(text), 0);
});
