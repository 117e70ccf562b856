// Instants, durations, and how people read and write them.

export {
  earlier,
  earliest,
  endOfSecond,
  formatDeadline,
  formatDuration,
  formatTime,
  formatTimeMillis,
  type Instant,
  type Millis,
  parseDuration,
  parseTime,
} from '../kernel/time.ts';
