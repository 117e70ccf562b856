// The flag --timeout.
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Millis, parseDuration } from '@taintmgr/core/time';

/** `shown`: the default as help prints it. */
export function timeoutOption(description: string, value: Millis, shown: string): Option {
  return new Option('--timeout <duration>', description).argParser(duration).default(value, shown);
}

function duration(text: string): Millis {
  const millis = parseDuration(text);
  if (millis !== null) return millis;
  throw new InvalidArgumentError('Want a duration such as 30s, 10m or 1h30m.');
}
