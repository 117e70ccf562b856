// How long a connection waits before it reads on.
import type { Millis } from '@taintmgr/core/time';

/** Where fewer answers are owed, each is somebody's whole wait. */
const owedMin = 8;
/** So often is read in the time that an answer takes. */
const readsPerAnswer = 3;
/** A shorter pause brings too little together. */
const pauseMin: Millis = 3;
const pauseMax: Millis = 25;
/** How much the newest answer counts in how long answers take. */
const newestShare = 0.05;

/**
 * A busy API server writes each answer and each event of a watch by itself. Each of them wakes this process,
 * which finds its caches filled by others: at hundreds a second that is a good part of what they cost. So while
 * many answers to writes are owed, reading waits a little, and several are taken in together, as network cards do it
 * with their interrupts. It is read three times in the time that an answer takes, which so takes a sixth longer.
 */
export class ReadPause {
  /** How long answers take, lately. */
  #answerMs: Millis = 0;
  #owed = 0;
  #readsAt: Millis = 0;

  /** A write goes out. */
  begun(): void {
    this.#owed += 1;
  }

  /** It was answered after this time, or came to another end. */
  ended(took: Millis): void {
    this.#owed -= 1;
    this.#answerMs += newestShare * (took - this.#answerMs);
  }

  /** How long to wait, when all that came is taken in; 0: not at all. */
  next(now: Millis): Millis {
    const worked = now - this.#readsAt;
    const rest = Math.min(this.#answerMs / readsPerAnswer - worked, pauseMax);
    const pause = this.#owed < owedMin || rest < pauseMin ? 0 : rest;
    this.#readsAt = now + pause;
    return pause;
  }
}
