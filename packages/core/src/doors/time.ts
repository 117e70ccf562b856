// Instants, durations, and how people read and write them.

export {
  earlier,
  earliest,
  endOfSecond,
  formatDuration,
  formatTime,
  formatTimeMillis,
  type Instant,
  type Millis,
  parseDuration,
  parseTime,
} from '../kernel/time.ts';
