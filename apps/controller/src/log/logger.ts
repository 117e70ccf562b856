// Writes log lines: for people, or as JSON for programs.

/** How log lines are written: one logfmt-like line for people, or one JSON object a line. */
export type LogFormat = 'text' | 'json';

type Fields = Readonly<Record<string, unknown>>;

/** Writes one line. */
interface LogMethod {
  (message: string): void;
  (fields: Fields, message: string): void;
}

const levels = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
type Level = (typeof levels)[number];

/** Writes lines of one program. */
export interface Logger extends Readonly<Record<Level, LogMethod>> {
  /** The same with these fields in each line. */
  readonly child: (fields: Fields) => Logger;
}

export interface LogOptions {
  readonly format: LogFormat;
  /** Debug lines as well. */
  readonly verbose: boolean;
  readonly write: (line: string) => void;
}

/** A logger whose lines go to `write`, each with its line end. */
export function createLogger(options: LogOptions, bound: Fields = {}): Logger {
  const { format, verbose, write } = options;
  const shape = format === 'json' ? jsonLine : textLine;
  const method = (level: Level): LogMethod => {
    return (first: Fields | string, message?: string) => {
      const line =
        typeof first === 'string'
          ? shape(level, bound, first)
          : shape(level, { ...bound, ...first }, message ?? '');
      write(disarmed(line));
    };
  };
  return {
    debug: verbose ? method('debug') : () => {},
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
    fatal: method('fatal'),
    child: (fields) => createLogger(options, { ...bound, ...fields }),
  };
}

function jsonLine(level: Level, fields: Fields, msg: string): string {
  return `${JSON.stringify({ level, time: timestamp(), ...fields, msg })}\n`;
}

/** `2026-01-02T03:04:05.678Z INFO  evicting pod  pod=shop/web-0 because="no toleration for ..."` */
function textLine(level: Level, fields: Fields, message: string): string {
  const head = `${timestamp()} ${level.toUpperCase().padEnd(5)} ${message}`;
  let pairs = '';
  for (const name of Object.keys(fields)) {
    const value = quoted(fields[name]);
    if (value !== undefined) pairs += ` ${name}=${value}`;
  }
  return pairs === '' ? `${head}\n` : `${head} ${pairs}\n`;
}

/** Bare where that is unambiguous, else as JSON, which escapes most control characters. */
function quoted(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

function timestamp(): string {
  return new Date().toISOString();
}

/** JSON leaves these as they are, and they would steer a terminal or break the line. */
const steering = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function disarmed(line: string): string {
  return line.replace(steering, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
