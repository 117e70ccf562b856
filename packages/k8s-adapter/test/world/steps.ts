// Plays the steps of a procedure without an executor.
import assert from 'node:assert/strict';
import type { Steps, TaskRequest } from '../../src/controller/task.ts';
import type { Answer } from '../../src/proto/answer.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';

/** Answers every request; the outcome. */
export function playSteps<T, N>(
  steps: Steps<T, N>,
  answer: (request: ApiRequest) => Answer,
  wall = 0,
): T {
  const played = new PlayedSteps(steps, wall);
  while (played.outcome === null) played.answer(answer(played.request));
  return played.outcome;
}

/** Steps that are answered one by one. */
export class PlayedSteps<T, N> {
  #step: IteratorResult<TaskRequest<N>, T>;
  readonly #steps: Steps<T, N>;
  readonly #wall: number;

  constructor(steps: Steps<T, N>, wall = 0) {
    this.#steps = steps;
    this.#wall = wall;
    this.#step = steps.next();
  }

  /** Under way. */
  get request(): ApiRequest {
    return this.#call.request;
  }

  /** Said when the request under way goes out. */
  get notice(): N | null {
    return this.#call.notice;
  }

  /** Null: they have not ended. */
  get outcome(): T | null {
    return this.#step.done === true ? this.#step.value : null;
  }

  answer(answer: Answer): this {
    assert.ok(!this.#step.done, 'it ended early');
    this.#step = this.#steps.next({ answer, wall: this.#wall });
    return this;
  }

  get #call(): TaskRequest<N> {
    return this.#step.done
      ? assert.fail(`ended: ${JSON.stringify(this.#step.value)}`)
      : this.#step.value;
  }
}
