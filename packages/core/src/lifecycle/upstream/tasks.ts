import type { Outcome } from '../../attempt/outcome.ts';
import { InFlight } from '../../kernel/inflight.ts';
import { Schedule } from '../../kernel/schedule.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import type { LifecycleCommand } from '../node-command.ts';

/** The event a task waits for: the result of a command, time, or other tasks. */
type Ask =
  | { readonly kind: 'call'; readonly command: (id: string) => LifecycleCommand }
  | { readonly kind: 'sleep'; readonly length: Millis }
  | { readonly kind: 'join'; readonly tasks: readonly Task[] };

/**
 * A procedure that waits in the midst, as kube-controller-manager's goroutines do: where those call
 * the API server or sleep, it yields, and is resumed when the answer or the time has come.
 */
export type Task<T = void> = Generator<Ask, T, Outcome | null>;

/** Sends a command and waits for its result. */
export function* call(command: (id: string) => LifecycleCommand): Task<Outcome> {
  const outcome = yield { kind: 'call', command };
  if (outcome === null) throw new Error('taintmgr: broken invariant: a call ended without result');
  return outcome;
}

/** Waits for this time. */
export function* sleep(length: Millis): Task {
  yield { kind: 'sleep', length };
}

/** Runs tasks side by side and waits until all have ended. */
export function* together(tasks: readonly Task[]): Task {
  if (tasks.length > 0) yield { kind: 'join', tasks };
}

interface Running {
  readonly task: Task;
  readonly onEnd: () => void;
}

/** Runs tasks on given time. Tasks advance only in `run`. */
export class Tasks {
  readonly #inFlight = new InFlight('lifecycle', Number.POSITIVE_INFINITY);
  readonly #calling = new Map<string, Running>();
  readonly #sleeping = new Map<string, Running>();
  readonly #wakes = new Schedule();
  #ready: { readonly running: Running; readonly outcome: Outcome | null }[] = [];
  #sleeps = 0;

  /** True when a task could go on at once. */
  get isReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Begins a task with the next `run`; `onEnd` is called when the task ends. */
  start(task: Task, onEnd: () => void = () => {}): void {
    this.#ready.push({ running: { task, onEnd }, outcome: null });
  }

  /** Takes the result of a command; of those it did not send it takes no notice. */
  settle(id: string, outcome: Outcome): void {
    this.#inFlight.finish(id);
    const running = this.#calling.get(id);
    this.#calling.delete(id);
    if (running) this.#ready.push({ running, outcome });
  }

  /** When the first sleeper wakes. */
  nextWake(): Instant | null {
    return this.#wakes.next();
  }

  /** Lets every task go on that can; the commands they send. */
  *run(now: Instant): Generator<LifecycleCommand> {
    for (let key = this.#wakes.takeDue(now); key !== null; key = this.#wakes.takeDue(now)) {
      const running = this.#sleeping.get(key);
      this.#sleeping.delete(key);
      if (running) this.#ready.push({ running, outcome: null });
    }
    for (let next = this.#ready.shift(); next; next = this.#ready.shift()) {
      const { running, outcome } = next;
      const { done, value } = running.task.next(outcome);
      if (done) running.onEnd();
      else if (value.kind === 'sleep') this.#sleep(now + value.length, running);
      else if (value.kind === 'join') this.#join(value.tasks, running);
      else yield this.#call(value.command, running);
    }
  }

  #join(tasks: readonly Task[], running: Running): void {
    let left = tasks.length;
    for (const task of tasks) {
      this.start(task, () => {
        left -= 1;
        if (left === 0) this.#ready.push({ running, outcome: null });
      });
    }
  }

  #sleep(until: Instant, running: Running): void {
    const key = String(++this.#sleeps).padStart(16, '0');
    this.#sleeping.set(key, running);
    this.#wakes.set(key, until);
  }

  #call(command: (id: string) => LifecycleCommand, running: Running): LifecycleCommand {
    const id = this.#inFlight.start('');
    this.#calling.set(id, running);
    return command(id);
  }
}
