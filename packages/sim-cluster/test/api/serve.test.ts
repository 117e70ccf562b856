// Mistakes of this package: told where others use the cluster meanwhile, thrown everywhere else.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServiceTime } from '../../src/api/serve.ts';
import { fixture, podNamed, pods, summary } from '../world/api-fixture.ts';

const serviceMs: ServiceTime = ({ path }) => {
  if (path.endsWith('odd')) throw new RangeError('Invalid time value');
  return 0;
};

function told() {
  const lines: string[] = [];
  const reportBug = (error: unknown, during: string): void => {
    lines.push(`${during}: ${error}`);
  };
  return { lines, reportBug };
}

describe('a mistake while a request is served', () => {
  it('is an answer, and told', () => {
    const { lines, reportBug } = told();
    const { client } = fixture({ serviceMs, reportBug });
    const { status, body, ended } = client.get(`${pods}/odd`);
    assert.deepEqual(
      [status, body.reason, body.message, ended],
      [500, 'InternalError', 'Internal error occurred: Invalid time value', true],
    );
    assert.deepEqual(lines, [`GET ${pods}/odd: RangeError: Invalid time value`]);
    assert.equal(client.get(pods).status, 200);
  });

  it('is thrown where nobody is to be told', () => {
    const { client } = fixture({ serviceMs });
    assert.throws(() => client.get(`${pods}/odd`), RangeError);
  });
});

describe('a mistake of somebody who hears of a change', () => {
  const fail = (): void => assert.fail('a mistake');

  it('is told, and others hear of the change', () => {
    const { lines, reportBug } = told();
    const { api, client } = fixture({ reportBug });
    api.subscribe(fail, new Set(['pods']));
    const watch = client.watch(pods);
    assert.equal(client.post(pods, podNamed('p')).status, 201);
    assert.deepEqual(summary(watch.events), ['ADDED p']);
    assert.match(
      lines.join(),
      /^hearing of a change of pods default\/p: AssertionError.* a mistake$/,
    );
  });

  it('is thrown where nobody is to be told', () => {
    const { api, client } = fixture();
    api.subscribe(fail, new Set(['pods']));
    assert.throws(() => client.post(pods, podNamed('p')), /a mistake/);
  });
});
