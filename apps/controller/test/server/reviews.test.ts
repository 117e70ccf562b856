import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, mock } from 'node:test';
import { LogThrottle } from '../../src/process/status-server.ts';
import { Reviews, reviewLimits, TooManyReviewsError } from '../../src/server/reviews.ts';

// What bounds the work that others can make us do, on a clock of our own.

interface Asked {
  readonly reviews: Reviews<string>;
  readonly questions: string[];
  /** The answer, `busy` where it was not asked, or what went wrong. */
  readonly ask: (question: string, from?: string) => Promise<string>;
  now: number;
}

/** Whoever's name begins with `good` is. */
function asking(answerTo: (question: string) => Promise<string>): Asked {
  const questions: string[] = [];
  const asked: Asked = {
    now: 0,
    questions,
    reviews: new Reviews<string>({
      ttl: () => 1000,
      isGood: (answer) => answer.startsWith('good'),
      now: () => asked.now,
    }),
    ask: async (question, from = question) => {
      try {
        return await asked.reviews.answer(question, from, () => {
          questions.push(question);
          return answerTo(question);
        });
      } catch (error) {
        return error instanceof TooManyReviewsError ? 'busy' : String(error);
      }
    },
  };
  return asked;
}

describe('reviews', () => {
  it('are made once for all who ask the same at the same time', async () => {
    const asked = asking(async (question) => question);
    const answers = await Promise.all(Array.from({ length: 10 }, () => asked.ask('good')));
    assert.deepEqual(new Set(answers), new Set(['good']));
    assert.deepEqual(asked.questions, ['good']);
  });

  for (const [whose, from, atOnce, perSecond] of [
    ['strangers', undefined, reviewLimits.strangers.inFlightMax, reviewLimits.strangers.perSecond],
    ['one stranger', 'a', reviewLimits.sender.inFlightMax, reviewLimits.sender.perSecond],
  ] as const) {
    it(`of ${whose} are ${atOnce} at once and ${perSecond} a second`, async () => {
      const asked = asking(async (question) => question);
      const answers: string[] = [];
      for (let index = 0; index < 1000; index += 1)
        answers.push(await asked.ask(`bad ${index}`, from));
      assert.deepEqual([asked.questions.length, answers.at(-1)], [atOnce, 'busy']);
      asked.now = 1000;
      for (let index = 0; index < 1000; index += 1) await asked.ask(`later ${index}`, from);
      assert.equal(asked.questions.length, atOnce + perSecond);
    });
  }

  it('are bounded as SECURITY.md says', () => {
    const page = readFileSync(new URL('../../../../SECURITY.md', import.meta.url), 'utf8');
    const said = ({ inFlightMax, perSecond }: (typeof reviewLimits)['sender' | 'strangers']) =>
      `${inFlightMax} token reviews at once and ${perSecond} a second`;
    assert.ok(page.includes(`at most ${said(reviewLimits.strangers)} for unknown callers`));
    assert.ok(page.includes(`${said(reviewLimits.sender)} for one address`));
  });

  it('of a new token of somebody who was let in are made however many strangers come', async () => {
    const asked = asking((question) =>
      question.startsWith('good') ? Promise.resolve(question) : new Promise(() => {}),
    );
    assert.equal(await asked.ask('good', 'prometheus'), 'good');
    asked.now = 1_800_000;
    for (let index = 0; index < 5000; index += 1) void asked.ask(`bad ${index}`);
    assert.equal(await asked.ask('good, rotated', 'prometheus'), 'good, rotated');
    // Whoever shares his address bothers nobody but him.
    for (let index = 0; index < 5000; index += 1) void asked.ask(`worse ${index}`, 'prometheus');
    assert.equal(await asked.ask('good, once more', 'prometheus'), 'busy');
  });

  it('of strangers that hang leave room for those who were let in', async () => {
    const asked = asking((question) =>
      question === 'good' ? Promise.resolve(question) : new Promise(() => {}),
    );
    assert.equal(await asked.ask('good'), 'good');
    asked.now = 5000;
    for (let index = 0; index < 19; index += 1) void asked.ask(`bad ${index}`);
    assert.equal(asked.questions.length, 1 + 16);
    assert.equal(await asked.ask('good'), 'good');
  });

  it('of those who were let in of late are made however many strangers come', async () => {
    const asked = asking(async (question) => question);
    assert.equal(await asked.ask('good'), 'good');
    asked.now = 30_000;
    for (let index = 0; index < 5000; index += 1) await asked.ask(`bad ${index}`);
    assert.equal(await asked.ask('good'), 'good');
    assert.equal(await asked.ask('good of somebody new'), 'busy');
  });

  it('of one who was let in with many tokens leave room for the others', async () => {
    const asked = asking(async (question) => question);
    assert.equal(await asked.ask('good', 'prometheus'), 'good');
    const tokens = Array.from({ length: 500 }, (_, index) => `good ${index}`);
    for (const token of tokens) {
      asked.now += 200;
      assert.equal(await asked.ask(token, 'tenant'), token);
    }
    // All of them have to be asked again.
    asked.now += 2000;
    const answers: string[] = [];
    for (const token of tokens) answers.push(await asked.ask(token, 'tenant'));
    assert.equal(answers.filter((answer) => answer !== 'busy').length, 20);
    assert.equal(await asked.ask('good', 'prometheus'), 'good');
  });

  it('that fail are not made again for a second', async () => {
    const asked = asking(() => Promise.reject(new Error('away')));
    assert.equal(await asked.ask('a'), 'Error: away');
    assert.equal(await asked.ask('a'), 'Error: away');
    assert.equal(asked.questions.length, 1);
    asked.now = 1000;
    await asked.ask('a');
    assert.equal(asked.questions.length, 2);
  });
});

describe('log lines that others can cause', () => {
  it('are written at once, and then every ten seconds with a count', () => {
    let now = 0;
    const throttle = new LogThrottle(() => now);
    const write = mock.fn();
    for (now = 0; now < 25_000; now += 1) throttle.log('a', write);
    throttle.log('b', write);
    assert.deepEqual(
      write.mock.calls.map(({ arguments: [times] }) => times),
      [1, 10_000, 10_000, 1],
    );
  });
});
