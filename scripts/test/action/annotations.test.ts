// The workflow commands by which GitHub shows annotations at lines of a change.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { annotationLines } from '../../../action/annotations.ts';

it('nothing in a text or a name ends its command', () => {
  const given = { file: 'a,b:c%.yaml', line: 3, title: 'x::y', message: '50%\r\n::error::z' };
  assert.deepEqual(annotationLines([{ level: 'error', ...given }]), [
    '::error file=a%2Cb%3Ac%25.yaml,line=3,title=x%3A%3Ay::50%25%0D%0A::error::z',
  ]);
});

it('what stands nowhere has no file', () => {
  const lines = annotationLines([{ level: 'warning', title: 'taintmgr', message: 'm' }]);
  assert.deepEqual(lines, ['::warning title=taintmgr::m']);
});

it('ten of each level are as many as GitHub shows, errors first', () => {
  const all = Array.from({ length: 24 }, (_, at) => {
    const level = at % 2 === 0 ? 'warning' : 'error';
    return { level, title: 't', message: String(at) } as const;
  });
  const shown = annotationLines(all).map((line) => line.replace(/ title=t::/, ' '));
  const odd = Array.from({ length: 10 }, (_, at) => `::error ${2 * at + 1}`);
  const even = Array.from({ length: 10 }, (_, at) => `::warning ${2 * at}`);
  assert.deepEqual(shown, [...odd, ...even]);
});
