import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger, type LogFormat } from '../../src/log/logger.ts';

/** What is written of one line, its time replaced by T. */
function written(format: LogFormat, fields: object, message: string): string {
  const lines: string[] = [];
  const log = createLogger({ format, verbose: false, write: (line) => lines.push(line) });
  log.debug('not this one');
  log.info(fields, message);
  assert.equal(lines.length, 1);
  return String(lines[0]).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, 'T');
}

describe('log lines', () => {
  const hostile = 'a"b\\ =\n\u001b[2J\u007f\u009b2J\u2028\u202e\u061c\u200b\ufeff\u3164';
  const cases: readonly (readonly [name: string, object, text: string, json: string])[] = [
    ['without fields', {}, 'T INFO  hello\n', '{"level":"info","time":"T","msg":"hello"}\n'],
    [
      'bare and quoted values',
      { pod: 'shop/web-0', n: 3, why: 'no toleration', none: '' },
      'T INFO  hello  pod=shop/web-0 n=3 why="no toleration" none=""\n',
      '{"level":"info","time":"T","pod":"shop/web-0","n":3,"why":"no toleration","none":"","msg":"hello"}\n',
    ],
    [
      'characters that would steer a terminal or forge a line',
      { error: hostile },
      'T INFO  hello  error="a\\"b\\\\ =\\n\\u001b[2J\\u007f\\u009b2J\\u2028\\u202e\\u061c\\u200b\\ufeff\\u3164"\n',
      '{"level":"info","time":"T","error":"a\\"b\\\\ =\\n\\u001b[2J\\u007f\\u009b2J\\u2028\\u202e\\u061c\\u200b\\ufeff\\u3164","msg":"hello"}\n',
    ],
  ];
  for (const [name, fields, text, json] of cases) {
    it(name, () => {
      assert.equal(written('text', fields, 'hello'), text);
      assert.equal(written('json', fields, 'hello'), json);
      assert.equal(JSON.parse(json).error, 'error' in fields ? hostile : undefined);
    });
  }

  it('a message that quotes others is one line, and steers nothing', () => {
    const quoted = 'hi\\u000a\\u001b[2J\\u0009\\u202e';
    assert.equal(written('text', {}, 'hi\n\u001b[2J\t\u202e'), `T INFO  ${quoted}\n`);
  });

  it('what all lines of a child have comes first, and what is not there is left out', () => {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    for (const format of ['text', 'json'] as const) {
      const log = createLogger({ format, verbose: false, write }).child({ dryRun: 'server' });
      log.warn({ pod: 'shop/web-0', why: undefined }, 'hello');
      log.info('bye');
    }
    const texts = lines.map((line) => line.replace(/\d{4}-\S{18}Z/, 'T'));
    assert.deepEqual(texts, [
      'T WARN  hello  dryRun=server pod=shop/web-0\n',
      'T INFO  bye  dryRun=server\n',
      '{"level":"warn","time":"T","dryRun":"server","pod":"shop/web-0","msg":"hello"}\n',
      '{"level":"info","time":"T","dryRun":"server","msg":"bye"}\n',
    ]);
  });

  it('debug lines only when asked for', () => {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    createLogger({ format: 'text', verbose: true, write }).debug('details');
    assert.match(lines.join(''), /^\S+ DEBUG details\n$/);
  });
});
