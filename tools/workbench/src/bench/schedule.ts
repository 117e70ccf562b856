// The deadline queue, beside a setTimeout per key and a Map that is searched for the earliest.
// npm run bench -- schedule
// @boundaries-ignore what is measured here is not exported
import { Schedule } from '../../../../packages/core/src/kernel/schedule.ts';
import { contend, inProcess, nanosOf, printTable, short } from './measure.ts';

const sizes = [1_000, 100_000, 1_000_000];
const warmUp = 5_000;
/** The plain Map looks through all of itself for each one it takes: a few are enough to tell. */
const takenFromMap = 20;

interface Row {
  readonly set: number;
  readonly move: number;
  readonly take: number;
}

function compare(): void {
  const rows = sizes.flatMap((keys) =>
    ['heap', 'setTimeout', 'map'].map((name) => {
      const { set, move, take } = inProcess<Row>(import.meta.filename, name, keys);
      const rates = [set, move, take].map((nanos) => (nanos < 0 ? '-' : `${short(1e9 / nanos)}/s`));
      return [`${name}, ${short(keys)} deadlines`, ...rates];
    }),
  );
  process.stdout.write('schedule: operations per second\n');
  printTable(['', 'set', 'moved', 'taken in order'], rows);
}

/** Nanoseconds per operation; -1 for what a contender cannot do. */
function run(name: string, keys: number): Row {
  switch (name) {
    case 'heap':
      return runHeap(keys);
    case 'map':
      return runMap(keys);
    default:
      return runTimers(keys);
  }
}

/** Scattered over an hour, the same for every contender. */
function instantOf(index: number): number {
  return (Math.imul(index, 2654435761) >>> 0) % 3_600_000;
}

function runHeap(keys: number): Row {
  const schedule = new Schedule();
  const each = (offset: number) => () => {
    for (let i = 0; i < keys; i++) schedule.set(`pod-${i}`, instantOf(i + offset));
  };
  const set = nanosOf(1, each(0)) / keys;
  const move = nanosOf(1, each(1)) / keys;
  const take =
    nanosOf(1, () => {
      while (schedule.takeDue(Number.POSITIVE_INFINITY) !== null);
    }) / keys;
  return { set, move, take };
}

function runTimers(keys: number): Row {
  const timers = new Map<string, NodeJS.Timeout>();
  const each = (offset: number) => () => {
    for (let i = 0; i < keys; i++) {
      clearTimeout(timers.get(`pod-${i}`));
      timers.set(
        `pod-${i}`,
        setTimeout(() => {}, instantOf(i + offset)),
      );
    }
  };
  const set = nanosOf(1, each(0)) / keys;
  const move = nanosOf(1, each(1)) / keys;
  for (const timer of timers.values()) clearTimeout(timer);
  return { set, move, take: -1 };
}

function runMap(keys: number): Row {
  const instants = new Map<string, number>();
  const each = (offset: number) => () => {
    for (let i = 0; i < keys; i++) instants.set(`pod-${i}`, instantOf(i + offset));
  };
  const set = nanosOf(1, each(0)) / keys;
  const move = nanosOf(1, each(1)) / keys;
  const take =
    nanosOf(1, () => {
      for (let taken = 0; taken < takenFromMap; taken++) {
        let first: [string, number] | null = null;
        for (const entry of instants) if (!first || entry[1] < first[1]) first = entry;
        if (first) instants.delete(first[0]);
      }
    }) / takenFromMap;
  return { set, move, take };
}

contend(compare, run, warmUp);
