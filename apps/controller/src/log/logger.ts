import { type Logger, pino } from 'pino';

/** How log lines are written: one logfmt-like line for people, or one JSON object a line. */
export type LogFormat = 'text' | 'json';

export type { Logger };

export interface LogOptions {
  readonly format: LogFormat;
  /** Debug lines as well. */
  readonly verbose: boolean;
  readonly write: (line: string) => void;
}

/** A logger whose lines go to `write`, each with its line end. */
export function createLogger({ format, verbose, write }: LogOptions): Logger {
  const options = {
    base: null,
    level: verbose ? 'debug' : 'info',
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (level: string) => ({ level }) },
  };
  const shape = format === 'json' ? (line: string) => line : textLine;
  return pino(options, { write: (line) => write(disarmed(shape(line))) });
}

/** `2026-01-02T03:04:05.678Z INFO  evicting pod  pod=shop/web-0 because="no toleration for ..."` */
function textLine(json: string): string {
  const { time, level, msg, ...fields }: Record<string, unknown> = JSON.parse(json);
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${quoted(value)}`);
  const head = `${time} ${String(level).toUpperCase().padEnd(5)} ${msg}`;
  return pairs.length === 0 ? `${head}\n` : `${head}  ${pairs.join(' ')}\n`;
}

/** Bare where that is unambiguous, else as JSON, which escapes most control characters. */
function quoted(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** JSON leaves these as they are, and they would steer a terminal or break the line. */
const steering = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function disarmed(line: string): string {
  return line.replace(steering, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
