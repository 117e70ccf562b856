import { type Logger as PinoLogger, pino } from 'pino';
import type { Known } from './line.ts';

/** The form of log lines: one logfmt-like line for people, or one JSON object a line. */
export type LogFormat = 'text' | 'json';

/** Writes one line; a key that is not known does not compile. */
interface Write {
  <F extends Known<F>>(fields: F, message: string): void;
  (message: string): void;
}

/** Lines by their level. */
export interface Logger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
  readonly fatal: Write;
  /** A logger that adds these fields to its lines. */
  child<F extends Known<F>>(fields: F): Logger;
}

export interface LogOptions {
  readonly format: LogFormat;
  /** Debug lines as well. */
  readonly verbose: boolean;
  readonly write: (line: string) => void;
}

/** A logger whose lines go to `write`, each with its line end. */
export function createLogger({ format, verbose, write }: LogOptions): Logger {
  const time = timeText();
  const options = {
    base: null,
    level: verbose ? 'debug' : 'info',
    timestamp: () => `,"time":"${time()}"`,
    formatters: { level: (level: string) => ({ level }) },
  };
  if (format === 'json') return pino(options, { write: (line) => write(disarmed(line)) });
  return pino({
    ...options,
    hooks: {
      // A text needs no JSON on its way.
      logMethod([first, second], _method, level) {
        const [given, message] = isFields(first) ? [first, second] : [{}, first];
        const fields = { ...boundTo(this), ...given };
        const label = String(this.levels.labels[level]);
        const head = `${time()} ${label.toUpperCase().padEnd(5)} ${oneLine(String(message))}`;
        write(disarmed(textLine(head, fields)));
      },
    },
  });
}

/** Read once for each logger: pino makes them of its JSON each time. */
const bindings = new WeakMap<PinoLogger, Readonly<Record<string, unknown>>>();

function boundTo(logger: PinoLogger): Readonly<Record<string, unknown>> {
  const known = bindings.get(logger) ?? logger.bindings();
  bindings.set(logger, known);
  return known;
}

/** The time as text, which many lines share in a mass eviction. */
function timeText(): () => string {
  let [at, text] = [0, ''];
  return () => {
    const now = Date.now();
    if (now !== at) [at, text] = [now, new Date(now).toISOString()];
    return text;
  };
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** `2026-01-02T03:04:05.678Z INFO  evicting pod  pod=shop/web-0 because="no toleration for ..."` */
function textLine(head: string, fields: Readonly<Record<string, unknown>>): string {
  let line = head;
  let gap = '  ';
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined) continue;
    line += `${gap}${name}=${quoted(value)}`;
    gap = ' ';
  }
  return `${line}\n`;
}

/** A message that quotes others is no second line of the log. */
function oneLine(message: string): string {
  return message.replaceAll(/[\n\t]/g, escaped);
}

/** Bare where that is unambiguous, else as JSON, which escapes most control characters. */
function quoted(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Beside line ends and tabs: what would steer a terminal or break the line. JSON leaves most as they are. */
const steering = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/** A text in which such characters are escapes, as in JSON. */
export function disarmed(text: string): string {
  return text.replace(steering, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
