import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { LogThrottle } from '../../src/server/log-throttle.ts';
import { Reviews, TooManyReviewsError } from '../../src/server/reviews.ts';

// What bounds the work that others can make us do, on a clock of our own.

interface Asked {
  readonly reviews: Reviews<string>;
  readonly questions: string[];
  /** The answer, `busy` where it was not asked, or what went wrong. */
  readonly ask: (question: string) => Promise<string>;
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
    ask: async (question) => {
      try {
        return await asked.reviews.answer(question, () => {
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

  it('of strangers are 20 at once and 10 a second', async () => {
    const asked = asking(async (question) => question);
    const answers: string[] = [];
    for (let index = 0; index < 1000; index += 1) answers.push(await asked.ask(`bad ${index}`));
    assert.deepEqual([asked.questions.length, answers.at(-1)], [20, 'busy']);
    asked.now = 1000;
    for (let index = 0; index < 1000; index += 1) await asked.ask(`later ${index}`);
    assert.equal(asked.questions.length, 30);
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
